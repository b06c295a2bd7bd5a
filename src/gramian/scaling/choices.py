"""What can be asked of MDS, checked before anything is computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.loops.stress import LOSSES
from gramian.scaling.disparities import MEASUREMENTS, TIES

__all__ = ["STARTS", "check_settings"]

STARTS = ("classical", "stochastic", "random")


def check_settings(
    *,
    measurement: str,
    loss: str,
    ties: str,
    init: Any,
    n_init: Any,
    max_iter: Any,
    tol: Any,
    weights: Any,
    **_: Any,
) -> None:
    """Raise for the first setting that is not known, or does not go with another."""
    choices = {
        "measurement": (measurement, MEASUREMENTS),
        "loss": (loss, (*LOSSES, "strain")),
        "ties": (ties, TIES),
        "init": (init if isinstance(init, str) else STARTS[0], STARTS),
    }
    for name, (given, known) in choices.items():
        if given not in known:
            raise InputError(f"{name}={given!r}: use one of {known}")
    for name, given in (("n_init", n_init), ("max_iter", max_iter)):
        if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 1:
            raise InputError(f"{name}={given!r}: a whole number of at least 1 is needed")
    if isinstance(tol, bool) or not isinstance(tol, (int, float)) or not 0 <= tol < 1:
        raise InputError(f"tol={tol!r}: a number from 0 to below 1 is needed")
    if loss != "stress" and measurement != "ratio":
        raise InputError(f"loss={loss!r} goes with measurement='ratio' only, not {measurement!r}")
    if loss == "strain" and weights is not None:
        raise InputError("loss='strain' takes no weights; see ClassicalMDS(weights=...)")
