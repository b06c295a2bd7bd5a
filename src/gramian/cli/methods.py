"""The methods, one small declaration each: what every command that names a method reads.

A declaration is a function. Its docstring is the help, its parameters after the first are the
method's own options, and it returns the unfitted estimator. ``@method`` adds it to ``METHODS``;
commands, ``plan``, ``compare``, ``help``, ``cite`` and completion follow from there. A method with
an option ``metric`` reads distances while that is ``"precomputed"``, else rows of a table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from gramian.cli import options
from gramian.cli.request import parameters_of

__all__ = ["METHODS", "Method", "Wanted"]


class Wanted(NamedTuple):
    """What an estimator is made for: the shape of the data, and what every method is asked."""

    shape: tuple[int, int]
    memory: str | None = None
    seed: int | None = None
    solver: str = "auto"

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters that every estimator has."""
        return {"memory": self.memory, "random_state": self.seed, "solver": self.solver}


@dataclass(frozen=True)
class Method:
    """One method, as the command line knows it.

    Attributes
    ----------
    name : str
        Of the command: ``kernel-pca``. Also of its page in ``docs/methods``.
    build : function
        ``build(wanted, **own)`` is the unfitted estimator.
    file : type
        The argument that names the file.
    example : str
        A command line worth trying.
    papers : tuple of str
        Keys of ``papers.bib``, the method's own paper first.
    compared : tuple of str
        The ways in which ``compare`` tries it on a table, as options: ``"--gamma median"``.
    gaps : bool
        Whether some of the distances may be missing.
    """

    name: str
    build: Callable[..., Any]
    file: Any
    example: str
    papers: tuple[str, ...]
    compared: tuple[str, ...]
    gaps: bool = False

    @property
    def own(self) -> list[inspect.Parameter]:
        """Its own options."""
        return parameters_of(self.build)[1:]

    @property
    def summary(self) -> str:
        """The first line of its help."""
        return (self.build.__doc__ or "").partition("\n")[0]

    def reads_distances(self, own: dict[str, Any]) -> bool:
        """Whether the file holds distances, given the method's own options."""
        return own.get("metric") == "precomputed"


METHODS: dict[str, Method] = {}


def method(
    example: str,
    *papers: str,
    file: Any = options.File,
    compared: tuple[str, ...] = ("",),
    gaps: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a declaration to ``METHODS``; see ``Method`` for the arguments."""

    def added(build: Callable[..., Any]) -> Callable[..., Any]:
        name = build.__name__.replace("_", "-")
        METHODS[name] = Method(name, build, file, example, papers, compared, gaps)
        return build

    return added


@method(
    "gramian pca iris.csv --color species -o axes.csv --report iris.html",
    "pearson1901",
    "hotelling1933",
)
def pca(
    wanted: Wanted,
    components: options.Components = None,
    standardize: options.Standardize = False,
) -> Any:
    """Principal component analysis of the rows of a table.

    Finds the directions in which the rows differ most. Prints eigenvalues, shares and the
    certificate. Text columns are kept for color and hover.
    """
    from gramian.methods.pca import PCA

    return PCA(
        n_components=_count(components, 10, min(wanted.shape[0] - 1, wanted.shape[1])),
        scale="unit" if standardize else None,
        **wanted.settings,
    )


@method(
    "gramian genotypes people.bed --min-frequency 0.01 -o axes.csv --report people.html",
    "patterson2006",
    "lee2010",
    "manichaikul2010",
    file=options.Calls,
    compared=(),  # copies of alleles are not measurements
)
def genotypes(
    wanted: Wanted,
    components: options.Axes = None,
    scaling: options.GenotypeScaling = "patterson",
    normalization: options.Normalization = "smartpca",
    min_frequency: options.MinFrequency = 0.0,
    max_missing: options.MaxMissing = 1.0,
) -> Any:
    """Principal component analysis of genotypes, straight from a PLINK file.

    Finds the axes of ancestry. Missing calls are allowed. Prints eigenvalues as smartpca or plink2
    do, the certificate, and pairs of close relatives, which draw axes of their own.
    """
    from gramian.methods.genotypes import GenotypePCA

    return GenotypePCA(
        n_components=_count(components, 10, min(wanted.shape[0] - 1, wanted.shape[1])),
        scaling=scaling,
        normalization=normalization,
        min_frequency=min_frequency,
        max_missing=max_missing,
        **wanted.settings,
    )


@method(
    "gramian classical-mds distances.csv --report map.html",
    "torgerson1952",
    "gower1966",
    file=options.DistancesOrRows,
    compared=("--metric cityblock",),  # with Euclidean distances it is PCA
)
def classical_mds(
    wanted: Wanted,
    components: options.Axes = None,
    metric: options.Metric = "precomputed",
    correction: options.Correction = None,
    landmarks: options.Landmarks = None,
) -> Any:
    """Classical multidimensional scaling of distances: principal coordinates.

    Draws points so that their distances are those of the file, as nearly as a few axes allow.
    Prints eigenvalues, goodness of fit, and whether the distances are Euclidean.
    """
    from gramian.methods.classical_mds import ClassicalMDS

    return ClassicalMDS(
        n_components=_count(components, 2, wanted.shape[0] - 1),
        metric=metric,
        correction=correction,
        landmarks=landmarks,
        **wanted.settings,
    )


@method(
    "gramian mds distances.csv --measurement ordinal --report map.html",
    "kruskal1964",
    "deleeuw1977",
    "deleeuw2009",
    "sammon1969",
    "takane1977",
    "zheng2019",
    file=options.DistancesOrRows,
    compared=("--starts 1",),
    gaps=True,
)
def mds(
    wanted: Wanted,
    components: options.Axes = None,
    metric: options.Metric = "precomputed",
    measurement: options.Measurement = "ratio",
    loss: options.Loss = "stress",
    ties: options.Ties = "primary",
    starts: options.Starts = 4,
    init: options.Init = "classical",
) -> Any:
    """Multidimensional scaling of distances by stress, metric or non-metric.

    Draws points so that their distances are those of the file, or at least in the same order.
    Prints stress, how many starts agree on the picture, and why it stopped. A distance that is
    missing counts nothing.
    """
    from gramian.methods.mds import MDS

    return MDS(
        n_components=_count(components, 2, wanted.shape[0] - 1),
        metric=metric,
        measurement=measurement,
        loss=loss,
        ties=ties,
        n_init=starts,
        init=init,
        **wanted.settings,
    )


@method(
    "gramian kernel-pca iris.csv --gamma median --color species",
    "scholkopf1998",
    compared=("--gamma median",),
)
def kernel_pca(
    wanted: Wanted,
    components: options.Axes = None,
    kernel: options.KernelName = "rbf",
    gamma: options.Gamma = None,
    degree: options.Degree = 3,
    coef0: options.Offset = 1,
    no_center: options.NoCenter = False,
    landmarks: options.Landmarks = None,
) -> Any:
    """Kernel principal component analysis of the rows of a table.

    PCA in the space of a kernel: sees curved shapes that straight axes miss. Prints eigenvalues,
    shares, and the kernel with its parameters as they were decided.
    """
    from gramian.methods.kernel_pca import KernelPCA

    return KernelPCA(
        n_components=_count(components, 10, wanted.shape[0] - (not no_center)),
        kernel=kernel,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        center=not no_center,
        landmarks=landmarks,
        **wanted.settings,
    )


@method(
    "gramian isomap roll.csv --neighbors 10 --report roll.html",
    "tenenbaum2000",
    "desilva2003",
    compared=("--disconnected join",),
)
def isomap(
    wanted: Wanted,
    components: options.Axes = None,
    neighbors: options.GraphNeighbors = None,
    radius: options.Radius = None,
    metric: options.GraphMetric = "euclidean",
    landmarks: options.GraphLandmarks = None,
    disconnected: options.Disconnected = "error",
) -> Any:
    """Isomap of the rows of a table: classical scaling of distances along the data.

    Unrolls curved sheets: distances are lengths of shortest paths from neighbor to neighbor. Prints
    eigenvalues and the residual variance of 1, 2, ... axes, whose elbow is the dimension.
    """
    from gramian.methods.isomap import Isomap

    return Isomap(
        n_components=_count(components, 2, wanted.shape[0] - 1),
        n_neighbors=_count(neighbors, 10, wanted.shape[0] - 1),
        radius=radius,
        metric=metric,
        landmarks=landmarks,
        disconnected=disconnected,
        **wanted.settings,
    )


@method(
    "gramian lle roll.csv --method ltsa --neighbors 12 --report roll.html",
    "roweis2000",
    "zhang2007",
    "donoho2003",
    "zhang2004",
    compared=("--disconnected join",),
)
def lle(
    wanted: Wanted,
    components: options.Axes = None,
    neighbors: options.GraphNeighbors = None,
    method: options.LocalForm = "standard",
    reg: options.Regularization = 1e-3,
    disconnected: options.Disconnected = "error",
) -> Any:
    """Locally linear embedding of the rows of a table, in four forms.

    Keeps the shape of every neighborhood and nothing else: unrolls curved sheets. Prints
    eigenvalues and the reconstruction error.
    """
    from gramian.methods.locally_linear import LocallyLinearEmbedding

    return LocallyLinearEmbedding(
        n_components=_count(components, 2, wanted.shape[0] - 1),
        n_neighbors=_count(neighbors, 10, wanted.shape[0] - 1),
        method=method,
        reg=reg,
        disconnected=disconnected,
        **wanted.settings,
    )


@method(
    "gramian laplacian iris.csv --disconnected join --color species",
    "belkin2003",
    "coifman2006",
    compared=("--disconnected join",),
)
def laplacian(
    wanted: Wanted,
    components: options.Axes = None,
    affinity: options.Affinity = "heat",
    neighbors: options.GraphNeighbors = None,
    radius: options.Radius = None,
    gamma: options.HeatGamma = "median",
    time: options.Time = None,
    disconnected: options.Disconnected = "error",
) -> Any:
    """Laplacian eigenmaps of the rows of a table, and diffusion maps.

    Coordinates that vary as slowly as they can along the graph of neighbors. Prints eigenvalues of
    the normalized Laplacian, and the affinity as it was decided.
    """
    from gramian.methods.laplacian import LaplacianEigenmaps

    return LaplacianEigenmaps(
        n_components=_count(components, 2, wanted.shape[0] - 1),
        affinity=affinity,
        n_neighbors=_count(neighbors, 10, wanted.shape[0] - 1),
        radius=radius,
        gamma="median" if gamma is None else gamma,
        time=time,
        disconnected=disconnected,
        **wanted.settings,
    )


@method(
    "gramian lsi documents.npz -k 50 --weighting logentropy -o axes.npy",
    "deerwester1990",
    compared=(),  # words are not measurements
)
def lsi(
    wanted: Wanted,
    components: options.Axes = None,
    weighting: options.Weighting = None,
) -> Any:
    """Latent semantic indexing of documents (rows) by their terms (columns).

    Finds concepts: terms that occur together. Nothing is centered and sparse files stay sparse.
    Prints singular values, variances and the certificate.
    """
    from gramian.methods.lsi import LSI

    return LSI(
        n_components=_count(components, 100, min(wanted.shape)),
        weighting=weighting,
        **wanted.settings,
    )


@method(
    "gramian mvu digits.csv --neighbors 6 --color digit --report digits.html",
    "weinberger2006",
    "weinberger2004",
    "sun2006",
    compared=(),  # takes its time; named by -m it takes part
    file=options.DistancesOrRows,
)
def mvu(
    wanted: Wanted,
    components: options.Axes = None,
    neighbors: options.GraphNeighbors = 8,
    radius: options.Radius = None,
    metric: options.GraphMetric = "euclidean",
    landmarks: options.Landmarks = None,
    disconnected: options.Disconnected = "error",
) -> Any:
    """Maximum variance unfolding of the rows of a table.

    Draws points as far apart as the distances between neighbors allow: a rolled sheet becomes
    flat. Prints eigenvalues, and a bound that no drawing can exceed.
    """
    from gramian.methods.unfolding import MaximumVarianceUnfolding

    return MaximumVarianceUnfolding(
        n_components=_count(components, 2, wanted.shape[0] - 1),
        n_neighbors=neighbors,
        radius=radius,
        metric=metric,
        landmarks="auto" if landmarks is None else landmarks,
        disconnected=disconnected,
        **wanted.settings,
    )


@method(
    "gramian ppca survey.csv -k 3 --standardize -o axes.csv",
    "tipping1999",
    compared=(),  # with complete rows the picture is that of pca
)
def ppca(
    wanted: Wanted,
    components: options.Axes = None,
    standardize: options.Standardize = False,
    shrinkage: options.Shrinkage = None,
    max_iter: options.MostSteps = 1000,
    tol: options.Tolerance = 1e-6,
) -> Any:
    """Probabilistic PCA of the rows of a table, which may have missing values.

    Fits the Gaussian model behind PCA to the values that are there; nothing is filled in. Prints
    variances, the noise, and how the iteration ended.
    """
    from gramian.methods.ppca import ProbabilisticPCA

    n, p = wanted.shape
    return ProbabilisticPCA(
        n_components=_count(components, 10, max(min(n - 2, p - 1), 1)),
        scale="unit" if standardize else None,
        shrinkage=shrinkage,
        max_iter=max_iter,
        tol=tol,
        **wanted.settings,
    )


@method("gramian ica signals.csv -k 3 -o sources.csv", "hyvarinen1999", compared=())
def ica(
    wanted: Wanted,
    components: options.Axes = None,
    fun: options.Contrast = "logcosh",
    max_iter: options.MostSteps = 200,
    tol: options.Tolerance = 1e-6,
) -> Any:
    """Independent component analysis of the rows of a table.

    Finds sources of which the columns are mixtures, as far from Gaussian as can be. Prints the
    variance that each source brings.
    """
    from gramian.methods.ica import ICA

    return ICA(
        n_components=_count(components, 10, min(wanted.shape[0] - 1, wanted.shape[1])),
        fun=fun,
        max_iter=max_iter,
        tol=tol,
        **wanted.settings,
    )


@method(
    "gramian random-projection wide.npy --eps 0.3 -o small.npy",
    "johnson1984",
    "dasgupta2003",
    "achlioptas2003",
    compared=(),
)
def random_projection(
    wanted: Wanted,
    components: options.Axes = None,
    eps: options.Eps = None,
    kind: options.Projection = "gaussian",
    density: options.Density = None,
) -> Any:
    """Random projection of the rows of a table to fewer dimensions.

    Keeps all distances nearly, whatever the data. Prints what theory promises; a report tells what
    became of the distances.
    """
    from gramian.methods.random_projection import RandomProjection

    fixed = _count(components, 10, wanted.shape[1])
    return RandomProjection(
        n_components=fixed if components is not None or eps is None else "auto",
        eps=0.1 if eps is None else eps,
        kind=kind,
        density="auto" if density is None else density,
        memory=wanted.memory,
        random_state=wanted.seed,
    )


def _count(asked: Any, usual: int, most: int) -> Any:
    """How many: as asked for, else as usual, but never more than there can be."""
    return min(usual, most) if asked is None and most > 0 else asked
