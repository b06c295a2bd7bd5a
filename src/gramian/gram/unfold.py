"""Maximum variance unfolding: points drawn as far apart as the edges of a graph allow.

1. program      maximize  sum_i m_i |r_i|^2 + sum_e c_e |r_i - r_j|^2 = <C, K>,   K = R R'
                where     |r_i - r_j|^2 <= d_e^2 for every edge e = (i, j),   sum_i m_i r_i = 0
                (m_i points lie at r_i; c_e = 0 unless edges are to be kept long: ``stiffness``)
2. dual         minimize  sum_e y_e d_e^2   where  y >= 0  and  L_y - C  has no negative eigenvalue
                (L_y: the Laplacian of the graph with weights y, the tensions of its edges)
3. certificate  for any y, with l the smallest eigenvalue of  L_y v = l C v:  y / l is allowed in 2,
                so the optimum is at most  sum_e y_e d_e^2 / l;  it is at least <C, R R'>
4. barrier      minimize  -<C, R R'> - b sum_e log s_e,   s_e = d_e^2 - |r_i - r_j|^2,   b -> 0;
                at its minimum  L_y R = C R  with y_e = b / s_e, and the gap of 3 is b times the
                number of edges
5. Newton       steps of R, y; their equations are as sparse as the graph
6. columns      R starts without any. Where l < 1 its v is a direction in which R can grow: a column
                more. So R has few columns though K ranges over all Gram matrices

K. Q. Weinberger and L. K. Saul, International Journal of Computer Vision 70 (2006); the dual and
its meaning: J. Sun, S. Boyd, L. Xiao and P. Diaconis, SIAM Review 48 (2006); few columns: S. Burer
and R. D. C. Monteiro, Mathematical Programming 95 (2003).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from gramian.errors import InputError
from gramian.gram.unfold_steps import Program, newton, proven, smallest
from gramian.loops.threads import pause
from gramian.maps import Array
from gramian.progress import Approach

_shrink = 0.3  # the barrier, from stage to stage
_columns = 20  # of R at most
_astray = 10.0  # times what the barrier makes of it, a tension may be
_near = 0.6  # of the way to the first full edge, at most in one step
_stage = 100  # Newton steps


@dataclass(frozen=True)
class Unfolding:
    """Points drawn apart, and how near to the optimum they are.

    Attributes
    ----------
    points : array of shape (n, r)
        Centered, on their principal axes; no edge is longer than it may be.
    edges : array of int, shape (m, 2)
    lengths : array of shape (m,)
        How long the edges may be.
    tensions : array of shape (m,)
        y, allowed in the dual: what the optimum would gain by a longer edge.
    value, bound : float
        <C, K> of these points, and what no points can exceed.
    n_iter : int
        Newton steps.
    stopping : str
        Why they ended.
    """

    points: Array
    edges: Array
    lengths: Array
    tensions: Array
    value: float
    bound: float
    n_iter: int
    stopping: str

    @property
    def gap(self) -> float:
        """How much higher the optimum may be, as a share of the value."""
        return (self.bound - self.value) / self.value

    @property
    def shares(self) -> Array:
        """Length of every edge as a share of what it may be; 1 for edges of length 0."""
        apart = self.points[self.edges[:, 0]] - self.points[self.edges[:, 1]]
        drawn = np.sqrt(np.einsum("ij,ij->i", apart, apart))
        full = np.ones(len(drawn))
        return np.asarray(np.divide(drawn, self.lengths, out=full, where=self.lengths > 0))


def unfold(
    graph: Any,
    columns: int = 1,
    *,
    stiffness: float = 0.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Unfolding:
    """Draw the points of a graph as far apart as its edges allow.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        Lengths of the edges, symmetric, in one part (``Neighbors.graph``).
    columns : int
        How many axes will be looked at: while R has fewer, a gap a hundred times smaller is asked
        for, because the axes that come last matter least to the variance.
    stiffness : float
        What a kept edge is worth: all edges together, at full length, count as much as so many
        times the variance. 0 lets edges become shorter; the larger, the fewer do.
    tol : float
        The gap to reach, as a share of the value.
    max_iter : int
        Newton steps at most.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.gram.neighbors import Neighbors
    >>> from gramian.gram.unfold import unfold
    >>> bent = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.5]])
    >>> found = unfold(Neighbors.of(bent, 1).connect("join").graph(), tol=1e-8)
    >>> found.points.shape, bool(found.gap < 1e-8)
    ((4, 1), True)
    """
    labels, program, unit = _program(graph)
    found = _solve(program, columns, tol, max_iter)
    if stiffness > 0:
        worth = stiffness * found.value / len(program.squares) / program.squares
        before, program = found, replace(program, worth=worth)
        found = _solve(program, columns, tol, max_iter)
        found = replace(found, n_iter=before.n_iter + found.n_iter)
    upper = sparse.triu(graph, 1).tocoo()
    edges = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
    merged = labels[edges]
    pairs = np.sort(merged, axis=1) @ [len(program.masses), 1]
    known = program.i * len(program.masses) + program.j
    order = np.argsort(known)
    where = order[np.minimum(np.searchsorted(known, pairs, sorter=order), len(known) - 1)]
    shortest = (known[where] == pairs) & (upper.data * unit <= np.sqrt(program.squares[where]))
    U, sizes, _ = np.linalg.svd(found.points[labels], full_matrices=False)
    return replace(
        found,
        points=U * sizes / unit,
        edges=edges,
        lengths=upper.data.astype(np.float64),
        tensions=np.where(shortest, found.tensions[where], 0.0),
        value=found.value / unit / unit,
        bound=found.bound / unit / unit,
    )


def dual_bound(edges: Array, lengths: Array, tensions: Array, n: int) -> float:
    """What the variance of no drawing can exceed, by any tensions of at least 0 (step 3)."""
    i, j = np.sort(edges, axis=1).T
    program = Program(i, j, lengths * lengths, np.ones(n), np.zeros(len(i)))
    return float(tensions @ program.squares) / proven(program, tensions)


def _program(graph: Any) -> tuple[Array, Program, float]:
    """The program of a graph, points at distance 0 made one; whose they are; its unit."""
    upper = sparse.triu(graph, 1).tocoo()
    n, (i, j), d = graph.shape[0], (upper.row, upper.col), upper.data.astype(np.float64)
    same = d == 0
    equal = sparse.coo_array((np.ones(same.sum()), (i[same], j[same])), shape=(n, n))
    count, labels = csgraph.connected_components(equal, directed=False)
    if count == 1:
        raise InputError("all points are equal: there is nothing to unfold")
    i, j = np.sort(labels[np.stack([i, j])], axis=0).astype(np.int64)
    order = np.lexsort((d, j, i))
    order = order[i[order] != j[order]]
    i, j, d = i[order], j[order], d[order]
    first = np.r_[True, (np.diff(i) != 0) | (np.diff(j) != 0)]
    i, j, d = i[first], j[first], d[first]
    unit = 1 / d.max()
    unit /= float(np.sqrt(np.mean((d * unit) ** 2)))
    masses = np.bincount(labels).astype(np.float64)
    return labels, Program(i, j, (d * unit) ** 2, masses, np.zeros(len(d))), unit


def _solve(program: Program, columns: int, tol: float, max_iter: int) -> Unfolding:
    """Steps 4 to 6: barrier stages of Newton steps, a column more where one is missing."""
    d2, edges, most = program.squares, len(program.squares), min(len(program.masses) - 1, _columns)
    b = 0.5 / float(smallest(program, 1 / d2, 1)[0][0])
    R, y, steps, best = np.zeros((len(program.masses), 0)), b / d2, 0, (np.inf, 1 / d2)
    stopping, grown, last = f"max_iter = {max_iter} Newton steps", 0, False
    told = Approach("unfolding", tol)
    while steps < max_iter:
        values, vectors = smallest(program, y, R.shape[1] + 2)
        value, bound = program.value(R), float(y @ d2 / values[0])
        best = min(best, (bound, y / values[0]), key=lambda each: each[0])
        enough = tol if R.shape[1] >= columns else tol / 100
        if value > 0 and best[0] - value <= enough * value:
            stopping = "the gap is below tol"
            break
        rest = edges * b / value if value > 0 else np.inf  # the gap that the barrier makes
        if 1 / values[0] - 1 > min(0.02, max(rest, enough) / 2) and R.shape[1] < most and grown < 3:
            new = vectors[:, values < (1 + values[0]) / 2][:, : min(2, most - R.shape[1])]
            R, grown = _grown(program, R, new, b), grown + 1
        elif last:
            stopping = "no further progress"
            break
        else:
            b, grown, rest = b * _shrink, 0, rest * _shrink
            last = rest < enough / 3
        R, y, used = _centered(program, R, y, b, min(0.01, rest / 3), max_iter - steps)
        steps += used
        told(steps, rest)
    R = R * np.sqrt(np.min(d2 / program.lengths(R)))  # until the first edge is full
    tensions = best[1] / proven(program, best[1])
    return Unfolding(
        points=R,
        edges=np.stack([program.i, program.j], axis=1),
        lengths=np.sqrt(d2),
        tensions=tensions,
        value=program.value(R),
        bound=float(tensions @ d2),
        n_iter=max(steps, 1),
        stopping=stopping,
    )


def _grown(program: Program, R: Array, new: Array, b: float) -> Array:
    """R with new columns, of the length that lowers the barrier function most."""
    best, found, size = _barrier(program, R, b), R, np.sqrt(float(len(R)))
    for _ in range(80):
        longer = np.concatenate([R, size * new], axis=1)
        height = _barrier(program, longer, b)
        if height < best:
            best, found = height, longer
        elif found is not R:
            break
        size /= 2
    return found


def _centered(
    program: Program, R: Array, y: Array, b: float, close: float, steps: int
) -> tuple[Array, Array, int]:
    """Newton steps toward the minimum of step 4; superfluous columns are dropped."""
    E, s = program.apart(R), program.squares - program.lengths(R)
    damping, used = 1e-6, 0
    while used < min(steps, _stage):
        pause()
        used += 1
        y = np.clip(y, b / s / _astray, b / s * _astray)
        slope = program.pull(R, E, b / s)
        step = newton(program, E, y - program.worth, 2 * y / s, damping, slope)
        length = 0.0 if step is None else _length(program, R, E, s, b, step, slope)
        if step is None or length == 0:
            damping = max(10 * damping, 1e-3)
            continue
        dy = b / s - y + 2 * y / s * np.einsum("ij,ij->i", E, program.apart(step))
        y = y + min(1.0, 0.95 / max(float(np.max(-dy / y)), 1e-300)) * dy
        R, damping = R + length * step, max(damping / 4, 1e-6)
        E, s = program.apart(R), program.squares - program.lengths(R)
        if _still(R, program.pull(R, E, y), close) and np.max(np.abs(y * s / b - 1)) < 0.5:
            break
    U, sizes, _ = np.linalg.svd(R, full_matrices=False)
    kept = sizes > 1e-5 * sizes[0]
    return U[:, kept] * sizes[kept], y, used


def _still(R: Array, pull: Array, close: float) -> bool:
    """Whether no principal axis is pulled at, however short, unless it is about to vanish."""
    squares, turn = np.linalg.eigh(R.T @ R)
    pulls = np.linalg.norm(pull @ turn, axis=0)
    there = squares > 1e-10 * squares[-1]
    return bool(np.all(pulls[there] <= close * np.sqrt(squares[there])))


def _length(
    program: Program, R: Array, E: Array, s: Array, b: float, step: Array, slope: Array
) -> float:
    """How far to go: short of the first full edge, and so that the barrier function falls."""
    down = 2 * float(np.vdot(slope, step))
    if not down < 0:
        return 0.0
    dE = program.apart(step)
    p, q = np.einsum("ij,ij->i", E, dE), np.einsum("ij,ij->i", dE, dE)
    full = np.divide(np.sqrt(p * p + q * s) - p, q, out=np.full(len(q), np.inf), where=q > 0)
    length, before = min(1.0, _near * float(full.min())), _barrier(program, R, b)
    for _ in range(12):
        after = _barrier(program, R + length * step, b)
        if after <= before + 1e-4 * length * down + 1e-12 * abs(before):
            return length
        length /= 2
    return 0.0


def _barrier(program: Program, R: Array, b: float) -> float:
    s = program.squares - program.lengths(R)
    return np.inf if s.min() <= 0 else -program.value(R) - b * float(np.log(s).sum())
