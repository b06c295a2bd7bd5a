"""Which versions of which packages are at work, without importing them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__all__ = ["WORKING", "versions"]

#: What a result depends on.
WORKING = ("gramian", "numpy", "scipy", "scikit-learn", "numba", "polars", "plotly")


def versions(names: tuple[str, ...] = WORKING) -> dict[str, str]:
    """Versions of those of the packages that are installed."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
