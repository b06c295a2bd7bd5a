"""What a run on a cluster would read, hold and move, before it runs.

W workers hold or read B blocks. A visit makes one small part of each block; what becomes of the
parts decides what moves:

    summed    in a binary tree: B - 1 sums, each of which finds one of its terms on another worker
              with the chance 1 - 1/W; the root, as large as one part, goes to the client
    beside    the same tree, where parts are laid side by side and grow: half of the result on each
              of its log2 B levels
    listed    all parts go to one worker and from there, side by side, to the client

What a visit needs (a block of vectors) is sent to one worker, and from there to the others. Blocks
stay where they are made, but for those that an idle worker takes over from a busy one, which come
on top; so do arrays chunked across the blocks, which move at every visit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import log2
from typing import Any, NamedTuple

import numpy as np

from gramian.memory import in_words
from gramian.show.text import count
from gramian.spectral.krylov import BlockKrylov
from gramian.spectral.plan import Plan, expected_passes

_messages = 6_000  # bytes a visit that are no result: what the scheduler tells the client


class Visit(NamedTuple):
    """One pass over the blocks: bytes that come out of all of it, and that go to every worker."""

    result: int
    how: str = "summed"
    sent: int = 0


@dataclass(frozen=True)
class SpreadPlan(Plan):
    """A plan for data on the workers of a cluster.

    Attributes
    ----------
    workers, threads : int
        How many, and how many tasks each runs at a time.
    blocks : int
        Of the data, each visited by one task.
    bytes_read : int
        By all workers, in all passes.
    worker_bytes : int
        Memory that each needs beyond blocks that are kept: what its tasks hold at a time.
    to_client, between : int
        Bytes expected to travel to this process, and from worker to worker (there blocks that an
        idle worker takes over from a busy one come on top).
    """

    workers: int = 1
    threads: int = 1
    blocks: int = 1
    bytes_read: int = 0
    worker_bytes: int = 0
    to_client: int = 0
    between: int = 0

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.cluster}"

    @property
    def cluster(self) -> str:
        """The part about workers, in words."""
        return (
            f"{count(self.blocks, 'block')} on {count(self.workers, 'worker')}, about "
            f"{in_words(self.worker_bytes)} at a time on each; about {in_words(self.to_client)} "
            f"travel to this process and {in_words(self.between)} between workers"
        )


def expected(found: Plan, Y: Any, k: int, centered: bool = True) -> Plan:
    """The plan for ``k`` axes with the passes to be expected; with traffic, if Y is on workers.

    Cross products that come with the moments are of no use where rows are not ``centered``.
    """
    if not hasattr(Y, "bounds"):
        return replace(found, passes=expected_passes(found, Y))
    return spread(found, Y, _visits(found.kind, Y, k, centered))


def _visits(kind: str, Y: Any, k: int, centered: bool) -> list[Visit]:
    """What PCA does with blocks; products depend on the spectrum, some forty are expected."""
    n, p = Y.shape
    m = BlockKrylov.natural_block(Y)
    moments = Visit(24 * p, "beside" if Y.flip else "summed")
    if Y.sums_at_once:
        moments = Visit(24 * p + 8 * p * p)
    if kind == "cross":
        return [moments] if Y.sums_at_once and centered else [moments, Visit(8 * p * p)]
    if kind == "outer":
        there, back = Visit(8 * k * p, "listed", 8 * k * n), Visit(8 * k * n, "summed", 8 * k * p)
        return [moments, Visit(8 * n * n), there, back]
    if not Y.flip:
        return [moments, *39 * [Visit(8 * p * m, "summed", 8 * p * m)]]
    times, adjoint = Visit(8 * n * m, "summed", 8 * p * m), Visit(8 * p * m, "listed", 8 * n * m)
    return [moments, *20 * [times, adjoint]]


def of_samples(found: Plan, Y: Any, k: int) -> Plan:
    """The same for axes on the side of the rows, of genotypes in blocks of variants.

    Calls are counted; Y Y' is formed, or some thirty products made; pairs are audited, loadings
    and the shrinkage of new samples found. Two more visits are made if calls are missing.
    """
    if not hasattr(Y, "bounds"):
        return replace(found, passes=40 if found.kind == "products" else 5)
    n, p = Y.shape
    m = 16  # vectors at a time
    counted = Visit(24 * p + 8 * n + min(p, 4096) * n // 4, "beside")  # calls of relatives, too
    thin = Visit(8 * n * m, "summed", 8 * n * m)
    middle = [Visit(8 * n * n), thin] if found.kind != "products" else 26 * [thin]
    loadings = Visit(8 * k * p, "listed", 8 * k * n)
    return spread(found, Y, [counted, *middle, loadings, thin])


def by_landmarks(found: Plan, Y: Any, rank: int) -> Plan:
    """The same for ``rank`` landmarks of points: two visits for every 64, and F visited twice."""
    if not hasattr(Y, "bounds"):
        return found
    point = Y.shape[1] * np.dtype(Y.dtype).itemsize
    known = rank * point + 8 * rank * rank  # the landmarks so far, and the factor of theirs
    drawn = [Visit(16 * len(Y.bounds), "listed", known), Visit(64 * point, "listed", known)]
    visits = [
        Visit(1000 * point, "listed"),  # moments, and a sample that the kernel is decided from
        *drawn * -(-rank // 64),
        *(Visit(24 * rank + 8 * rank * rank, "summed", known), Visit(8 * rank, "listed", known)),
    ]
    return spread(found, Y, visits)


def gathered(found: Plan, Y: Any) -> Plan:
    """The plan of a method that takes all rows to this process, if they are on workers."""
    if isinstance(found, SpreadPlan) or not hasattr(Y, "bounds"):
        return found
    route = f"the rows gathered here, {found.route}"
    size = Y.shape[0] * Y.shape[1] * np.dtype(Y.dtype).itemsize
    return spread(replace(found, route=route), Y, [Visit(size, "listed")])


def spread(found: Plan, Y: Any, visits: Sequence[Visit]) -> SpreadPlan:
    """The plan with what these visits of blocks on workers will take."""
    (workers, threads), blocks = Y.hands, len(Y.bounds)
    apart = 1 - 1 / workers
    moved = {"summed": blocks - 1.0, "beside": log2(max(blocks, 1)) / 2, "listed": 1.0}
    between = sum(
        apart * moved[each.how] * each.result + (workers - 1) * each.sent for each in visits
    )
    part = max(each.result // (1 if each.how == "summed" else blocks) for each in visits)
    block = max(b - a for a, b in Y.bounds) * min(Y.shape) * np.dtype(Y.dtype).itemsize
    known = {each.name: getattr(found, each.name) for each in fields(Plan)}
    return SpreadPlan(
        **{**known, "passes": len(visits)},
        workers=workers,
        threads=threads,
        blocks=blocks,
        bytes_read=len(visits) * Y.stored_bytes,
        worker_bytes=threads * (3 * block + 3 * part),
        to_client=sum(each.result for each in visits) + _messages * len(visits),
        between=int(between),
    )
