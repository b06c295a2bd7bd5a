"""Parameters of metrics and functions as metrics: used as SciPy uses them, or one sentence."""

from decimal import Decimal

import mpmath
import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramian import MDS, ClassicalMDS, Isomap
from gramian.errors import InputError
from gramian.gram.distances import METRICS, pairwise

rng = np.random.default_rng(1)
X = rng.gamma(1, 1, (23, 4))
Y = rng.gamma(1, 1, (6, 4))
W = np.array([0.5, 0.0, 2.0, 3.25])
WEIGHTED = ("sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine", "correlation")
WEIGHTED += ("canberra", "braycurtis", "jaccard", "hamming")


@pytest.mark.parametrize("metric", WEIGHTED)
def test_weights_equal_those_of_scipy(metric):
    A, B = (np.round(Z) for Z in (X, Y)) if metric in ("jaccard", "hamming") else (X, Y)
    options = {"p": 3} if metric == "minkowski" else {}
    wanted = cdist(A, B, metric, w=W, **options)
    assert np.allclose(pairwise(A, B, metric, w=W, **options), wanted, rtol=1e-12, atol=1e-14)
    assert not np.allclose(wanted, cdist(A, B, metric, **options))
    given = ClassicalMDS(1, metric="precomputed", correction="sqrt")
    given.fit(pairwise(A, None, metric, w=W, **options))
    params = {"w": list(W), **options}
    model = ClassicalMDS(1, metric=metric, metric_params=params, correction="sqrt").fit(A)
    assert np.array_equal(model.embedding_, given.embedding_)


@pytest.mark.parametrize("p", [0.5, 1, 15.5, 17, 60, 500, 1e5, np.inf])
@pytest.mark.parametrize("w", [None, W])
def test_minkowski_of_any_power(p, w):
    points = np.r_[X, X[:1] * 300, X[1:2] + 1e-7]
    options = {} if w is None else {"w": w}
    found = pairwise(points, Y, "minkowski", p=p, **options)
    weights = np.ones(4) if w is None else w
    if p == np.inf:
        wanted = cdist(points, Y, "minkowski", p=p, **options)
    else:
        with mpmath.workdps(30):
            terms = [
                [
                    sum(
                        mpmath.mpf(c) * abs(mpmath.mpf(a) - mpmath.mpf(b)) ** p
                        for a, b, c in zip(x, y, weights.tolist(), strict=True)
                    )
                    ** (mpmath.mpf(1) / p)
                    for y in Y.tolist()
                ]
                for x in points.tolist()
            ]
            wanted = np.array(terms, dtype=float)
    assert np.allclose(found, wanted, rtol=1e-12)
    own = pairwise(points, metric="minkowski", p=p, **options)
    assert np.all(own[0, 1:] > 0)  # close points do not coincide where powers would vanish


def distance(x, y):
    return np.abs(x - y).sum()


BAD_METRICS = {
    "lopsided": (lambda x, y: max(x[0] - y[0], 0) + distance(x, y), "not symmetric: it gave"),
    "negative": (lambda x, y: -distance(x, y), "gave -.*finite number of at least 0"),
    "NaN": (lambda x, y: np.nan, "gave nan for"),
    "infinite": (lambda x, y: np.inf if x[0] > 1 else distance(x, y), "gave inf for"),
    "None": (lambda x, y: None, "gave None for"),
    "text": (lambda x, y: "1", "one real number .* gave '1'"),
    "complex": (lambda x, y: 1j * x[0], "one real number .* gave .*j"),
    "array": (lambda x, y: np.abs(x - y), r"one real number .* an array of shape \(4,\)"),
    "array of one": (lambda x, y: np.abs(x - y)[:1], r"an array of shape \(1,\)"),
    "not 0": (lambda x, y: 1 + distance(x, y), "for .* and itself"),
    "similarity": (lambda x, y: np.exp(-(distance(x, y) ** 2)), r"sqrt\(k\(x, x\) \+ k\(y, y\)"),
}


@pytest.mark.parametrize("name", BAD_METRICS)
def test_functions_that_are_no_distances(name):
    metric, words = BAD_METRICS[name]
    for n in (23, 300):
        points = np.resize(X, (n, 4))
        with pytest.raises(InputError, match=words) as caught:
            pairwise(points, metric=metric)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    for model in (ClassicalMDS(2, metric=metric), ClassicalMDS(2, metric=metric, landmarks=9)):
        with pytest.raises(InputError, match=words):
            model.fit(X)
    with pytest.raises(InputError, match=words):
        MDS(2, metric=metric).fit(X)


def test_functions_that_are_distances():
    wanted = pairwise(X, metric="cityblock")
    for metric in (
        distance,
        lambda x, y: Decimal(float(distance(x, y))),
        lambda x, y: np.float32(distance(x, y)),
        lambda x, y: distance(x, y) + 1e-12 * (x[0] - y[0]),  # rounding
        lambda x, y: distance(x, y) - 1e-12,
    ):
        assert np.allclose(pairwise(X, metric=metric), wanted, atol=1e-5)
    equal = pairwise(np.ones((3, 2)), metric=lambda x, y: int((x != y).any()))
    assert not equal.any()
    with pytest.raises(InputError, match="gave nan"):
        Isomap(2, n_neighbors=4, metric=lambda x, y: np.nan).fit(X)


BAD_SETTINGS = [
    ("euclidean", {"p": 3}, "has no parameter 'p'; it takes w"),
    ("cityblock", {"foo": 1}, "has no parameter 'foo'"),
    ("haversine", {"w": [1, 1]}, "has no parameter 'w'; it takes none"),
    ("mahalanobis", {"w": [1, 1, 1, 1]}, "it takes VI"),
    ("minkowski", [3], "metric_params=.* names with their values"),
    ("minkowski", {1: 3}, "metric_params="),
    *(
        ("minkowski", {"p": p}, "number above 0")
        for p in ("a", 0, -1, np.nan, True, [2], 2j, -np.inf)
    ),
    *(
        (metric, {"w": w}, "4 finite weights")
        for metric in ("euclidean", "cityblock", "cosine", "gower", "jaccard")
        for w in ([1, 2], [1, -1, 1, 1], [1, np.nan, 1, 1], np.zeros(4), "abcd", 1, [[1], [2, 3]])
    ),
    ("gower", {"ranges": [1, 1]}, "4 finite numbers of at least 0"),
    ("gower", {"ranges": [1, 1, -1, 1]}, "4 finite numbers of at least 0"),
    ("mahalanobis", {"VI": np.eye(3)}, "4 x 4 finite numbers"),
    ("mahalanobis", {"VI": np.full((4, 4), np.nan)}, "4 x 4 finite numbers"),
    ("mahalanobis", {"VI": "a"}, "4 x 4 finite numbers"),
    ("mahalanobis", {"VI": np.diag([1, 1, 1, -1.0])}, "VI is not positive semi-definite"),
    (distance, {"q": 2}, "cannot be called with two points and q"),
    (lambda x: 0.0, {}, "cannot be called with two points"),
    (None, {}, "metric=None is not known"),
    (3, {}, "metric=3 is not known"),
    (["euclidean"], {}, "is not known"),
]


@pytest.mark.parametrize(("metric", "parameters", "words"), BAD_SETTINGS)
def test_parameters_that_a_metric_cannot_use(metric, parameters, words):
    with pytest.raises(InputError, match=words) as caught:
        ClassicalMDS(2, metric=metric, metric_params=parameters).fit(X)
    assert "\n" not in str(caught.value)
    if isinstance(parameters, dict) and all(isinstance(name, str) for name in parameters):
        with pytest.raises(InputError, match=words):
            pairwise(X, None, metric, **parameters)


def test_parameters_that_are_none_are_left_to_the_metric():
    for metric, name in (("gower", "ranges"), ("mahalanobis", "VI"), ("minkowski", "p")):
        assert np.array_equal(pairwise(X, None, metric, **{name: None}), pairwise(X, None, metric))


def test_covariances_of_low_rank():
    # differences outside the space of the covariance have no length, but for rounding below 0
    flat = X[:, :2] @ rng.standard_normal((2, 4))
    VI = np.linalg.pinv(np.cov(flat.T))
    apart = (flat[:, None] - X[None]).reshape(-1, 4)
    wanted = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", apart, VI, apart), 0)).reshape(23, 23)
    assert np.allclose(pairwise(flat, X, "mahalanobis", VI=VI), wanted, atol=1e-6)
    null = np.linalg.svd(flat)[2][-1:]
    assert pairwise(null * 100, -null * 100, "mahalanobis", VI=VI)[0, 0] < 1e-3


@pytest.mark.parametrize("metric", METRICS)
def test_points_that_are_none(metric):
    columns = 2 if metric == "haversine" else 3
    good = np.abs(rng.standard_normal((5, columns)))
    for points in ([1.0, 2.0], "abc", [["a", "b"]], good * 1j, good[:0], None, [[1, 2], [3]]):
        with pytest.raises(InputError, match="points are rows of real numbers"):
            pairwise(points, metric=metric)
        with pytest.raises(InputError, match="points are rows of real numbers"):
            pairwise(good, points if points is not None else 3, metric)
    for value in (np.nan, np.inf):
        if np.isnan(value) and metric == "gower":
            continue
        for dtype in (np.float32, np.float64):
            bad = good.astype(dtype)
            bad[3, 1] = value
            for pair in ((bad, None), (good, bad), (bad, good)):
                with pytest.raises(InputError, match="found (nan|inf) at row 3, column 1"):
                    pairwise(*pair, metric)
    if metric == "mahalanobis":
        with pytest.raises(InputError, match="from 2 points or more"):
            pairwise(good[:1].tolist(), metric=metric)
        return
    one = pairwise(good[:1].tolist(), metric=metric)
    assert one.shape == (1, 1) and one[0, 0] == 0


def test_amounts_are_not_negative():
    with pytest.raises(InputError, match=r"amounts.*found -0.5 at row 1, column 0"):
        pairwise(np.array([[1.0, 2], [-0.5, 1]]), metric="braycurtis")
    with pytest.raises(InputError, match="amounts"):
        ClassicalMDS(2, metric="braycurtis").fit(X).transform(-X)
