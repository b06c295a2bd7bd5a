"""LSI against SciPy's and scikit-learn's truncated SVDs; PageRank against networkx's iteration.

Residuals are max(|X v - s u|, |X' u - s v|) / s_1 over all triplets, recomputed here from what each
contestant returned. "space" is the sine of the largest angle to the space of the most accurate one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.data import documents, random_links, random_sparse
from benchmarks.measure import Settings, Table, interleaved, sine
from benchmarks.memory import ROOT, peak_of

Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]


# Contestants ------------------------------------------------------------------------------------


def gramian(X: Any, k: int) -> Triplets:
    """Ours, as it comes: 1e-6 in float64, 1e-4 in float32."""
    from gramian import LSI

    model = LSI(k).fit(X)
    return model.documents_ / model.singular_values_, model.singular_values_, model.components_


def svds(X: Any, k: int, solver: str, tol: float) -> Triplets:
    """SciPy's; its tolerance is squared inside."""
    from scipy.sparse.linalg import svds

    most = {"maxiter": 40 * k} if solver == "propack" else {}
    U, s, Vt = svds(X, k, solver=solver, tol=tol, rng=np.random.default_rng(0), **most)
    return U[:, ::-1], s[::-1], Vt[::-1]


def truncated(X: Any, k: int, **how: Any) -> Triplets:
    """scikit-learn's."""
    from sklearn.decomposition import TruncatedSVD

    model = TruncatedSVD(k, random_state=0, **how)
    Z = model.fit_transform(X)
    return Z / model.singular_values_, model.singular_values_, model.components_


CONTESTANTS: dict[str, Callable[[Any, int], Triplets]] = {
    "gramian LSI": gramian,
    "scipy propack": partial(svds, solver="propack", tol=1e-6),
    "scipy arpack": partial(svds, solver="arpack", tol=1e-3),
    "TruncatedSVD arpack": partial(truncated, algorithm="arpack", tol=1e-3),
    "TruncatedSVD default": truncated,
}


@dataclass(frozen=True)
class Case:
    """Data and who takes part; patience is short where one run takes a minute."""

    name: str
    make: Callable[[], Any]
    k: int
    dtype: str = "float64"
    names: tuple[str, ...] = tuple(CONTESTANTS)

    def data(self) -> Any:
        """In the precision asked for."""
        return self.make().astype(self.dtype)


def _cases(n: int, p: int, k: int, density: float) -> dict[str, Case]:
    kinds = {
        "zipf": ("documents", partial(documents, n, p)),
        "flat": ("flat spectrum", partial(random_sparse, n, p, density)),
    }
    return {
        f"{key}{ending}": Case(f"{name}, {n:,} x {p:,}, {dtype}", make, k, dtype)
        for key, (name, make) in kinds.items()
        for ending, dtype in (("", "float64"), ("-32", "float32"))
    }


CASES = _cases(200_000, 50_000, 50, 1e-3)
QUICK = _cases(3000, 900, 5, 1e-2)


def residual(X: Any, found: Triplets) -> float:
    """How far the triplets are from being singular ones."""
    U, s, Vt = found
    left = np.linalg.norm(X @ np.ascontiguousarray(Vt.T) - U * s, axis=0).max()
    right = np.linalg.norm(X.T @ np.ascontiguousarray(U) - Vt.T * s, axis=0).max()
    return float(max(left, right) / s.max())


def lsi_tables(settings: Settings, cases: tuple[str, ...] = tuple(CASES)) -> Iterator[Table]:
    """One table a case: seconds, memory, accuracy."""
    for name in cases:
        case = (QUICK if settings.quick else CASES)[name]
        X = case.data()
        calls = {each: partial(CONTESTANTS[each], X, case.k) for each in case.names}
        CONTESTANTS["gramian LSI"](X[:3000], 3)  # compiled before anybody is timed
        found = interleaved(calls, 1 if "flat" in name else settings.rounds, settings.rest, 5.0)
        failed = {each for each, turn in found.items() if isinstance(turn.answer, Exception)}
        good = {each: residual(X, found[each].answer) for each in found if each not in failed}
        best = found[min(good, key=lambda each: good[each])].answer
        rows = []
        for each, turn in found.items():
            if each in failed:
                rows.append((each, "failed", None, None, None, None, None))
                continue
            s, V = turn.answer[1], turn.answer[2].T
            off = float(np.max(np.abs(s - best[1]) / best[1]))
            ours = found["gramian LSI"].seconds
            extra = _extra(name, each) if settings.memory else None
            rows.append(
                (each, turn.seconds, turn.seconds / ours, good[each], off,
                 sine(V, np.linalg.qr(best[2].T)[0]), extra)
            )  # fmt: skip
        size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
        yield Table(
            f"LSI: {case.name}, {X.nnz:,} stored ({size:.0f} MB), k = {case.k}",
            ("contestant", "seconds", "time / ours", "residual", "values", "space", "extra MB"),
            rows,
        )


def _extra(case: str, contestant: str) -> float | None:
    command = [sys.executable, "-m", "benchmarks.sparse", case, contestant]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout) / 1e6 if done.returncode == 0 else None


# PageRank ---------------------------------------------------------------------------------------


def networkx_iteration(A: Any, tol: float, alpha: float = 0.85) -> np.ndarray:
    """networkx's ``_pagerank_scipy`` once it has its matrix, its stopping rule made size-free."""
    n = A.shape[0]
    S = A.sum(axis=1)
    S[S != 0] = 1.0 / S[S != 0]
    A = scipy.sparse.csr_array(scipy.sparse.spdiags(S.T, 0, *A.shape)) @ A
    x = p = np.repeat(1.0 / n, n)
    dangling = np.where(S == 0)[0]
    for _ in range(10_000):
        last = x
        x = alpha * (x @ A + sum(x[dangling]) * p) + (1 - alpha) * p
        if np.absolute(x - last).sum() < tol:
            return x
    raise RuntimeError("not converged")


def rank_tables(settings: Settings) -> Iterator[Table]:
    """PageRank to a change below 1e-10 in the last step, of everybody."""
    from gramian.rank import pagerank

    n, m = (2000, 20_000) if settings.quick else (1_000_000, 10_000_000)
    rows = []
    for name, skew in (("links at random", 1.0), ("few targets have many", 3.0)):
        A = random_links(n, m, skew)
        pagerank(A)
        calls = {
            "gramian": lambda A=A: pagerank(A, tol=1e-10 * 0.85 / 0.15).scores,
            "networkx's scipy": lambda A=A: networkx_iteration(A, 1e-10),
        }
        found = interleaved(calls, settings.rounds, settings.rest)
        ours, peer = found["gramian"], found["networkx's scipy"]
        exact = pagerank(A, tol=1e-14).scores
        rows.append(
            (name, ours.seconds, peer.seconds, peer.seconds / ours.seconds,
             float(np.abs(ours.answer - exact).sum()), float(np.abs(peer.answer - exact).sum()))
        )  # fmt: skip
    yield Table(
        f"PageRank, {n:,} nodes, {m:,} links",
        ("graph", "gramian s", "networkx s", "ratio", "error", "networkx's error"),
        rows,
        ("The peer is networkx's iteration on a matrix that is there; making it is not timed.",),
    )


def main(arguments: list[str]) -> None:
    """A child that measures memory: case, contestant."""
    case, name = CASES[arguments[0]], CONTESTANTS[arguments[1]]
    X = case.data()
    name(X[:3000], 3)
    print(json.dumps(peak_of(lambda: name(X, case.k))))


if __name__ == "__main__":
    main(sys.argv[1:])
