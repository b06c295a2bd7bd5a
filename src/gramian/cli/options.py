"""The options that commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gramian.cli.names import (
    chosen,
    contrasts,
    corrections,
    inits,
    kernels,
    losses,
    measurements,
    metrics,
    projections,
    solvers,
    starting,
    ties,
)
from gramian.errors import GramianError
from gramian.show.text import visible


def _components(text: str | None) -> Any:
    """``-k`` as the estimator takes it: a count, a share, or the word ``horn`` or ``mle``."""
    if text in (None, "horn", "mle"):
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise GramianError(
        f"-k takes a number of axes, a share of the variance such as 0.9, horn or mle; "
        f"got {visible(text)!r}"
    )


def _landmarks(value: str | None) -> Any:
    if value is None or value == "auto":
        return value
    if value.isdigit():
        return int(value)
    raise GramianError(f"--landmarks {visible(value)}: a whole number or auto is needed")


def _shrinkage(text: str | None) -> Any:
    """``--shrinkage`` as the estimator takes it."""
    if text in (None, "auto"):
        return text
    try:
        return float(text)
    except ValueError:
        raise GramianError(
            f"--shrinkage takes a number from 0 to below 1, or the word auto; got {visible(text)!r}"
        ) from None


def _gamma(text: str | None) -> Any:
    """``--gamma`` as the estimator takes it."""
    if text in (None, "median"):
        return text
    try:
        return float(text)
    except ValueError:
        raise GramianError(
            f"--gamma takes a number above 0 or the word median; got {visible(text)!r}"
        ) from None


def _size(text: str | None) -> str | None:
    """``--memory``, checked before anything is read."""
    if text is not None:
        from gramian.memory import budget

        budget(text)
    return text


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet or Arrow table with one row per observation, a NumPy .npy array, a "
        "Zarr, HDF5 or .h5ad store, a folder or pattern of files, or - for standard input.",
        show_default=False,
    ),
]
Distances = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Distances between points: a square CSV or TSV with or without labels, PHYLIP, "
        "a square or condensed .npy, or - for standard input.",
        show_default=False,
    ),
]
Components = Annotated[
    str | None,
    typer.Option(
        "-k",
        "--components",
        metavar="N|SHARE|horn|mle",
        help="How many axes: a number, a share of the variance such as 0.9, horn "
        "(parallel analysis), or mle. "
        "Default: 10, or as many as there are.",
        show_default=False,
        callback=_components,
        autocompletion=starting(lambda: ("horn", "mle")),
    ),
]
Permutations = Annotated[
    int,
    typer.Option(metavar="R", help="Permuted copies of the data for parallel analysis."),
]
Alpha = Annotated[
    float,
    typer.Option(metavar="LEVEL", help="Chance of keeping an axis of unrelated variables."),
]
DistancesOrRows = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Distances between points: a square CSV or TSV with or without labels, PHYLIP, "
        "a square or condensed .npy, or - for standard input. With --metric: a table of rows.",
        show_default=False,
    ),
]
Axes = Annotated[
    int | None,
    typer.Option(
        "-k",
        "--components",
        metavar="N",
        help="How many axes. Default: 100 for lsi, 10 for genotypes, ppca, ica and kernel-pca, 2 "
        "for others, or as many as there are.",
        show_default=False,
    ),
]
PictureAxes = Annotated[
    int, typer.Option("-k", "--components", metavar="N", min=1, help="How many axes to draw.")
]
Neighbors = Annotated[
    int,
    typer.Option(metavar="N", min=1, help="How many nearest neighbors should stay neighbors."),
]
GraphNeighbors = Annotated[
    int | None,
    typer.Option(
        "--neighbors",
        metavar="N",
        min=1,
        help="How many nearest neighbors each point is joined to. Default: 10, or as many as "
        "there are.",
        show_default=False,
    ),
]
Disconnected = Annotated[
    str,
    typer.Option(
        metavar="error|join|largest",
        help="What to do if the graph of neighbors is in several parts: say so, join them by "
        "shortest bridges, or embed the largest and place the other points.",
        callback=chosen("--disconnected", lambda: ("error", "join", "largest")),
        autocompletion=starting(lambda: ("error", "join", "largest")),
    ),
]
Radius = Annotated[
    float | None,
    typer.Option(
        metavar="DISTANCE",
        help="Join all points within this distance instead of a number of neighbors.",
        show_default=False,
    ),
]
GraphMetric = Annotated[
    str,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="Distances by which neighbors are found: euclidean, cityblock, braycurtis, cosine "
        "and so on; precomputed if the file holds distances.",
        callback=chosen("--metric", metrics, "precomputed"),
        autocompletion=starting(metrics),
    ),
]
GraphLandmarks = Annotated[
    str | None,
    typer.Option(
        "--landmarks",
        metavar="N|auto",
        help="Paths from so many points only, the others placed by them: an approximation whose "
        "error is estimated and said. auto: all of up to 5,000 points, 1,000 of more.",
        show_default=False,
        callback=_landmarks,
        autocompletion=starting(lambda: ("auto",)),
    ),
]
Metric = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Compute these distances from a table of rows: euclidean, cityblock, braycurtis, "
        "jaccard and so on. Default: the file holds distances.",
        show_default=False,
        callback=chosen("--metric", metrics, "precomputed"),
        autocompletion=starting(metrics),
    ),
]
Correction = Annotated[
    str | None,
    typer.Option(
        metavar="lingoes|cailliez|sqrt",
        help="Make the distances Euclidean first: a constant added to their squares, one added "
        "to themselves, or their square roots.",
        show_default=False,
        callback=chosen("--correction", corrections),
        autocompletion=starting(corrections),
    ),
]
Measurement = Annotated[
    str,
    typer.Option(
        metavar="ratio|interval|ordinal|spline",
        help="What is taken from the distances: themselves, a + b times them, their order alone "
        "(non-metric MDS), or a smooth function that never falls.",
        callback=chosen("--measurement", measurements),
        autocompletion=starting(measurements),
    ),
]
Loss = Annotated[
    str,
    typer.Option(
        metavar="stress|sammon|sstress|strain",
        help="What is made small: stress, Sammon's (which favors small distances), s-stress (of "
        "squares), or strain (classical MDS).",
        callback=chosen("--loss", losses),
        autocompletion=starting(losses),
    ),
]
Ties = Annotated[
    str,
    typer.Option(
        metavar="primary|secondary|tertiary",
        help="Equal dissimilarities, if ordinal: need not stay equal, stay equal, or are equal on "
        "average.",
        callback=chosen("--ties", ties),
        autocompletion=starting(ties),
    ),
]
Starts = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="How many starts: the first from classical MDS, the others from random pictures.",
    ),
]
Init = Annotated[
    str,
    typer.Option(
        metavar="classical|stochastic|random",
        help="The first start.",
        callback=chosen("--init", inits),
        autocompletion=starting(inits),
    ),
]
Landmarks = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Compute with so many points and place the others: an approximation whose error "
        "is estimated and said.",
        show_default=False,
    ),
]
KernelName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="rbf, linear, polynomial, laplacian, matern, cosine, rational_quadratic, "
        "inverse_multiquadric or sigmoid.",
        callback=chosen("--kernel", kernels),
        autocompletion=starting(kernels),
    ),
]
Gamma = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|median",
        help="Of kernels that have one, such as exp(-gamma |x - y|^2); median for 1 over the "
        "median of |x - y|^2. Default: 1 / number of columns.",
        show_default=False,
        callback=_gamma,
        autocompletion=starting(lambda: ("median",)),
    ),
]
Degree = Annotated[
    float,
    typer.Option(metavar="NUMBER", help="Of the polynomial kernel (gamma x.y + coef0)^degree."),
]
Offset = Annotated[
    float,
    typer.Option("--coef0", metavar="NUMBER", help="Of the polynomial and sigmoid kernels."),
]
NoCenter = Annotated[
    bool,
    typer.Option(
        "--no-center",
        help="Leave the origin of the kernel's space where it is: kernel MDS.",
    ),
]
Standardize = Annotated[
    bool,
    typer.Option(
        "--standardize",
        "--scale",
        help="Divide each column by its standard deviation. Do this when units differ.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Seed of the random numbers; the same seed gives the same answer.",
        show_default=False,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        envvar="GRAMIAN_MEMORY",
        help="Most memory to use, such as 500MB or 4GB. Default: 80% of what is free.",
        show_default=False,
        callback=_size,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        envvar="GRAMIAN_THREADS",
        help="Most threads to use. Default: as many as there are cores. The answer is the same.",
        show_default=False,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Compute on the workers of this Dask scheduler, such as tcp://10.0.0.1:8786; they "
        "read files themselves, at the same path; tables that fit in memory are sent.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Plan for a Dask cluster of so many workers, of one thread each; with --scheduler as "
        "many as it has, if left out.",
        show_default=False,
    ),
]
SolverName = Annotated[
    str,
    typer.Option(
        "--solver",
        metavar="NAME",
        help="How eigenpairs are found: auto (the plan decides), dense, krylov or arpack.",
        callback=chosen("--solver", solvers),
        autocompletion=starting(solvers),
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Use only these columns.", show_default=False),
]
Drop = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Leave these columns out.", show_default=False),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="Column with the names of the rows.", show_default=False
    ),
]
Color = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that colors the map. It is left out of the computation.",
        show_default=False,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that is written at the points of the report's map. It is left out of the "
        "computation.",
        show_default=False,
    ),
]
ImageShape = Annotated[
    str | None,
    typer.Option(
        metavar="HxW",
        help="Rows are images of this height and width, such as 64x64: the report draws "
        "components as images.",
        show_default=False,
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="The first line holds values, not names."),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="What separates values: a character, tab or space. Default: found out.",
        show_default=False,
    ),
]
Decimal = Annotated[
    str,
    typer.Option(metavar="CHAR", help="The decimal sign: . or ,"),
]
Missing = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS",
        envvar="GRAMIAN_MISSING",
        help="More words that mean a missing value, separated by commas: '?,n.d.'.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="Write the coordinates: .csv, .tsv, .parquet, .npy, or .ordination (scikit-bio).",
        show_default=False,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        metavar="OUT.html",
        help="Write an interactive report: one file, opens without a network.",
        show_default=False,
    ),
]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="A file that --save or model.save wrote.", show_default=False
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        metavar="MODEL.gramian",
        help="Write the fitted model; gramian transform places new rows with it.",
        show_default=False,
    ),
]
CheckpointPath = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Keep what was done in this file; the same command started again goes on from there, "
        "with the same result. Removed when all is done.",
        show_default=False,
    ),
]
CheckpointEvery = Annotated[
    float,
    typer.Option(
        "--checkpoint-every", metavar="SECONDS", min=0, help="How much work may be lost, at most."
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace output files that exist."),
]
ExcelSafe = Annotated[
    bool,
    typer.Option(
        "--excel-safe",
        help="In .csv and .tsv, write ' before text that a spreadsheet would run as a formula.",
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the summary as JSON, for programs."),
]
Quiet = Annotated[
    bool,
    typer.Option("-q", "--quiet", help="Say only errors."),
]
Verbose = Annotated[
    bool,
    typer.Option("-v", "--verbose", help="Say what each step took, and details of a failure."),
]
LocalForm = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="The form: standard, modified, hessian or ltsa.",
        callback=chosen("--method", lambda: ("standard", "modified", "hessian", "ltsa")),
        autocompletion=starting(lambda: ("standard", "modified", "hessian", "ltsa")),
    ),
]
Regularization = Annotated[
    float,
    typer.Option(
        "--reg",
        metavar="SHARE",
        help="Added to the neighborhoods' Gram matrices, as a share of their trace.",
    ),
]
Affinity = Annotated[
    str,
    typer.Option(
        metavar="heat|knn|precomputed",
        help="How alike neighbors are: exp(-gamma d^2), 1, or as the file says: a square table "
        "of affinities.",
        callback=chosen("--affinity", lambda: ("heat", "knn", "precomputed")),
        autocompletion=starting(lambda: ("heat", "knn", "precomputed")),
    ),
]
HeatGamma = Annotated[
    str | None,
    typer.Option(
        "--gamma",
        metavar="NUMBER|median",
        help="Of exp(-gamma d^2); median, the default, for 1 over the median of d^2 along edges.",
        show_default=False,
        callback=_gamma,
        autocompletion=starting(lambda: ("median",)),
    ),
]
Time = Annotated[
    float | None,
    typer.Option(
        metavar="T",
        help="Steps of a random walk: a diffusion map. Default: Laplacian eigenmaps.",
        show_default=False,
    ),
]
Weighting = Annotated[
    str | None,
    typer.Option(
        metavar="tfidf|logentropy",
        help="How much a term counts in a document; by default as often as it occurs.",
        show_default=False,
        callback=chosen("--weighting", lambda: ("tfidf", "logentropy")),
        autocompletion=starting(lambda: ("tfidf", "logentropy")),
    ),
]
Contrast = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What non-Gaussianity is measured by: logcosh, exp (withstands outliers) or cube.",
        callback=chosen("--fun", contrasts),
        autocompletion=starting(contrasts),
    ),
]
Shrinkage = Annotated[
    str | None,
    typer.Option(
        "--shrinkage",
        metavar="SHARE|auto",
        help="Mix this share of a covariance that is alike in all directions into that of the "
        "data, as a prior would; auto asks the data. Default: none.",
        show_default=False,
        callback=_shrinkage,
        autocompletion=starting(lambda: ("auto",)),
    ),
]
MostSteps = Annotated[int, typer.Option("--max-iter", metavar="N", min=1, help="The most steps.")]
Tolerance = Annotated[
    float, typer.Option("--tol", metavar="NUMBER", min=0, help="How little ends the iteration.")
]
Eps = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="Take as many dimensions as keep all squared distances to 1 +- this. "
        "Default: -k dimensions.",
        show_default=False,
    ),
]
Projection = Annotated[
    str,
    typer.Option(
        metavar="gaussian|sparse",
        help="Which random numbers: Gaussian, or few and only signs.",
        callback=chosen("--kind", projections),
        autocompletion=starting(projections),
    ),
]
Density = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Of the sparse kind: share of the numbers other than 0. Default: 1 / sqrt(columns).",
        show_default=False,
    ),
]
Calls = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="PLINK file .bed (its .bim and .fam beside it), or a table of copies of an allele: "
        "0, 1, 2, empty where there is no call.",
        show_default=False,
    ),
]
GenotypeScaling = Annotated[
    str,
    typer.Option(
        "--scaling",
        metavar="patterson|unit|none",
        help="What deviations from the mean are divided by: sqrt(2 f (1 - f)), f the frequency; "
        "their standard deviation; nothing.",
        callback=chosen("--scaling", lambda: ("patterson", "unit", "none")),
        autocompletion=starting(lambda: ("patterson", "unit", "none")),
    ),
]
Normalization = Annotated[
    str,
    typer.Option(
        metavar="smartpca|plink2|variants",
        help="Eigenvalues as smartpca or plink2 print them, or divided by the number of variants.",
        callback=chosen("--normalization", lambda: ("smartpca", "plink2", "variants")),
        autocompletion=starting(lambda: ("smartpca", "plink2", "variants")),
    ),
]
MinFrequency = Annotated[
    float,
    typer.Option(
        "--min-frequency",
        metavar="SHARE",
        min=0,
        max=0.5,
        help="Leave out variants whose rarer allele is rarer than this.",
    ),
]
MaxMissing = Annotated[
    float,
    typer.Option(
        "--max-missing",
        metavar="SHARE",
        min=0,
        max=1,
        help="Leave out variants with a larger share of missing calls.",
    ),
]
