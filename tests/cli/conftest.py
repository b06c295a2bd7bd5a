"""What all tests of the command line start from."""

from pathlib import Path

import pytest

from gramian.cli.app import main
from gramian.data.examples import iris_path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with the iris table in it."""
    monkeypatch.chdir(tmp_path)
    with iris_path() as path:
        Path("iris.csv").write_bytes(path.read_bytes())
    return tmp_path


@pytest.fixture
def run(folder, capfd):
    """Run the command in this process; returns exit code, standard output, standard error."""

    def run_command(*arguments):
        code = main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return run_command
