"""The thin products that every solver is made of, against numpy (BLAS)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Machine, Settings, Table, interleaved

COLUMNS = (
    *("product", "dtype", "order", "columns", "ours ms", "numpy ms", "numpy / ours"),
    *("difference", "roofline"),
)


def tables(settings: Settings) -> Iterator[Table]:
    """One table: A V and centered Y'(Y V)."""
    machine = Machine.measured(settings.quick)
    n, p = (300, 200) if settings.quick else (10_000, 5_000)
    rounds = 2 if settings.quick else 5
    measured = [
        row
        for dtype in ("float32", "float64")
        for order in "CF"
        for row in _rows(n, p, dtype, order, rounds, settings.rest)
    ]
    machine = machine.better(Machine.measured(settings.quick))
    rows = []
    for *shown, work, read in measured:
        least = machine.least_seconds(work, read, shown[1])
        rows.append((*shown, f"{1e3 * least / shown[4]:.0%}"))
    note = (
        "numpy multiplies a copy of the data centered beforehand; ours centers as it reads. "
        "Difference: largest entry of ours minus numpy's float64 product, over its largest entry."
    )
    yield Table(f"Thin products, {n:,} x {p:,}", COLUMNS, rows, (note,))


def _rows(
    n: int, p: int, dtype: str, order: str, rounds: int, rest: float
) -> Iterator[tuple[Any, ...]]:
    """Figures for one matrix, ending with the flops and the bytes to be read."""
    from gramian.data.centering import Centering
    from gramian.data.door import open_rows
    from gramian.loops.thin import times

    rng = np.random.default_rng(0)
    A = np.asarray(rng.standard_normal((n, p)) + 1, dtype=dtype, order=order)
    mean = A.mean(axis=0, dtype=np.float64)
    centering = Centering.of(mean, np.zeros(p), np.ones(p), np.ones(1), np.dtype(dtype))
    Y = open_rows(A).rows.then(centering)
    C = np.asarray(A - mean, dtype=dtype, order=order)
    for m in (8, 16, 32, 64):
        V = rng.standard_normal((p, m)).astype(dtype)
        V64 = V.astype(np.float64)
        flops, read = 2.0 * n * p * m, A.nbytes
        found = interleaved(
            {"ours": lambda V=V: times(A, V), "numpy": lambda V=V: A @ V}, rounds, rest
        )
        exact = A.astype(np.float64) @ V64
        yield ("A V", dtype, order, m, *_figures(found, exact), flops, read)
        found = interleaved(
            {"ours": lambda V=V: Y.gram(V), "numpy": lambda V=V: C.T @ (C @ V)}, rounds, rest
        )
        exact = C.astype(np.float64).T @ (C.astype(np.float64) @ V64)
        yield ("Y'(Y V)", dtype, order, m, *_figures(found, exact), 2 * flops, read)


def _figures(found: dict[str, Any], exact: np.ndarray) -> tuple[Any, ...]:
    ours, numpy = found["ours"].seconds, found["numpy"].seconds
    difference = float(np.abs(found["ours"].answer - exact).max() / np.abs(exact).max())
    return 1e3 * ours, 1e3 * numpy, numpy / ours, difference
