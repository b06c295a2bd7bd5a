"""The door for distances: everything that holds them gives the same matrix, or one sentence."""

import io
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from gramian.data.dissimilarities import open_cross_distances, open_distances
from gramian.data.rows import RowBlocked
from gramian.errors import GramianWarning, InputError, MemoryRefusedError

NAMES = ("ant", "bee", "cat", "dog")
CONDENSED = np.array([3.0, 4.0, 6.5, 5.0, 2.25, 1.0])
D4 = squareform(CONDENSED)


def one_sentence(error):
    text = str(error.value)
    assert "\n" not in text
    assert "Traceback" not in text
    return text


def refused(source, *words, kind=InputError, **options):
    with pytest.raises(kind) as error:
        open_distances(source, **options)
    text = one_sentence(error)
    for word in words:
        assert word in text, text


# ---------------------------------------------------------------- sources


def test_a_good_array_is_passed_on_as_it_is():
    for D in (D4, D4.astype(np.float32), np.asfortranarray(D4), D4[::-1, ::-1]):
        D.flags.writeable = False
        found = open_distances(D)
        assert found.D is D
        assert found.labels is None
        assert open_distances(found) is found


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.float16, ">f8", np.longdouble])
def test_any_real_type(kind):
    given = (4 * D4).astype(kind)
    before = given.copy()
    found = open_distances(given).D
    assert found.dtype == (np.float32 if kind is np.float16 else np.float64)
    assert found.dtype.isnative
    assert np.array_equal(found, 4 * D4)
    assert np.array_equal(given, before)


def test_lists_and_condensed_vectors(tmp_path):
    np.save(tmp_path / "c.npy", CONDENSED)
    np.savez(tmp_path / "c.npz", d=CONDENSED)
    np.savez(tmp_path / "s.npz", d=D4)
    np.save(tmp_path / "s.npy", np.asfortranarray(D4))
    np.save(tmp_path / "i.npy", (4 * D4).astype(np.int32))
    sources = [D4.tolist(), CONDENSED, list(CONDENSED), *(tmp_path / f for f in ("c.npy", "c.npz"))]
    for source in [*sources, tmp_path / "s.npz", str(tmp_path / "s.npy")]:
        assert np.array_equal(open_distances(source).D, D4)
    assert np.array_equal(open_distances(tmp_path / "i.npy").D, 4 * D4)


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_condensed_is_scipys_order(n, seed):
    d = np.random.default_rng(seed).random(n * (n - 1) // 2) + 0.1
    assert np.array_equal(open_distances(d).D, squareform(d))


def test_frames_with_and_without_labels():
    named = pd.DataFrame(D4, index=NAMES, columns=NAMES)
    bare = pd.DataFrame(D4)
    numbered = pd.DataFrame(D4, index=[7, 5, 3, 1], columns=[7, 5, 3, 1])
    polars = pl.DataFrame(D4, schema=list(NAMES))
    with_ids = polars.insert_column(0, pl.Series("id", NAMES))
    counted = pl.DataFrame(D4)
    numeric_ids = pl.DataFrame(D4, schema=["7", "5", "3", "1"]).insert_column(
        0, pl.Series("id", [7, 5, 3, 1])
    )
    expected = [NAMES, None, ("7", "5", "3", "1"), NAMES, NAMES, None, ("7", "5", "3", "1")]
    frames = [named, bare, numbered, polars, with_ids, counted, numeric_ids]
    for frame, labels in zip(frames, expected, strict=True):
        found = open_distances(frame)
        assert np.array_equal(found.D, D4)
        assert found.labels == labels


def test_scikit_bio_by_its_attributes():
    matrix = SimpleNamespace(data=D4, ids=NAMES, shape=D4.shape)
    found = open_distances(matrix)
    assert np.array_equal(found.D, D4)
    assert found.labels == NAMES


def text_of(rows, header=None, labels=None, sep=","):
    lines = [] if header is None else [sep.join(header)]
    for i, row in enumerate(rows):
        cells = [f"{x:g}" for x in row]
        lines.append(sep.join(cells if labels is None else [labels[i], *cells]))
    return "\n".join(lines) + "\n"


DIGITS = ("1", "2", "3", "4")
LAYOUTS = {
    "bare": (text_of(D4), None),
    "blanks": (text_of(D4, sep="  "), None),
    "both": (text_of(D4, ["", *NAMES], NAMES), NAMES),
    "corner": (text_of(D4, ["id", *NAMES], NAMES), NAMES),
    "columns": (text_of(D4, NAMES), NAMES),
    "rows": (text_of(D4, labels=NAMES), NAMES),
    "R": (text_of(D4, NAMES, NAMES, " "), NAMES),
    "quoted": (text_of(D4, ['""', *(f'"{x}"' for x in NAMES)], [f'"{x}"' for x in NAMES]), NAMES),
    "lsmat": (text_of(D4, ["", *NAMES], NAMES, "\t"), NAMES),
    "lsmat digits": (text_of(D4, ["", *DIGITS], DIGITS, "\t"), DIGITS),
    "corner digits": (text_of(D4, ["id", *DIGITS], DIGITS), DIGITS),
    "column digits": (text_of(D4, DIGITS), DIGITS),
    "R digits": (text_of(D4, DIGITS, DIGITS, " "), DIGITS),
    "id named, digits": (text_of(D4, ["id", *NAMES], DIGITS), None),
    "phylip": ("4\n" + text_of(D4, labels=NAMES, sep=" "), NAMES),
    "phylip strict": (
        "    4\n" + text_of(D4, labels=[f"{x + ' x':10s}" for x in NAMES], sep=" "),
        tuple(f"{x} x" for x in NAMES),
    ),
    "phylip full names": (
        "4\n"
        + text_of(D4, labels=[f"{x * 4:.<10s}"[:10] for x in NAMES], sep=" ").replace(". ", "."),
        tuple(f"{x * 4:.<10s}"[:10] for x in NAMES),
    ),
    "phylip lower": ("4\nant\nbee 3\ncat 4 5\ndog 6.5 2.25 1\n", NAMES),
    "phylip lower, strict": (
        "4\nant hill  \nbee       3\ncat       4 5\ndog       6.5 2.25 1\n",
        ("ant hill", *NAMES[1:]),
    ),
    "phylip lower, diagonal": ("4\nant 0\nbee 3 0\ncat 4 5 0\ndog 6.5 2.25 1 0\n", NAMES),
    "phylip lower, digits": ("4\n1\n2 3\n3 4 5\n4 6.5 2.25 1\n", DIGITS),
    "phylip wrapped": (
        "4\nant 0 3\n  4 6.5\nbee 3 0 5\n 2.25\ncat 4 5 0 1\ndog 6.5 2.25 1 0\n",
        NAMES,
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_text_files(layout, tmp_path):
    text, labels = LAYOUTS[layout]
    for ending, end in ((".csv", "\n"), (".txt", "\r\n"), (".phy", "\n")):
        path = tmp_path / f"d{ending}"
        path.write_text(text, newline=end)
        if layout == "id named, digits":
            refused(path, "do not match", "'1'", "'ant'")
            continue
        found = open_distances(path)
        assert np.array_equal(found.D, D4), layout
        assert found.labels == labels
    if layout != "id named, digits":
        assert np.array_equal(open_distances(io.BytesIO(text.encode())).D, D4)


def with_commas(text, delimiter=";"):
    return text.replace(",", delimiter).replace(".", ",")


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if "phylip" not in name])
def test_decimal_commas(layout, tmp_path):
    text, labels = LAYOUTS[layout]
    path = tmp_path / "d.csv"
    path.write_text(with_commas(text))
    if layout == "id named, digits":
        refused(path, "do not match", decimal=",")
        return
    found = open_distances(path, decimal=",")
    assert np.array_equal(found.D, D4)
    assert found.labels == labels
    refused(path, "decimal comma, say so (decimal=',')")
    path.write_text(text)
    refused(path, "decimal", decimal=",")


def test_a_number_with_a_decimal_comma_is_no_label(tmp_path):
    path = tmp_path / "d.csv"
    for text in (
        "0;1,5;2\n1,5;0;1\n2;1;0\n",
        "0;1,5\n1,5;0\n",
        "1,5;2,5\n0;1\n1;0\n",
        "0,0;1\n1;0\n",
        "a;0;1,5\nb;1,5;0\n",
    ):
        path.write_text(text)
        refused(path, "decimal comma, say so (decimal=',')")
        if "1,5;2,5" not in text:
            assert open_distances(path, decimal=",").D[0, 1] in (1.5, 1.0)
    path.write_text("0;1.5\n1.5;0\n")
    refused(path, "decimal point, say so (decimal='.')", decimal=",")
    path.write_text(";1,2;1,3\n1,2;0;4\n1,3;4;0\n")  # an empty corner: these are names
    assert open_distances(path).labels == ("1,2", "1,3")
    refused(path, "decimal must be '.' or ','", decimal=";")
    new = tmp_path / "new.csv"
    new.write_text("0,5;1,5\n2,5;3\n")
    found = open_cross_distances(new, 2, decimal=",")
    assert np.array_equal(found, [[0.5, 1.5], [2.5, 3]])
    with pytest.raises(InputError, match="decimal comma, say so"):
        open_cross_distances(new, 2)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if "phylip" not in name])
def test_comments_at_the_top(layout, tmp_path):
    # as scikit-bio does; what has as many cells as the next line is the header
    text, labels = LAYOUTS[layout]
    path = tmp_path / "d.txt"
    for comments in ("# made by hand\n", "#\n# 4 points, unit: m\n#\n"):
        path.write_text(comments + text)
        if layout == "id named, digits":
            refused(path, "do not match")
            continue
        found = open_distances(path)
        assert np.array_equal(found.D, D4)
        assert found.labels == labels
    path.write_text("# of mice\n#id\t" + "\t".join(NAMES) + "\n" + text_of(D4, None, NAMES, "\t"))
    assert open_distances(path).labels == NAMES
    path.write_text("# one\n# two\n" + text_of(D4, ["", *NAMES], NAMES).replace("6.5", "x"))
    refused(path, "'x' on line 4")
    for nothing in ("#\n", "# a, b\n# c\n", "#"):
        path.write_text(nothing)
        refused(path, "d.txt")


@pytest.mark.parametrize("layout", ["bare", "rows", "both", "columns", "column digits"])
def test_a_delimiter_at_the_end_of_every_line(layout, tmp_path):
    text, labels = LAYOUTS[layout]
    path = tmp_path / "d.csv"
    path.write_text(text.replace("\n", ",\n"))
    with pytest.warns(GramianWarning, match="d.csv: the delimiter at the end of every line"):
        found = open_distances(path)
    assert np.array_equal(found.D, D4) and found.D.flags.c_contiguous
    assert found.labels == labels


def test_a_label_may_be_a_word_for_what_is_missing(tmp_path):
    names = ("NA", ".", "-", "nan")
    path = tmp_path / "d.csv"
    for header, labels, sep in (
        (["", *names], names, ","),
        (names, names, " "),
        (names, None, ","),
    ):
        path.write_text(text_of(D4, header, labels, sep))
        assert open_distances(path).labels == names


def test_one_point(tmp_path):
    path = tmp_path / "d.csv"
    for text in ("0", "0\n", "1\nant 0\n", ",a\na,0\n"):
        path.write_text(text)
        refused(path, "1 sample", "at least 2 points")


def test_similarities_are_told_from_distances():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    K = np.exp(-(squareform(pdist(X)) ** 2))
    shifted = np.corrcoef(X) + 3.0
    shares = np.abs(rng.normal(size=(300, 300))) + 4 * np.eye(300)  # a table of confusions
    for S in (100 * K, K + 20, shifted, 0.5 * K, shares, 6 * np.eye(300) - 3 * K):
        refused(S, "looks like similarities", "sqrt(k_ii + k_jj - 2 k_ij)", "'precomputed'")
    refused(K, "looks like similarities", "1 - S")
    refused(100 * K[:5, :5], "every row")
    wrong = squareform(pdist(X))
    wrong[7, 7] = wrong.max() + 1
    refused(wrong, "1 entry other than 0 on the diagonal", "row 7, column 7")
    np.fill_diagonal(wrong, 1e-3)  # of distances, after all
    refused(wrong, "300 entries other than 0 on the diagonal")


def test_parquet_and_gzip(tmp_path):
    import gzip

    pl.DataFrame(D4, schema=list(NAMES)).insert_column(0, pl.Series("id", NAMES)).write_parquet(
        tmp_path / "d.parquet"
    )
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(LAYOUTS["both"][0].encode()))
    files = [tmp_path / name for name in ("d.parquet", "d.csv.gz")]
    for source in (*files, *(io.BytesIO(path.read_bytes()) for path in files)):
        found = open_distances(source)
        assert np.array_equal(found.D, D4)
        assert found.labels == NAMES


# ---------------------------------------------------------------- rounding is mended


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n", [3, 256, 257, 700])
def test_rounding_is_mended_in_a_copy(kind, n):
    rng = np.random.default_rng(n)
    D = squareform(pdist(rng.normal(size=(n, 3)))).astype(kind)
    size = 0.4 * max(1e-8, 8 * np.finfo(kind).eps) * D.max()
    given = (D + size * (rng.random((n, n)) - 0.5)).astype(kind)
    given[1, 2] = given[2, 1] = -size / 4
    before = given.copy()
    found = open_distances(given).D
    assert found is not given
    assert np.array_equal(given, before)
    assert np.array_equal(found, found.T)
    assert not np.diagonal(found).any()
    assert found[1, 2] == 0
    expected = (given.astype(float) + given.T) / 2
    np.fill_diagonal(expected, 0)
    assert np.abs(found - np.maximum(expected, 0)).max() <= np.finfo(kind).eps * D.max()


# ---------------------------------------------------------------- bad inputs


def changed(i, j, value, both=True):
    D = D4.copy()
    D[i, j] = value
    if both:
        D[j, i] = value
    return D


def test_shapes():
    refused(np.zeros((3, 4)), "3 x 4", "not square", "pdist")
    refused(np.zeros((2, 2, 2)), "3 dimensions")
    refused(np.zeros((0, 0)), "no points", "at least 2 points")
    refused(np.zeros((1, 1)), "1 sample", "at least 2 points")
    refused(np.zeros(0), "no distances")
    refused(np.ones(5), "5 values", "3 points have 3 distances", "4 have 6")
    refused([[0, 1], [1]], "unequal length")
    refused(scipy.sparse.eye(3).tocsr(), "sparse", ".toarray()")


def test_values():
    refused(changed(1, 3, -2.0), "2 negative distances", "row 1, column 3")
    refused(changed(0, 2, np.nan), "2 missing values (NaN)", "row 0, column 2")
    refused(changed(2, 3, np.inf), "2 infinite entries (inf)", "row 2, column 3")
    refused(changed(1, 2, 5.5, both=False), "not symmetric", "0.5", "5.5", "row 1, column 2")
    refused(changed(2, 2, 7.0), "1 entry other than 0 on the diagonal", "7", "row 2, column 2")
    refused(np.zeros((5, 5)), "all points are equal")
    refused(np.triu(D4), "above its diagonal", "D + D.T")
    refused(np.tril(D4), "below its diagonal", "D + D.T")
    refused(1 - D4 / 10, "looks like similarities", "1 - S")
    refused(np.corrcoef(np.random.default_rng(0).random((4, 9))), "looks like similarities")
    refused(D4 + 0j, "Complex")
    refused(np.array([["a", "b"], ["c", "d"]]), "not a number")
    refused(1e-9 * np.ones((3, 3)) + 1e-3 * np.triu(np.ones((3, 3)), 1), "symmetric")


def test_cells_are_named_by_their_labels():
    refused(pd.DataFrame(changed(1, 3, -2.0), index=NAMES, columns=NAMES), "'bee' and 'dog'")


@given(st.integers(2, 600), st.data())
def test_the_first_bad_cell_is_found_wherever_it_stands(n, data):
    D = np.ones((n, n)) - np.eye(n)
    cells = data.draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=4)
    )
    for i, j in cells:
        D[i, j] = np.nan
    first = np.argwhere(np.isnan(D))[0]
    count = int(np.isnan(D).sum())
    refused(D, f"{count} missing value", f"at row {first[0]}, column {first[1]} ")
    refused(
        np.where(np.isnan(D), -3.0, D), f"{count} negative", f"row {first[0]}, column {first[1]} "
    )


def test_missing_values_may_pass_in_pairs():
    D = changed(0, 2, np.nan)
    found = open_distances(D, missing=True)
    assert found.D is D
    refused(changed(0, 2, np.nan, both=False), "other side", missing=True)
    refused(changed(1, 1, np.nan), "diagonal", missing=True)
    refused(np.where(D > 0, np.nan, 0), "all points are equal", missing=True)


def test_labels():
    swapped = ("bee", "ant", "cat", "dog")
    refused(pd.DataFrame(D4, index=NAMES, columns=swapped), "another order", "'ant'", "'bee'")
    refused(pd.DataFrame(D4, index=NAMES, columns=["ant", "bee", "cow", "dog"]), "'cat'", "'cow'")
    refused(pd.DataFrame(D4, index=["ant"] * 4), "several of 'ant'")
    refused(pl.DataFrame({"a": [0, 1], "b": [1, 0], "c": ["x", "y"]}), "'c' holds text")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        ("a,b\n0,1\n1,0\n0,0\n", ["3 x 2", "not square"]),
        (",a,b\na,0,1\nb,x,0\n", ["'x'"]),
        (",a,b\na,0,1\nb,1\n", ["line 3", "2 fields"]),
        (",a,b,c\na,0,1,2\nb,1,0,3\n", ["2 x 3"]),
        (",a,b\nb,0,1\na,1,0\n", ["another order"]),
        (",a,a\na,0,1\na,1,0\n", ["'a'"]),
        ("0,1e400\n1e400,0\n", ["1e400"]),
        ("4\nant 0 1 2 3\nbee 1 0 2 3\n", ["4 points", "ends after 2", "cut short"]),
        ("2\nant 0 1\nbee 1 0 3\n", ["line 3", "3 distances where 2"]),
        ("2\nant 0 x\nbee 1 0\n", ["line 2", "'x'"]),
        ("2\nant 0 1\nbee 1 0\ncat 1 0\n", ["line 4 goes on"]),
        ("3\nant\nbee 1\ncat 1\n", ["1 distances where 2"]),
    ],
)
def test_bad_text_files(text, words, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(text)
    refused(path, *words)


def test_bad_files(tmp_path):
    refused(tmp_path / "absent.npy", "there is no file")
    refused(tmp_path, "is a folder")
    np.save(tmp_path / "d.npy", D4)
    whole = (tmp_path / "d.npy").read_bytes()
    (tmp_path / "short.npy").write_bytes(whole[:-8])
    refused(tmp_path / "short.npy", "cut short")
    np.savez(tmp_path / "two.npz", a=D4, b=D4)
    refused(tmp_path / "two.npz", "exactly one array")
    np.save(tmp_path / "3d.npy", np.zeros((2, 2, 2)))
    refused(tmp_path / "3d.npy", "2 x 2 x 2")


CELLS = st.sampled_from(["", "0", "1", "2.5", "-3", "a", "b", "nan", "1e400", '"', "x y", "4"])


@given(
    st.lists(st.lists(CELLS, max_size=5), max_size=6),
    st.sampled_from([",", "\t", " ", ";"]),
    st.sampled_from(["", "3\n", "2\n", "\n"]),
)
def test_any_text_is_read_or_refused_in_one_sentence(rows, delimiter, start):
    text = start + "\n".join(delimiter.join(row) for row in rows)
    said, D = "", np.zeros((2, 2))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GramianWarning)  # a delimiter at the end of every line
            D = open_distances(io.BytesIO(text.encode())).D
    except InputError as error:
        said = str(error)
    assert "\n" not in said
    assert np.isfinite(D).all()
    assert np.array_equal(D, D.T)
    assert not np.diagonal(D).any()
    assert (D >= 0).all()


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    for source in (io.BytesIO(data), io.BytesIO(b"3\n" + data)):
        with pytest.raises(InputError) as error:
            open_distances(source)
        assert "\n" not in str(error.value)


# ---------------------------------------------------------------- memory


def test_a_large_file_stays_where_it_is(tmp_path):
    n = 600  # 2.9 MB
    D = squareform(pdist(np.random.default_rng(0).normal(size=(n, 4))))
    for order in "CF":
        np.save(tmp_path / "d.npy", np.asarray(D, order=order))
        found = open_distances(tmp_path / "d.npy", "3MB")
        assert isinstance(found.D, RowBlocked)
        assert found.D.passes == 1
        assert np.array_equal(found.D.read_rows(slice(5, 9)), D[5:9])
        v = np.ones((n, 1))
        assert np.allclose(found.D @ v, D @ v, rtol=1e-13)
        for cell, value, word in (
            ((599, 300), np.nan, "row 599, column 300"),
            ((2, 598), np.inf, "row 2, column 598"),
            ((257, 255), -1.0, "row 257, column 255"),
            ((255, 257), 99.0, "row 255, column 257"),
            ((400, 400), 1.0, "row 400, column 400"),
        ):
            wrong = D.copy()
            wrong[cell] = value
            np.save(tmp_path / "wrong.npy", np.asarray(wrong, order=order))
            refused(tmp_path / "wrong.npy", word, memory="3MB")
    assert isinstance(open_distances(tmp_path / "d.npy", "10MB").D, np.ndarray)


def test_what_does_not_fit_is_refused_before_it_is_made(tmp_path):
    D = np.ones((600, 600), np.int16) - np.eye(600, dtype=np.int16)
    refused(D, "2.88 MB", kind=MemoryRefusedError, memory="2MB")
    refused(squareform(D), "2.88 MB", kind=MemoryRefusedError, memory="2MB")
    np.savez(tmp_path / "d.npz", d=D.astype(float))
    refused(tmp_path / "d.npz", "2.88 MB", kind=MemoryRefusedError, memory="2MB")
    almost = D.astype(float)
    almost[1, 2] += 1e-12
    refused(almost, "2.88 MB", kind=MemoryRefusedError, memory="2MB")
    (tmp_path / "d.phy").write_text("600\n" + "a\n" * 600)
    refused(tmp_path / "d.phy", "600 points", kind=MemoryRefusedError, memory="2MB")


# ---------------------------------------------------------------- distances of new points


def test_cross_distances(tmp_path):
    X = D4[:2] + 1
    assert open_cross_distances(X, 4) is X
    assert np.array_equal(open_cross_distances(X[0], 4), X[:1])
    assert np.array_equal(open_cross_distances(X.astype(int), 4), X.astype(int))
    mixed = [2, 0, 3, 1]
    frame = pd.DataFrame(X[:, mixed], columns=[NAMES[i] for i in mixed], index=["new", "newer"])
    assert np.array_equal(open_cross_distances(frame, 4, NAMES), X)
    frame.to_csv(tmp_path / "x.csv")
    assert np.array_equal(open_cross_distances(tmp_path / "x.csv", 4, NAMES), X)
    np.save(tmp_path / "x.npy", X)
    assert np.array_equal(open_cross_distances(tmp_path / "x.npy", 4, NAMES), X)
    (tmp_path / "bare.csv").write_text(text_of(X))
    assert np.array_equal(open_cross_distances(tmp_path / "bare.csv", 4), X)


def test_rounding_in_cross_distances_is_mended():
    given = np.array([[-1e-17, 2.0, 3.0, 4.0]])
    assert np.array_equal(open_cross_distances(given, 4), [[0, 2, 3, 4]])
    assert given[0, 0] < 0


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (np.ones((2, 3)), ["(2, 3)", "4 points"]),
        (np.zeros((0, 4)), ["(0, 4)"]),
        ([[1, 2, 3, -4]], ["negative", "row 0, column 3"]),
        ([[1, np.nan, 3, 4]], ["NaN", "row 0, column 1"]),
        ([[1, 2, np.inf, 4]], ["inf", "row 0, column 2"]),
        ([[1, 2, np.inf, -np.inf]], ["2 of", "inf", "row 0, column 2"]),
        ([[-1, -2, -3, -4]], ["4 of its distances negative (< 0)"]),
        (pd.DataFrame([[1, 2, 3, 4]], columns=list("abcd")), ["'ant', 'bee', 'cat' and 'dog'"]),
        (pd.DataFrame([[1, 2, 3, 4]], columns=["ant", "bee", "cat", "cow"]), ["'dog'", "'cow'"]),
    ],
)
def test_bad_cross_distances(source, words):
    with pytest.raises(InputError) as error:
        open_cross_distances(source, 4, NAMES)
    text = one_sentence(error)
    for word in words:
        assert word in text, text
