"""Fitted methods as files: ``model.save("m.gramian")`` and ``gramian.load("m.gramian")``.

1. facts   version, method, parameters, and what the method keeps (``gramian.kept`` says how)
2. file    one header and the arrays, with a digest over every byte (``gramian.tensors``)
3. load    size, header, version, method, names and shapes, digest, numbers: in this order, and
           whatever is not exactly what a method declares is refused
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian import __version__
from gramian.data.dask.lazy import in_memory
from gramian.data.weighting import Weighting
from gramian.errors import InputError
from gramian.evidence import Shepard
from gramian.kept import Agreement, Decoder, as_text, names_of, written
from gramian.maps import Array
from gramian.methods import METHODS
from gramian.scaling.placing import FittedCurve
from gramian.show.text import listed, visible
from gramian.spectral.arpack import Arpack
from gramian.spectral.gram_embedding import DoubleCentering, GramEmbedding
from gramian.spectral.krylov import BlockKrylov
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.pivoted import NystromEmbedding
from gramian.spectral.plan import Plan
from gramian.spectral.shift_invert import ShiftInvert
from gramian.spectral.solvers import Dense
from gramian.tensors import read_tensors, write_tensors

__all__ = ["load", "save"]

FORMAT = 1
_FACTS = {"sha256", "format", "gramian_version", "method", "params", "feature_names", "values"}
_CLASSES = (
    *(
        Arpack,
        BlockKrylov,
        Dense,
        DoubleCentering,
        Eigenpairs,
        FittedCurve,
        GramEmbedding,
        NystromEmbedding,
        Shepard,
        ShiftInvert,
    ),
    Plan,
    Weighting,
)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted method to a file; one that exists is replaced.

    Parameters
    ----------
    model : fitted method
    path : path

    Raises
    ------
    InputError
        A parameter is a function or another thing that a file cannot hold.
    """
    check_is_fitted(model)
    model = model._to_keep()
    method, keeps = type(model).__name__, model._keeps()
    kept = {name: in_memory(getattr(model, name)) for name in keeps}
    arrays: dict[str, Array] = {}
    for name, kind in keeps.items():
        if _is_text(kind) and kept[name] is not None:
            kept[name] = as_text(kept[name])
    names = getattr(model, "feature_names_in_", None)
    try:
        params = written(_settings(model), "params", arrays)["items"]
        values = {name: written(value, name, arrays) for name, value in kept.items()}
    except InputError as error:
        raise InputError(f"{method} cannot be saved: {error}") from None
    if names is not None:
        arrays["feature_names"] = as_text(names)
    for check in _agreement(kept, keeps, method).numbers:
        check()
    facts = {
        "format": FORMAT,
        "gramian_version": __version__,
        "method": method,
        "params": params,
        "feature_names": None if names is None else "feature_names",
        "values": values,
    }
    write_tensors(path, facts, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted method from a file that ``save`` wrote. Nothing in a file is ever run.

    Parameters
    ----------
    path : path

    Returns
    -------
    fitted method
        It places new points with the same bits as the one that was saved. Arrays of files above
        64 MB stay in the file and come into memory as they are used.

    Raises
    ------
    InputError
        The file is damaged, foreign, of a later version, or holds what no model does.
    """
    stored = read_tensors(path)
    facts, where = stored.facts, stored.name
    _check_version(facts, where)
    _refuse_other(set(facts), _FACTS, f"{where}: the header")
    if not isinstance(facts["method"], str) or facts["method"] not in METHODS:
        known = listed(sorted(METHODS))
        raise InputError(f"{where}: {visible(facts['method'])!r} is no method; known are {known}")
    for name in ("params", "values"):
        if not isinstance(facts[name], dict):
            raise InputError(f"{where}: {name} are not given by name; it was not saved by gramian")
    decoder = Decoder(where, stored.arrays, {each.__name__: each for each in _CLASSES})
    model = _unfitted(facts["method"], facts["params"], decoder)
    keeps = model._keeps()
    values = dict.fromkeys(model._later) | facts["values"]
    _refuse_other(set(values), set(keeps), f"{where}: {facts['method']}")
    kept = {name: decoder.value(found) for name, found in values.items()}
    agreement = _agreement(kept, keeps, where)
    features = facts["feature_names"]
    if features is not None:
        features = decoder.array(features)
        agreement.check(features, f"text {_features(keeps)}", "feature_names")
    _refuse_other(set(stored.arrays), set(decoder.used), f"{where}: the list of arrays")
    stored.verify()
    for check in agreement.numbers:
        check()
    for name, value in kept.items():
        text = _is_text(keeps[name]) and value is not None
        setattr(model, name, names_of(value, where) if text else value)
    if features is not None:
        model.feature_names_in_ = np.array(names_of(features, where), dtype=object)
    return model


def _settings(model: Any) -> dict[str, Any]:
    """The parameters of a method, without where its run was kept."""
    return {
        name: value for name, value in model.get_params(deep=False).items() if name != "checkpoint"
    }


def _check_version(facts: Mapping[str, Any], where: str) -> None:
    version, saved = facts.get("format"), visible(facts.get("gramian_version"), 30)
    if type(version) is not int or version < 1:
        raise InputError(f"{where}: {visible(version)!r} is no version of the format of models")
    if version > FORMAT:
        raise InputError(
            f"{where}: saved by gramian {saved} in format {version}; this is gramian "
            f"{__version__}, which reads format {FORMAT}: install gramian {saved} or later"
        )


def _unfitted(method: str, params: Any, decoder: Decoder) -> Any:
    """The method with its parameters; its class comes from the fixed table."""
    kind = getattr(import_module(METHODS[method]), method)
    _refuse_other(
        set(params), set(params) & set(kind._get_param_names()), f"{decoder.where}: {method}"
    )
    return kind(**{name: decoder.value(found) for name, found in params.items()})


def _agreement(kept: Mapping[str, Any], keeps: Mapping[str, Any], where: str) -> Agreement:
    agreement = Agreement(where)
    for name, kind in keeps.items():
        agreement.check(kept[name], kind, name)
    return agreement


def _refuse_other(found: set[str], wanted: set[str], what: str) -> None:
    if found != wanted:
        more, less = (sorted(map(visible, each)) for each in (found - wanted, wanted - found))
        parts = [f"has {listed(more)}, which is not known"] if more else []
        parts += [f"lacks {listed(less)}"] if less else []
        raise InputError(f"{what} {' and '.join(parts)}; fit and save again with this version")


def _features(keeps: Mapping[str, Any]) -> str:
    """The letter of the number of variables."""
    return str(keeps["n_features_in_"]).removeprefix("=")


def _is_text(kind: Any) -> bool:
    return isinstance(kind, str) and kind.startswith("text")
