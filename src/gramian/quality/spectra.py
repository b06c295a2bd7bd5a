"""How Euclidean the distances behind a Gram embedding are, and how much of them it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.maps import Array
from gramian.show.text import number, percent
from gramian.spectral.gram_embedding import EXACT, GramEmbedding, full_spectrum, negativity


@dataclass(frozen=True)
class SpectrumQuality:
    """What the eigenvalues of a centered Gram matrix say.

    Attributes
    ----------
    negativity : float
        |most negative eigenvalue| / largest; 0 if and only if the distances are Euclidean, up to
        rounding; where it was searched for (no spectrum, not known to be Euclidean), up to 1e-5.
    goodness_of_fit : (float, float) or None
        Sum of the kept eigenvalues over the sum of all sizes, and over that of the positive ones.
    spectrum : array of shape (n,) or None
        All eigenvalues, where all were computed.
    proportions : array of shape (k,)
        Of each axis.
    formula : str
        Of what.
    """

    negativity: float
    goodness_of_fit: tuple[float, float] | None
    spectrum: Array | None
    proportions: Array
    formula: str

    @staticmethod
    def of(
        K: Any, gram: GramEmbedding, *, euclidean: bool, dense: bool, rng: np.random.Generator
    ) -> SpectrumQuality:
        """Measured on K, which an iterative search may use up.

        Parameters
        ----------
        K : map
        gram : GramEmbedding
        euclidean : bool
            Whether K is known to be of Euclidean distances.
        dense : bool
            Compute all eigenvalues, whatever n.
        rng : Generator
        """
        n, values = K.shape[0], gram.pairs.values
        kept, largest = np.maximum(values, 0.0), max(float(values[0]), np.finfo(float).tiny)
        shares, formula = kept / gram.trace, "eigenvalue / sum of all eigenvalues"
        if euclidean:
            fit = float(kept.sum() / gram.trace)
            return SpectrumQuality(0.0, (fit, fit), None, shares, formula)
        if n > EXACT and not dense:
            least = abs(negativity(K, gram, rng)) / largest
            return SpectrumQuality(least, None, None, shares, formula)
        spectrum = full_spectrum(K, gram)
        noise = n * np.finfo(K.dtype).eps * largest
        least = float(max(-spectrum[-1] - noise, 0.0) and -spectrum[-1] / largest)
        positive = float(spectrum[spectrum > 0].sum())
        both = float(kept.sum() / np.abs(spectrum).sum()), float(kept.sum() / positive)
        formula = "eigenvalue / sum of the positive eigenvalues"
        return SpectrumQuality(least, both, spectrum, kept / positive, formula)


def fit_said(goodness: tuple[float, float]) -> str:
    """R's two numbers in words."""
    of_sizes, of_positive = map(number, goodness)
    other = f", {of_positive} (/ sum of the positive)" if of_positive != of_sizes else ""
    return f"goodness of fit {of_sizes} (kept eigenvalues / sum of the sizes of all){other}"


def euclidean_said(which: str, negativity: float, *, searched: bool) -> str:
    """Whether these distances are Euclidean, as far as that is known."""
    if negativity <= 0 and searched:
        found = f"of {which} no eigenvalue below -1e-5 of the largest was found"
        return f"{found}; solver='dense' looks at all"
    if negativity <= 0:
        return f"{which} are Euclidean: no eigenvalue is negative beyond rounding"
    return (
        f"{which} are not Euclidean: the most negative eigenvalue is "
        f"{percent(negativity)} of the largest; that part is left out"
    )
