"""Bad and odd input for every method: the right answer or one clear sentence, never a NaN.

The rows are those of the table of bad inputs that concern data in memory; what is special to one
method is tested beside it.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import gramian
from gramian import (
    ICA,
    LSI,
    MDS,
    PCA,
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    MaximumVarianceUnfolding,
    ProbabilisticPCA,
    RandomProjection,
)
from gramian.errors import GramianError, GramianWarning

METHODS = {
    "PCA": lambda: PCA(2),
    "ProbabilisticPCA": lambda: ProbabilisticPCA(2),
    "ICA": lambda: ICA(2, random_state=0),
    "LSI": lambda: LSI(2),
    "RandomProjection": lambda: RandomProjection(2, random_state=0),
    "ClassicalMDS": lambda: ClassicalMDS(2),
    "MDS": lambda: MDS(2, n_init=1, random_state=0),
    "KernelPCA": lambda: KernelPCA(2, kernel="rbf"),
    "Isomap": lambda: Isomap(n_components=2, n_neighbors=8),
    "LLE": lambda: LocallyLinearEmbedding(n_components=2, n_neighbors=8),
    "Hessian LLE": lambda: LocallyLinearEmbedding(n_components=2, n_neighbors=8, method="hessian"),
    "LaplacianEigenmaps": lambda: LaplacianEigenmaps(n_components=2, n_neighbors=8),
    "MaximumVarianceUnfolding": lambda: MaximumVarianceUnfolding(n_components=2, n_neighbors=8),
}
X = np.random.default_rng(0).normal(size=(40, 5))
SINGULAR = {"log_generalized_variance_"}  # minus infinity is its value where a variance is 0


def changed(value):
    Y = X.copy()
    Y[3, 2] = value
    return Y


def frozen():
    Y = X.copy()
    Y.flags.writeable = False
    return Y


REFUSED = {
    "no rows": (np.zeros((0, 5)), "no rows"),
    "no columns": (np.zeros((5, 0)), r"0 feature\(s\)"),
    "one row": (X[:1], "at least 2 observations"),
    "infinity": (changed(np.inf), "infinity .*row 3, column 2"),
    "complex": (X + 1j, "Complex data not supported"),
    "text": (np.full((40, 5), "a", dtype=object), "'a' at row 0, column 0"),
    "one dimension": (X[:, 0], "Reshape your data"),
    "three dimensions": (X[None], "3 dimensions"),
}
ANSWERED = {
    "unsigned bytes": np.random.default_rng(1).integers(0, 255, (40, 5)).astype(np.uint8),
    "objects that are numbers": X.astype(object),
    "read-only": frozen(),
    "backwards": X[::-1, ::-1],
    "other byte order": X.astype(">f8"),
    "Fortran order": np.asfortranarray(X),
    "every second row": np.repeat(X, 2, axis=0)[::2],
    "duplicates": np.repeat(X[:20], 2, axis=0),
    "a constant column": np.c_[X, np.ones(40)],
    "far from 0": X + 1e6,
    "wide": np.random.default_rng(2).normal(size=(30, 200)),
    "sparse": sp.csr_array(np.where(np.abs(X) > 0.3, X, 0.0)),
}


def fitted(name, data):
    """The model, and what is not finite among its public attributes."""
    model = METHODS[name]().fit(data)
    public = {a: v for a, v in vars(model).items() if a.endswith("_") and not a.startswith("_")}
    odd = {
        a
        for a, v in public.items()
        if isinstance(v, (float, np.ndarray))
        and np.asarray(v).dtype.kind == "f"
        and not np.isfinite(v).all()
    }
    assert not odd - SINGULAR, odd
    return model


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", REFUSED)
def test_refused_in_a_sentence(name, kind):
    data, words = REFUSED[kind]
    with pytest.raises(GramianError, match=words):
        METHODS[name]().fit(data)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", ANSWERED)
def test_answered_with_finite_numbers(name, kind):
    data = ANSWERED[kind]
    before = data.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        model = fitted(name, data)
        assert np.isfinite(model.transform(data)).all()
    same = (before != data).nnz == 0 if sp.issparse(data) else np.array_equal(before, data)
    assert same, "the input was changed"


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"ProbabilisticPCA"}))
def test_a_missing_value_is_named(name):
    with pytest.raises(GramianError, match="1 missing value, the first at row 3, column 2"):
        METHODS[name]().fit(changed(np.nan))
    model = METHODS[name]().fit(X)
    with pytest.raises(GramianError, match="row 3, column 2"):
        model.transform(changed(np.nan))


# Coordinates of these follow the scale of the data.
SCALED = (
    *("PCA", "LSI", "RandomProjection", "ClassicalMDS", "MDS", "Isomap"),
    "MaximumVarianceUnfolding",
)


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("exponent", [-600, 600])
def test_powers_of_two_change_no_bit(name, exponent):
    factor = np.ldexp(1.0, exponent)
    plain = METHODS[name]().fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # variances leave the range of floats
        scaled = fitted(name, X * factor)
        Z = scaled.transform(X * factor)
    np.testing.assert_array_equal(Z / factor, plain.transform(X))


@pytest.mark.parametrize("name", ["ICA", "LLE", "Hessian LLE", "LaplacianEigenmaps"])
@pytest.mark.parametrize("exponent", [-600, 600])
def test_what_has_no_scale_is_the_same_at_any(name, exponent):
    factor = np.ldexp(1.0, exponent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        Z = fitted(name, X * factor).transform(X * factor)
    np.testing.assert_array_equal(Z, METHODS[name]().fit(X).transform(X))


def test_a_kernel_says_that_numbers_are_too_large_for_it():
    with pytest.raises(GramianError, match="overflow in a kernel"):
        KernelPCA(2, kernel="rbf").fit(X * 1e200)


@pytest.mark.parametrize("name", METHODS)
def test_equal_points(name):
    same = np.ones((40, 5))
    if name in {"PCA", "ProbabilisticPCA"}:
        with pytest.warns(GramianWarning, match="all observations are equal"):
            model = fitted(name, same)
        assert not model.transform(same).any()
        assert not model.explained_variance_ratio_.any()
    elif name in {"LSI", "RandomProjection"}:  # not centered: a point like any other
        assert np.ptp(fitted(name, same).transform(same), axis=0).max() < 1e-12
    else:
        with pytest.raises(GramianError, match="points are equal|rank 0"):
            METHODS[name]().fit(same)


def test_no_method_is_forgotten():
    tested = {type(make()).__name__ for make in METHODS.values()}
    estimators = {name for name in gramian.__all__ if hasattr(getattr(gramian, name), "fit")}
    assert estimators - tested <= {"GenotypePCA"}
