"""What can go wrong, said in one sentence: what was found, where, and what to do.

Every error a user can cause is a ``GramianError``; it is a ``ValueError`` too, because the contract
of scikit-learn (and most calling code) expects one. Anything else that escapes is a bug of ours.
"""

from __future__ import annotations

import sys
import warnings


class GramianError(ValueError):
    """Something the caller can mend; the message says how. Exit code 2 on the command line."""

    exit_code = 2


class InputError(GramianError):
    """The data cannot be used as given (missing values, wrong shape, unreadable file)."""


class MemoryRefusedError(GramianError, MemoryError):
    """The plan needs more memory than the budget; nothing was computed. Exit code 4."""

    exit_code = 4


class ClusterError(GramianError):
    """A cluster could not finish the work: workers, scheduler or data were lost."""


class GramianWarning(UserWarning):
    """An answer was given, and something about it should be known."""


class CertificateWarning(GramianWarning):
    """A returned eigenpair misses the tolerance; ``residuals_`` says by how much."""


class NotConvergedWarning(GramianWarning):
    """An iteration ended before it reached its tolerance; ``stopping_`` says where."""


def warn(sentence: str, kind: type[GramianWarning] = GramianWarning) -> None:
    """Warn, pointing at the line of the caller's own code that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in (
        "gramian",
        "sklearn",
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, kind, stacklevel=level)
