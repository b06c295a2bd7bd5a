"""``Embedding``: what a fitted method shows to the report, the plots and the command line.

A value, not an estimator: coordinates, spectrum, certificate, names. It knows no method, so one
report and one set of plots serve them all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from inspect import signature
from typing import Any, Literal

import numpy as np

from gramian.errors import GramianError
from gramian.evidence import ChanceSpectrum, Shepard
from gramian.files import replacing, write_npy
from gramian.maps import Array
from gramian.show.colors import Groups, Numbers, coloring, grouping
from gramian.show.tables import harmless, ordination
from gramian.show.text import count, listed, number, percent, visible
from gramian.show.thumbnail import thumbnail

__all__ = ["WRITES", "Axis", "Embedding", "as_embedding"]

#: File endings that ``Embedding.write`` knows.
WRITES = (".csv", ".tsv", ".parquet", ".npy", ".ordination")


@dataclass(frozen=True)
class Axis:
    """One axis with its numbers; NaN where the method has none."""

    name: str
    eigenvalue: float
    share: float
    cumulative: float
    residual: float

    @property
    def title(self) -> str:
        """``PC1 (92.5%)``, or the bare name where the share is unknown."""
        return f"{self.name} ({percent(self.share)})" if self.share == self.share else self.name


@dataclass(frozen=True)
class Embedding:
    """Coordinates of n observations on k axes, with everything needed to judge them.

    Attributes
    ----------
    method : str
        Name of the estimator, as imported: ``"PCA"``.
    coordinates : array of shape (n, k)
    axis_names : tuple of str
        ``("PC1", "PC2", ...)``.
    eigenvalues : array of shape (k,) or None
        Best first. ``None`` where a method has no spectrum.
    explained : array of shape (k,) or None
        Share of the total each axis carries, between 0 and 1.
    residuals : array of shape (k,) or None
        The certificate: ``|A v - l v| / max |l|`` of each pair, measured.
    tolerance : float
        What ``residuals`` had to reach.
    plan : str
        How the answer was computed, in words.
    passes : int or None
        How often the data were visited for it, where that was counted.
    labels : tuple of str or None
        Names of the observations.
    variables : tuple of str or None
        Names of the variables (methods that read rows).
    loadings : array of shape (p, k) or None
        Weight of each variable on each axis (columns of unit length).
    correlations : array of shape (p, k) or None
        Correlation of each variable with each axis.
    columns : mapping of str to sequence
        Further columns that came with the data (groups, text): for color and hover.
    parameters : mapping
        The estimator's settings, as plain values.
    measures : mapping of str to number, text, or sequence of numbers
        What the method measured of itself, by name: ``{"negativity": 0.02}``.
    notes : tuple of str
        What was decided on the way and should be known.
    source : str
        Where the data came from: a file name. Empty where they came as an array.
    command : str
        The command line that made this. Empty where it was made in Python.
    provenance : mapping
        What the result depends on besides: ``sha256`` and ``bytes`` of the file, ``threads``,
        ``versions``. Empty where it was made in Python.
    color : str
        Name of the entry of ``columns`` that colors the map first. Empty: the first that can.
    label : str
        Name of the entry of ``columns`` whose values are written at the points. Empty: none.
    spectrum : array or None
        All eigenvalues, largest first, negative ones included, where the method knows them;
        ``eigenvalues`` are the first of them.
    chance : ChanceSpectrum or None
        Eigenvalues that unrelated variables would have: Horn's band.
    shepard : Shepard or None
        Dissimilarities of pairs beside their distances in the map.
    point_stress : array of shape (n,) or None
        How much of the misfit each point has, as a share of the whole: sums to 1.
    point_cos2 : array of shape (n, k) or None
        How well each axis shows each point: share of its squared distance from the center.
    edges : array of int of shape (m, 2) or None
        The graph of neighbors as pairs of row numbers, each edge once.
    residual_variance : array of shape (m,) or None
        What a map of 1, 2, ... m axes leaves unexplained, as shares between 0 and 1.
    image_shape : (int, int) or None
        Height and width of the image that a row is: p = height x width, row by row.
    """

    method: str
    coordinates: Array
    axis_names: tuple[str, ...]
    eigenvalues: Array | None = None
    explained: Array | None = None
    residuals: Array | None = None
    tolerance: float = 0.0
    plan: str = ""
    labels: tuple[str, ...] | None = None
    variables: tuple[str, ...] | None = None
    loadings: Array | None = None
    correlations: Array | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    source: str = ""
    command: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    color: str = ""
    label: str = ""
    spectrum: Array | None = None
    chance: ChanceSpectrum | None = None
    shepard: Shepard | None = None
    point_stress: Array | None = None
    point_cos2: Array | None = None
    edges: Array | None = None
    residual_variance: Array | None = None
    image_shape: tuple[int, int] | None = None
    passes: int | None = None

    @property
    def certified(self) -> bool:
        """Whether every pair meets the tolerance."""
        return self.residuals is None or bool(np.all(self.residuals <= self.tolerance))

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes, best first, each with its eigenvalue, share, cumulative share, residual."""
        k = len(self.axis_names)
        absent = np.full(k, np.nan)
        shares = absent if self.explained is None else np.asarray(self.explained, dtype=np.float64)
        numbers = zip(
            absent if self.eigenvalues is None else self.eigenvalues,
            shares,
            np.cumsum(shares),
            absent if self.residuals is None else self.residuals,
            strict=True,
        )
        return tuple(
            Axis(name, *map(float, row)) for name, row in zip(self.axis_names, numbers, strict=True)
        )

    @property
    def variable_names(self) -> tuple[str, ...]:
        """Names of the variables, or their numbers where they have none."""
        if self.variables is not None:
            return self.variables
        weights = self.correlations if self.loadings is None else self.loadings
        return tuple(f"variable {j + 1}" for j in range(0 if weights is None else len(weights)))

    @property
    def certificate(self) -> str:
        """One sentence: were the eigenpairs checked, and how close are they."""
        if self.residuals is None or len(self.residuals) == 0:
            return "Not certified by eigenpairs: this method has none."
        worst, limit = float(np.max(self.residuals)), number(self.tolerance, 2)
        pairs = count(len(self.residuals), "eigenpair")
        if self.certified:
            every = "the" if len(self.residuals) == 1 else "all"
            meets = "meets" if len(self.residuals) == 1 else "meet"
            return (
                f"Certified: {every} {pairs} {meets} the tolerance {limit} "
                f"(largest residual {number(worst, 2)})."
            )
        failed = [visible(axis.name) for axis in self.axes if not axis.residual <= self.tolerance]
        return (
            f"NOT certified: {listed(failed)} of {pairs} missed the tolerance {limit} "
            f"(largest residual {number(worst, 2)})."
        )

    @property
    def headline(self) -> str:
        """``PCA of iris.csv: 150 observations, 4 variables, 2 axes``."""
        n, k = self.coordinates.shape
        sizes = [count(n, "observation"), count(k, "axis", "axes")]
        if self.loadings is not None:
            sizes.insert(1, count(len(self.loadings), "variable"))
        of = f" of {visible(self.source)}" if self.source else ""
        return f"{visible(self.method)}{of}: {', '.join(sizes)}"

    def summary(self, max_axes: int = 20) -> str:
        """The result as plain text for a terminal.

        Parameters
        ----------
        max_axes : int
            The most axes listed; the rest is counted.

        Returns
        -------
        str
            Headline, table of axes, main variables, certificate, plan, notes. Names from the
            user's file are made safe to print.
        """
        axes = self.axes
        spectral = self.eigenvalues is not None or self.explained is not None
        parts = [self.headline, *(["", *_table(axes[:max_axes])] if spectral else [])]
        if spectral and len(axes) > max_axes:
            parts.append(f"... and {count(len(axes) - max_axes, 'more axis', 'more axes')}")
        parts += ["", *self._main_variables(), self.certificate]
        if self.plan:
            parts.append(f"Plan: {visible(self.plan, 500)}")
        parts += [f"Note: {visible(note, 500)}" for note in self.notes]
        return "\n".join(parts)

    def to_frame(self, backend: Literal["polars", "pandas"] = "polars") -> Any:
        """Coordinates and the columns that came with the data, as a data frame.

        Parameters
        ----------
        backend : {"polars", "pandas"}

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            One row per observation. Labels are a first column ``label`` in polars and the index
            in pandas. Where two names clash, the later one gets a number.
        """
        columns = dict(self._frame_columns())
        if backend == "polars":
            import polars

            return polars.DataFrame(
                [polars.Series(name, values, strict=False) for name, values in columns.items()]
            )
        if backend == "pandas":
            try:
                import pandas
            except ImportError as error:
                raise GramianError(
                    'to_frame("pandas") needs pandas: pip install pandas, or use "polars"'
                ) from error
            frame = pandas.DataFrame({name: _plain(v) for name, v in columns.items()})
            return frame if self.labels is None else frame.set_index("label")
        raise GramianError(f'backend is "polars" or "pandas", got {backend!r}')

    def to_skbio(self) -> Any:
        """The same as scikit-bio's ``OrdinationResults``: for its plots, EMPeror and QIIME 2.

        Returns
        -------
        skbio.OrdinationResults
            Observations are its samples, variables with their loadings its features. Observations
            without names are numbered from 1.
        """
        if self.eigenvalues is None:
            raise GramianError(f"{self.method} has no eigenvalues, which OrdinationResults needs")
        try:
            from pandas import DataFrame, Series
            from skbio import OrdinationResults
        except ImportError as error:
            raise GramianError("to_skbio() needs scikit-bio: pip install scikit-bio") from error

        def table(rows: Array, names: Sequence[str] | None) -> Any:
            index = [str(i + 1) for i in range(len(rows))] if names is None else list(names)
            return DataFrame(np.asarray(rows), index=index, columns=list(self.axis_names))

        def per_axis(values: Array | None) -> Any:
            return None if values is None else Series(np.asarray(values), list(self.axis_names))

        return OrdinationResults(
            self.method,
            self.method,
            per_axis(self.eigenvalues),
            table(self.coordinates, self.labels),
            features=None if self.loadings is None else table(self.loadings, self.variables),
            proportion_explained=per_axis(self.explained),
        )

    def write(self, path: str | os.PathLike[str], *, excel_safe: bool = False) -> None:
        """Write the coordinates to a file, whole or not at all.

        Parameters
        ----------
        path : path
            The ending chooses the format: ``.csv``, ``.tsv`` and ``.parquet`` hold ``to_frame``;
            ``.npy`` holds the bare coordinates, ``.ordination`` is the text format of scikit-bio.
            An existing file is replaced.
        excel_safe : bool
            In ``.csv`` and ``.tsv``, put an apostrophe before text that a spreadsheet would run as
            a formula (``=``, ``+``, ``-``, ``@`` in front). Numbers stay as they are.
        """
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending not in WRITES:
            raise GramianError(
                f"cannot write {visible(path, 200)}: the ending must be one of {', '.join(WRITES)}"
            )
        with replacing(path) as file:
            if ending == ".npy":
                Z, step = np.asarray(self.coordinates), 65_536
                write_npy(file, (Z[a : a + step] for a in range(0, len(Z) or 1, step)), len(Z))
            elif ending == ".ordination":
                file.write(ordination(self).encode())
            elif ending == ".parquet":
                self.to_frame().write_parquet(file)
            else:
                frame = harmless(self.to_frame()) if excel_safe else self.to_frame()
                frame.write_csv(file, separator="\t" if ending == ".tsv" else ",")

    def color_column(self) -> str | None:
        """Name of the column that colors the map first: the one asked for, or the first that can.

        Returns
        -------
        str or None
            ``None`` where no column can.
        """
        if self.color in self.columns:
            return self.color
        return next((name for name in self.columns if self.coloring(name) is not None), None)

    def coloring(self, name: str) -> Groups | Numbers | None:
        """How a column colors points.

        Parameters
        ----------
        name : str
            A key of ``columns``.

        Returns
        -------
        Groups, Numbers or None
            ``None`` for a column of names, unless it is the one asked for in ``color``: then the
            frequent names are groups and the rest is "other".
        """
        if name not in self._colorings:
            kind = coloring(self.columns[name])
            if kind is None and name == self.color:
                kind = grouping(self.columns[name])
            self._colorings[name] = kind
        return self._colorings[name]

    @cached_property
    def _colorings(self) -> dict[str, Groups | Numbers | None]:
        """What ``coloring`` found so far: every chart asks, and a column may be long."""
        return {}

    def groups(self) -> Groups | None:
        """Groups of the column that colors the map first, if it holds groups."""
        name = self.color_column()
        kind = None if name is None else self.coloring(name)
        return kind if isinstance(kind, Groups) else None

    def _repr_html_(self) -> str:
        """A table and a thumbnail for notebooks: static, escaped, small."""
        shown = self.axes[:10]
        head = "".join(f'<th scope="col">{name}</th>' for name in _HEADINGS)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(axis)) + "</tr>"
            for axis in shown
        )
        more = len(self.axis_names) - len(shown)
        more_text = f"<p>... and {count(more, 'more axis', 'more axes')}</p>" if more else ""
        picture = ""
        if min(self.coordinates.shape) > 0:
            titles = [axis.title for axis in shown[:2]]
            picture = thumbnail(self.coordinates, titles, self.groups())
        return (
            f"<div><p><strong>{escape(self.headline)}</strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more_text}"
            f"<p>{escape(self.certificate)}</p>{picture}</div>"
        )

    def _main_variables(self) -> list[str]:
        """For the first axes, the variables that weigh most."""
        if self.loadings is None or self.variables is None or len(self.loadings) < 2:
            return []
        lines = []
        for axis, weights in zip(self.axes[:3], np.asarray(self.loadings).T, strict=False):
            strongest = np.argsort(-np.abs(weights), kind="stable")[:3]
            terms = [f"{weights[j]:+.2f} {visible(self.variables[j], 30)}" for j in strongest]
            rest = " ..." if len(weights) > len(terms) else ""
            lines.append(f"{visible(axis.name)} = {'  '.join(terms)}{rest}")
        return [*lines, ""]

    def _frame_columns(self) -> Iterator[tuple[str, Any]]:
        """Names, all different, with values: label, axes, further columns."""
        seen: set[str] = set()
        if self.labels is not None:
            seen.add("label")
            yield "label", list(self.labels)
        axes = zip(self.axis_names, np.asarray(self.coordinates).T, strict=True)
        for name, values in [*axes, *self.columns.items()]:
            unique, i = name, 2
            while unique in seen:
                unique, i = f"{name}_{i}", i + 1
            seen.add(unique)
            yield unique, values


def as_embedding(result: Any) -> Embedding:
    """The embedding itself, or that of a fitted method that still holds it.

    Parameters
    ----------
    result : Embedding, or anything with ``to_embedding()``

    Returns
    -------
    Embedding
    """
    if isinstance(result, Embedding):
        return result
    to_embedding = getattr(result, "to_embedding", None)
    if to_embedding is None:
        raise GramianError(
            f"expected an Embedding or a fitted gramian method, got {type(result).__name__}"
        )
    if any(p.default is p.empty for p in signature(to_embedding).parameters.values()):
        raise GramianError(
            f"{type(result).__name__} does not keep the coordinates of its data; "
            "pass model.to_embedding(X) instead of the model"
        )
    embedding: Embedding = to_embedding()
    return embedding


_HEADINGS = ("axis", "eigenvalue", "share", "cumulative", "residual")


def _cells(axis: Axis) -> tuple[str, str, str, str, str]:
    return (
        visible(axis.name, 24),
        number(axis.eigenvalue),
        percent(axis.share),
        percent(axis.cumulative),
        number(axis.residual, 2),
    )


def _table(axes: Sequence[Axis]) -> list[str]:
    """Lines of the table of axes: first column left, numbers right."""
    rows = [_HEADINGS, *map(_cells, axes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _plain(values: Any) -> Any:
    """A column as pandas takes it: arrays as they are, other libraries' series as lists."""
    return values if isinstance(values, np.ndarray) else list(values)
