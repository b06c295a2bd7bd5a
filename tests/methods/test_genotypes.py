"""GenotypePCA: the estimator contract, plain twins, smartpca and plink2, bad input, new samples."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import gramian
from gramian import PCA, GenotypePCA
from gramian.data.door import open_rows
from gramian.errors import GramianWarning, InputError, MemoryRefusedError
from gramian.inference.shrinkage import factors
from gramian.loops.threads import limit_threads
from gramian.spectral.krylov import BlockKrylov
from gramian.testing import same_up_to_signs
from tests.data.test_plink import genotypes, named, write


# With scaling="unit" any real numbers are legal, as scikit-learn's checks need; allele counts
# themselves, which "patterson" asks for, are tested below.
@parametrize_with_checks([GenotypePCA(2, scaling="unit"), GenotypePCA(2, scaling="none")])
def test_sklearn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        check(estimator)


def peoples(n=120, m=1500, missing=0.0, seed=0, fst=0.1):
    """Counts of three peoples by the model of Balding and Nichols, and who is of which."""
    rng = np.random.default_rng(seed)
    people = np.arange(n) % 3
    f = rng.uniform(0.1, 0.9, m)
    scatter = (1 - fst) / fst
    p = rng.beta(f * scatter, (1 - f) * scatter, (3, m))
    X = rng.binomial(2, p[people]).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X, people


def twin(X, scaling="patterson", normalization="smartpca"):
    """Eigenvalues and vectors of all pairs, as written in the papers."""
    n, X = len(X), X[:, ~np.isnan(X).all(axis=0)]
    called, copies = np.sum(~np.isnan(X), axis=0), np.nansum(X, axis=0)
    f = copies / (2 * called)
    q = (1 + copies) / (2 + 2 * called) if normalization == "smartpca" else f
    scale = {
        "patterson": np.sqrt(2 * q * (1 - q)),
        "unit": np.sqrt(np.nanvar(X, axis=0) * called / np.maximum(called - 1, 1)),
        "none": np.ones(X.shape[1]),
    }[scaling]
    varies = np.nanstd(X, axis=0) > 0
    Z = np.nan_to_num((X - 2 * f)[:, varies] / scale[varies])
    K = Z @ Z.T
    if normalization == "smartpca":
        K *= (n - 1) / np.trace(K)
    elif normalization == "plink2":
        called = (~np.isnan(X[:, varies])).astype(float)
        K /= called @ called.T
    else:
        K /= varies.sum()
    values, U = np.linalg.eigh(K)
    values, U = values[::-1], U[:, ::-1]
    if normalization == "smartpca" and np.isnan(X).any():  # least squares over the calls
        V = Z.T @ U[:, :4]
        here = ~np.isnan(X[:, varies])
        both = zip(here, Z, strict=True)
        U = np.array([np.linalg.lstsq(V[a], z[a], rcond=None)[0] for a, z in both])
        U /= np.linalg.norm(U, axis=0)
    return values, U


@pytest.mark.parametrize("normalization", ["smartpca", "plink2", "variants"])
@pytest.mark.parametrize("scaling", ["patterson", "unit", "none"])
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_file_and_array_are_the_plain_twin(tmp_path, scaling, normalization, missing):
    X, _ = peoples(missing=missing)
    X[:, 5] = 2
    values, U = twin(X, scaling, normalization)
    for given in (X, write(tmp_path, X)):
        model = GenotypePCA(4, scaling=scaling, normalization=normalization).fit(given)
        np.testing.assert_allclose(model.eigenvalues_, values[:4], rtol=1e-9)
        same_up_to_signs(model.eigenvectors_[:, :2], U[:, :2], rtol=1e-6)
        np.testing.assert_allclose(
            model.embedding_, model.eigenvectors_ * np.sqrt(model.eigenvalues_), atol=1e-12
        )
        np.testing.assert_allclose(
            model.explained_variance_ratio_, values[:4] / values.sum(), rtol=1e-9
        )
        assert model.residuals_.max() < 1e-6
        assert model.n_variants_ == 1499 and not model.components_[:, 5].any()
        np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1, rtol=1e-9)
        placed = model.transform(given)
        # entries over the variants called in both: placing knows their mean alone
        rough = normalization == "plink2" and missing
        np.testing.assert_allclose(placed, model.embedding_, atol=0.1 if rough else 1e-7)


def test_it_is_pca_where_nothing_is_scaled_or_missing():
    X, _ = peoples()
    ours, pca = GenotypePCA(3, scaling="none", normalization="variants").fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_ * 1500 / 119, pca.explained_variance_, rtol=1e-9)
    same_up_to_signs(ours.components_.T, pca.components_.T, rtol=1e-6)


@pytest.mark.parametrize("n", [1700, 2100])
def test_products_alone_give_the_same(tmp_path, n):
    """Where there are many samples no matrix is formed; the answer is that of LAPACK."""
    X, _ = peoples(n, 300, missing=0.01)
    path = write(tmp_path, X)
    model = GenotypePCA(2, solver=BlockKrylov(tol=1e-9)).fit(path)
    assert model.plan_.kind == "products"
    dense = GenotypePCA(2, solver="dense").fit(path)
    np.testing.assert_allclose(model.eigenvalues_, dense.eigenvalues_, rtol=1e-9)
    same_up_to_signs(model.eigenvectors_, dense.eigenvectors_, rtol=1e-6)


def test_float32_and_threads(tmp_path, monkeypatch):
    """Large files are computed in float32: same to its precision, same bits on any threads."""
    X, _ = peoples(150, 2000, missing=0.02)
    path = write(tmp_path, X)
    exact = GenotypePCA(3).fit(path)
    monkeypatch.setattr("gramian.data.plink._exactly", 0)
    for solver in ("auto", "krylov"):
        found = []
        for threads in (1, 3):
            with limit_threads(threads):
                found.append(GenotypePCA(3, solver=solver).fit(path))
        assert found[0].embedding_.dtype == np.float32
        np.testing.assert_allclose(found[0].eigenvalues_, exact.eigenvalues_, rtol=2e-6)
        same_up_to_signs(found[0].embedding_[:, :2], exact.embedding_[:, :2], rtol=1e-3)
        if solver == "krylov":  # BLAS makes no such promise
            np.testing.assert_array_equal(found[0].embedding_, found[1].embedding_)


def test_thousand_genomes_as_smartpca_and_plink2(shared_data):
    """Printed digits of both programs: data/kg_phase1 (1,092 samples, 14,079 variants)."""
    folder = shared_data / "kg_phase1"
    with pytest.warns(GramianWarning, match="27 pairs of samples .* HG00577 and sample HG00584"):
        model = GenotypePCA(10).fit(folder / "kg.bed")
    printed = np.loadtxt(folder / "smartpca.eval")
    np.testing.assert_allclose(model.eigenvalues_, printed[:10], atol=5.1e-7)
    U = np.loadtxt(folder / "smartpca.evec", usecols=range(1, 11))
    np.testing.assert_allclose(np.abs(model.eigenvectors_), np.abs(U), atol=7e-5)
    with pytest.warns(GramianWarning, match="relatives"):
        model = GenotypePCA(10, normalization="plink2").fit(folder / "kg.bed")
    _as_plink2(model, folder)


def test_missing_calls_as_smartpca_and_plink2(shared_data):
    """Printed digits of both programs with 2 % of the calls missing: data/kg_small_missing."""
    folder = shared_data / "kg_small_missing"
    model = GenotypePCA(10).fit(folder / "kgs.bed")
    printed = np.loadtxt(folder / "smartpca.eval")
    np.testing.assert_allclose(model.eigenvalues_, printed[:10], atol=5.1e-7)
    U = np.loadtxt(folder / "smartpca.evec", usecols=range(1, 11))
    np.testing.assert_allclose(np.abs(model.eigenvectors_), np.abs(U), atol=7e-5)
    _as_plink2(GenotypePCA(10, normalization="plink2").fit(folder / "kgs.bed"), folder)


def _as_plink2(model, folder):
    printed = np.loadtxt(folder / "plink2.eigenval")
    np.testing.assert_allclose(model.eigenvalues_, printed, rtol=5.1e-6)  # six digits
    U = np.loadtxt(folder / "plink2.eigenvec", usecols=range(2, 12))
    np.testing.assert_allclose(np.abs(model.eigenvectors_), np.abs(U), rtol=5e-4, atol=2e-7)


# New samples ----------------------------------------------------------------------------------


def test_shrinkage_is_that_of_the_model():
    """New samples of the same peoples: their mean scores, corrected, are those of the fit."""
    X, people = peoples(360, 4000, fst=0.02, seed=3)
    fitted, new = np.arange(360) < 180, np.arange(360) >= 180
    model = GenotypePCA(4).fit(X[fitted])
    assert np.all(model.shrinkage_[:2] < 0.9) and np.all(model.shrinkage_[2:] < 0.3)
    assert 3500 < model.effective_variants_ < 4500
    plain, corrected = model.transform(X[new]), model.project(X[new])
    np.testing.assert_allclose(corrected * model.shrinkage_, plain, rtol=1e-6, atol=1e-9)
    for axis in range(2):
        means = [
            [Z[people[who] == g, axis].mean() for g in range(3)]
            for Z, who in ((model.embedding_, fitted), (plain, new), (corrected, new))
        ]
        inside, raw, repaired = (np.linalg.norm(each) for each in means)
        assert raw < 0.9 * inside
        assert abs(repaired / inside - 1) < 0.05


def test_shrinkage_at_its_limits():
    g = 9.0
    edge = (1 + np.sqrt(g)) ** 2
    found = factors(np.array([edge * 1e6, edge * (1 + 1e-12), edge, edge / 4]), g)
    np.testing.assert_allclose(found, [1, 1 / 4, 1 / 4, 2 / 4], rtol=1e-4)


def test_missing_calls_of_new_samples_are_left_out_of_the_fit():
    """Least squares over the called variants, by numpy."""
    X, _ = peoples(90, 600)
    model = GenotypePCA(3, normalization="variants").fit(X[:60])
    new = X[60:].copy()
    new[np.random.default_rng(0).random(new.shape) < 0.4] = np.nan
    assert model.transform(X[:60]) == pytest.approx(model.embedding_, abs=1e-9)
    Z = (new - model.mean_) / model.scale_
    B = model.components_.T
    for z, found in zip(Z, model.project(new) * model.shrinkage_, strict=True):
        here = ~np.isnan(z)
        a = np.linalg.lstsq(B[here], z[here], rcond=None)[0]
        np.testing.assert_allclose(found, a / np.sqrt(600), rtol=1e-6, atol=1e-9)
    new[4] = np.nan
    with pytest.raises(InputError, match="sample 5 has too few calls"):
        model.project(new)


def test_too_few_calls_in_the_fit_count_the_others_as_average(tmp_path):
    """Two axes cannot be told from one call: that sample stays at its plain score."""
    X, _ = peoples(40, 200)
    X[4, 1:] = np.nan
    for given in (X, write(tmp_path, X)):
        model = GenotypePCA(2).fit(given)
        z = np.nan_to_num((X[4] - model.mean_) / model.scale_)
        np.testing.assert_allclose(
            model.embedding_[4], model.components_ @ z * model._gain, rtol=1e-6, atol=1e-12
        )
        np.testing.assert_allclose(model.transform(given), model.embedding_, atol=1e-9)
        with pytest.raises(InputError, match="sample (5|s4) has too few calls"):
            model.project(given)


def test_project_from_a_file_is_from_the_array(tmp_path):
    X, _ = peoples(90, 600, missing=0.1)
    (tmp_path / "old").mkdir()
    model = GenotypePCA(3).fit(write(tmp_path / "old", X[:60]))
    path = write(tmp_path, X[60:])
    by_array = GenotypePCA(3).fit(X[:60])
    np.testing.assert_allclose(model.project(path), by_array.project(X[60:]), atol=1e-9)
    left = by_array.placement_residual(X[60:])
    np.testing.assert_allclose(model.placement_residual(path), left, rtol=1e-9)
    Z = np.nan_to_num((X[60:] - by_array.mean_) / by_array.scale_)
    out = Z - Z @ by_array.components_.T @ by_array.components_
    np.testing.assert_allclose(left, np.linalg.norm(out, axis=1) / np.sqrt(model._divisor))


def test_alleles_that_are_swapped_are_counted_the_other_way(tmp_path):
    X, _ = peoples(60, 300, missing=0.05)
    path = write(tmp_path, X)
    model = GenotypePCA(2).fit(path)
    other = write(tmp_path, np.where(np.arange(300) % 3 == 0, 2 - X, X), "other")
    lines = other.with_suffix(".bim").read_text().splitlines()
    lines = [line.replace("A\tC", "C\tA") if j % 3 == 0 else line for j, line in enumerate(lines)]
    other.with_suffix(".bim").write_text("\n".join(lines) + "\n")
    np.testing.assert_allclose(model.transform(other), model.embedding_, atol=1e-9)
    lines[7] = lines[7].replace("A\tC", "A\tG")
    other.with_suffix(".bim").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"variant 8 \(rs7\) has the alleles A/G.* A/C"):
        model.transform(other)
    short = write(tmp_path, X[:, :200], "short")
    with pytest.raises(InputError, match="200 variants of short.bed are not the 300 of the fit"):
        model.transform(short)


def test_a_file_that_is_open_already_is_checked_like_a_path(tmp_path):
    """As the command line passes it: names and alleles are compared all the same."""
    X, _ = peoples(60, 300)
    path = write(tmp_path, X)
    model = GenotypePCA(2).fit(open_rows(path))
    assert model.alleles_ == ("A/C",) * 300 and model.samples_[0] == "s0"
    np.testing.assert_array_equal(model.embedding_, GenotypePCA(2).fit(str(path)).embedding_)
    for old, new, words in (
        ("A\tC", "A\tG", r"variant 1 \(rs0\) has the alleles A/G.* A/C"),
        ("rs5\t", "rs5b\t", "300 variants of other.bed are not the 300 of the fit"),
    ):
        other = write(tmp_path, X, "other")
        bim = other.with_suffix(".bim")
        bim.write_text(bim.read_text().replace(old, new))
        with pytest.raises(InputError, match=words):
            model.transform(open_rows(other))
        with pytest.raises(InputError, match=words):
            model.project(open_rows(other))


def test_samples_are_known_by_family_and_name(tmp_path):
    """Names that occur in every family tell nothing; no family is written as 0 or as the name."""
    X, _ = peoples(90, 600)
    (tmp_path / "old").mkdir()
    old = named(write(tmp_path / "old", X[:60]), [f"F{i} 1" for i in range(59)] + ["0 z"])
    model = GenotypePCA(3).fit(old)
    assert model.samples_[:2] == ("F0 1", "F1 1")
    model.save(tmp_path / "m.gramian")
    model = gramian.load(tmp_path / "m.gramian")
    new = named(write(tmp_path, X[59:]), ["z z"] + [f"N{i} 1" for i in range(30)])
    found = model.to_embedding(new)
    assert found.notes[0].startswith("30 samples took no part in the fit")
    np.testing.assert_allclose(found.coordinates[0], model.embedding_[59], atol=1e-9)
    np.testing.assert_array_equal(found.coordinates[1:], model.project(new)[1:])
    again = model.to_embedding(open_rows(old), labels=[f"row {i}" for i in range(60)])
    assert not any("took no part" in note for note in again.notes)
    np.testing.assert_allclose(again.coordinates, model.embedding_, atol=1e-9)


def test_files_that_are_not_one_dense_array_are_refused(tmp_path):
    X, _ = peoples(30, 50)
    for name in ("a", "b"):
        write(tmp_path, X, name)
    with pytest.raises(InputError, match="several .bed files may count different alleles"):
        GenotypePCA(2).fit(str(tmp_path / "*.bed"))
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_array(X))
    with pytest.raises(InputError, match="a sparse file is not supported"):
        GenotypePCA(2).fit(tmp_path / "x.npz")
    with pytest.raises(MemoryRefusedError, match="write the calls as a .bed file"):
        GenotypePCA(2, memory="1MB").fit(peoples(100, 500)[0])


@pytest.mark.parametrize("given", ["file", "array"])
def test_model_file(tmp_path, given):
    X, _ = peoples(60, 300, missing=0.05)
    data = write(tmp_path, X) if given == "file" else X
    model = GenotypePCA(3, min_frequency=0.2).fit(data)
    model.save(tmp_path / "m.gramian")
    again = gramian.load(tmp_path / "m.gramian")
    np.testing.assert_array_equal(again.transform(data), model.transform(data))
    np.testing.assert_array_equal(again.project(data), model.project(data))
    assert again.alleles_ == model.alleles_ and again.notes_ == model.notes_
    assert again.to_embedding(data).notes == model.to_embedding(data).notes


# Variants, samples and relatives ----------------------------------------------------------------


def spoiled(kind):
    X, _ = peoples(40, 200)
    if kind == "monomorphic":
        X[:, 3], X[:, 9], X[:, 11] = 0, 1, 2  # frequency 0; all heterozygous; frequency 1
    elif kind == "no call":
        X[:, 3] = np.nan
    elif kind == "one call":
        X[1:, 3] = np.nan
    return X


@pytest.mark.parametrize(
    ("kind", "left", "words"),
    [
        ("monomorphic", 197, "left out: 3 variants with equal calls"),
        ("no call", 199, "left out: 1 variant without any call"),
        ("one call", 199, "left out: 1 variant with equal calls"),
    ],
)
@pytest.mark.parametrize("scaling", ["patterson", "unit", "none"])
def test_variants_without_information_are_left_out_and_counted(
    tmp_path, kind, left, words, scaling
):
    X = spoiled(kind)
    for given in (X, write(tmp_path, X)):
        model = GenotypePCA(2, scaling=scaling).fit(given)
        assert model.n_variants_ == left == len(model.kept_)
        assert model.notes_[0].startswith(words)
        public = [value for name, value in vars(model).items() if name.endswith("_")]
        numbers = [each for each in public if getattr(each, "dtype", None) in (float, int)]
        assert len(numbers) > 8 and all(np.isfinite(each).all() for each in numbers)
        np.testing.assert_allclose(model.eigenvalues_, twin(X, scaling)[0][:2], rtol=1e-9)


def test_a_sample_without_calls_is_named(tmp_path):
    X, _ = peoples(40, 200)
    X[7] = np.nan
    with pytest.raises(InputError, match="sample 8 has no call in the 200 variants"):
        GenotypePCA(2).fit(X)
    with pytest.raises(InputError, match="sample s7 has no call in the 200 variants"):
        GenotypePCA(2).fit(write(tmp_path, X))
    X[7, :100] = X[6, :100]
    X[1:3, :100] = np.nan
    with pytest.raises(InputError, match="s7 has no call in the 100 variants that take part"):
        GenotypePCA(2, max_missing=0.04).fit(write(tmp_path, X))


def test_filters():
    X, _ = peoples(100, 400)
    X[:10, ::4] = np.nan
    f = np.nanmean(X, axis=0) / 2
    model = GenotypePCA(2, min_frequency=0.2, max_missing=0.05).fit(X)
    kept = (np.minimum(f, 1 - f) >= 0.2) & (np.arange(400) % 4 > 0)
    np.testing.assert_array_equal(model.kept_, np.flatnonzero(kept))
    same = GenotypePCA(2).fit(X[:, kept])
    np.testing.assert_allclose(model.eigenvalues_, same.eigenvalues_, rtol=1e-12)
    assert "of rare alleles, 100 variants with too many missing calls" in model.notes_[0]
    with pytest.raises(InputError, match="no variant is left of 398"):
        GenotypePCA(2, min_frequency=0.5).fit(X[:, ~(f == 0.5)][:, :400])


def test_relatives_are_said(tmp_path):
    X, _ = peoples(60, 3000, seed=5)
    rng = np.random.default_rng(0)
    X[1] = X[0]  # a duplicate
    half = [rng.binomial(1, X[i] / 2) for i in (10, 11)]
    X[12] = half[0] + half[1]  # a child of 10 and 11
    for given in (X, write(tmp_path, X)):
        with pytest.warns(GramianWarning, match="3 pairs of samples look like first-degree"):
            model = GenotypePCA(2).fit(given)
        assert {each[:2] for each in model.related_} == {(0, 1), (10, 12), (11, 12)}
        assert model.related_[0][2] == 0.5
        assert abs(model.related_[1][2] - 0.25) < 0.05


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scaling": "sd"}, "scaling='sd'"),
        ({"normalization": "eigenstrat"}, "normalization='eigenstrat'"),
        ({"min_frequency": 0.7}, "min_frequency=0.7"),
        ({"max_missing": "few"}, "max_missing='few'"),
        ({"n_components": 99}, "n_components=99"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(InputError, match=words):
        GenotypePCA(**{"n_components": 2, **settings}).fit(peoples(30, 50)[0])


@pytest.mark.parametrize(
    ("value", "scaling", "words"),
    [
        (3.0, "patterson", "3 at row 4, column 5.*from 0 to 2"),
        (-0.5, "patterson", "-0.5 at row 4, column 5"),
        (np.inf, "unit", "inf at row 4, column 5.*no number of copies"),
        (9.0, "unit", "9 beside 0, 1 and 2, which looks like a code for a missing call"),
        (-9.0, "none", "-9 beside 0, 1 and 2"),
    ],
)
def test_values_that_are_no_counts(value, scaling, words):
    X = peoples(30, 50)[0]
    X[4, 5] = value
    with pytest.raises(InputError, match=words):
        GenotypePCA(2, scaling=scaling).fit(X)


def test_padding_bits(tmp_path):
    X = genotypes(30, 20)
    path = write(tmp_path, X)
    raw = bytearray(path.read_bytes())
    raw[3 + 8 * 6 + 7] |= 0xC0
    path.write_bytes(bytes(raw))
    with pytest.raises(InputError, match=r"variant 7 \(rs6\).*2 spare places.*8 bytes.*30 samples"):
        GenotypePCA(2).fit(path)
