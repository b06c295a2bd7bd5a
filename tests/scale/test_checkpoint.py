"""Runs that are stopped at any moment and started again give the same bits.

Stopped at *every* moment at which a checkpoint is written, inside this process; and by SIGKILL, in
processes of their own.
"""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import scipy.sparse

import gramian.checkpoint as checkpoints
import gramian.data.rows as rows_module
from gramian import LSI, PCA, GenotypePCA, ProbabilisticPCA, parallel_analysis
from gramian.checkpoint import Checkpoint, checkpointing, stage, steps
from gramian.errors import InputError
from gramian.inference import how_many
from tests.data.test_plink import genotypes, write


class Stopped(BaseException):
    """As if the process had ended here."""


@pytest.fixture(autouse=True)
def short_segments(monkeypatch):
    """Passes over small files have many places at which they can be taken up again."""
    monkeypatch.setattr(rows_module, "_segment", 2)


@pytest.fixture
def tall(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 6)) @ rng.standard_normal((6, 30)) + 3
    np.save(tmp_path / "tall.npy", X + rng.standard_normal(X.shape))
    return tmp_path / "tall.npy"


@pytest.fixture
def square(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((900, 8)) @ rng.standard_normal((8, 800))
    np.save(tmp_path / "square.npy", (X + rng.standard_normal(X.shape)).astype(np.float32))
    return tmp_path / "square.npy"


def stopped_everywhere(monkeypatch, run, path, places=12):
    """Results of runs that were stopped after some of their writes, and then taken up again."""
    write = checkpoints._Run._write
    left, made = [0], [0]

    def counted(self):
        write(self)
        left[0], made[0] = left[0] - 1, made[0] + 1
        if left[0] == 0:
            raise Stopped

    monkeypatch.setattr(checkpoints._Run, "_write", counted)
    monkeypatch.setattr(checkpoints, "_soon", 0.0)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # no power failure here
    found = [run(Checkpoint(path, every=0))]
    for stop in np.unique(np.linspace(1, made[0], places).astype(int)).tolist():
        left[0] = stop
        with pytest.raises(Stopped):
            run(Checkpoint(path, every=0))
        assert path.exists()
        left[0] = 0
        found.append(run(Checkpoint(path, every=0)))
        assert not path.exists()
    return found


def same_bits(found, plain):
    assert len(found) > 3, "hardly ever stopped"
    for other in found:
        for name, value in plain.items():
            assert np.array_equal(np.asarray(other[name]), np.asarray(value)), name


def facts(model):
    names = ("components_", "explained_variance_", "mean_", "residuals_", "total_variance_")
    return {name: getattr(model, name) for name in names}


SETTINGS = {
    "cross in one pass": {"n_components": 3, "memory": "2MB"},
    "scaled": {"n_components": 3, "memory": "2MB", "scale": "unit"},
    "krylov": {"n_components": 3, "memory": "2MB", "solver": "krylov"},
    "krylov, a generator": {"n_components": 2, "solver": "krylov", "random_state": "generator"},
    "a share": {"n_components": 0.8, "memory": "2MB"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_pca_of_a_tall_file(monkeypatch, tall, name):
    settings = dict(SETTINGS[name])
    generator = settings.pop("random_state", None)

    def run(checkpoint):
        rng = np.random.default_rng(5) if generator else None
        return facts(PCA(**settings, random_state=rng, checkpoint=checkpoint).fit(tall))

    plain = run(None)
    same_bits(stopped_everywhere(monkeypatch, run, tall.parent / "c"), plain)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_pca_of_a_file_as_wide_as_tall(monkeypatch, square, order, solver):
    X = np.load(square)
    np.save(square, np.asfortranarray(X) if order == "F" else X)

    def run(checkpoint):
        return facts(PCA(3, memory="32MB", solver=solver, checkpoint=checkpoint).fit(square))

    plain = run(None)
    same_bits(stopped_everywhere(monkeypatch, run, square.parent / "c", 6), plain)


def test_pca_refined_by_orthogonal_transformations(monkeypatch, tmp_path):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((3000, 10)) * 10.0 ** -np.arange(10)
    np.save(tmp_path / "x.npy", X)

    def run(checkpoint):
        return facts(PCA(10, memory="1MB", checkpoint=checkpoint).fit(tmp_path / "x.npy"))

    plain = run(None)
    same_bits(stopped_everywhere(monkeypatch, run, tmp_path / "c"), plain)


def test_wide_rows_by_columns(monkeypatch, tmp_path):
    rng = np.random.default_rng(3)
    np.save(tmp_path / "x.npy", rng.standard_normal((40, 5000)))

    def run(checkpoint):
        return facts(PCA(3, memory="2MB", checkpoint=checkpoint).fit(tmp_path / "x.npy"))

    plain = run(None)
    same_bits(stopped_everywhere(monkeypatch, run, tmp_path / "c", 6), plain)


def test_probabilistic_pca_with_missing_values(monkeypatch, tmp_path):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 6))
    X += 0.5 * rng.standard_normal(X.shape)
    X[rng.random(X.shape) < 0.2] = np.nan

    def run(checkpoint):
        model = ProbabilisticPCA(2, tol=1e-4, checkpoint=checkpoint).fit(X)
        return {**facts(model), "loglike": model.loglike_, "n_iter": model.n_iter_}

    plain = run(None)
    same_bits(stopped_everywhere(monkeypatch, run, tmp_path / "c", 6), plain)


@pytest.mark.parametrize("early", [False, True])
def test_parallel_analysis(monkeypatch, tmp_path, early):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 12))
    X[:, :4] += rng.standard_normal((150, 1))

    def run(checkpoint):
        found = parallel_analysis(
            X, n_permutations=39, early_stop=early, random_state=3, checkpoint=checkpoint
        )
        return {"null": found.null_eigenvalues, "p": found.p_values, "k": found.n_components}

    plain = run(None)
    same_bits(stopped_everywhere(monkeypatch, run, tmp_path / "c", 6), plain)


def test_how_many(monkeypatch, tmp_path):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((100, 24))
    X[:, :9] += rng.standard_normal((100, 1))

    def run(checkpoint):
        found = how_many(X, n_permutations=39, checkpoint=checkpoint)
        return {"rules": [rule.n_components or -1 for rule in found.rules]}

    plain = run(None)
    same_bits(stopped_everywhere(monkeypatch, run, tmp_path / "c", 6), plain)


@pytest.fixture
def calls(tmp_path):
    """Genotypes of 40 samples, so many that ZZ' is made in several turns; some are missing."""
    X = genotypes(40, 60_000)
    X[np.random.default_rng(7).random(X.shape) < 0.01] = np.nan
    return write(tmp_path, X)


def genotype_facts(model):
    names = ("embedding_", "eigenvalues_", "components_", "residuals_", "shrinkage_", "related_")
    return {name: getattr(model, name) for name in names}


@pytest.mark.parametrize("normalization", ["smartpca", "plink2"])
@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_genotypes(monkeypatch, calls, solver, normalization):
    how = {"solver": solver, "normalization": normalization}

    def run(checkpoint):
        return genotype_facts(GenotypePCA(3, **how, checkpoint=checkpoint).fit(calls))

    plain = run(None)
    same_bits(stopped_everywhere(monkeypatch, run, calls.parent / "c", 5), plain)


def lsi_facts(model):
    names = ("components_", "singular_values_", "documents_", "residuals_")
    return {name: getattr(model, name) for name in names}


@pytest.mark.parametrize("kind", ["dense file", "sparse file", "matrix", "tfidf"])
def test_lsi(monkeypatch, tmp_path, kind):
    X = scipy.sparse.random_array((3000, 200), density=0.05, rng=8, format="csr")
    if kind == "dense file":
        np.save(tmp_path / "x.npy", X.toarray())
    elif kind == "sparse file":
        scipy.sparse.save_npz(tmp_path / "x.npz", X, compressed=False)
    data = next(tmp_path.glob("x.*")) if "file" in kind else X
    weighting = "tfidf" if kind == "tfidf" else None

    def run(checkpoint):
        model = LSI(3, weighting=weighting, memory="32MB", solver="krylov", checkpoint=checkpoint)
        return lsi_facts(model.fit(data))

    plain = run(None)
    same_bits(stopped_everywhere(monkeypatch, run, tmp_path / "c", 5), plain)


# What is refused ----------------------------------------------------------------------------------


def stopped_once(monkeypatch, run, path):
    """A checkpoint that a run left behind."""
    write = checkpoints._Run._write

    def once(self):
        write(self)
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(checkpoints._Run, "_write", once)
        with pytest.raises(Stopped):
            run(Checkpoint(path, every=0))
    return path


@pytest.fixture
def left_over(monkeypatch, tall):
    return stopped_once(
        monkeypatch, lambda c: PCA(3, memory="2MB", checkpoint=c).fit(tall), tall.parent / "c"
    )


def test_other_settings_are_refused(tall, left_over):
    with pytest.raises(InputError, match=r"with n_components = 3, this one has 4; finish that run"):
        PCA(4, memory="2MB", checkpoint=left_over).fit(tall)
    with pytest.raises(InputError, match="with method = PCA, this one has ProbabilisticPCA"):
        ProbabilisticPCA(3, memory="2MB", checkpoint=left_over).fit(tall)
    with pytest.raises(InputError, match="with memory = 2MB, this one has None"):
        PCA(3, checkpoint=left_over).fit(tall)
    assert left_over.exists()


def test_other_settings_and_data_of_genotypes_and_lsi_are_refused(monkeypatch, calls):
    def run(checkpoint, data=calls, k=3, **how):
        return GenotypePCA(k, solver="krylov", checkpoint=checkpoint, **how).fit(data)

    path = stopped_once(monkeypatch, run, calls.parent / "c")
    with pytest.raises(InputError, match="with max_missing = 1.0, this one has 0.5"):
        run(path, max_missing=0.5)
    with pytest.raises(InputError, match="with method = GenotypePCA, this one has LSI"):
        LSI(3, solver="krylov", checkpoint=path).fit(calls)
    write(calls.parent, genotypes(40, 60_000, seed=1))
    with pytest.raises(InputError, match="other data"):
        run(path)
    path.unlink()
    X = scipy.sparse.random_array((300, 50), density=0.1, rng=8, format="csr")

    def searched(checkpoint):
        return LSI(3, solver="krylov", checkpoint=checkpoint).fit(X)

    stopped_once(monkeypatch, searched, path)
    X.data[17] += 1e-9
    with pytest.raises(InputError, match="other data"):
        searched(path)


def test_other_data_are_refused(tall, left_over):
    before = left_over.read_bytes()
    X = np.load(tall)
    X[2500, 7] += 1e-9
    state = tall.stat()
    np.save(tall, X)
    os.utime(tall, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    with pytest.raises(InputError, match="of a run on other data, or on data that were changed"):
        PCA(3, memory="2MB", checkpoint=left_over).fit(tall)
    with pytest.raises(InputError, match="other data"):
        PCA(3, memory="2MB", checkpoint=left_over).fit(X)
    with pytest.raises(InputError, match="other data"):
        PCA(3, memory="2MB", checkpoint=left_over).fit(tall, sample_weight=np.ones(len(X)))
    assert left_over.read_bytes() == before


def test_one_changed_number_of_an_array_is_noticed(monkeypatch, tmp_path):
    X = np.random.default_rng(0).standard_normal((3000, 5))

    def run(checkpoint):
        return PCA(2, memory="1MB", checkpoint=checkpoint).fit(X)

    path = stopped_once(monkeypatch, run, tmp_path / "c")
    X[1234, 3] = np.nextafter(X[1234, 3], 9)
    with pytest.raises(InputError, match="other data"):
        run(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04 something", "a zip archive"),
        (b"x,y\n1,2\n", "cannot be used"),
    ],
)
def test_files_that_are_no_checkpoints_stay(tall, content, said):
    path = tall.parent / "c"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        PCA(2, checkpoint=path).fit(tall)
    assert path.read_bytes() == content


def test_a_model_is_no_checkpoint(tall):
    path = tall.parent / "m.gramian"
    PCA(2).fit(tall).save(path)
    with pytest.raises(InputError, match="holds a model, no checkpoint"):
        PCA(2, checkpoint=path).fit(tall)


def test_a_damaged_checkpoint_is_noticed(tall, left_over):
    whole = bytearray(left_over.read_bytes())
    whole[-3] ^= 1
    left_over.write_bytes(whole)
    with pytest.raises(InputError, match="the digest does not match.*; delete it to start anew"):
        PCA(3, memory="2MB", checkpoint=left_over).fit(tall)
    left_over.write_bytes(whole[:-100])
    with pytest.raises(InputError, match="ends too early"):
        PCA(3, memory="2MB", checkpoint=left_over).fit(tall)


@pytest.mark.parametrize("wrong", [7, "", Checkpoint("c", every=-1), Checkpoint("c", every=True)])
def test_what_a_checkpoint_can_be(tall, wrong):
    with pytest.raises(ValueError, match="checkpoint=|cannot write"):
        PCA(2, checkpoint=wrong).fit(tall)


def test_a_folder_that_is_not_there(tall):
    with pytest.raises(ValueError, match="there is no folder"):
        PCA(2, checkpoint=tall.parent / "none" / "c").fit(tall)


def test_leftovers_of_a_killed_writer_are_removed(tall):
    from gramian.files import _begin

    path = tall.parent / "c"
    half = tall.parent / f"{_begin(path)}012345.tmp"
    half.write_bytes(b"half of it")
    other = tall.parent / ".gramian-other.tmp"
    other.write_bytes(b"not ours")
    PCA(2, checkpoint=path).fit(tall)
    assert not half.exists() and other.exists()


# How it works -------------------------------------------------------------------------------------


def test_a_stage_inside_another_starts_over_after_each_step_of_it(tmp_path):
    path = tmp_path / "c"
    seen = []

    def run(stop):
        total = {"t": np.zeros(1)}
        with checkpointing(Checkpoint(path, every=0), lambda: {"settings": {}}):
            for i in steps("outer", 3, total):
                inner = {"s": np.zeros(1)}
                for j in steps("inner", 4, inner):
                    if (i, j) == stop:
                        raise Stopped
                    seen.append((i, j))
                    inner["s"] = inner["s"] + 10 * i + j
                total["t"] = total["t"] + inner["s"]
        return total["t"][0]

    for stop in ((0, 2), (1, 0), (2, 3)):
        with pytest.raises(Stopped):
            run(stop)
    assert run(None) == sum(10 * i + j for i in range(3) for j in range(4))
    assert seen == [(i, j) for i in range(3) for j in range(4)]  # nothing twice, nothing missed


def test_without_a_checkpoint_nothing_is_remembered():
    with stage("anything") as here:
        here.keep(x=np.zeros(3))
        here.finish(x=np.zeros(3))
        assert here.known is None and not here.finished
    assert list(steps("loop", 3, {})) == [0, 1, 2]


def test_written_early_rather_than_late(monkeypatch, tmp_path):
    """A step that would go beyond the interval is not begun before what was done is written."""
    clock, writes = [0.0], []
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: clock[0])
    write = checkpoints._Run._write
    monkeypatch.setattr(
        checkpoints._Run, "_write", lambda self: (writes.append(clock[0]), write(self))
    )
    with checkpointing(Checkpoint(tmp_path / "c"), lambda: {"settings": {}}):
        for _ in steps("loop", 20, {"x": np.zeros(2)}):
            clock[0] += 8.0
    gaps = np.diff([0.0, *writes])
    assert gaps.max() <= 30 and len(writes) >= 5


def test_every_write_is_whole(monkeypatch, tall):
    """At no moment is there a file that could not be read."""
    from gramian.tensors import read_tensors

    write, looked = checkpoints._Run._write, []

    def watched(self):
        if self.path.exists():
            read_tensors(self.path).verify()
        write(self)
        read_tensors(self.path).verify()
        looked.append(self.path.stat().st_ino)

    monkeypatch.setattr(checkpoints._Run, "_write", watched)
    PCA(2, memory="2MB", checkpoint=Checkpoint(tall.parent / "c", every=0)).fit(tall)
    assert len(looked) > 3 and len(set(looked)) > 1  # moved into place, not written over


# SIGKILL ------------------------------------------------------------------------------------------

CHILD = """
import json, sys, time
import numpy as np
import gramian.checkpoint as checkpoints
import gramian.data.rows as rows_module
from gramian import LSI, PCA, GenotypePCA
from gramian.checkpoint import Checkpoint
from gramian.data.npy import NpyRows
from gramian.data.plink import BedRows

rows_module._segment = 2
def slow(kind, name):
    read = getattr(kind, name)
    def slowly(self, a, b):
        time.sleep(0.002 * (b - a > 1))
        return read(self, a, b)
    setattr(kind, name, slowly)
slow(NpyRows, "_lead")
slow(BedRows, "packed")
path, solver, method = sys.argv[1:]
kind = {"PCA": PCA, "GenotypePCA": GenotypePCA, "LSI": LSI}[method]
memory = "1MB" if method == "PCA" else "64MB"
model = kind(3, memory=memory, solver=solver, checkpoint=Checkpoint("c", every=0.01)).fit(path)
values = model.explained_variance_ratio_
np.savez("found.npz", a=model.components_, b=values, c=model.residuals_)
"""


def killed(folder, command, rng, most):
    """Start, kill after some writes and a moment, start again ... How often it was killed."""
    kills = 0
    while True:
        child = subprocess.Popen(command, cwd=folder)
        for _ in range(rng.randrange(1, 5)):
            before = _identity(folder / "c")
            while child.poll() is None and _identity(folder / "c") == before:
                time.sleep(0.001)
        time.sleep(rng.random() * 0.02)
        if kills < min(most, 12) and child.poll() is None:
            child.send_signal(signal.SIGKILL)
            kills += 1
        if child.wait() == 0:
            return kills


def _identity(path):
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def kill_and_compare(tmp_path, data, solver, seed, kills, method="PCA"):
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(data), solver, method]
    subprocess.run(command, cwd=tmp_path, check=True)
    plain = dict(np.load(tmp_path / "found.npz"))
    rng, done = random.Random(seed), 0
    while done < kills:
        (tmp_path / "found.npz").unlink()
        done += killed(tmp_path, command, rng, kills - done)
        again = np.load(tmp_path / "found.npz")
        assert all(np.array_equal(again[name], plain[name]) for name in plain)
        assert not (tmp_path / "c").exists()
        assert not list(tmp_path.glob(".gramian-*"))


def test_killed_and_started_again(tmp_path, tall):
    kill_and_compare(tmp_path, tall, "auto", 0, 4)


def test_genotypes_killed_and_started_again(tmp_path, calls):
    kill_and_compare(tmp_path, calls, "krylov", 2, 2, "GenotypePCA")


def test_lsi_killed_and_started_again(tmp_path, tall):
    kill_and_compare(tmp_path, tall, "krylov", 3, 2, "LSI")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_killed_at_fifty_moments(tmp_path, tall, solver):
    kill_and_compare(tmp_path, tall, solver, 1, 50)
