"""One version everywhere, and what a user needs is in the package."""

from __future__ import annotations

import re
import stat
import sys
from importlib import resources
from pathlib import Path

import pytest

import gramian

ROOT = Path(__file__).resolve().parents[2]


def test_citation_has_the_packages_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = re.search(r"^version: (\S+)$", text, re.MULTILINE)
    assert found
    assert found[1] == gramian.__version__


def test_package_says_it_is_typed() -> None:
    assert resources.files("gramian").joinpath("py.typed").is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no executable bit")
def test_ci_can_run() -> None:
    assert (ROOT / ".ci" / "run").stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize("target", ["demo", "test", "test-full", "bench", "lint", "clean"])
def test_make_and_dev_know_the_same_commands(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^[^#\t]*\b{target}\b.*:", makefile, re.MULTILINE)
    dev = (ROOT / "tools" / "dev.py").read_text(encoding="utf-8")
    assert f"def {target.replace('-', '_')}(" in dev
