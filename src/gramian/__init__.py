"""See the shape of data: PCA and its relatives, fast, with every eigenpair certified.

Nearly every method here is one idea: build a symmetric Gram-like map, center it, take its top
eigenpairs, scale them, and extend to new points. Names are resolved on first use, so that
``import gramian`` loads no heavy package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramian.inference.horn import parallel_analysis
    from gramian.methods.classical_mds import ClassicalMDS
    from gramian.methods.kernel_pca import KernelPCA
    from gramian.methods.pca import PCA

__version__ = "0.1.0"

_home = {
    "ClassicalMDS": "gramian.methods.classical_mds",
    "KernelPCA": "gramian.methods.kernel_pca",
    "PCA": "gramian.methods.pca",
    "parallel_analysis": "gramian.inference.horn",
}
_modules = {
    "inference": "gramian.inference",
    "kernels": "gramian.gram.kernels",
    "plot": "gramian.plot",
    "quality": "gramian.quality",
    "report": "gramian.report",
    "schoenberg": "gramian.gram.schoenberg",
    "testing": "gramian.testing",
}

__all__ = ["PCA", "ClassicalMDS", "KernelPCA", "__version__", "parallel_analysis"]


def __getattr__(name: str) -> Any:
    if name in _home:
        return getattr(import_module(_home[name]), name)
    if name in _modules:
        return import_module(_modules[name])
    raise AttributeError(f"module 'gramian' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_modules])
