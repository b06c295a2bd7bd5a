"""Model files: the same bits in a new process, and nothing but what was saved."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import polars
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from scipy.spatial.distance import cdist

import gramian
from gramian import (
    ICA,
    LSI,
    MDS,
    PCA,
    ClassicalMDS,
    GenotypePCA,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    MaximumVarianceUnfolding,
    ProbabilisticPCA,
    RandomProjection,
    tensors,
)
from gramian.errors import GramianError, InputError
from gramian.methods import METHODS
from gramian.spectral.krylov import BlockKrylov
from gramian.spectral.shift_invert import ShiftInvert
from tests.data.test_plink import write

RNG = np.random.default_rng(5)
X, NEW = RNG.normal(size=(40, 5)), RNG.normal(size=(7, 5))
D, CROSS = cdist(X, X), cdist(NEW, X)
HOLES = np.where(np.arange(200).reshape(40, 5) % 45 == 0, np.nan, X)
CALLS = np.where(np.isnan(HOLES), np.nan, np.clip(np.round(X + 1), 0, 2))
CASES = {
    "GenotypePCA": (GenotypePCA(2), CALLS, np.clip(np.round(NEW + 1), 0, 2)),
    "GenotypePCA unit": (GenotypePCA(2, scaling="unit", normalization="plink2"), CALLS, NEW),
    "PCA": (PCA(2), X, NEW),
    "PCA unit whiten float32": (PCA(3, scale="unit", whiten=True), X.astype(np.float32), NEW),
    "PCA wide": (PCA(), X.T.copy(), NEW.T[:, :1] @ np.ones((1, 40))),
    "PCA solver": (PCA(2, solver=BlockKrylov(tol=1e-9)), X, NEW),
    "PCA numpy scalars": (PCA(np.int64(2), ddof=np.int64(0)), X, NEW),
    "LSI": (LSI(2), X, NEW),
    "LSI tfidf": (LSI(2, weighting="tfidf"), np.abs(X), np.abs(NEW)),
    "LSI float32": (LSI(3, weighting="logentropy"), np.abs(X).astype(np.float32), np.abs(NEW)),
    "ProbabilisticPCA": (ProbabilisticPCA(2, scale="unit"), X, NEW),
    "ProbabilisticPCA holes": (ProbabilisticPCA(2), HOLES, HOLES[:7]),
    "ICA": (ICA(2, tol=1e-2), X, NEW),
    "ICA float32": (ICA(2, tol=1e-2), X.astype(np.float32), NEW),
    "RandomProjection": (RandomProjection(3), X, NEW),
    "RandomProjection sparse": (RandomProjection(3, kind="sparse"), X, NEW),
    "MaximumVarianceUnfolding": (
        MaximumVarianceUnfolding(2, n_neighbors=4, disconnected="join"),
        X,
        NEW,
    ),
    "KernelPCA": (KernelPCA(kernel="rbf", gamma="median"), X, NEW),
    "KernelPCA linear": (KernelPCA(2), X + 9, NEW),
    "KernelPCA infinity": (KernelPCA(2, kernel="matern", kernel_params={"nu": np.inf}), X, NEW),
    "KernelPCA landmarks": (KernelPCA(2, kernel="rbf", landmarks=10), X, NEW),
    "KernelPCA kernel": (KernelPCA(2, kernel="precomputed"), X @ X.T, NEW @ X.T),
    "KernelPCA float32": (KernelPCA(2, kernel="poly"), X.astype(np.float32), NEW),
    "LLE": (LocallyLinearEmbedding(2, n_neighbors=8), X, NEW),
    "LLE ltsa float32": (
        LocallyLinearEmbedding(2, n_neighbors=9, method="ltsa"),
        X.astype(np.float32),
        NEW,
    ),
    "LLE solver": (LocallyLinearEmbedding(1, solver=ShiftInvert(prove=True)), X, NEW),
    "Laplacian": (LaplacianEigenmaps(2), X, NEW),
    "Laplacian diffusion": (LaplacianEigenmaps(2, affinity="knn", time=2.5), X, NEW),
    "Laplacian radius": (LaplacianEigenmaps(2, radius=4.0, gamma=0.5), X, NEW * 0.1),
    "Laplacian affinities": (
        LaplacianEigenmaps(2, affinity="precomputed"),
        np.exp(-D),
        np.exp(-CROSS),
    ),
    "ClassicalMDS": (ClassicalMDS(2), X, NEW),
    "ClassicalMDS distances": (ClassicalMDS(2, metric="precomputed"), D, CROSS),
    "ClassicalMDS landmarks": (ClassicalMDS(2, landmarks=12), X, NEW),
    "ClassicalMDS few": (ClassicalMDS(2, metric="precomputed", landmarks=12), D, CROSS),
    "ClassicalMDS gower": (ClassicalMDS(2, metric="gower"), HOLES, NEW),
    "ClassicalMDS masses": (
        ClassicalMDS(2, metric="mahalanobis", weights=np.arange(1, 41)),
        X,
        NEW,
    ),
    "ClassicalMDS mended": (ClassicalMDS(2, metric="cityblock", correction="cailliez"), X, NEW),
    "ClassicalMDS huge": (ClassicalMDS(2, metric="precomputed"), D * 1e100, CROSS * 1e100),
    "MDS": (MDS(2), X, NEW),
    "MDS float32": (MDS(3, metric="cityblock"), X.astype(np.float32), NEW),
    "MDS ordinal": (MDS(2, metric="precomputed", measurement="ordinal", n_init=2), D, CROSS),
    "MDS spline": (MDS(2, measurement="spline", weights=np.arange(1, 41)), X, NEW),
    "MDS strain": (MDS(2, loss="strain"), X, NEW),
    "MDS sammon": (MDS(2, metric="precomputed", loss="sammon"), D * 1e100, CROSS * 1e100),
    "Isomap": (Isomap(2, n_neighbors=7), X, NEW),
    "Isomap radius": (Isomap(2, radius=2.0, disconnected="join"), X, NEW),
    "Isomap distances": (Isomap(2, n_neighbors=8, metric="precomputed"), D, CROSS),
    "Isomap landmarks": (Isomap(1, n_neighbors=8, landmarks=12), X, NEW),
    "Isomap auto": (Isomap(1, n_neighbors=8, landmarks="auto"), X, NEW),
    "Isomap huge": (Isomap(2, n_neighbors=8), X * 1e100, NEW * 1e100),
    "ClassicalMDS p": (ClassicalMDS(2, metric="minkowski", metric_params={"p": 3}), X, NEW),
}


def same(a, b):
    """Equal to the bit, whatever it is: arrays with their type and order, values field by field."""
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return a.tolist() == b.tolist()
        alike = a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        return alike and a.flags.f_contiguous >= (b.flags.f_contiguous and not a.flags.c_contiguous)
    if hasattr(type(a), "keeps"):
        return all(same(getattr(a, key), getattr(b, key)) for key in type(a).keeps)
    if isinstance(a, dict):
        return set(a) == set(b) and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.gramian"


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    """A small model file, as bytes."""
    place = tmp_path_factory.mktemp("model") / "m.gramian"
    frame = polars.DataFrame(X[:6, :3], schema=["a", "b", "c"], orient="row")
    KernelPCA(2, kernel="rbf", landmarks=4).fit(frame).save(place)
    return place.read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_everything_comes_back_to_the_bit(case, path):
    model, data, new = CASES[case]
    model.fit(data).save(path)
    loaded = gramian.load(path)
    assert type(loaded) is type(model)
    assert set(vars(loaded)) == set(vars(model))
    for name, value in vars(model).items():
        assert same(value, getattr(loaded, name)), name
    assert same(loaded.transform(new), model.transform(new))
    own = {} if getattr(model, "residual_known_", True) else {"own": np.ones(len(new))}
    assert same(loaded.placement_residual(new, **own), model.placement_residual(new, **own))
    shown = loaded.to_embedding(new).summary()
    assert shown == model.to_embedding(new).summary()


def test_every_method_is_in_these_tests():
    assert {type(model).__name__ for model, _, _ in CASES.values()} == set(METHODS)


def test_a_new_process_gives_the_same_bits(tmp_path):
    wanted = {}
    for i, case in enumerate(CASES):
        model, data, new = CASES[case]
        model.fit(data).save(tmp_path / f"{i}.gramian")
        np.save(tmp_path / f"{i}.npy", new)
        wanted[i] = model.transform(new)
    code = (
        "import sys, gramian, numpy as np\n"
        "for i in range(int(sys.argv[1])):\n"
        "    Z = gramian.load(f'{i}.gramian').transform(np.load(f'{i}.npy'))\n"
        "    np.save(f'{i}.out.npy', Z)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(len(wanted))], check=True, cwd=tmp_path)
    for i, Z in wanted.items():
        assert same(np.load(tmp_path / f"{i}.out.npy"), Z), list(CASES)[i]


def test_large_files_are_mapped_and_give_the_same_bits(path, monkeypatch):
    model = KernelPCA(2, kernel="rbf").fit(X)
    model.save(path)
    monkeypatch.setattr(tensors, "_MAPPED", 1)
    loaded = gramian.load(path)
    assert same(loaded.transform(NEW), model.transform(NEW))
    held = loaded.X_fit_
    while isinstance(held.base, np.ndarray):
        held = held.base
    assert (
        type(held.base.obj if isinstance(held.base, memoryview) else held.base).__name__ == "mmap"
    )
    before = path.read_bytes()
    loaded.X_fit_[0] = 0  # private pages
    assert path.read_bytes() == before
    loaded.save(path)  # over the file that is mapped
    assert same(gramian.load(path).X_fit_, loaded.X_fit_)


def test_names_are_kept_and_checked(path):
    names = ["länge", "b\x1b[2J", 'quote"', "日本", " x "]
    frame = polars.DataFrame(X, schema=names, orient="row")
    model = PCA(2).fit(frame)
    model.save(path)
    loaded = gramian.load(path)
    assert loaded.feature_names_in_.tolist() == names
    assert loaded.n_features_in_ == 5
    assert same(loaded.transform(frame), model.transform(frame))
    with pytest.raises(ValueError, match="order"):
        loaded.transform(frame.select(names[::-1]))
    with pytest.raises(ValueError, match="unseen|missing"):
        loaded.transform(frame.rename({"länge": "x"}))


def test_labels_of_points_are_kept_and_matched(path):
    labels = [f"p{i}" for i in range(40)]
    frame = polars.DataFrame(D, schema=labels, orient="row")
    model = ClassicalMDS(2, metric="precomputed").fit(frame)
    model.save(path)
    loaded = gramian.load(path)
    moved = polars.DataFrame(CROSS, schema=labels, orient="row").select(labels[::-1])
    assert loaded.labels_ == model.labels_ == tuple(labels)
    assert np.allclose(loaded.transform(moved), model.transform(CROSS), rtol=0, atol=1e-12)


def test_many_names_do_not_fill_the_header(path):
    names = [f"gene with a rather long name {i}" for i in range(40_000)]
    frame = polars.DataFrame(RNG.normal(size=(3, 40_000)), schema=names, orient="row")
    PCA(1).fit(frame).save(path)
    assert gramian.load(path).feature_names_in_.tolist() == names


def test_it_is_a_safetensors_file(path):
    model = PCA(2).fit(X)
    model.save(path)
    with safe_open(path, "numpy") as file:
        facts = json.loads(file.metadata()["gramian"])
        assert np.array_equal(file.get_tensor("components_"), model.components_)
    assert set(facts) == {
        *("sha256", "format", "gramian_version", "method", "params", "feature_names", "arrays"),
        "values",
    }
    raw = path.read_bytes()
    assert (
        hashlib.sha256(raw.replace(facts["sha256"].encode(), b"0" * 64)).hexdigest()
        == (facts["sha256"])
    )


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (KernelPCA(2, kernel=lambda a, b: a @ b.T), "kernel is a function"),
        (ClassicalMDS(2, metric=lambda a, b: abs(a - b).sum()), "metric is a function"),
        (PCA(2, random_state=np.random.default_rng(0)), "random_state is a Generator"),
        (PCA(2, random_state=np.random.RandomState(0)), "random_state is a RandomState"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_at_save(model, said, path):
    with pytest.raises(InputError, match=said):
        model.fit(X).save(path)
    assert not path.exists()


def test_an_unfitted_model_is_refused(path):
    with pytest.raises(ValueError, match="not fitted"):
        PCA().save(path)


def test_nothing_is_left_behind_where_a_file_cannot_be_written(tmp_path):
    with pytest.raises(GramianError, match="no folder"):
        PCA(2).fit(X).save(tmp_path / "none" / "m.gramian")
    assert list(tmp_path.iterdir()) == []


# hostile files ----------------------------------------------------------------------------------


def parts(raw):
    """Header, facts and data of a file."""
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    return header, json.loads(header["__metadata__"]["gramian"]), raw[end:]


def built(header, facts, data, *, keep=False):
    """A file with a right digest, as somebody who knows the format would make it."""
    facts = {**facts, "sha256": facts["sha256"] if keep else "0" * 64}
    text = facts if isinstance(facts, str) else json.dumps(facts, separators=(",", ":"))
    header = {**header, "__metadata__": {"gramian": text}}
    head = json.dumps(header, separators=(",", ":")).encode()
    raw = len(head).to_bytes(8, "little") + head + data
    digest = hashlib.sha256(raw).hexdigest().encode()
    return raw if keep else raw.replace(b"0" * 64, digest, 1)


def changed(raw, change):
    header, facts, data = parts(raw)
    entries = {key: header[key] for key in facts["arrays"]}
    kept = [bytes(data[slice(*each["data_offsets"])]) for each in entries.values()]
    table = dict(zip(entries, kept, strict=True))
    change(entries, facts, table)
    end = 0
    for key, entry in entries.items():
        if isinstance(entry, dict) and "data_offsets" in entry and key in table:
            entry["data_offsets"] = [end, end := end + len(table[key])]
    facts["arrays"] = {
        key: [entry.get("dtype"), entry.get("shape")]
        for key, entry in entries.items()
        if isinstance(entry, dict)
    }
    order = {"__metadata__": {}, **entries}
    return built(order, facts, b"".join(table.get(key, b"") for key in entries))


def refused(path, raw):
    path.write_bytes(raw)
    with pytest.raises(InputError) as error:
        gramian.load(path)
    sentence = str(error.value)
    assert "\n" not in sentence and len(sentence) < 600
    return sentence


def test_the_builder_of_hostile_files_builds_valid_ones(path, valid):
    path.write_bytes(changed(valid, lambda entries, facts, table: None))
    assert isinstance(gramian.load(path), KernelPCA)


def test_a_genotype_model_from_before_families_were_kept(tmp_path):
    path = write(tmp_path, CALLS)
    model = GenotypePCA(2).fit(path)
    model.save(tmp_path / "m.gramian")

    def older(entries, facts, table):
        del facts["values"]["_people"], entries["_people"], table["_people"]

    kept = tmp_path / "m.gramian"
    kept.write_bytes(changed(kept.read_bytes(), older))
    again = gramian.load(kept)
    assert again.samples_ == model.samples_
    found, wanted = again.to_embedding(path), model.to_embedding(path)
    assert found.notes == wanted.notes
    np.testing.assert_array_equal(found.coordinates, wanted.coordinates)


def set_fact(name, value):
    return lambda entries, facts, table: facts.__setitem__(name, value)


def set_value(name, value):
    return lambda entries, facts, table: facts["values"].__setitem__(name, value)


def set_param(name, value):
    return lambda entries, facts, table: facts["params"].__setitem__(name, value)


def set_entry(name, key, value):
    return lambda entries, facts, table: entries[name].__setitem__(key, value)


def nan_in(name):
    def change(entries, facts, table):
        table[name] = np.float64("nan").tobytes() + table[name][8:]

    return change


def positions(entries, facts, table):
    table["gram_.pivots"] = np.full(4, 77).tobytes()


def many(entries, facts, table):
    for i in range(5_000):
        entries[f"x{i}"] = {"dtype": "U8", "shape": [1], "data_offsets": [0, 0]}
        table[f"x{i}"] = b"."


def extra_array(entries, facts, table):
    entries["zz"] = {"dtype": "U8", "shape": [1], "data_offsets": [0, 0]}
    table["zz"] = b"."


ODD = [None, True, 0, -1, 2**70, 1.5, "", "x", [], [[]], {}, {"is": "array"}, {"is": []}]
ODD += [{"is": "Plan"}, {"is": "tuple", "items": 3}, {"is": "dict", "items": []}]
ODD += [{"is": "float", "value": "nan"}, {"is": "int64", "value": "9" * 40}]
ODD += [{"is": "array", "name": "none", "flip": False}, {"is": "os.system", "value": "true"}]
CHANGES = {
    "method unknown": (set_fact("method", "os"), "is no method"),
    "method of another": (set_fact("method", "PCA"), "not known|parameter|lacks"),
    "method list": (set_fact("method", ["PCA"]), "is no method"),
    "method load": (set_fact("method", "load"), "is no method"),
    "future": (set_fact("format", 2), "install gramian"),
    "format 0": (set_fact("format", 0), "no version"),
    "format true": (set_fact("format", True), "no version"),
    "format text": (set_fact("format", "1"), "no version"),
    "unknown fact": (set_fact("run", "rm"), "has run"),
    "params list": (set_fact("params", [1]), "not given by name"),
    "values list": (set_fact("values", [[1]]), "not given by name"),
    "unknown parameter": (set_param("exec", 1), "has exec"),
    "parameter object": (set_param("kernel", {"is": "function"}), "no value"),
    "unknown value": (set_value("__class__", 1), "has __class__"),
    "features count": (set_value("n_features_in_", 4), "n_features_in_|X_fit_"),
    "nested shape": (set_value("n_components_", 3), "k = "),
    "type bf16": (set_entry("X_fit_", "dtype", "BF16"), "BF16"),
    "type list": (set_entry("X_fit_", "dtype", []), "has the type"),
    "shape": (set_entry("X_fit_", "shape", [9, 2]), "X_fit_"),
    "shape negative": (set_entry("X_fit_", "shape", [-6, -3]), "has the shape"),
    "shape huge": (set_entry("X_fit_", "shape", [2**62, 2**62]), "where its shape says"),
    "shape zero": (set_entry("X_fit_", "shape", [0]), "has the shape"),
    "shape text": (set_entry("X_fit_", "shape", "63"), "has the shape"),
    "entry key": (set_entry("X_fit_", "code", 1), "not described"),
    "NaN": (nan_in("X_fit_"), "NaN"),
    "NaN inside": (nan_in("gram_.pairs.vectors"), "NaN"),
    "positions": (positions, "positions outside"),
    "5,000 arrays": (many, "arrays, at most|announced"),
    "extra array": (extra_array, "has zz"),
    "names absent": (set_fact("feature_names", "none"), "not there"),
    "names of numbers": (set_fact("feature_names", "X_fit_"), "used twice|not there"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_says_what_no_model_does_is_refused(name, path, valid):
    change, said = CHANGES[name]
    assert re.search(said, refused(path, changed(valid, change)))


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_an_odd_value_in_the_place_of_any_other_is_refused(odd, path, valid):
    values = parts(valid)[1]["values"]
    for name, value in values.items():
        # another number of the same type is a model, if not this one
        if type(value) is not type(odd) or isinstance(value, dict):
            allowed = odd is None and name in ("_names", "gamma_")
            if not allowed:
                refused(path, changed(valid, set_value(name, odd)))
    for name in ("format", "method", "values"):
        refused(path, changed(valid, set_fact(name, odd)))


def text_header(valid, *swap):
    """The header as bytes with one thing replaced, lengths and digest made right."""
    end = 8 + int.from_bytes(valid[:8], "little")
    head = valid[8:end].replace(*swap, 1)
    place = valid.index(b'sha256\\":\\"') + 11 - 8
    head = head[:place] + b"0" * 64 + head[place + 64 :]
    raw = len(head).to_bytes(8, "little") + head + valid[end:]
    digest = hashlib.sha256(raw).hexdigest().encode()
    return raw[: 8 + place] + digest + raw[8 + place + 64 :]


@pytest.mark.parametrize(
    ("swap", "said"),
    [
        ((b'"X_fit_":{', b'"X_fit_":{"dtype":"F64",'), "stands twice"),
        ((b'\\"format\\":1', b'\\"format\\":1,\\"format\\":1'), "stands twice"),
        ((b'\\"format\\":1', b'\\"format\\":NaN'), "NaN"),
        ((b'\\"format\\":1', b'\\"format\\":' + b"9" * 5000), "no JSON"),
        ((b'\\"format\\":1', b'\\"format\\":' + b"[" * 50 + b"]" * 50), "too deep"),
        ((b'\\"format\\":1', b'\\"format\\":' + b"[" * 200_000), "too deep|no JSON"),
        ((b'\\"format\\":1', b'\\"format\\":\xff'), "no JSON"),
        ((b'}"}', b'}","more":"x"}'), "metadata"),
        ((b'"X_fit_":{', b'"X_fit_":3,"y":{'), "not described"),
    ],
)
def test_a_header_that_can_be_read_in_two_ways_is_refused(swap, said, path, valid):
    assert re.search(said, refused(path, text_header(valid, *swap)))


def foreign():
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("a", "b")
    npy = io.BytesIO()
    np.save(npy, X)
    yield "empty", b"", "empty"
    yield "zip", zipped.getvalue(), "zip archive"
    for protocol in range(6):
        yield f"pickle {protocol}", pickle.dumps([Path, 1], protocol), "no gramian model"
    yield "npy", npy.getvalue(), "NumPy array"
    yield "parquet", b"PAR1" + bytes(90), "Parquet"
    yield "gzip", b"\x1f\x8b" + bytes(90), "gzip"
    yield "hdf5", b"\x89HDF\r\n" + bytes(90), "HDF5"
    yield "text", b"a,b,c\n1,2,3\n" * 9, "no gramian model"
    yield "zeros", bytes(1000), "no gramian model"
    yield "short", b"\x01", "no gramian model"
    yield "length", b"\xff" * 8 + tensors._BEGIN + b"0" * 99, "announced"


@pytest.mark.parametrize("case", list(foreign()), ids=lambda case: case[0])
def test_a_foreign_file_is_refused_by_name(case, path):
    _, raw, said = case
    assert said in refused(path, raw)


def test_plain_safetensors_folders_and_absent_files_are_refused(path, tmp_path):
    save_file({"x": X}, path)
    with pytest.raises(InputError, match="without the header of a model"):
        gramian.load(path)
    with pytest.raises(InputError, match="folder"):
        gramian.load(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        gramian.load(tmp_path / "none.gramian")
    with pytest.raises(InputError, match="regular file"):
        gramian.load(os.devnull)


def test_every_truncation_is_refused(path, valid):
    for end in [*range(0, 400, 7), *range(400, len(valid), 61), len(valid) - 1]:
        refused(path, valid[:end])
    refused(path, valid + b" ")


def mutants(valid, many, seed):
    rng = np.random.default_rng(seed)
    head = 8 + int.from_bytes(valid[:8], "little")
    for i in range(many):
        raw = bytearray(valid)
        for _ in range(rng.choice([1, 1, 1, 2, 8])):
            place = rng.integers(head if i % 2 else len(raw))
            kind = rng.integers(4)
            if kind == 0:
                raw[place] ^= 1 << rng.integers(8)
            elif kind == 1:
                raw[place] = rng.integers(256)
            elif kind == 2:
                del raw[place : place + rng.integers(1, 9)]
            else:
                raw[place:place] = bytes(rng.integers(0, 256, rng.integers(1, 9), np.uint8))
        if raw != valid:
            yield bytes(raw)


def check_mutants(path, valid, many, seed):
    seen = 0
    for raw in mutants(valid, many, seed):
        path.write_bytes(raw)
        with pytest.raises(InputError):
            gramian.load(path)
        seen += 1
    assert seen > 0.9 * many


def test_changed_bytes_are_never_accepted(path, valid):
    check_mutants(path, valid, 1500, 0)


@pytest.mark.slow
def test_ten_thousand_changed_files_are_never_accepted(path, valid):
    check_mutants(path, valid, 11_000, 1)
