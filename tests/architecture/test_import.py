"""`import gramian` is light, `gramian --version` is quick, and every public name is there."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

import gramian

HEAVY = {
    *("numpy", "scipy", "sklearn", "numba", "llvmlite", "polars", "pandas", "pyarrow"),
    *("plotly", "matplotlib", "dask", "safetensors", "typer", "rich"),
}
PROGRAM = Path(sys.executable).with_name("gramian.exe" if sys.platform == "win32" else "gramian")


def seconds(*command: str) -> float:
    """Wall time of a command that must succeed."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def loaded_by(statement: str) -> set[str]:
    """Top-level packages in sys.modules of a fresh Python after one statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return {name.split(".")[0] for name in done.stdout.split()}


def test_import_loads_nothing_heavy() -> None:
    loaded = loaded_by("import gramian")
    assert "gramian" in loaded
    assert not loaded & HEAVY


def test_dir_and_version_load_nothing_heavy() -> None:
    assert not loaded_by("import gramian; dir(gramian); gramian.__version__") & HEAVY


def test_import_costs_less_than_100_ms() -> None:
    # Best of several, taken in turns: a busy machine makes single runs slow, never fast.
    bare = least = float("inf")
    for turn in range(60):
        bare = min(bare, seconds(sys.executable, "-c", "pass"))
        least = min(least, seconds(sys.executable, "-c", "import gramian"))
        if turn >= 5 and least - bare < 0.100:
            break
    assert least - bare < 0.100, f"import gramian: {least:.3f} s, bare Python: {bare:.3f} s"


def test_version_takes_less_than_200_ms() -> None:
    least = float("inf")
    for _ in range(40):
        least = min(least, seconds(str(PROGRAM), "--version"))
        if least < 0.200:
            break
    assert least < 0.200, f"gramian --version: {least:.3f} s"


def test_version_is_the_packages_version() -> None:
    done = subprocess.run(
        [str(PROGRAM), "--version"], check=True, capture_output=True, encoding="utf-8"
    )
    assert gramian.__version__ in done.stdout.split()


@pytest.mark.parametrize("name", gramian.__all__)
def test_public_name_resolves(name: str) -> None:
    assert getattr(gramian, name) is not None


@pytest.mark.parametrize("name", dir(gramian))
def test_listed_name_resolves(name: str) -> None:
    assert getattr(gramian, name) is not None


def test_all_is_listed_and_unknown_names_are_refused() -> None:
    assert set(gramian.__all__) <= set(dir(gramian))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = gramian.no_such_name
