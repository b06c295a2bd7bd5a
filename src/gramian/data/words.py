"""A query in words as a row of counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from gramian.errors import InputError
from gramian.show.text import listed


def counted(words: str | Sequence[str], terms: Sequence[str] | None) -> tuple[Any, str]:
    """One sparse row of counts, and a sentence on words that are no terms; empty if all are.

    Text is cut into words; upper and lower case are the same. Of terms that differ by case alone
    the first is meant.
    """
    if terms is None:
        raise InputError(
            "the terms have no names: fit a frame, or give them, fit(X, terms=names); a row of "
            "counts can be searched for as it is"
        )
    said = re.findall(r"\w+", words) if isinstance(words, str) else list(map(str, words))
    known = {name.casefold(): j for j, name in reversed([*enumerate(terms)])}
    found = [known[word.casefold()] for word in said if word.casefold() in known]
    unknown = [repr(word) for word in said if word.casefold() not in known]
    if not found:
        what = f"none of {listed(unknown)} is" if unknown else "there is no word that is"
        raise InputError(f"{what} a term of the fit; use words that its documents hold")
    row = np.bincount(found, minlength=len(terms)).astype(np.float64)
    are = "is no term" if len(unknown) == 1 else "are no terms"
    said_of = f"{listed(unknown)} {are} of the fit and counted for nothing" if unknown else ""
    return scipy.sparse.csr_array(row[None]), said_of
