"""Graphs as sparse matrices: A[i, j] is the weight of the link from node i to node j.

sparse or square matrix | pairs or (source, target, weight) | networkx graph  ->  A, labels
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from gramian.errors import InputError
from gramian.maps import Array


@dataclass(frozen=True)
class Graph:
    """Links as a CSR matrix of weights above 0, and the nodes' names."""

    A: Any
    labels: tuple[Any, ...] | None

    def positions(self, what: str, found: dict[Any, Any]) -> Array:
        """Weights given by node, in the order of the nodes."""
        labels = range(self.A.shape[0]) if self.labels is None else self.labels
        known = {label: i for i, label in enumerate(labels)}
        out = np.zeros(self.A.shape[0])
        for label, weight in found.items():
            if label not in known:
                raise InputError(f"{what} names {label!r}, which is no node of the graph")
            out[known[label]] = weight
        return out


def open_graph(graph: Any, weight: str | None = "weight", nodes: Any = None) -> Graph:
    """A graph from whatever holds one.

    Parameters
    ----------
    graph : sparse matrix, square array, list or array of pairs, networkx graph, or Graph
        A matrix has the link from i to j in row i, column j. Pairs are (source, target), or
        (source, target, weight) in a list; links given twice add up. An array of shape (2, 2) is a
        matrix. An undirected networkx graph links both ways.
    weight : str or None
        Name of the weight of a networkx edge; ``None`` counts every edge as 1.
    nodes : sequence, optional
        All nodes in order, for pairs: those without links too. By default the nodes of the pairs,
        sorted where that is possible.
    """
    if isinstance(graph, Graph):
        return graph
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        return _from_networkx(graph, weight)
    if hasattr(graph, "tocsr"):
        return _checked(graph.tocsr(), None if nodes is None else tuple(nodes))
    array = graph if isinstance(graph, np.ndarray) else None
    if array is None and not (isinstance(graph, list) and graph and isinstance(graph[0], tuple)):
        array = np.asarray(graph)
    if array is not None and array.ndim == 2 and array.shape[0] == array.shape[1]:
        if array.dtype.kind not in "fiub":
            raise InputError(f"a graph as a matrix holds numbers, got type {array.dtype}")
        A = scipy.sparse.csr_array(array.astype(np.float64))
        return _checked(A, None if nodes is None else tuple(nodes))
    return _from_pairs(graph if array is None else array, nodes)


def _from_networkx(graph: Any, weight: str | None) -> Graph:
    labels = tuple(graph.nodes)
    place = {label: i for i, label in enumerate(labels)}
    ends, weights = [], []
    for source, target, facts in graph.edges(data=True):
        ends.append((place[source], place[target]))
        weights.append(1.0 if weight is None else float(facts.get(weight, 1.0)))
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    values = np.array(weights)
    if not graph.is_directed():
        apart = pairs[:, 0] != pairs[:, 1]  # a loop is one link
        pairs = np.concatenate([pairs, pairs[apart, ::-1]])
        values = np.concatenate([values, values[apart]])
    return _checked(_matrix(pairs, values, len(labels)), labels)


def _from_pairs(pairs: Any, nodes: Any) -> Graph:
    try:
        sources, targets, *rest = zip(*pairs, strict=True) if isinstance(pairs, list) else pairs.T
        values = np.asarray(rest[0], dtype=np.float64) if rest else np.ones(len(sources))
        if len(rest) > 1:
            raise ValueError
    except (TypeError, ValueError):
        shape = getattr(pairs, "shape", None)
        raise InputError(
            "a graph is a square matrix, pairs (source, target), triples with a weight, or a "
            f"networkx graph; got {type(pairs).__name__}{'' if shape is None else f' {shape}'}"
        ) from None
    ends = np.concatenate([np.asarray(sources), np.asarray(targets)])
    if len(ends) == 0:
        raise InputError("the graph has no edges; nothing can be ranked")
    if ends.dtype.kind == "f" and not rest and np.all(ends == np.floor(ends)):
        ends = ends.astype(np.int64)
    if nodes is None:
        labels, inverse = np.unique(ends, return_inverse=True)
    else:
        labels = np.asarray(nodes)
        place = {label: i for i, label in enumerate(labels.tolist())}
        strangers = [end for end in np.unique(ends).tolist() if end not in place]
        if strangers:
            raise InputError(f"an edge names {strangers[0]!r}, which is not among the nodes")
        inverse = np.array([place[end] for end in ends.tolist()])
    m = len(values)
    A = _matrix(np.stack([inverse[:m], inverse[m:]], axis=1), values, len(labels))
    return _checked(A, tuple(labels.tolist()))


def _matrix(pairs: Array, values: Array, n: int) -> Any:
    return scipy.sparse.coo_array((values, (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()


def _checked(A: Any, labels: tuple[Any, ...] | None) -> Graph:
    n, m = A.shape
    if n != m:
        raise InputError(f"a graph as a matrix is square, one row a node; got {n} x {m}")
    if labels is not None and len(labels) != n:
        raise InputError(f"{len(labels)} nodes are named, the graph has {n}")
    if A.dtype.kind not in "fiub":
        raise InputError(f"weights of links are real numbers, got type {A.dtype}")
    low, high = (float(A.data.min()), float(A.data.max())) if A.nnz else (0.0, 0.0)
    if not (low >= 0 and high < np.inf):
        bad = np.flatnonzero(~(A.data >= 0) | ~np.isfinite(A.data))[0]
        row, column = int(np.searchsorted(A.indptr, bad, side="right")) - 1, int(A.indices[bad])
        name = (lambda i: i) if labels is None else (lambda i: labels[i])
        raise InputError(
            f"the link from {name(row)!r} to {name(column)!r} has the weight {A.data[bad]:g}; "
            "weights are finite and at least 0"
        )
    if high == 0:
        raise InputError("the graph has no edges; nothing can be ranked")
    return Graph(A, labels)
