"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

# The same commit gives the same answer; `test-full` looks for new examples.
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=300, print_blob=True)
settings.load_profile("fixed")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of reference data sets beside the checkout, or GRAMIAN_SHARED_DATA; skips without."""
    folder = Path(os.environ.get("GRAMIAN_SHARED_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"reference data absent: no folder {folder} (set GRAMIAN_SHARED_DATA)")
    return folder
