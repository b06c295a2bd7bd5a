"""Every example in a docstring runs and gives what it says."""

import doctest
import importlib
import importlib.util
import pkgutil
from pathlib import Path

import pytest

import gramian

MODULES = sorted(
    each.name
    for each in pkgutil.walk_packages(gramian.__path__, "gramian.")
    if not each.name.endswith("__main__")
)
WITH_EXAMPLES = [
    name
    for name in MODULES
    if (spec := importlib.util.find_spec(name)) and ">>> " in Path(spec.origin).read_text("utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testmod(module, optionflags=flags)
    assert found.attempted > 0
    assert found.failed == 0
