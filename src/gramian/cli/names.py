"""Names a user can choose from: for completion in the shell, and for "did you mean"."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable

from gramian.errors import GramianError
from gramian.show.text import listed, visible

__all__ = [
    "chosen",
    "contrasts",
    "corrections",
    "did_you_mean",
    "inits",
    "kernels",
    "losses",
    "measurements",
    "metrics",
    "parts",
    "projections",
    "solvers",
    "starting",
    "ties",
]


def metrics() -> tuple[str, ...]:
    """Metrics that are computed from rows."""
    from gramian.gram.distances import METRICS

    return METRICS


def kernels() -> tuple[str, ...]:
    """Kernels, second names included."""
    from gramian.gram.kernels import KERNELS

    return tuple(KERNELS)


def corrections() -> tuple[str, ...]:
    """Ways to make distances Euclidean."""
    return ("lingoes", "cailliez", "sqrt")


def measurements() -> tuple[str, ...]:
    """What MDS takes from distances."""
    return ("ratio", "interval", "ordinal", "spline")


def losses() -> tuple[str, ...]:
    """What MDS makes small."""
    return ("stress", "sammon", "sstress", "strain")


def ties() -> tuple[str, ...]:
    """What ordinal MDS does with equal dissimilarities."""
    return ("primary", "secondary", "tertiary")


def inits() -> tuple[str, ...]:
    """Where MDS begins."""
    return ("classical", "stochastic", "random")


def parts() -> tuple[str, ...]:
    """What to do with a graph in several parts."""
    return ("error", "join", "largest")


def contrasts() -> tuple[str, ...]:
    """What ICA measures non-Gaussianity by."""
    return ("logcosh", "exp", "cube")


def projections() -> tuple[str, ...]:
    """Kinds of random projections."""
    return ("gaussian", "sparse")


def solvers() -> tuple[str, ...]:
    """Ways to find eigenpairs."""
    return ("auto", "dense", "krylov", "arpack", "shift-invert")


def starting(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """What a shell offers: the names that begin as typed."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def chosen(
    option: str, names: Callable[[], Iterable[str]], *more: str
) -> Callable[[str | None], str | None]:
    """A check of an option's value before any work is done.

    Parameters
    ----------
    option : str
        ``"--metric"``.
    names : function
        Gives the names to choose from.
    *more : str
        Further values that are right but not offered.
    """

    def check(value: str | None) -> str | None:
        if value is None or value in more:
            return value
        known = list(names())
        if value not in known:
            raise GramianError(
                f"{option} {visible(value)} is not known; {did_you_mean(value, known)}"
            )
        return value

    return check


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean 'pca'?``, or everything there is."""
    names = list(known)
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"there are {listed(names, 30)}"
