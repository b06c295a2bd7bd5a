"""PageRank and HITS: published numbers, dense linear algebra, every kind of graph, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.errors import CertificateWarning, GramianWarning, InputError
from gramian.loops.links import Links as Sorted
from gramian.loops.threads import limit_threads
from gramian.rank import hits, open_graph, pagerank

# W. Zachary, An information flow model for conflict and fission in small groups, J. Anthropol. Res.
# 33 (1977): 34 members of a karate club, 78 friendships, members counted from 0
KARATE = """0-1 0-2 0-3 0-4 0-5 0-6 0-7 0-8 0-10 0-11 0-12 0-13 0-17 0-19 0-21 0-31 1-2 1-3 1-7 1-13
1-17 1-19 1-21 1-30 2-3 2-7 2-8 2-9 2-13 2-27 2-28 2-32 3-7 3-12 3-13 4-6 4-10 5-6 5-10 5-16 6-16
8-30 8-32 8-33 9-33 13-33 14-32 14-33 15-32 15-33 18-32 18-33 19-33 20-32 20-33 22-32 22-33 23-25
23-27 23-29 23-32 23-33 24-25 24-27 24-31 25-31 26-29 26-33 27-33 28-31 28-33 29-32 29-33 30-32
30-33 31-32 31-33 32-33"""


def karate():
    pairs = [tuple(map(int, pair.split("-"))) for pair in KARATE.split()]
    assert len(pairs) == 78
    return pairs + [(b, a) for a, b in pairs]


def exact(A, d=0.85, v=None, w=None):
    """PageRank by solving the linear system."""
    A = np.asarray(A.todense() if sp.issparse(A) else A, float)
    n = len(A)
    v = np.full(n, 1 / n) if v is None else v / v.sum()
    w = v if w is None else w / w.sum()
    out = A.sum(axis=1)
    P = np.where(out[:, None] > 0, A / np.where(out > 0, out, 1)[:, None], w)
    x = np.linalg.solve(np.eye(n) - d * P.T, (1 - d) * v)
    return x / x.sum()


def graph(n=60, seed=0):
    """Directed, weighted, with nodes that have no links out or in, and stored zeros."""
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) * (rng.random((n, n)) < 0.08)
    A[::7] = 0
    A[:, ::11] = 0
    A = sp.csr_array(A)
    A.data[::9] = 0
    return A


def test_karate_club():
    # networkx 3.6.1, unweighted
    found, both = pagerank(karate()), hits(karate())
    assert np.allclose(
        found.scores[[33, 0, 32]], [0.100919182, 0.096997285, 0.071693226], atol=5e-9
    )
    wanted = [0.075002942, 0.071412729, 0.063719065]
    for ranking in (both.hubs, both.authorities):
        assert np.allclose(ranking.scores[[33, 0, 2]], wanted, atol=5e-9)
    assert [node for node, _ in found.top(3)] == [33, 0, 32]
    assert found.certified and both.certified and "Certified" in str(found)


def test_hollins(shared_data):
    folder = shared_data / "hollins"
    if not folder.is_dir():
        pytest.skip("no hollins")
    links = np.loadtxt(folder / "edges.csv", delimiter=",", skiprows=1, dtype=int)
    nodes = range(1, 6013)
    found = pagerank(links, nodes=nodes)
    for name in ("pagerank.txt", "pagerank_igraph.txt"):
        assert np.allclose(found.scores, np.loadtxt(folder / name), rtol=0, atol=1e-10)
    assert found.top(1) == [(2, pytest.approx(0.019878750637883, abs=1e-11))]
    both = hits(links, nodes=nodes)
    authorities, hubs = np.loadtxt(folder / "hits_authority_hub.txt").T
    assert np.allclose(both.authorities.scores, authorities, rtol=0, atol=1e-12)
    assert np.allclose(both.hubs.scores, hubs, rtol=0, atol=1e-12)
    assert np.isclose(both.singular_value, 56.06044403135333)
    assert both.certified


@pytest.mark.parametrize("damping", [0, 0.5, 0.85, 0.99])
def test_pagerank_solves_its_equation(damping):
    A = graph()
    v, w = np.arange(60.0), np.ones(60)
    w[:30] = 0
    for personalization, dangling in ((None, None), (v, None), (v, w), (None, w)):
        found = pagerank(A, damping, personalization=personalization, dangling=dangling, tol=1e-12)
        error = np.abs(found.scores - exact(A, damping, personalization, dangling)).sum()
        assert error <= found.error + 1e-14 and found.error <= 1e-12
        assert np.isclose(found.scores.sum(), 1) and found.scores.min() >= 0


@pytest.mark.parametrize("order", ["anywhere", "forward", "backward", "in a ring"])
@pytest.mark.parametrize("damping", [0.5, 0.85, 0.97])
def test_rounds_lead_to_the_same_scores_however_links_run(order, damping):
    rng = np.random.default_rng(1)
    n, m = 20_000, 200_000
    a, b = rng.integers(0, n, (2, m))
    near = rng.integers(1, 50, m)
    ends = {
        "anywhere": (a, b),
        "forward": (np.minimum(a, b), np.maximum(a, b)),
        "backward": (np.maximum(a, b), np.minimum(a, b)),
        "in a ring": (a, (a + near) % n),
    }[order]
    A = sp.coo_array((rng.random(m), ends), shape=(n, n)).tocsr()
    A = sp.csr_array(sp.diags_array(np.where(rng.random(n) < 0.1, 0.0, 1.0)) @ A)
    assert len(Sorted.of(A).rounds) == 4
    v, w = rng.random((2, n))
    out = A.sum(axis=1)
    P = sp.diags_array(np.divide(1, out, out=np.zeros(n), where=out > 0)) @ A
    x = v / v.sum()
    for _ in range(int(np.log(1e-16) / np.log(damping))):
        x = damping * (P.T @ x + x[out == 0].sum() * w / w.sum()) + (1 - damping) * v / v.sum()
    found = pagerank(A, damping, personalization=v, dangling=w, tol=1e-12)
    assert found.certified and np.abs(found.scores - x).sum() <= found.error + 1e-13


def test_hits_is_the_leading_singular_pair():
    for n in (60, 700):
        A = graph(n)
        U, s, Vt = np.linalg.svd(A.toarray())
        found = hits(A)
        for ranking, u in ((found.hubs, U[:, 0]), (found.authorities, Vt[0])):
            off = np.abs(ranking.scores - np.abs(u) / np.abs(u).sum()).sum()
            assert off <= ranking.error + 1e-13 and ranking.certified
        assert np.isclose(found.singular_value, s[0])
        assert np.isclose(found.gap, 1 - (s[1] / s[0]) ** 2)


class Links:
    """What a networkx graph shows of itself."""

    def __init__(self, edges, nodes, directed):
        self.found, self.nodes, self.directed = edges, nodes, directed

    def edges(self, data):
        return [(a, b, {"weight": w}) for a, b, w in self.found]

    def is_directed(self):
        return self.directed


def test_every_kind_of_graph_is_the_same_graph():
    triples = [("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 1.0), ("c", "a", 3.0), ("d", "c", 0.5)]
    A = np.zeros((4, 4))
    for a, b, w in triples:
        A["abcd".index(a), "abcd".index(b)] = w
    wanted = exact(A)
    for given in (
        triples,
        [*triples, ("d", "c", 0.0)],
        Links(triples, list("abcd"), True),
        *(A, sp.csr_array(A), sp.coo_matrix(A), sp.csc_array(A), A.astype(np.float32)),
    ):
        found = pagerank(given)
        assert np.allclose(found.scores, wanted, atol=1e-10)
        assert found.labels in (("a", "b", "c", "d"), None)
    unweighted = pagerank([(a, b) for a, b, _ in triples])
    assert np.allclose(unweighted.scores, exact(A > 0), atol=1e-10)
    assert np.allclose(
        pagerank(Links(triples, list("abcd"), True), weight=None).scores, unweighted.scores
    )
    both_ways = pagerank(Links(triples[:3], list("abcd"), False))
    B = A * 0
    B[:3, :3] = (A * (np.arange(4) > np.arange(4)[:, None]))[:3, :3]
    assert np.allclose(both_ways.scores, exact(B + B.T), atol=1e-10)
    pairs = np.array([[5, 9], [9, 5], [5, 5]])
    assert open_graph(pairs).labels == (5, 9)
    assert open_graph(pairs, nodes=[9, 7, 5]).A.toarray().tolist() == [
        [0, 0, 1],
        [0, 0, 0],
        [1, 0, 1],
    ]
    by_name = pagerank(triples, personalization={"b": 3, "d": 1})
    assert np.allclose(by_name.scores, exact(A, v=np.array([0, 3, 0, 1.0])), atol=1e-10)
    assert set(by_name.as_dict()) == set("abcd")


def test_sizes_of_weights_do_not_matter():
    A = graph()
    for power in (-300, 300):
        assert np.allclose(pagerank(A * 10.0**power).scores, pagerank(A).scores, atol=1e-10)
        assert np.allclose(hits(A * 10.0**power).hubs.scores, hits(A).hubs.scores, atol=1e-10)


def test_the_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    links = rng.integers(0, 3000, (60_000, 2))
    found = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            found.append((pagerank(links).scores, hits(links).hubs.scores))
    assert all(
        a.tobytes() == b.tobytes() for each in found for a, b in zip(each, found[0], strict=True)
    )


def test_what_cannot_be_certified_is_said():
    with pytest.warns(CertificateWarning, match="NOT certified"):
        assert not pagerank(karate(), max_iterations=3).certified
    two = [(0, 1), (2, 3)]
    with pytest.warns(GramianWarning, match="not unique"):
        assert hits(two).gap == 0


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        ([(0, 1, -2.0)], {}, "link from 0 to 1 has the weight -2; .* at least 0"),
        ([("a", "b", np.nan)], {}, "from 'a' to 'b' has the weight nan"),
        (sp.csr_array((3, 3)), {}, "no edges"),
        (np.zeros((3, 3)), {}, "no edges"),
        (np.empty((0, 2), int), {}, "no edges"),
        (sp.csr_array(np.ones((2, 3))), {}, "square, one row a node; got 2 x 3"),
        (np.ones((3, 5)), {}, "square matrix, pairs"),
        (np.array([["a", "b"], ["c", "d"]]), {}, "holds numbers"),
        (karate(), {"damping": 1}, "at least 0 and below 1"),
        (karate(), {"damping": "much"}, "at least 0 and below 1"),
        (karate(), {"tol": 0}, "tol=0"),
        (karate(), {"personalization": np.ones(3)}, "34 numbers, one a node"),
        (karate(), {"personalization": -np.ones(34)}, "-1 at position 0"),
        (karate(), {"dangling": np.zeros(34)}, "0 everywhere"),
        (karate(), {"personalization": {"Zoe": 1}}, "'Zoe', which is no node"),
        (karate(), {"nodes": [0, 1]}, "which is not among the nodes"),
    ],
)
def test_bad_input_in_one_sentence(given, options, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        pagerank(given, **options)
    assert "\n" not in str(caught.value)
