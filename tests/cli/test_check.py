"""``gramian check``: the verdict on standard output, every refusal in one sentence."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gramian.cli.app import main
from gramian.data.examples import iris_path

PROGRAM = Path(sys.executable).with_name("gramian.exe" if sys.platform == "win32" else "gramian")
DETOUR = ",Rome,Oslo,Bern\nRome,0,30,10\nOslo,30,0,12\nBern,10,12,0\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments):
        monkeypatch.setattr(sys, "argv", ["gramian", *map(str, arguments)])
        code = main([str(each) for each in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return run_command


def test_the_verdict_in_words(run):
    Path("d.csv").write_text(DETOUR)
    code, out, err = run("check", "d.csv")
    assert (code, err) == (0, "")
    assert "Distances between 3 points" in out
    assert "no: Rome to Oslo is 30, but over Bern only 22 (10 + 12)" in out
    assert "1 of 3 eigenvalues are negative" in out
    assert "add 8 to every distance (Cailliez)" in out  # 30 + c = 22 + 2 c
    np.save("d.npy", np.array([3.0, 4.0, 5.0]))
    code, out, err = run("check", "d.npy")
    assert (code, err) == (0, "")
    assert "metric     yes" in out
    assert "Euclidean  yes" in out
    assert "repair" not in out


def test_the_verdict_as_json(run):
    Path("d.csv").write_text(DETOUR)
    code, out, _ = run("check", "d.csv", "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["schema"] == 1
    assert facts["command"] == "gramian check d.csv --json"
    assert facts["n_points"] == 3
    assert facts["metric"]["worst"] == ["Rome", "Oslo", "Bern"]
    assert facts["metric"]["excess"] == 8
    assert not facts["euclidean"]["holds"]
    assert facts["euclidean"]["n_negative"] == 1
    assert np.isclose(facts["repairs"]["cailliez"], 8)
    np.save("d.npy", np.array([3.0, 4.0, 50.0]))
    assert json.loads(run("check", "d.npy", "--json")[1])["metric"]["worst"] == [1, 2, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,c,d\n1,2,3,4\n5,6,7,8\n", "2 x 4 and is not square"),
        (DETOUR.replace("30,10", "31,10"), "not symmetric"),
        (DETOUR.replace("0,12", "0,x"), "'x'"),
        (DETOUR.replace("Bern,10,12,0", "Bern,10,12,4"), "diagonal"),
        ("", "empty"),
    ],
)
def test_what_is_no_distance_is_refused_in_one_sentence(run, text, words):
    Path("d.csv").write_text(text)
    code, out, err = run("check", "d.csv")
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert words in err
    assert "Traceback" not in err


def test_a_table_of_observations_is_told_what_to_do(run):
    with iris_path() as path:
        code, _, err = run("check", path)
    assert code == 2
    assert "text in 'species'" in err
    assert "compute distances between its rows first" in err


def test_memory_and_absent_files(run):
    assert run("check", "absent.csv")[0] == 2
    n = 400
    D = np.ones((n, n)) - np.eye(n)
    np.save("d.npy", D)
    code, _, err = run("check", "d.npy", "--memory", "2MB")
    assert code == 4
    assert "400 points" in err


def test_standard_input(tmp_path):
    done = subprocess.run(
        [str(PROGRAM), "check", "-"], input=DETOUR, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0
    assert "over Bern" in done.stdout


def test_labels_cannot_command_the_terminal(run):
    Path("d.csv").write_text(DETOUR.replace("Rome", "\x1b[2J"))
    code, out, _ = run("check", "d.csv")
    assert code == 0
    assert "\x1b" not in out
    assert "\\x1b[2J" in out
