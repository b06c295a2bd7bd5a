"""Close relatives among samples, by their calls: KING-robust kinship.

Relatives draw axes of their own, so whoever looks for ancestry should know of them.

A. Manichaikul and others, Bioinformatics 26 (2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.data.genotypes import packed_calls
from gramian.data.variants import describe
from gramian.loops.threads import run
from gramian.maps import Array
from gramian.show.text import count, number

Pairs = list[tuple[int, int, float]]
_few = 1000  # variants below which kinship is too rough an estimate to warn of
_many = 20_000  # samples above which all pairs are not looked at


def look_for_relatives(
    rows: Any, kept: Array, frequencies: Array, labels: tuple[str, ...] | None
) -> tuple[Pairs, str, bool]:
    """Close relatives, a sentence about them, and whether it is a warning.

    Parameters
    ----------
    rows : BedRows, ArrayRows or DaskRows
    kept : array of int
    frequencies : array
        Of an allele, for each of the variants ``kept``.
    labels : tuple of str or None
        Names of the samples.
    """
    common = kept[np.minimum(frequencies, 1 - frequencies) >= 0.05]
    if len(common) < _few:
        return [], "", False
    if rows.shape[0] > _many:
        return [], f"relatives were not looked for among more than {_many:,} samples", False
    found = relatives(rows, common)
    if not found:
        return [], "", False
    i, j, kinship = found[0]
    sentence = (
        f"{count(len(found), 'pair')} of samples look like first-degree relatives "
        f"or duplicates, the closest {describe(i, labels)} and {describe(j, labels)} "
        f"(kinship {number(kinship)}); relatives draw axes of their own: fit without one "
        "of each pair and project it"
    )
    return found, sentence, True


def relatives(rows: Any, common: Array, limit: float = 0.177) -> Pairs:
    """Pairs of samples related in the first degree or closer, closest first: KING-robust kinship.

    Parameters
    ----------
    rows : BedRows, ArrayRows or DaskRows
    common : array of int
        Variants whose rarer allele is common; some 4,000 of them, evenly spread, are looked at.
    limit : float
        Kinship of first-degree relatives is 0.25, of twins and duplicates 0.5, of second-degree
        relatives 0.125; halfway between, on a scale of powers of 2, lies 0.177.
    """
    from gramian.loops.genotypes import kinship

    n = rows.shape[0]
    chosen = np.unique(common[np.linspace(0, len(common) - 1, min(len(common), 4096)).astype(int)])
    X = _codes_of(packed_calls(rows, chosen), n)
    bits = [_bits(np.equal(X, code)) for code in (2, 0, 3)]
    cuts = np.linspace(0, n, 33).astype(int)
    pairs = np.zeros((32, 1000, 3))
    many = np.zeros(32, np.int64)

    def piece(i: int) -> None:
        many[i] = kinship(*bits, cuts[i], cuts[i + 1], limit, pairs[i])

    run(piece, 32)
    found_pairs = [pairs[i, j] for i in range(32) for j in range(min(many[i], 1000))]
    found_pairs.sort(key=lambda each: -each[2])
    return [(int(i), int(j), float(value)) for i, j, value in found_pairs]


def _codes_of(packed: Array, n: int) -> Array:
    """Codes of some variants, n samples x variants: by rows, because bits are packed along them."""
    four = (packed[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3
    return np.ascontiguousarray(four.reshape(len(packed), -1)[:, :n].T)


def _bits(truth: Array) -> Array:
    """Truth values by row as words of 64 bits."""
    n, m = truth.shape
    padded = np.zeros((n, -(-m // 64) * 64), bool)
    padded[:, :m] = truth
    return np.packbits(padded, axis=1).view(np.uint64)
