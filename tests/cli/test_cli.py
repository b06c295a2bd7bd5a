"""The command line as a user meets it: what it prints where, writes, refuses, and returns."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gramian
from gramian.errors import CertificateWarning, MemoryRefusedError
from gramian.results import Embedding
from tests.report.payloads import PAYLOADS

PROGRAM = Path(sys.executable).with_name("gramian.exe" if sys.platform == "win32" else "gramian")


def spawn(*arguments, **options):
    return subprocess.run(
        [str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, timeout=120, **options
    )


class Stub:
    """Stands for a method, to come to ends that a healthy one does not come to."""

    end: Exception | None = None
    residual = 1e-3

    def __init__(self, **parameters):
        self.parameters = parameters

    def fit(self, X):
        if self.end is not None:
            raise self.end

    def to_embedding(self, X, *, labels=None, columns=None, details=False):
        warnings.warn("the second pair is rough", CertificateWarning, stacklevel=2)
        return Embedding(
            "PCA",
            np.zeros((150, 2)),
            ("PC1", "PC2"),
            eigenvalues=np.array([1.0, np.nan]),
            residuals=np.array([0.0, self.residual]),
            tolerance=1e-6,
            labels=labels,
            columns=columns or {},
        )


@pytest.fixture
def stub(monkeypatch):
    kind = type("PCA", (Stub,), {})
    monkeypatch.setattr("gramian.methods.pca.PCA", kind)
    return kind


# ---------------------------------------------------------------- 0: done


def test_version_and_help_are_quick():
    for arguments, limit in ((["--version"], 0.15), (["--help"], 0.4)):
        least = float("inf")
        for _ in range(40):  # a busy machine makes single runs slow, never fast
            start = time.perf_counter()
            done = spawn(*arguments)
            least = min(least, time.perf_counter() - start)
            assert done.returncode == 0
            if least < limit:
                break
        assert least < limit, arguments
    assert spawn("--version").stdout == f"gramian {gramian.__version__}\n"


def test_help_teaches(run):
    code, out, err = run()
    assert code == 0
    assert "gramian demo" in out
    assert run("--help")[1] == out
    assert err == ""
    assert "Example: gramian pca iris.csv" in run("pca", "--help")[1]


def test_demo(run, folder):
    code, out, err = run("demo")
    assert code == 0
    assert "PCA of iris.csv: 150 observations, 4 variables, 4 axes" in out
    assert "Certified: all 4 eigenpairs" in out
    assert "coordinates written to gramian-demo.csv" in err
    assert "report written to gramian-demo.html" in err
    assert pl.read_csv("gramian-demo.csv").columns == ["PC1", "PC2", "PC3", "PC4", "species"]
    assert "Fisher&#x27;s irises" in Path("gramian-demo.html").read_text(encoding="utf-8")
    assert run("demo", "--out-dir", "new/folder", "-q")[::2] == (0, "")
    assert sorted(os.listdir("new/folder")) == ["gramian-demo.csv", "gramian-demo.html"]
    assert run("demo")[0] == 0  # its own files it replaces


def test_demo_is_the_known_answer(run):
    run("demo", "-q")
    coordinates = pl.read_csv("gramian-demo.csv").select(pl.col("^PC.$")).to_numpy()
    known = [4.228241706034864, 0.2426707479286337, 0.07820950004291925, 0.02383509297344958]
    np.testing.assert_allclose(coordinates.var(axis=0, ddof=1), known, rtol=1e-12)
    np.testing.assert_allclose(coordinates.mean(axis=0), 0, atol=1e-13)


def test_pca_prints_and_says_what_it_decided(run):
    code, out, err = run("pca", "iris.csv")
    assert code == 0
    assert "species" in out  # the text column was left out, and that is said
    assert "add -o" in err
    assert run("pca", "iris.csv", "-q")[2] == ""


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("a,b,c\n1,,2\n2,,4\n4,,1\n", "column 'b' has no values.*--drop"),
        ("a,b,c\n1,,\n2,,\n4,,\n", "columns 'b' and 'c' have no values"),
        ("a,b,c\n1,2,3\n,,\n4,1,1\n", "row 2 has no values"),
        ("name,b,c\nAnn,2,3\nBob,,\nCy,4,1\n", "row 'Bob' has no values"),
    ],
)
def test_rows_and_columns_without_a_value_are_named(run, table, sentence):
    Path("empty.csv").write_text(table)
    code, _, err = run("ppca", "empty.csv", "-k", "1")
    assert code == 2 and re.search(sentence, " ".join(err.split()))


def test_further_words_for_missing(run):
    with open("gaps.csv", "w") as file:
        file.write("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(12)) + "3,?\n")
    code, _, err = run("pca", "gaps.csv")
    assert code == 2
    assert "line 14" in err
    assert "--missing" in err
    code, _, err = run("pca", "gaps.csv", "--missing", "?,n.d.")
    assert code == 2
    assert "1 value missing" in err


def test_outputs_of_every_kind(run):
    for name in ("z.csv", "z.tsv", "z.parquet", "z.npy"):
        assert run("pca", "iris.csv", "-k", 2, "-o", name)[0] == 0
    expected = np.load("z.npy")
    assert expected.shape == (150, 2)
    for frame in (pl.read_csv("z.csv"), pl.read_parquet("z.parquet")):
        assert frame.columns == ["PC1", "PC2", "species"]
        np.testing.assert_array_equal(frame[["PC1", "PC2"]].to_numpy(), expected)


def test_report_says_how_it_was_made(run, monkeypatch):
    arguments = ["pca", "iris.csv", "--color", "species", "--report", "my report.html"]
    monkeypatch.setattr(sys, "argv", ["gramian", *arguments])
    assert run(*arguments)[0] == 0
    page = Path("my report.html").read_text(encoding="utf-8")
    assert "--report &#x27;my report.html&#x27;" in page
    assert "PCA of iris.csv" in page


@pytest.mark.parametrize(
    ("arguments", "axes"), [([], 4), (["-k", "2"], 2), (["-k", "0.95"], 2), (["-k", "0.5"], 1)]
)
def test_number_of_axes(run, arguments, axes):
    assert json.loads(run("pca", "iris.csv", "--json", *arguments)[1])["n_axes"] == axes


def test_default_never_asks_for_too_many(run):
    Path("two.csv").write_text("a,b,c\n1,2,3\n4,5,9\n")
    assert json.loads(run("pca", "two.csv", "--json")[1])["n_axes"] == 1


def test_mle_and_standardize(run):
    facts = json.loads(run("pca", "iris.csv", "-k", "mle", "--standardize", "--json")[1])
    assert facts["parameters"]["scale"] == "unit"
    assert facts["parameters"]["n_components"] == "mle"
    same = json.loads(run("pca", "iris.csv", "-k", "mle", "--scale", "--json")[1])
    assert same["axes"] == facts["axes"]


def test_columns_id_and_color(run):
    Path("t.csv").write_text("name,a,b,c,class\nx,1,2,3,1\ny,2,1,5,2\nz,9,4,4,1\n")
    arguments = ["pca", "t.csv", "--id", "name", "--color", "class", "-o", "z.csv", "--force"]
    assert run(*arguments, "--drop", "c")[0] == 0
    frame = pl.read_csv("z.csv")
    assert frame["label"].to_list() == ["x", "y", "z"]
    assert frame["class"].to_list() == [1, 2, 1]
    facts = json.loads(run(*arguments, "--columns", "a, b", "--json")[1])
    assert facts["n_variables"] == 2


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ("1 2 1", [1, 2, 1]),
        ("1.5 2 3", [1.5, 2.0, 3.0]),
        ("007 010 007", ["007", "010", "007"]),
        ("a 2 3", ["a", "2", "3"]),
        ("1 - 2", ["1", "-", "2"]),
    ],
)
def test_color_column_keeps_its_values(run, cells, values):
    rows = [f"{i},{i * i},{cell}" for i, cell in enumerate(cells.split())]
    Path("t.csv").write_text("\n".join(["a,b,c", *rows]))
    assert run("pca", "t.csv", "--color", "c", "-o", "z.parquet")[0] == 0
    assert pl.read_parquet("z.parquet")["c"].to_list() == values


def test_numbers_as_others_write_them(run):
    Path("de.csv").write_text("a;b\n1,5;2\n2,5;7\n3,0;1\n")
    facts = json.loads(run("pca", "de.csv", "--decimal", ",", "--json")[1])
    assert facts["n_variables"] == 2
    Path("bare.txt").write_text("1\t2\n3\t4\n5\t9\n")
    facts = json.loads(run("pca", "bare.txt", "--no-header", "--delimiter", "tab", "--json")[1])
    assert facts["n_observations"] == 3


def test_npy_is_read_where_it_lies(run):
    X = np.random.default_rng(0).normal(size=(500, 20)).astype(np.float32)
    np.save("x.npy", X)
    code, out, _ = run("pca", "x.npy", "-o", "z.npy", "--json")
    assert code == 0
    facts = json.loads(out)
    assert (facts["n_observations"], facts["n_variables"], facts["n_axes"]) == (500, 20, 10)
    values = np.linalg.eigvalsh(np.cov(X.T.astype(float)))[::-1][:10]
    np.testing.assert_allclose([axis["eigenvalue"] for axis in facts["axes"]], values, rtol=1e-5)
    code, _, err = run("pca", "x.npy", "--color", "g")
    assert code == 2
    assert "--color is for tables" in err


def test_standard_input(folder):
    with open("iris.csv", "rb") as table:
        done = spawn("pca", "-", "--json", stdin=table, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["source"] == "standard input"


def test_json_is_plain(run, stub):
    stub.residual = 0.0
    code, out, _ = run("pca", "iris.csv", "--json", "-o", "z.csv")
    assert code == 0
    facts = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert facts["schema"] == 1
    assert facts["axes"][1]["eigenvalue"] is None
    assert facts["axes"][0]["share"] is None
    assert facts["certified"] is True
    assert facts["outputs"] == {"coordinates": "z.csv"}
    assert facts["gramian"] == gramian.__version__


def test_same_seed_same_bytes(run, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    outputs = []
    for _ in range(2):
        run("pca", "iris.csv", "--seed", 1, "-o", "z.csv", "--report", "r.html", "--force")
        outputs.append((Path("z.csv").read_bytes(), Path("r.html").read_bytes()))
    assert outputs[0] == outputs[1]


def test_completion():
    environment = {**os.environ, "_GRAMIAN_COMPLETE": "complete_bash"}
    environment |= {"COMP_WORDS": "gramian pca --sta", "COMP_CWORD": "2"}
    assert spawn(env=environment).stdout.split() == ["--standardize"]


# ---------------------------------------------------------------- 1: our bug


def test_a_bug_asks_for_a_report(run, stub, monkeypatch):
    stub.end = ZeroDivisionError("oops")
    code, out, err = run("pca", "iris.csv")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "bug in gramian" in err
    assert "ZeroDivisionError: oops" in err
    assert "Traceback" in run("pca", "iris.csv", "-v")[2]
    monkeypatch.setenv("GRAMIAN_DEBUG", "1")
    assert "Traceback" in run("pca", "iris.csv")[2]


# ---------------------------------------------------------------- 2: bad usage, bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pca"], "FILE"),
        (["pca", "absent.csv"], "no such file"),
        (["pca", "iris.cvs"], "did you mean 'iris.csv'"),
        (["pca", "."], "empty.csv: the file is empty"),  # a folder is all its files
        (["pca", "absent.npy"], "no file"),
        (["pca", "nan.csv"], "1 value missing, the first in column 'b', row 2"),
        (["pca", "empty.csv"], "empty"),
        (["pca", "one.csv"], "2"),
        (["pca", "iris.csv", "-k", "two"], "number of axes"),
        (["pca", "iris.csv", "-k", "0"], "-k 0"),
        (["pca", "iris.csv", "-k", "5"], "4"),
        (["pca", "iris.csv", "-k", "nan"], "-k nan"),
        (["pca", "iris.csv", "--columns", "petal lenght"], "did you mean 'petal length'"),
        (["pca", "iris.csv", "--columns", ","], "empty"),
        (["pca", "iris.csv", "--color", "nope"], "no column 'nope'"),
        (["pca", "iris.csv", "--memory", "lots"], "4GB"),
        (["pca", "iris.csv", "--memory", "-3GB"], "4GB"),
        (["pca", "iris.csv", "--memory", "0"], "4GB"),
        (["pca", "iris.csv", "--memory", "10"], "4GB"),
        (["pca", "iris.csv", "--decimal", ";"], "decimal"),
        (["pca", "iris.csv", "--seed", "-1"], "seed"),
        (["pca", "iris.csv", "--bogus"], "see gramian pca --help"),
        (["pca", "iris.csv", "-o", "z.xlsx"], ".parquet"),
        (["pca", "iris.csv", "-o", "z"], ".parquet"),
        (["pca", "iris.csv", "--report", "r.pdf"], ".html"),
        (["pca", "iris.csv", "-o", "absent/z.csv"], "no folder"),
        (["pca", "iris.csv", "-o", "iris.csv"], "is the input file"),
        (["pca", "iris.csv", "-o", "iris.csv", "--force"], "is the input file"),
        (["pca", "iris.csv", "-o", "./iris.csv", "--force"], "is the input file"),
        (["pca", "iris.csv", "-o", "kept.csv"], "--force"),
        (["pca", "iris.csv", "--report", "kept.html"], "--force"),
        (["bogus"], "bogus"),
        (["pac", "iris.csv"], "did you mean 'pca'"),
        (["plan", "pac", "iris.csv"], "did you mean 'pca'"),
        (["help", "kernel-pac"], "did you mean 'kernel-pca'"),
        (["cite", "kernel-pac"], "did you mean 'kernel-pca'"),
        (["compare", "iris.csv", "-m", "kernel-pac"], "did you mean 'kernel-pca'"),
        (["compare", "iris.csv", "-m", "'"], "no method"),
        (["compare", "iris.csv", "-m", "pca --bogus"], "--bogus"),
        (["compare", "iris.csv", "--neighbors", "75"], "--neighbors 75"),
        (["compare", "iris.csv", "-k", "5"], "at most 4 axes"),
        (["compare", "nan.csv"], "1 value missing"),
        (["plan", "pca", "absent.csv"], "no such file"),
        (["plan", "pca", "iris.csv", "-k", "5"], "4"),
        (["pca", "iris.csv", "--threads", "0"], "threads"),
        (["pca", "iris.csv", "--solver", "densee"], "did you mean 'dense'"),
        (["pca", "iris.csv", "--label", "nope"], "no column 'nope'"),
        (["pca", "iris.csv", "--memory", "1TBB"], "4GB"),
        (["--bogus"], "bogus"),
    ],
)
def test_one_sentence_and_exit_2(run, arguments, words):
    Path("nan.csv").write_text("a,b\n1,2\n3,NA\n5,7\n")
    Path("empty.csv").write_text("")
    Path("one.csv").write_text("a,b\n1,2\n")
    Path("kept.csv").write_text("precious")
    Path("kept.html").write_text("precious")
    before = sorted(os.listdir())
    iris = Path("iris.csv").read_bytes()
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert words in err
    assert "Traceback" not in err
    assert sorted(os.listdir()) == before
    assert Path("iris.csv").read_bytes() == iris
    assert Path("kept.csv").read_text() == Path("kept.html").read_text() == "precious"


def test_links_to_the_input_are_the_input(run):
    try:
        os.link("iris.csv", "hard.csv")
        os.symlink("iris.csv", "soft.csv")
    except OSError:
        pytest.skip("no links here")
    for name in ("hard.csv", "soft.csv"):
        code, _, err = run("pca", "iris.csv", "-o", name, "--force")
        assert code == 2
        assert "is the input file" in err


def test_outputs_are_checked_before_the_work(run, stub):
    stub.end = AssertionError("it computed")
    Path("kept.csv").write_text("precious")
    assert run("pca", "iris.csv", "-o", "kept.csv")[0] == 2
    assert run("pca", "absent.csv", "-o", "z.xlsx")[2].startswith("error: -o z.xlsx")


def test_two_outputs_in_one_file(run, monkeypatch):
    monkeypatch.setattr("gramian.results.WRITES", (".html",))
    code, _, err = run("pca", "iris.csv", "-o", "r.html", "--report", "./r.html")
    assert code == 2
    assert "same file" in err


def test_force_replaces(run):
    Path("z.csv").write_text("old")
    code, _, err = run("pca", "iris.csv", "-o", "z.csv", "--force")
    assert code == 0, err
    assert Path("z.csv").read_text().startswith("PC1,")


@pytest.mark.parametrize(
    "name", ["wei rd ü 漢.csv", "[red].csv", "-dash.csv", "$HOME.csv", "a\nb.csv"]
)
def test_odd_file_names(run, name):
    try:
        os.rename("iris.csv", name)
    except OSError:
        pytest.skip("this system has no such names")
    code, out, err = run("pca", f"./{name}", "-o", f"./{name}.npy", "--report", f"./{name}.html")
    assert code == 0, err
    assert len(np.load(f"{name}.npy")) == 150
    assert "\nb.csv" not in out + err


def test_names_cannot_command_the_terminal(run):
    names = list(dict.fromkeys(p[:60].replace("\x00", "") for p in PAYLOADS if p.strip()))
    names = [name.encode("utf-8", "replace").decode() for name in names]
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.normal(size=12) for name in names})
    frame.write_parquet("hostile.parquet")
    for arguments in ([], ["--columns", "a\x1b[2J\u202e"], ["--color", "[/x]\x1b[31m"]):
        _, out, err = run("pca", "hostile.parquet", *arguments)
        for stream in (out, err):
            text = stream.replace("\n", "").replace("\u200d", "")
            assert text.isprintable(), repr(text)


# ---------------------------------------------------------------- 3, 4, 130, and pipes


def test_uncertified_is_exit_3_with_the_result(run, stub):
    code, out, err = run("pca", "iris.csv", "-o", "z.npy")
    assert code == 3
    assert "NOT certified: PC2 of 2 eigenpairs" in out
    assert "warning: the second pair is rough" in err
    assert "warning: NOT certified" in err
    assert os.path.exists("z.npy")
    assert run("pca", "iris.csv", "-q")[::2] == (3, "")


def test_refused_memory_is_exit_4(run, stub):
    stub.end = MemoryRefusedError("needs 9 GB, 4 GB may be used")
    assert run("pca", "iris.csv")[::2] == (4, "error: needs 9 GB, 4 GB may be used\n")
    stub.end = MemoryError()
    code, _, err = run("pca", "iris.csv")
    assert code == 4
    assert "--memory" in err


def test_interrupt_is_exit_130(run, stub):
    stub.end = KeyboardInterrupt()
    assert run("pca", "iris.csv", "-o", "z.csv") == (130, "", "error: interrupted\n")
    assert not os.path.exists("z.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_stops_a_running_program(folder):
    pipe = folder / "pipe.csv"
    os.mkfifo(pipe)
    program = subprocess.Popen(
        [str(PROGRAM), "pca", str(pipe), "-o", "z.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    with open(pipe, "wb") as feed:  # opens once the program reads, so it is at work now
        feed.write(b"a,b\n1,2\n")
        feed.flush()
        time.sleep(0.2)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=30)
    assert program.returncode == 130
    assert (out, err) == (b"", b"error: interrupted\n")
    assert sorted(os.listdir(folder)) == ["iris.csv", "pipe.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_closed_pipe_is_quiet(folder):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [str(PROGRAM), "pca", "iris.csv", "-q", "-o", "z.csv"],
        stdout=write,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == b""
    assert (folder / "z.csv").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output(folder):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(PROGRAM), "pca", "iris.csv", "-q"], stdout=full, stderr=subprocess.PIPE, cwd=folder
        )
    assert done.returncode == 2
    assert done.stderr == b"error: cannot write to standard output: No space left on device\n"


def test_a_poor_console_is_no_reason_to_fail(folder):
    (folder / "t.csv").write_text("漢,ü\n1,2\n3,5\n4,4\n", encoding="utf-8")
    done = subprocess.run(
        [str(PROGRAM), "pca", "t.csv"],
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert done.returncode == 0
    assert b"\\u6f22" in done.stdout


# ---------------------------------------------------------------- color and progress


def test_color_only_where_wanted(run, monkeypatch):
    assert "\x1b" not in run("pca", "absent.csv")[2]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run("pca", "absent.csv")[2].startswith("\x1b[31;1merror: \x1b[0m")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("pca", "absent.csv")[2]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")
def test_progress_on_a_terminal_only(folder):
    import pty

    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    with open("results.txt", "wb") as results:
        program = subprocess.Popen(
            [str(PROGRAM), "pca", "iris.csv"],
            stdout=results,
            stderr=slave,
            cwd=folder,
            env=environment,
        )
    os.close(slave)
    shown = b""
    while True:  # a terminal that nobody reads would stop the program
        try:
            block = os.read(master, 65536)
        except OSError:
            break
        if not block:
            break
        shown += block
    os.close(master)
    assert program.wait(timeout=30) == 0
    assert b"reading iris.csv" in shown
    assert b"\x1b" not in Path("results.txt").read_bytes()
