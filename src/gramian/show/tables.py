"""Results as files of other programs: spreadsheets, and scikit-bio's ordination format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["harmless", "ordination"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def harmless(frame: Any) -> Any:
    """A polars frame whose text no spreadsheet runs as a formula; numbers stay as they are.

    Parameters
    ----------
    frame : polars.DataFrame

    Returns
    -------
    polars.DataFrame
        Names of columns and cells of text that begin like a formula have an apostrophe in front.
    """
    import polars

    begins = polars.col(polars.String).str.contains(r"^[=+\-@\t\r]")
    text = polars.col(polars.String)
    marked = frame.with_columns(polars.when(begins).then("'" + text).otherwise(text).name.keep())
    return marked.rename({name: f"'{name}" for name in frame.columns if name.startswith(_FORMULA)})


def ordination(embedding: Any) -> str:
    """An embedding in the text format of scikit-bio's ``OrdinationResults``.

    Parameters
    ----------
    embedding : Embedding

    Returns
    -------
    str
        Observations are "Site", variables "Species"; what a method has not is left empty.
    """
    n, k = embedding.coordinates.shape
    values = [0.0] * k if embedding.eigenvalues is None else embedding.eigenvalues
    parts = [f"Eigvals\t{k}", _line(values), ""]
    if embedding.explained is None:
        parts += ["Proportion explained\t0", ""]
    else:
        parts += [f"Proportion explained\t{k}", _line(embedding.explained), ""]
    if embedding.loadings is None:
        parts += ["Species\t0\t0", ""]
    else:
        names = embedding.variables or range(1, len(embedding.loadings) + 1)
        parts += [f"Species\t{len(embedding.loadings)}\t{k}"]
        parts += [*_lines(names, embedding.loadings), ""]
    names = embedding.labels or range(1, n + 1)
    parts += [f"Site\t{n}\t{k}", *_lines(names, embedding.coordinates), ""]
    return "\n".join([*parts, "Biplot\t0\t0", "", "Site constraints\t0\t0", ""])


def _lines(names: Iterable[Any], rows: Any) -> list[str]:
    # A tab or a line end inside a name would be read as the next cell or row.
    return [f"{' '.join(str(a).split())}\t{_line(row)}" for a, row in zip(names, rows, strict=True)]


def _line(values: Sequence[float]) -> str:
    return "\t".join(repr(float(value)) for value in values)
