"""``gramian classical-mds`` and ``gramian kernel-pca`` as a user meets them."""

import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gramian import ClassicalMDS, KernelPCA
from gramian.testing import same_up_to_signs
from tests.spectral.test_solvers import CITIES

NAMES = ("Boston", "NY", "DC", "Miami", "Chicago", "Seattle", "SF", "LA", "Denver")
# R 4.2.2, cmdscale(d, k = 2, eig = TRUE)
EIGENVALUES = [13949791.2473258, 2124813.26918181]
GOF = [0.958419174893081, 0.981022173636801]
POINTS = [
    *([-1348.66832957982, -462.400598146569], [-1198.87410814714, -306.546900234987]),
    *([-1076.98554040122, -136.432035420422], [-1226.93901099845, 1013.62838366558]),
    *([-428.454832718783, -174.603164807742], [1596.1594018405, -639.307768963489]),
    *([1697.22828135996, 131.685862779591], [1464.04701004452, 560.580459896188]),
    [522.48712860043, 13.3957612318459],
]


def labeled(separator):
    lines = [separator.join(["", *NAMES])]
    lines += [separator.join([name, *map(str, d)]) for name, d in zip(NAMES, CITIES, strict=True)]
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def cities(folder):
    """The nine cities beside the irises."""
    Path("cities.csv").write_text(labeled(","))


@pytest.fixture
def facts(run):
    """The JSON of a run that must succeed."""

    def run_command(*arguments):
        code, out, err = run(*arguments, "--json")
        assert code == 0, err
        return json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))

    return run_command


def eigenvalues(found):
    return [axis["eigenvalue"] for axis in found["axes"]]


# ---------------------------------------------------------------- classical-mds


def test_cities_are_rs_numbers(run, facts):
    found = facts("classical-mds", "cities.csv", "-o", "map.csv")
    np.testing.assert_allclose(eigenvalues(found), EIGENVALUES, rtol=1e-12)
    measures = found["measures"]
    np.testing.assert_allclose(measures["goodness_of_fit"], GOF, rtol=1e-12)
    assert measures["negativity"] == pytest.approx(323706.771677815 / EIGENVALUES[0], rel=1e-11)
    assert measures["constant"] == 0
    assert (found["method"], found["n_variables"], found["schema"]) == ("ClassicalMDS", None, 1)
    frame = pl.read_csv("map.csv")
    assert frame.columns == ["label", "PCo1", "PCo2"]
    assert tuple(frame["label"]) == NAMES
    same_up_to_signs(frame[["PCo1", "PCo2"]].to_numpy(), POINTS, rtol=1e-12)


def test_summary_is_in_plain_words(run):
    code, out, err = run("classical-mds", "cities.csv")
    assert code == 0
    assert out.startswith("ClassicalMDS of cities.csv: 9 observations, 2 axes\n")
    assert "Certified: all 2 eigenpairs" in out
    assert "share = eigenvalue / sum of the positive eigenvalues" in out
    assert "goodness of fit 0.95842 (kept eigenvalues / sum of the sizes of all), 0.98102" in out
    assert "not Euclidean: the most negative eigenvalue is 2.3% of the largest" in out
    assert "add -o" in err
    _, out, _ = run("classical-mds", "iris.csv", "--metric", "euclidean")
    assert "the distances are Euclidean" in out
    assert "goodness of fit 0.97769 (kept eigenvalues / sum of the sizes of all)\n" in out
    assert run("classical-mds", "cities.csv", "-q")[2] == ""


@pytest.mark.parametrize("kind", ["bare", "lsmat", "rows", "phylip", "npy", "condensed", "npz"])
def test_distances_as_people_keep_them(facts, kind):
    bare = "\n".join(",".join(map(str, d)) for d in CITIES) + "\n"
    texts = {
        "bare": ("d.csv", bare),
        "lsmat": ("d.lsmat", labeled("\t")),
        "rows": ("d.csv", "\n".join(labeled(",").splitlines()[1:]) + "\n"),
        "phylip": ("d.phy", "9\n" + "\n".join(labeled(" ").splitlines()[1:]) + "\n"),
    }
    if kind in texts:
        name, text = texts[kind]
        Path(name).write_text(text)
    elif kind == "npz":
        name = "d.npz"
        np.savez(name, D=CITIES)
    else:
        name = "d.npy"
        np.save(name, CITIES if kind == "npy" else CITIES[np.triu_indices(9, 1)])
    found = facts("classical-mds", name, "-o", "map.csv")
    np.testing.assert_allclose(eigenvalues(found), EIGENVALUES, rtol=1e-12)
    frame = pl.read_csv("map.csv")
    if kind in ("lsmat", "rows", "phylip"):
        assert tuple(frame["label"]) == NAMES
    else:
        assert "label" not in frame.columns


def test_standard_input_is_read_once(facts, monkeypatch):
    class Piped:
        buffer = io.BytesIO(labeled(",").encode())

    monkeypatch.setattr(sys, "stdin", Piped)
    found = facts("classical-mds", "-")
    assert found["source"] == "standard input"
    np.testing.assert_allclose(eigenvalues(found), EIGENVALUES, rtol=1e-12)


@pytest.mark.parametrize(
    ("correction", "constant", "word"),
    # R 4.2.2: cmdscale(add = TRUE)$ac, and vegan's addLingoes
    [
        ("cailliez", 372.4722654324, "372.47 added to every distance"),
        ("lingoes", 323706.771677815, "6.4741e+05 added to every squared distance"),
        ("sqrt", 0.0, "square roots of the distances"),
    ],
)
def test_corrections(facts, correction, constant, word):
    found = facts("classical-mds", "cities.csv", "--correction", correction)
    assert found["measures"]["constant"] == pytest.approx(constant, rel=1e-9)
    assert found["measures"]["negativity"] == 0
    assert any(word in note for note in found["notes"])
    assert any("the distances are Euclidean" in note for note in found["notes"])


def test_rows_with_a_metric(facts):
    found = facts("classical-mds", "iris.csv", "--metric", "cityblock", "-k", 3, "-o", "z.parquet")
    frame = pl.read_csv("iris.csv")
    model = ClassicalMDS(3, metric="cityblock").fit(frame.drop("species").to_numpy())
    np.testing.assert_allclose(eigenvalues(found), model.eigenvalues_, rtol=1e-10)
    written = pl.read_parquet("z.parquet")
    assert written.columns == ["PCo1", "PCo2", "PCo3", "species"]
    same_up_to_signs(written[:, :3].to_numpy(), model.embedding_, rtol=1e-10)
    assert written["species"].to_list() == frame["species"].to_list()
    assert found["parameters"]["metric"] == "cityblock"
    some = facts(
        *("classical-mds", "iris.csv", "--metric", "euclidean"),
        *("--columns", "sepal length,petal length", "--color", "species"),
    )
    X = frame[["sepal length", "petal length"]].to_numpy()
    variances = np.linalg.eigvalsh(np.cov(X.T))[::-1] * 149
    np.testing.assert_allclose(eigenvalues(some), variances, rtol=1e-12)


def test_landmarks_say_their_error(facts):
    same = facts("classical-mds", "iris.csv", "--metric", "euclidean", "--landmarks", 60)
    assert 0 < same["measures"]["landmark_error"] < 0.3
    assert any(note.startswith("an approximation: 60 landmarks of 150") for note in same["notes"])
    again = facts("classical-mds", "iris.csv", "--metric", "euclidean", "--landmarks", 60)
    other = facts(
        *("classical-mds", "iris.csv", "--metric", "euclidean", "--landmarks", 60, "--seed", 5)
    )
    assert again["axes"] == same["axes"] != other["axes"]


def test_axes_that_do_not_exist_are_zero_and_said(run):
    code, out, err = run(
        "classical-mds", "cities.csv", "-k", 8, "-o", "z.npy", "--report", "r.html"
    )
    assert code == 0
    assert "warning: only 5 of the 8 axes asked for have a positive eigenvalue" in err
    Z = np.load("z.npy")
    assert (Z[:, 5:] == 0).all()
    assert (np.abs(Z[:, :5]).max(axis=0) > 1).all()
    assert "PCo8" in out


def test_gower_takes_gaps(facts, run):
    Path("gaps.csv").write_text("a,b\n1,2\n3,NA\n5,7\n2,4\n")
    # ranges 4 and 5: |1-3|/4, (|1-5|/4 + |2-7|/5)/2, ...
    found = facts("classical-mds", "gaps.csv", "--metric", "gower", "-k", 1, "-o", "z.npy")
    D = np.array(
        [[0, 0.5, 1, 0.325], [0.5, 0, 0.5, 0.25], [1, 0.5, 0, 0.675], [0.325, 0.25, 0.675, 0]]
    )
    expected = ClassicalMDS(1, metric="precomputed").fit(D)
    np.testing.assert_allclose(eigenvalues(found), expected.eigenvalues_, rtol=1e-12)


def test_two_points_have_one_axis(facts):
    Path("two.csv").write_text("0,3\n3,0\n")
    found = facts("classical-mds", "two.csv")
    assert eigenvalues(found) == [pytest.approx(4.5)]


def test_far_from_euclidean_is_a_warning(run):
    Path("star.csv").write_text("0,1,1,9\n1,0,1,1\n1,1,0,1\n9,1,1,0\n")
    code, _, err = run("classical-mds", "star.csv")
    assert code == 0
    assert "warning: the distances are not Euclidean" in err
    assert run("classical-mds", "star.csv", "-q")[2] == ""


# ---------------------------------------------------------------- kernel-pca


def test_kernel_pca_is_the_library_and_kernlab(facts):
    found = facts("kernel-pca", "iris.csv", "--gamma", "0.2", "-k", 5, "-o", "z.csv")
    # kernlab 0.9-31, kpca(kernel = "rbfdot", kpar = list(sigma = 0.2)), eigenvalues / n
    stored = [0.324837732968991, 0.11906086623953, 0.0354473602433124, 0.0248222740763992]
    np.testing.assert_allclose(np.array(eigenvalues(found))[:4] / 150, stored, rtol=1e-9)
    frame = pl.read_csv("z.csv")
    assert frame.columns == [*(f"KPC{i}" for i in range(1, 6)), "species"]
    X = pl.read_csv("iris.csv").drop("species").to_numpy()
    Z = KernelPCA(5, kernel="rbf", gamma=0.2).fit_transform(X)
    same_up_to_signs(frame[:, :5].to_numpy(), Z, rtol=1e-9)
    assert found["measures"] == {"gamma": 0.2, "negativity": 0.0, "approximation_error": 0.0}
    assert found["n_variables"] is None


def test_kernel_and_gamma_are_said_as_decided(run, facts):
    _, out, _ = run("kernel-pca", "iris.csv", "-k", 2)
    assert "Note: kernel rbf, gamma = 0.25\n" in out  # 1 / 4 columns
    X = pl.read_csv("iris.csv").drop("species").to_numpy()
    apart = ((X[:, None] - X) ** 2).sum(axis=2)[np.triu_indices(150, 1)]
    found = facts("kernel-pca", "iris.csv", "--gamma", "median", "-k", 2)
    assert found["measures"]["gamma"] == pytest.approx(1 / np.median(apart), rel=1e-12)
    found = facts("kernel-pca", "iris.csv", "--kernel", "poly", "--degree", 2, "--coef0", 3)
    assert "kernel poly, gamma = 0.25, degree = 2, coef0 = 3" in found["notes"]
    assert found["n_axes"] == 10
    assert facts("kernel-pca", "iris.csv", "--kernel", "linear")["measures"]["gamma"] is None


def test_linear_kernel_is_pca(facts):
    kernel = facts("kernel-pca", "iris.csv", "--kernel", "linear", "-k", 4)
    axes = facts("pca", "iris.csv")["axes"]
    np.testing.assert_allclose(
        eigenvalues(kernel), [149 * axis["eigenvalue"] for axis in axes], rtol=1e-10
    )
    assert [a["share"] for a in kernel["axes"]] == pytest.approx([a["share"] for a in axes])


def test_no_center_is_kernel_mds(facts):
    found = facts("kernel-pca", "iris.csv", "--kernel", "linear", "--no-center", "-k", 4)
    X = pl.read_csv("iris.csv").drop("species").to_numpy()
    np.testing.assert_allclose(
        eigenvalues(found), np.linalg.svd(X, compute_uv=False) ** 2, rtol=1e-10
    )
    assert any(note.startswith("not centered") for note in found["notes"])


def test_kernel_landmarks_say_their_error(facts):
    found = facts("kernel-pca", "iris.csv", "--landmarks", 40, "-k", 2)
    exact = facts("kernel-pca", "iris.csv", "-k", 2)
    error = found["measures"]["approximation_error"]
    assert 0 < error < 0.05
    assert abs(eigenvalues(found)[0] / eigenvalues(exact)[0] - 1) < error
    assert any("40 landmarks of 150 points miss" in note for note in found["notes"])


def test_no_kernel_is_said(run):
    code, out, err = run(
        *("kernel-pca", "iris.csv", "--kernel", "sigmoid", "--gamma", 0.01, "--coef0", -1, "-k", 2)
    )
    assert code == 0
    assert "most negative eigenvalue is 1.1% of the largest" in out
    assert "warning: the kernel is not positive semi-definite" in err


# ---------------------------------------------------------------- both: reports, files, refusals


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["classical-mds", "cities.csv"], ["ClassicalMDS of cities.csv", "Chicago", "goodness of"]),
        (
            ["kernel-pca", "iris.csv", "-k", "3", "--color", "species"],
            ["KernelPCA of iris.csv", "versicolor", "kernel rbf, gamma = 0.25"],
        ),
    ],
)
def test_reports(run, monkeypatch, arguments, words):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    arguments = [*arguments, "--report", "r.html", "-o", "z.npy", "--force"]
    monkeypatch.setattr(sys, "argv", ["gramian", *arguments])
    pages = []
    for _ in range(2):
        code, _, err = run(*arguments)
        assert code == 0
        assert "report written to r.html" in err
        pages.append(Path("r.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1]
    for word in [*words, "gramian " + arguments[0], "Certified"]:
        assert word in pages[0], word
    assert 'id="variables"' not in pages[0]  # there are no loadings to show


def test_distances_with_decimal_commas(run):
    rows = ["0;1,5;2;2,5", "1,5;0;1;2", "2;1;0;1,5", "2,5;2;1,5;0"]
    Path("commas.csv").write_text("# made by hand\n" + "\n".join(rows))
    Path("points.csv").write_text("\n".join(rows).replace(",", ".").replace(";", ","))
    ways = (("commas.csv", "--decimal", ","), ("points.csv",))

    def maps(*command):
        for way in ways:
            code, _, err = run(*command, *way, "-o", "map.csv", "--save", "m.gramian", "--force")
            assert code == 0, err
            yield Path("map.csv").read_text()

    for command in (["mds"], ["isomap", "--metric", "precomputed", "--neighbors", "3"]):
        assert len(set(maps(*command))) == 1
    assert len(set(maps("classical-mds"))) == 1
    out = run("check", *ways[0])[1]
    assert out == run("check", *ways[1])[1] and "between 4 points" in out
    placed = []
    for way in ways:
        assert run("transform", "m.gramian", *way, "-o", "map.csv", "--force")[0] == 0
        placed.append(Path("map.csv").read_text())
    assert placed[0] == placed[1]


def test_help_names_its_own_options_first(run):
    out = run("classical-mds", "--help")[1]
    assert out.index("--metric") < out.index("--output") < out.index("--json")
    assert "Example: gramian classical-mds" in out
    assert "--standardize" not in out
    assert "--gamma NUMBER|median" in run("kernel-pca", "--help")[1]
    assert "classical-mds" in run("--help")[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["classical-mds"], "FILE"),
        (["classical-mds", "absent.csv"], "absent.csv"),
        (
            ["classical-mds", "iris.csv"],
            "compute distances between its rows first (here: add --metric",
        ),
        (["classical-mds", "wide.csv"], "is not square"),
        (["classical-mds", "wide.csv"], "(here: add --metric euclidean)"),
        (["classical-mds", "negative.csv"], "negative"),
        (["classical-mds", "asymmetric.csv"], "symmetric"),
        (["classical-mds", "diagonal.csv"], "diagonal"),
        (["classical-mds", "nan.csv"], "missing"),
        (["classical-mds", "zero.csv"], "all points are equal"),
        (
            ["classical-mds", "iris.csv", "--metric", "euclidian"],
            "did you mean 'euclidean'",
        ),
        (["classical-mds", "gaps.csv", "--metric", "euclidean"], "1 value missing, the first in"),
        (["classical-mds", "cities.csv", "--correction", "magic"], "lingoes"),
        (["classical-mds", "cities.csv", "--landmarks", "3"], "--landmarks 3"),
        (["classical-mds", "cities.csv", "-k", "9"], "from 1 to 8"),
        (["classical-mds", "cities.csv", "-k", "two"], "see gramian classical-mds --help"),
        (["classical-mds", "cities.csv", "--color", "x"], "--color is for tables; cities.csv"),
        (["classical-mds", "cities.csv", "--decimal", ","], "has a decimal point, but --decimal ,"),
        (["classical-mds", "commas.csv"], "decimal comma, say so (--decimal ,)"),
        (["classical-mds", "named.csv"], "decimal comma, say so (--decimal ,)"),
        (["mds", "commas.csv", "--decimal", ";"], "decimal must be '.' or ','"),
        (["check", "commas.csv"], "decimal comma, say so (--decimal ,)"),
        (["classical-mds", "cities.csv", "-o", "cities.csv", "--force"], "is the input file"),
        (["kernel-pca", "absent.csv"], "no such file"),
        (["kernel-pca", "gaps.csv"], "1 value missing, the first in column 'b', row 2"),
        (
            ["kernel-pca", "iris.csv", "--kernel", "rfb"],
            "did you mean 'rbf'",
        ),
        (["kernel-pca", "iris.csv", "--gamma", "wide"], "--gamma takes a number above 0"),
        (["kernel-pca", "iris.csv", "--gamma", "-1"], "a number above 0"),
        (["kernel-pca", "iris.csv", "--gamma", "nan"], "a number above 0"),
        (["kernel-pca", "iris.csv", "-k", "150"], "from 1 to 149"),
        (["kernel-pca", "iris.csv", "--landmarks", "5"], "above -k"),
        (
            [*("kernel-pca", "iris.csv", "--kernel", "tanh", "--landmarks", "8", "-k", "2")],
            "this one is not; use all points (no --landmarks), or another kernel",
        ),
        (
            ["kernel-pca", "iris.csv", "--kernel", "poly", "--gamma", "median"],
            "--gamma median: a number above 0 is needed",
        ),
        (["kernel-pca", "iris.csv", "--degree", "x"], "see gramian kernel-pca --help"),
        (["kernel-pca", "same.csv"], "all points are equal"),
    ],
)
def test_one_sentence_and_exit_2(run, arguments, words):
    Path("wide.csv").write_text("0,1,2\n1,0,3\n")
    Path("negative.csv").write_text("0,-1\n-1,0\n")
    Path("commas.csv").write_text("0;1,5;2\n1,5;0;1\n2;1;0\n")
    Path("named.csv").write_text(";a;b\na;0;1,5\nb;1,5;0\n")
    Path("asymmetric.csv").write_text("0,1,2\n5,0,1\n2,1,0\n")
    Path("diagonal.csv").write_text("1,2\n2,1\n")
    Path("nan.csv").write_text("0,NA\nNA,0\n")
    Path("zero.csv").write_text("0,0\n0,0\n")
    Path("gaps.csv").write_text("a,b\n1,2\n3,NA\n5,7\n")
    Path("same.csv").write_text("a,b\n1,2\n1,2\n1,2\n")
    before = sorted(os.listdir())
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert words in err
    assert sorted(os.listdir()) == before


def test_memory_is_refused_with_exit_4(run, facts):
    X = np.random.default_rng(0).normal(size=(3000, 80))
    np.save("x.npy", X)
    code, out, err = run("classical-mds", "x.npy", "--metric", "euclidean", "--memory", "20MB")
    assert (code, out) == (4, "")
    assert "distances between 3000 points need 72 MB, the budget is 20 MB" in err
    code, _, err = run("kernel-pca", "x.npy", "--memory", "1MB", "-k", 2)
    assert code == 4
    assert "the points need 1.92 MB" in err
    code, _, err = run("kernel-pca", "x.npy", "--memory", "20MB", "--landmarks", 900, "-k", 2)
    assert code == 4
    assert "900 landmarks" in err
    found = facts(
        *("classical-mds", "x.npy", "--metric", "euclidean", "--memory", "20MB"),
        *("--landmarks", 100),
    )
    assert found["n_observations"] == 3000  # what the sentence advises does work


def test_distances_larger_than_the_budget_stay_in_their_file(facts):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3)) * [3, 2, 1]
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    np.save("d.npy", D)
    found = facts("classical-mds", "d.npy", "--memory", "3MB", "-o", "z.npy")
    Y = X - X.mean(axis=0)
    np.testing.assert_allclose(
        eigenvalues(found), np.linalg.svd(Y, compute_uv=False)[:2] ** 2, rtol=1e-9
    )
    assert np.load("z.npy").shape == (700, 2)


# ---------------------------------------------------------------- mds


def test_mds_of_the_cities(run, facts, tmp_path):
    found = facts("mds", "cities.csv", "-o", "map.csv", "--save", "m.gramian", "--report", "r.html")
    assert found["method"] == "MDS" and found["n_observations"] == 9
    assert abs(found["measures"]["stress_1"] - 0.013991) < 5e-7  # smacof 2.1-7
    assert found["measures"]["n_agreeing"] >= 2
    table = pl.read_csv("map.csv")
    assert tuple(table["label"]) == NAMES and table.columns == ["label", "MDS1", "MDS2"]
    page = Path("r.html").read_text(encoding="utf-8")
    assert "Stress per point" in page and "Shepard diagram" in page
    placed = run("transform", "m.gramian", "cities.csv", "-o", "again.csv")
    assert placed[0] == 0
    again = pl.read_csv("again.csv").select("MDS1", "MDS2").to_numpy()
    assert np.abs(again - table.drop("label").to_numpy()).max() < 1


def test_mds_options(run, facts):
    for option, value in (
        ("--loss", "sammon"),
        ("--measurement", "interval"),
        ("--ties", "secondary"),
    ):
        found = facts("mds", "cities.csv", option, value, "--starts", 1)
        assert found["parameters"][option[2:]] == value and found["parameters"]["n_init"] == 1
    code, _, err = run("mds", "cities.csv", "--measurement", "ordinl")
    assert code == 2 and "did you mean 'ordinal'" in err
    code, _, err = run("mds", "cities.csv", "--measurement", "ordinal")
    assert code == 0 and "nearly 0" in err
    code, _, err = run("mds", "cities.csv", "--loss", "sammon", "--measurement", "ordinal")
    assert code == 2 and "Traceback" not in err
    assert run("plan", "mds", "cities.csv")[0] == 0


def test_mds_takes_gaps_and_says_so(run):
    text = labeled(",").splitlines()
    cells = [line.split(",") for line in text]
    cells[1][2] = cells[2][1] = "NA"
    Path("gaps.csv").write_text("\n".join(",".join(line) for line in cells) + "\n")
    code, out, err = run("mds", "gaps.csv")
    assert code == 0 and "1 of 36 distances are missing" in err
    assert "1 distance missing" in out
    assert run("classical-mds", "gaps.csv")[0] == 2
