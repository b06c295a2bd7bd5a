"""``gramian transform``: place the rows of a file with a model that was saved before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramian.cli.provenance import provenance
from gramian.cli.reading import Data, Reading
from gramian.cli.request import Writes, typed
from gramian.cli.run import conclude
from gramian.errors import InputError
from gramian.show.text import count, listed, number, visible

if TYPE_CHECKING:
    from gramian.results import Embedding

__all__ = ["transform"]


def transform(model: Path, reading: Reading, request: Writes) -> int:
    """Read a model and a file, place its rows, write and print them.

    Parameters
    ----------
    model : Path
    reading : Reading
    request : Writes

    Returns
    -------
    int
        Exit code: 0, or 3 where the model is not certified.
    """
    outputs, messages = request.outputs, request.messages
    outputs.check(reading.file)
    outputs.check(str(model))
    with messages.collecting_warnings():
        with messages.working(f"reading {model.name} and {reading.name}"):
            from gramian.methods.model_files import load

            fitted = load(model)
            if request.memory is not None:
                fitted.set_params(memory=request.memory)
            data = _read(reading, fitted, visible(model.name))
        with messages.working("placing"), data.by_name(fitted):
            streamed = _is_streamed(data, request)
            embedding = replace(
                _placed(fitted, data, visible(model.name), request if streamed else None),
                source=reading.name,
                command=typed(),
                provenance=provenance(reading.file),
                color=reading.color or "",
            )
        if not streamed:
            with messages.working("writing"):
                outputs.write(embedding, fitted)
    return conclude(embedding, outputs, request)


def _read(reading: Reading, fitted: Any, name: str) -> Data:
    """The file as the model takes it, with the names of its columns checked."""
    from sklearn.utils import get_tags

    if fitted.reads == "distances" and get_tags(fitted).input_tags.pairwise:
        return reading.read_cross_distances()
    data = reading.read()
    known = getattr(fitted, "feature_names_in_", None)
    if known is None or data.variables is None:
        if data.shape[1] != fitted.n_features_in_:
            raise InputError(
                f"{visible(reading.name)} has {data.shape[1]} features (columns), {name} was "
                f"fitted to {fitted.n_features_in_} features"
            )
        unknown = f"column names were not checked: {name if known is None else 'the file'} has none"
        return replace(data, notes=(*data.notes, unknown))
    _check_names(data.variables, tuple(map(str, known)), visible(reading.name), name)
    return data


def _check_names(found: Sequence[str], wanted: Sequence[str], file: str, model: str) -> None:
    """Raise, naming the columns, unless they are the model's in its order."""
    here, there = set(found), set(wanted)
    lacking = [visible(name, 40) for name in wanted if name not in here]
    extra = [visible(name, 40) for name in found if name not in there]
    if lacking:
        raise InputError(f"{file} lacks {_columns(lacking)} of {model}, or holds text there")
    if extra:
        raise InputError(
            f"{file} has {_columns(extra)}, which {model} does not know; "
            f"leave out what it should not see with --drop"
        )
    moved = next(
        (i for i, pair in enumerate(zip(found, wanted, strict=True)) if len({*pair}) > 1), None
    )
    if moved is not None:
        raise InputError(
            f"{file} has the columns of {model} in another order: column {moved + 1} is "
            f"{visible(found[moved], 40)}, not {visible(wanted[moved], 40)}; the order of the "
            f"model is {listed([visible(name, 40) for name in wanted])}"
        )


def _columns(names: Sequence[str]) -> str:
    return f"the column{'s' * (len(names) > 1)} {listed(names)}"


def _is_streamed(data: Data, request: Writes) -> bool:
    """Whether rows are placed and written a block at a time; genotypes are, by themselves."""
    from gramian.cli.placing import STREAMED
    from gramian.data.door import Opened

    outputs = request.outputs
    if not isinstance(data.X, Opened) or data.X.rows.resident or outputs.coordinates is None:
        return False
    if hasattr(data.X.rows, "alleles"):  # a block of their rows would not know them
        return False
    return outputs.report is None and outputs.coordinates.suffix.lower() in STREAMED


def _placed(fitted: Any, data: Data, model: str, request: Writes | None) -> Embedding:
    """Coordinates, and how far outside the axes the rows lie; written at once for a ``request``."""
    import numpy as np

    from gramian.cli.placing import place_to_file, residuals

    measures, notes = {}, [*data.notes, f"placed by {model}; eigenvalues and shares are the fit's"]
    if request is not None:
        path = request.outputs.coordinates
        assert path is not None
        safe = request.outputs.excel_safe
        embedding = place_to_file(fitted, data, path, excel_safe=safe)
    else:
        columns = dict(data.columns)
        columns |= residuals(fitted, data.X)
        embedding = fitted.to_embedding(data.X, labels=data.labels, columns=columns)
    if "placement_residual" in embedding.columns:
        left = embedding.columns["placement_residual"]
        worst = int(np.argmax(left))
        who = f"row {worst + 1}" if data.labels is None else visible(data.labels[worst], 40)
        measures = {
            "placement_residual_median": float(np.median(left)),
            "placement_residual_largest": float(left[worst]),
        }
        notes.append(
            f"placement residual, how far {count(len(left), 'row')} lie outside the axes: median "
            f"{number(float(np.median(left)))}, largest {number(float(left[worst]))} ({who})"
        )
    return replace(
        embedding,
        labels=data.labels,
        variables=embedding.variables if data.variables is None else data.variables,
        measures={**embedding.measures, **measures},
        notes=(*notes, *embedding.notes),
    )
