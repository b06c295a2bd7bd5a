"""See the shape of data: PCA and its relatives, fast, with every eigenpair certified.

Nearly every method here is one idea: build a symmetric Gram-like map, center it, take its top
eigenpairs, scale them, and extend to new points. Names are resolved on first use, so that
``import gramian`` loads no heavy package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gramian.methods import METHODS

if TYPE_CHECKING:
    from gramian.inference.horn import parallel_analysis
    from gramian.methods.classical_mds import ClassicalMDS
    from gramian.methods.genotypes import GenotypePCA
    from gramian.methods.ica import ICA
    from gramian.methods.isomap import Isomap
    from gramian.methods.kernel_pca import KernelPCA
    from gramian.methods.laplacian import LaplacianEigenmaps
    from gramian.methods.locally_linear import LocallyLinearEmbedding
    from gramian.methods.lsi import LSI
    from gramian.methods.mds import MDS
    from gramian.methods.model_files import load
    from gramian.methods.pca import PCA
    from gramian.methods.ppca import ProbabilisticPCA
    from gramian.methods.random_projection import RandomProjection
    from gramian.methods.unfolding import MaximumVarianceUnfolding

__version__ = "0.1.0"

_home = METHODS | {
    "load": "gramian.methods.model_files",
    "parallel_analysis": "gramian.inference.horn",
}
_modules = {
    "inference": "gramian.inference",
    "kernels": "gramian.gram.kernels",
    "plot": "gramian.plot",
    "quality": "gramian.quality",
    "rank": "gramian.rank",
    "report": "gramian.report",
    "schoenberg": "gramian.gram.schoenberg",
    "testing": "gramian.testing",
}

__all__ = [
    "ICA",
    "LSI",
    "MDS",
    "PCA",
    "ClassicalMDS",
    "GenotypePCA",
    "Isomap",
    "KernelPCA",
    "LaplacianEigenmaps",
    "LocallyLinearEmbedding",
    "MaximumVarianceUnfolding",
    "ProbabilisticPCA",
    "RandomProjection",
    "__version__",
    "load",
    "parallel_analysis",
]


def __getattr__(name: str) -> Any:
    if name in _home:
        return getattr(import_module(_home[name]), name)
    if name in _modules:
        return import_module(_modules[name])
    raise AttributeError(f"module 'gramian' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_modules])
