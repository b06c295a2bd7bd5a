"""The options that commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Alpha",
    "Color",
    "Columns",
    "Components",
    "Decimal",
    "Delimiter",
    "Distances",
    "Drop",
    "File",
    "Force",
    "Id",
    "Json",
    "Memory",
    "NoHeader",
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
