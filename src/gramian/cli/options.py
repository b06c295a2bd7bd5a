"""The options that commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Alpha",
    "Axes",
    "Color",
    "Columns",
    "Components",
    "Correction",
    "Decimal",
    "Degree",
    "Delimiter",
    "Distances",
    "DistancesOrRows",
    "Drop",
    "File",
    "Force",
    "Gamma",
    "Id",
    "Json",
    "KernelName",
    "Landmarks",
    "Memory",
    "Metric",
    "NoCenter",
    "NoHeader",
    "Offset",
    "Output",
    "Permutations",
    "Quiet",
    "Report",
    "Seed",
    "Standardize",
    "Verbose",
]

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV or Parquet table with one row per observation, a NumPy .npy array, "
        "or - for standard input.",
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
        help="How many axes. Default: 2 for classical-mds, 10 for kernel-pca, or as many as "
        "there are.",
        show_default=False,
    ),
]
Metric = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Compute these distances from a table of rows: euclidean, cityblock, braycurtis, "
        "jaccard and so on. Default: the file holds distances.",
        show_default=False,
    ),
]
Correction = Annotated[
    str | None,
    typer.Option(
        metavar="lingoes|cailliez|sqrt",
        help="Make the distances Euclidean first: a constant added to their squares, one added "
        "to themselves, or their square roots.",
        show_default=False,
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
    ),
]
Gamma = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|median",
        help="Of kernels that have one, such as exp(-gamma |x - y|^2); median for 1 over the "
        "median of |x - y|^2. Default: 1 / number of columns.",
        show_default=False,
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
        help="Write the coordinates: .csv, .tsv, .parquet or .npy.",
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
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace output files that exist."),
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
    typer.Option("-v", "--verbose", help="Show details of a failure."),
]
