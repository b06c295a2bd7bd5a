"""The library's sentences in the words of the command line.

The library speaks of its parameters (``memory=``, ``n_components=5``); whoever typed a command
knows options (``--memory``, ``-k 5``). One table says which is which, used where messages leave.
"""

from __future__ import annotations

import re

__all__ = ["as_options"]

OPTIONS = {
    "alpha": "--alpha",
    "coef0": "--coef0",
    "columns": "--columns",
    "correction": "--correction",
    "decimal": "--decimal",
    "degree": "--degree",
    "delimiter": "--delimiter",
    "density": "--density",
    "disconnected": "--disconnected",
    "drop": "--drop",
    "eps": "--eps",
    "fun": "--fun",
    "gamma": "--gamma",
    "kernel": "--kernel",
    "kind": "--kind",
    "labels": "--id",
    "landmarks": "--landmarks",
    "max_bytes": "--memory",
    "max_iter": "--max-iter",
    "memory": "--memory",
    "metric": "--metric",
    "missing": "--missing",
    "n_components": "-k",
    "n_neighbors": "--neighbors",
    "n_permutations": "--permutations",
    "others": "--color",
    "radius": "--radius",
    "random_state": "--seed",
    "solver": "--solver",
    "tol": "--tol",
}
# "(drop=, --drop on the command line)": both are named already
_BOTH = re.compile(r"\b\w+=\w*, (--[\w-]+)(?: on the command line)?")
# "memory=", "n_components=5", "metric='x y'"; not inside quotation marks, where a name may hold it
_GIVEN = re.compile(rf"(?<![\w'\"-])({'|'.join(OPTIONS)})=('[^']*'|[^\s,;:)]*)")
_BARE = re.compile(
    r"(?<![\w'\"-])(n_components|n_permutations|n_neighbors|random_state|max_iter)\b(?!=)"
)
_WHOLE = (
    ("scale='unit'", "--standardize"),
    ('scale="unit"', "--standardize"),
    ("header=False", "--no-header"),
    (", or say header=True if these are names", ""),
    (", 'mle', 'horn', or None for all", ", mle, or horn"),
    (", or None for all", ""),
    ("use 'precomputed', a function of two points, or one of", "use one of"),
    ("use 'precomputed', a function k(X, Y), or one of", "use one of"),
)


def as_options(sentence: str) -> str:
    """Parameters of the library as options of the command line.

    Parameters
    ----------
    sentence : str
        An error or a warning.

    Returns
    -------
    str

    Examples
    --------
    >>> as_options("the budget is 2 GB; use landmarks=1000, or raise memory=")
    'the budget is 2 GB; use --landmarks 1000, or raise --memory'
    >>> as_options("n_components=7: a whole number from 1 to 4 is needed")
    '-k 7: a whole number from 1 to 4 is needed'
    """
    sentence = _BOTH.sub(r"\1", sentence)
    for before, after in _WHOLE:
        sentence = sentence.replace(before, after)

    def option(found: re.Match[str]) -> str:
        value = found[2].strip("'")
        return f"{OPTIONS[found[1]]} {value}".rstrip()

    return _BARE.sub(lambda found: OPTIONS[found[1]], _GIVEN.sub(option, sentence))
