"""Who may import whom: import-linter's contracts hold, and each of them can fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = Path(sys.executable).with_name(
    "lint-imports.exe" if sys.platform == "win32" else "lint-imports"
)


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the contracts of pyproject.toml on the package that stands in `folder`."""
    return subprocess.run(
        [str(LINT), "--no-cache", "--config", str(ROOT / "pyproject.toml")],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
    )


def test_every_contract_is_kept() -> None:
    done = lint_imports(ROOT / "src")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


LAYERS = "Layers"
METHODS = "No method imports another method"
NUMBA = "Numba only in loops"
DASK = "Dask only in data/dask"


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("data/stranger.py", "import gramian.spectral", LAYERS),
        ("spectral/stranger.py", "import gramian.data", LAYERS),
        ("gram/stranger.py", "import gramian.spectral", LAYERS),
        ("maps.py", "def f():\n    from gramian.methods import stranger", LAYERS),
        ("errors.py", "import gramian.maps", LAYERS),
        ("loops/stranger.py", "import gramian.spectral", LAYERS),
        ("methods/stranger.py", "import gramian.report", LAYERS),
        ("quality/stranger.py", "import gramian.methods", LAYERS),
        ("quality/stranger.py", "import gramian.inference", LAYERS),
        ("unplaced.py", "", LAYERS),
        ("methods/stranger.py", "from gramian.methods import neighbor", METHODS),
        ("methods/embedder.py", "from gramian.methods import neighbor", METHODS),
        ("spectral/stranger.py", "from numba import njit", NUMBA),
        ("methods/stranger.py", "def f():\n    import numba.extending", NUMBA),
        ("data/stranger.py", "import llvmlite.ir", NUMBA),
        ("data/stranger.py", "import dask.array", DASK),
        ("data/dask_twin.py", "from distributed import Client", DASK),
    ],
)
def test_a_planted_import_breaks_its_contract(
    tmp_path: Path, module: str, line: str, contract: str
) -> None:
    package = tmp_path / "gramian"
    shutil.copytree(ROOT / "src" / "gramian", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (module, "methods/neighbor.py", "methods/stranger.py"):
        path = package / name
        path.parent.mkdir(exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.touch()
    with (package / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    verdicts = [text for text in done.stdout.splitlines() if text.startswith(contract)]
    assert any(" BROKEN" in text for text in verdicts), done.stdout + done.stderr
