"""From a file name and options to the data a method takes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gramian.errors import GramianError, InputError
from gramian.show.text import count, listed, visible

__all__ = ["Data", "Reading"]

_FOR_TABLES = (
    *("columns", "drop", "id", "color", "label"),
    *("no_header", "delimiter", "decimal", "missing"),
)


@dataclass(frozen=True)
class Data:
    """What a method is fitted to, and the names that go with it."""

    X: Any
    shape: tuple[int, int]
    variables: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def where_missing(self) -> str | None:
        """One sentence on the missing values of a table, if it has any."""
        import numpy as np

        if self.variables is None or not isinstance(self.X, np.ndarray):
            return None
        cells = np.argwhere(np.isnan(self.X))
        if not len(cells):
            return None
        row, column = cells[0]
        name = f" ({visible(self.labels[row])})" if self.labels is not None else ""
        return (
            f"{count(len(cells), 'value')} missing, the first in column "
            f"{visible(self.variables[column])!r}, row {row + 1}{name}; fill them in, remove those "
            "rows, leave columns out with --drop, or use gramian ppca, which takes missing values"
        )

    def where_empty(self) -> str | None:
        """One sentence on columns or rows of a table without a single value, if there are any."""
        import numpy as np

        if self.variables is None or not isinstance(self.X, np.ndarray):
            return None
        missing = np.isnan(self.X)
        for axis, what in ((0, "column"), (1, "row")):
            empty = np.flatnonzero(missing.all(axis=axis)).tolist()
            if not empty:
                continue
            names = self.variables if axis == 0 else self.labels
            called = [str(i + 1) if names is None else repr(visible(names[i], 40)) for i in empty]
            many = len(empty) > 1
            return (
                f"{what}{'s' * many} {listed(called)} {'have' if many else 'has'} no values: all "
                f"are missing; {'leave out with --drop' if axis == 0 else 'remove from the file'}"
            )
        return None

    @contextmanager
    def by_name(self, model: Any = None) -> Iterator[None]:
        """Methods know numbers of rows and columns; here missing values are told by name.

        A ``model`` that takes missing values has other reasons to refuse.
        """
        try:
            yield
        except InputError as error:
            takes = model is not None and model.__sklearn_tags__().input_tags.allow_nan
            missing = self.where_empty() if takes else self.where_missing()
            raise error if missing is None else InputError(missing) from error


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; the fields are the options of the command line."""

    file: str
    columns: str | None = None
    drop: str | None = None
    id: str | None = None
    color: str | None = None
    label: str | None = None
    no_header: bool = False
    delimiter: str | None = None
    decimal: str = "."
    missing: str | None = None
    memory: str | None = None
    distances: bool = False
    gaps: bool = False
    image_shape: str | None = None

    @property
    def name(self) -> str:
        """The file's own name, for titles."""
        return "standard input" if self.file == "-" else os.path.basename(self.file)

    def read(self, part: Any = None) -> Data:
        """Open the file: what is larger than the memory it may use stays there.

        Parameters
        ----------
        part : binary file, optional
            The beginning of a text file, to read instead of the whole.

        Returns
        -------
        Data
        """
        if self.distances:
            return self._open_distances()
        return self._read_table(part) if self._is_table else self._open_rows()

    @property
    def _is_table(self) -> bool:
        """Whether it is one table, whose columns can be chosen; unknown endings are text."""
        from gramian.data.door import OPENERS, TABLES, ending_of

        path = os.path.expanduser(self.file.partition("::")[0])
        several = os.path.isdir(path) or (
            not os.path.exists(path) and any(sign in path for sign in "*?[")
        )
        return not several and (ending_of(path) in TABLES or ending_of(path) not in OPENERS)

    def image(self, variables: int) -> tuple[int, int] | None:
        """Height and width of the image that a row is, if it is one.

        Parameters
        ----------
        variables : int
            How many numbers a row has.
        """
        if self.image_shape is None:
            return None
        found = re.fullmatch(r"(\d{1,6})[x×](\d{1,6})", self.image_shape)
        if found is None:
            raise GramianError(
                f"--image-shape takes height x width, such as 64x64; got "
                f"{visible(self.image_shape)!r}"
            )
        height, width = map(int, found.groups())
        if height * width != variables:
            raise GramianError(
                f"--image-shape {height}x{width} has {height * width:,} pixels, but a row has "
                f"{count(variables, 'number')}"
            )
        return height, width

    def _open_rows(self) -> Data:
        """An array, a store, a folder or a pattern of files; the method visits it in blocks."""
        from gramian.data.door import open_rows

        self._refuse_table_options("numbers alone, or several files")
        found = open_rows(self.file, self.memory)
        families = getattr(found.rows, "families", ())
        told = 1 < len(set(families)) < found.rows.shape[0]  # else they tell nothing
        columns = {"family": list(families)} if told else {}
        return Data(found, found.rows.shape, found.columns, found.labels, columns)

    def _open_distances(self) -> Data:
        """A matrix of distances: in memory if it fits, else left in its file for the method."""
        from gramian.data.dissimilarities import open_distances

        self._refuse_table_options("distances (for a table of rows name a --metric)", "decimal")
        try:
            found = open_distances(self.file, self.memory, missing=self.gaps, decimal=self.decimal)
        except InputError as error:
            if "compute distances" not in str(error):
                raise
            raise InputError(f"{error} (here: add --metric euclidean)") from error
        n = found.D.shape[0]
        return Data(found, (n, n), labels=found.labels)  # with labels: a saved model knows them

    def read_cross_distances(self) -> Data:
        """Distances of new points to the points of a fit; a first column may name the new ones."""
        from gramian.data.distance_sources import open_raw, path_of

        self._refuse_table_options("distances to the points of the fit", "decimal")
        path, decimal = path_of(self.file), self.decimal
        raw = open_raw(self.file, path, self.memory, cross=True, decimal=decimal)
        return Data(raw, (len(raw.numbers), raw.numbers.shape[-1]), labels=raw.rows)

    def _refuse_table_options(self, held: str, *meant: str) -> None:
        """Options that choose columns or say how text is written mean nothing here, but some."""
        for option in _FOR_TABLES:
            if option not in meant and getattr(self, option) not in (None, False, "."):
                raise GramianError(
                    f"--{option.replace('_', '-')} is for tables; {visible(self.name)} holds {held}"
                )

    def _read_table(self, part: Any) -> Data:
        from gramian.data.door import from_table
        from gramian.data.tables import MISSING, read_table
        from gramian.memory import budget

        table = read_table(
            self.file if part is None else part,
            text="keep",
            delimiter=_delimiter(self.delimiter),
            decimal=self.decimal,
            header=False if self.no_header else None,
            missing=(*MISSING, *(_names(self.missing) or ())),
            columns=_names(self.columns),
            drop=_names(self.drop) or (),
            labels=self.id,
            others=tuple({name: None for name in (self.color, self.label) if name is not None}),
            max_bytes=budget(self.memory),
            blocks=True,
        )
        others = {name: self._values(texts) for name, texts in table.others.items()}
        found = from_table(table, self.memory)
        X = table.numbers if found.rows.resident else found
        return Data(X, found.rows.shape, table.columns, table.labels, others, table.notes)

    def _values(self, texts: list[str]) -> list[Any]:
        """A column as numbers if every present cell is one (a numeric color column), else text."""
        if any(re.match(r"[+-]?0\d", text) for text in texts):
            return list(texts)  # 007 is a name
        for kind in (int, float):
            try:
                return [kind(text.replace(self.decimal, ".")) if text else None for text in texts]
            except ValueError:
                continue
        return list(texts)


def _names(listed: str | None) -> tuple[str, ...] | None:
    """``a,b`` as names; a name that holds a comma can be quoted as in CSV."""
    if listed is None:
        return None
    import csv

    names = tuple(name.strip() for name in next(csv.reader([listed], skipinitialspace=True)))
    if not any(names):
        raise GramianError("a list of columns is empty; write for example --columns height,weight")
    return names


def _delimiter(text: str | None) -> str | None:
    """The words a shell can pass easily, besides the character itself."""
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text) if text else text
