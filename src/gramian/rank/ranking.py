"""What ranking returns: scores that sum to 1, the names of the nodes, and a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.maps import Array


@dataclass(frozen=True)
class Ranking:
    """Scores of the nodes of a graph.

    Attributes
    ----------
    scores : array of shape (n,)
        At least 0, summing to 1.
    labels : tuple or None
        The nodes as they were named; ``None`` where they are 0, 1, 2, ...
    residual : float
        How far the scores are from solving their equation, measured.
    error : float
        A bound on the sum of all |score - true score| that follows from it.
    iterations : int
        Products with the graph.
    tolerance : float
        What ``error`` was asked to reach.
    """

    scores: Array
    labels: tuple[Any, ...] | None
    residual: float
    error: float
    iterations: int
    tolerance: float

    @property
    def certified(self) -> bool:
        """Whether the bound meets the tolerance."""
        return self.error <= self.tolerance

    def top(self, k: int = 10) -> list[tuple[Any, float]]:
        """The ``k`` best nodes with their scores; equal scores in the order of the nodes."""
        best = np.argsort(-self.scores, kind="stable")[:k]
        name = (lambda i: int(i)) if self.labels is None else (lambda i: self.labels[i])
        return [(name(i), float(self.scores[i])) for i in best]

    def as_dict(self) -> dict[Any, float]:
        """Scores by node."""
        names = range(len(self.scores)) if self.labels is None else self.labels
        return dict(zip(names, map(float, self.scores), strict=True))

    @property
    def certificate(self) -> str:
        """One sentence: how close are the scores."""
        how = "Certified" if self.certified else "NOT certified"
        return (
            f"{how}: all scores together are within {self.error:.1e} of the true ones "
            f"(asked for {self.tolerance:.1e}), after {self.iterations} products with the graph "
            f"of {len(self.scores)} nodes."
        )

    def __str__(self) -> str:
        lines = [f"{score:.6g}  {label}" for label, score in self.top(10)]
        return "\n".join([*lines, self.certificate])


@dataclass(frozen=True)
class HubsAndAuthorities:
    """Two rankings of the same nodes: good hubs link to good authorities.

    Attributes
    ----------
    hubs, authorities : Ranking
    singular_value : float
        Of the matrix of links.
    gap : float
        1 - (second / first singular value)^2. Where it is 0 the scores are not unique: the graph
        has parts that are equally strong.
    """

    hubs: Ranking
    authorities: Ranking
    singular_value: float
    gap: float

    @property
    def certified(self) -> bool:
        """Whether both meet their tolerance."""
        return self.hubs.certified and self.authorities.certified

    def __str__(self) -> str:
        return f"authorities\n{self.authorities}\nhubs\n{self.hubs}"
