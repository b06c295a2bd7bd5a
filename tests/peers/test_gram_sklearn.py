"""What scikit-learn and scikit-bio accept in silence, and we name."""

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA as PeerKernelPCA
from sklearn.manifold import MDS as PeerStress
from sklearn.manifold import ClassicalMDS as PeerMDS

from gramian import MDS, ClassicalMDS, KernelPCA
from gramian.errors import InputError
from gramian.gram.distances import pairwise
from gramian.testing import same_up_to_signs

SKBIO = "scikit-bio is not installed; it comes with gramian[peers]"
rng = np.random.default_rng(8)
X = rng.standard_normal((40, 3))


def test_same_coordinates():
    D = pairwise(X, metric="cityblock")
    peer = PeerMDS(2, metric="precomputed").fit(D)
    ours = ClassicalMDS(2, metric="precomputed").fit(D)
    assert np.allclose(ours.eigenvalues_, peer.eigenvalues_)
    same_up_to_signs(ours.embedding_, peer.embedding_, rtol=1e-9)


def test_negative_distances():
    D = pairwise(X)
    D[0, 1] = D[1, 0] = -D[0, 1]
    assert np.isfinite(PeerMDS(2, metric="precomputed").fit_transform(D)).all()
    with pytest.raises(InputError, match="negative"):
        ClassicalMDS(2, metric="precomputed").fit(D)


def test_negative_distances_in_scikit_bio():
    skbio = pytest.importorskip("skbio", reason=SKBIO)
    from skbio.stats.ordination import pcoa

    D = pairwise(X)
    D[0, 1] = D[1, 0] = -D[0, 1]
    given = skbio.DistanceMatrix(D)
    found = pcoa(given, method="eigh", dimensions=2)
    assert np.isfinite(found.samples.to_numpy()).all()
    with pytest.raises(InputError, match="2 negative distances, the first at row 0, column 1"):
        ClassicalMDS(2, metric="precomputed").fit(given)


def test_a_matrix_of_scikit_bio_is_read_with_its_labels():
    skbio = pytest.importorskip("skbio", reason=SKBIO)
    names = [f"p{i}" for i in range(len(X))]
    given = skbio.DistanceMatrix(pairwise(X), names)
    model = ClassicalMDS(2, metric="precomputed").fit(given)
    assert model.labels_ == tuple(names)
    plain = ClassicalMDS(2, metric="precomputed").fit(pairwise(X))
    same_up_to_signs(model.embedding_, plain.embedding_, rtol=1e-9)
    turned = skbio.DistanceMatrix(pairwise(X[::-1]), names[::-1])  # columns find their order
    assert np.allclose(model.transform(turned), model.embedding_[::-1], atol=1e-9)


def test_negative_distances_in_mds_by_stress():
    D = pairwise(X)
    D[0, 1] = D[1, 0] = -D[0, 1]
    peer = PeerStress(2, metric="precomputed", init="classical_mds", n_init=1)
    assert np.isfinite(peer.fit_transform(D)).all()
    with pytest.raises(InputError, match="negative"):
        MDS(2, metric="precomputed").fit(D)


def test_distances_passed_as_a_kernel():
    squares = pairwise(X, metric="sqeuclidean")
    assert np.isfinite(PeerKernelPCA(2, kernel="precomputed").fit_transform(squares)).all()
    with pytest.raises(InputError, match="looks like distances"):
        KernelPCA(2, kernel="precomputed").fit(squares)


def test_similarities_passed_as_distances():
    S = np.exp(-pairwise(X))
    with np.errstate(invalid="ignore"):
        Z = PeerMDS(2, metric="precomputed").fit_transform(S)
    assert np.isnan(Z).any()  # no error, coordinates that are no numbers
    with pytest.raises(InputError, match="similarities"):
        ClassicalMDS(2, metric="precomputed").fit(S)


def test_an_asymmetric_kernel():
    K = X @ X.T
    K[0, 1] += 5
    assert np.isfinite(PeerKernelPCA(1, kernel="precomputed").fit_transform(K)).all()
    with pytest.raises(InputError, match="not symmetric"):
        KernelPCA(1, kernel="precomputed").fit(K)
