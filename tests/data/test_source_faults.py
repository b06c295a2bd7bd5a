"""What can be wrong with a source, or go wrong while it is read: one sentence, never an answer."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from gramian import PCA
from gramian.data import pread, stage
from gramian.data.block_rows import BlockRows
from gramian.data.door import open_rows
from gramian.data.npy import NpyRows
from gramian.data.sparse_file import SparseFile
from gramian.errors import GramianError, GramianWarning, InputError, MemoryRefusedError
from tests.data.sources import SPARSE, WRITERS, numbers
from tests.data.test_sources import SMALL, staging


def refused(path, memory=None):
    with pytest.raises(GramianError) as caught:
        open_rows(path, memory)
    return str(caught.value)


# Row 63: .npy ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array([[1, "a"]], dtype=object), "Python objects"),
        (np.zeros(3, [("a", float), ("b", int)]), "not numbers"),
        (np.array([["a", "b"]]), "not numbers"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.zeros((2, 2), complex), "Complex data not supported"),
    ],
)
def test_npy_that_is_no_matrix_of_numbers(tmp_path, array, words):
    np.save(tmp_path / "x.npy", array, allow_pickle=True)
    assert words in refused(tmp_path / "x.npy")


def header(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00v\x00" + text.encode()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (header("(4, 2)") + bytes(56), "cut short"),
        (header("(100000000000, 1000)") + bytes(64), "cut short"),
        (header("(-1, 2)") + bytes(64), "claims the shape"),
        (b"PK\x03\x04 no array", "not a .npy file"),
        (b"", "not a .npy file"),
    ],
)
def test_npy_whose_header_lies(tmp_path, content, words):
    (tmp_path / "x.npy").write_bytes(content)
    assert words in refused(tmp_path / "x.npy")


def test_npy_of_version_3_and_by_columns(tmp_path):
    X = numbers("npy", 30, 4)
    with (tmp_path / "x.npy").open("wb") as file:
        np.lib.format.write_array(file, np.asfortranarray(X), version=(3, 0))
    assert np.array_equal(open_rows(tmp_path / "x.npy").rows.read_rows(slice(0, 30)), X)


# Row 64: Parquet and Arrow -----------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_columnar_files_that_are_damaged(tmp_path, ending):
    whole = WRITERS[ending](tmp_path, numbers(ending, 200, 5)).read_bytes()
    path = tmp_path / f"y.{ending}"
    path.write_bytes(whole[:-20])
    assert "damaged" in refused(path)
    path.write_bytes(b"1,2\n3,4\n")
    assert "whatever its name says" in refused(path)


@pytest.mark.parametrize("memory", [None, SMALL])
def test_parquet_with_columns_that_are_no_numbers(tmp_path, memory):
    import polars

    n = 60_000
    frame = polars.DataFrame({"a": np.arange(n) * 1.0, "b": [[1.0, 2.0]] * n})
    frame.write_parquet(tmp_path / "nested.parquet")
    assert "nested" in refused(tmp_path / "nested.parquet", memory)
    frame = polars.DataFrame({"a": np.arange(n) * 1.0, "kind": ["x", "y"] * (n // 2)})
    frame = frame.with_columns(polars.col("kind").cast(polars.Categorical))
    frame.write_parquet(tmp_path / "words.parquet")
    message = refused(tmp_path / "words.parquet", "2MB" if memory else None)
    assert "'kind'" in message and "drop=" in message


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_strings_of_a_large_file_are_labels(tmp_path, ending):
    import polars

    from gramian.data.tables import read_table

    n = 20_000
    columns = {"who": [f"s{i}" for i in range(n)], "kind": ["x", "y"] * (n // 2)}
    columns |= {f"v{j}": np.arange(n) * 1.0 + j for j in range(4)}
    frame = polars.DataFrame(columns).with_columns(polars.col("kind").cast(polars.Categorical))
    path = tmp_path / f"x.{ending}"
    frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    table = read_table(path, text="keep", max_bytes=1_500_000, blocks=True)
    assert isinstance(table.numbers, BlockRows)
    assert table.labels is not None and table.labels[:2] == ("s0", "s1")
    assert table.columns == ("v0", "v1", "v2", "v3") and list(table.others) == ["kind"]
    assert np.array_equal(
        table.numbers.read_rows(slice(9, 11)), [[9, 10, 11, 12], [10, 11, 12, 13]]
    )


def test_parquet_without_rows_or_columns(tmp_path):
    import polars

    polars.DataFrame({"a": []}, schema={"a": polars.Float64}).write_parquet(tmp_path / "x.parquet")
    assert "no rows" in refused(tmp_path / "x.parquet")


def test_nulls_of_a_large_file_are_missing(tmp_path):
    import polars

    values = [None if i == 70_000 else i for i in range(100_000)]
    polars.DataFrame({"a": values, "b": range(100_000)}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="1 missing value, the first at row 70000, column 0"):
        PCA(1, memory=SMALL).fit(tmp_path / "x.parquet")


def test_shards_whose_columns_differ(tmp_path):
    import polars

    polars.DataFrame({"a": [1.0], "b": [2.0]}).write_parquet(tmp_path / "p0.parquet")
    polars.DataFrame({"a": [1.0], "c": [2.0]}).write_parquet(tmp_path / "p1.parquet")
    assert "column 2 is 'c'" in refused(tmp_path / "*.parquet")
    polars.DataFrame({"a": [1.0]}).write_parquet(tmp_path / "p1.parquet")
    assert "has 1 columns" in refused(tmp_path / "*.parquet")
    (tmp_path / "z.csv").write_text("a,b\n1,2\n")
    assert "several kinds (.csv, .parquet)" in refused(tmp_path)
    assert "no file matches" in refused(tmp_path / "q*.parquet")
    (tmp_path / "empty").mkdir()
    assert "folder without a file that can be read" in refused(tmp_path / "empty")


def test_shards_come_in_the_order_of_their_names(tmp_path):
    for name, value in (("b", 2), ("a", 1), ("c", 3)):
        np.save(tmp_path / f"{name}.npy", np.full((2, 2), value))
    found = open_rows(tmp_path).rows.read_rows(slice(0, 6))
    assert found[:, 0].tolist() == [1, 1, 2, 2, 3, 3]


# Row 65: Zarr ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("fill", [0.0, np.nan])
def test_zarr_chunks_that_were_never_written(tmp_path, version, fill):
    import zarr

    array = zarr.create_array(
        tmp_path / "x.zarr",
        shape=(100, 4),
        chunks=(10, 4),
        dtype=float,
        fill_value=fill,
        zarr_format=version,
    )
    array[:70] = numbers("npy", 70, 4)
    with pytest.warns(GramianWarning, match="3 of 10 chunks were never written"):
        found = open_rows(tmp_path / "x.zarr")
    if np.isnan(fill):
        with pytest.raises(InputError, match="120 missing values, the first at row 70, column 0"):
            PCA(1).fit(found)
    else:
        assert PCA(1).fit(found).n_samples_ == 100


def test_zarr_with_a_codec_nobody_knows(tmp_path):
    path = WRITERS["zarr 3"](tmp_path, numbers("zarr", 50, 4))
    text = (path / "zarr.json").read_text().replace('"zstd"', '"brotli-9000"')
    (path / "zarr.json").write_text(text)
    assert "brotli-9000" in refused(path)
    assert "cannot be read as a Zarr store" in refused(path)


def test_zarr_chunk_that_is_damaged_is_named(tmp_path):
    path = WRITERS["zarr 3"](tmp_path, numbers("zarr", 300, 4))
    chunk = next(path.glob("c/1/*"))
    chunk.write_bytes(chunk.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"rows \d+ to \d+ cannot be read"):
        PCA(1).fit(path)


# F31: what a small file can unfold to ------------------------------------------------------------


def test_chunks_larger_than_the_budget_are_refused_unread(tmp_path):
    import h5py
    import zarr

    shape = (30_000, 100)  # all equal: a few kilobytes on disk
    zarr.create_array(tmp_path / "x.zarr", shape=shape, chunks=shape, dtype=float)[:] = 1
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=np.ones(shape), chunks=shape, compression="gzip")
    for name in ("x.zarr", "x.h5"):
        with pytest.raises(MemoryRefusedError, match="chunks of 30,000 x 100 numbers, 24 MB each"):
            open_rows(tmp_path / name, "10MB")


def test_image_larger_than_the_budget_is_refused_undecoded(tmp_path):
    from PIL import Image

    (tmp_path / "i").mkdir()
    Image.new("L", (3000, 3000)).save(tmp_path / "i" / "a.png")
    Image.new("L", (3000, 3000)).save(tmp_path / "i" / "b.png")
    with pytest.raises(MemoryRefusedError, match="3000 x 3000 pixels"):
        open_rows(tmp_path / "i", "5MB")


# F32: nothing outside of the file is followed ----------------------------------------------------


def test_hdf5_links_and_outside_storage_are_not_followed(tmp_path):
    import h5py

    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["x"] = np.ones((5, 2))
    (tmp_path / "raw").write_bytes(bytes(80))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["far"] = h5py.ExternalLink("secret.h5", "x")
        file["soft"] = h5py.SoftLink("/far")
        file.create_dataset("outside", (5, 2), "<f8", external=[(str(tmp_path / "raw"), 0, 80)])
        layout = h5py.VirtualLayout((5, 2), "<f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "x", (5, 2))
        file.create_virtual_dataset("virtual", layout)
    assert "holds no two-dimensional array" in refused(tmp_path / "x.h5")
    for name in ("far", "soft"):
        assert "links are not followed" in refused(f"{tmp_path / 'x.h5'}::{name}")
    for name in ("outside", "virtual"):
        assert "other files, which are not followed" in refused(f"{tmp_path / 'x.h5'}::{name}")


def test_hdf5_with_several_arrays_asks_which(tmp_path):
    import h5py

    X = numbers("hdf5", 30, 4)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a/x"], file["b"] = X, X + 1
    assert "2 arrays: a/x, b; say which, such as x.h5::a/x" in refused(tmp_path / "x.h5")
    assert "has no 'c'; it holds a/x, b" in refused(f"{tmp_path / 'x.h5'}::c")
    rows = open_rows(f"{tmp_path / 'x.h5'}::a/x").rows
    assert np.array_equal(rows.read_rows(slice(0, 30)), X)
    (tmp_path / "y.h5").write_bytes((tmp_path / "x.h5").read_bytes()[:600])
    assert "cut short" in refused(tmp_path / "y.h5")
    (tmp_path / "y.h5").write_bytes(b"nothing of the kind")
    assert "cannot be read as HDF5" in refused(tmp_path / "y.h5")


def test_sparse_matrix_whose_parts_do_not_fit(tmp_path):
    import h5py

    path = WRITERS["h5ad, sparse"](tmp_path, numbers("h5ad, sparse", 400, 40))
    with h5py.File(path, "r+") as file:
        file["X/indices"][7] = 40
    with pytest.raises(InputError, match="column numbers from 0 to 40, but there are 40 columns"):
        PCA(1, memory=SMALL).fit(path)
    with h5py.File(path, "r+") as file:
        file["X/indptr"][-1] += 1
    assert "indptr does not fit" in refused(path)


@pytest.mark.parametrize("package", ["h5py", "zarr", "PIL"])
def test_absent_packages_are_named(tmp_path, monkeypatch, package):
    kind, extra = {"h5py": ("hdf5",) * 2, "zarr": ("zarr 3", "zarr"), "PIL": ("images",) * 2}[
        package
    ]
    path = WRITERS[kind](tmp_path, numbers(kind, 5, 4))
    monkeypatch.setitem(sys.modules, package, None)
    assert f'pip install "gramian[{extra}]"' in refused(path)


# Images ------------------------------------------------------------------------------------------


def test_images_must_agree(tmp_path):
    from PIL import Image

    Image.new("L", (4, 3)).save(tmp_path / "a.png")
    Image.new("L", (3, 4)).save(tmp_path / "b.png")
    assert "b.png has 3 x 4 pixels (L), the first image 4 x 3 (L)" in refused(tmp_path)
    Image.new("RGB", (4, 3)).save(tmp_path / "b.png")
    assert "(RGB)" in refused(tmp_path)
    noise = np.random.default_rng(0).integers(0, 256, (90, 90), np.uint8)
    for name in ("a.png", "b.png"):
        Image.fromarray(noise).save(tmp_path / name)
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes()[:4000])
    assert "b.png cannot be decoded" in refused(tmp_path)
    (tmp_path / "b.png").write_text("no image")
    assert "not an image" in refused(tmp_path)
    assert "name a folder of images" in refused(tmp_path / "a.png")


# R9, row 66, F23, F24: faults at every read ------------------------------------------------------

READ = {
    "npy": (NpyRows, "_part"),
    "parquet": (BlockRows, "_part"),
    "feather": (BlockRows, "_part"),
    "zarr 3": (BlockRows, "_part"),
    "hdf5": (BlockRows, "_part"),
    "h5ad, sparse": (SparseFile, "csr"),
}


def _touched(path):
    target = next(path.rglob("zarr.json")) if path.is_dir() else path
    seen = target.stat()
    os.utime(target, ns=(seen.st_atime_ns, seen.st_mtime_ns + 1))


def _cut(path):
    target = next(path.glob("c/*/*")) if path.is_dir() else path
    os.truncate(target, target.stat().st_size // 2)


def _gone(path):
    target = next(path.glob("c/*/*")) if path.is_dir() else path
    target.unlink()


MAPPED = {"parquet", "feather"}  # by polars: the system ends whoever reads beyond a cut


@pytest.mark.parametrize(
    ("kind", "harm"),
    [(k, h) for k in READ for h in (_touched, _cut, _gone) if not (h is _cut and k in MAPPED)],
)
def test_file_that_changes_at_any_read_is_noticed(tmp_path, monkeypatch, kind, harm):
    """The file itself is harmed at the k-th read of a fit, for every k: always an error."""
    X = numbers(kind, 4000 if kind in SPARSE else 1000, 40)
    cls, verb = READ[kind]
    read = getattr(cls, verb)
    count, at = 0, 0

    def counted(self, *where):
        nonlocal count
        count += 1
        if count == at:
            harm(path)
        return read(self, *where)

    monkeypatch.setattr(cls, verb, counted)
    path = WRITERS[kind](tmp_path, X)
    PCA(2, memory=SMALL).fit(path)
    total = count
    assert total > 5
    for k in sorted({1, 2, total // 3, total // 2, total - 1, total}):
        for old in tmp_path.iterdir():
            _remove(old)
        path = WRITERS[kind](tmp_path, X)
        count, at = 0, k
        with pytest.raises(GramianError):
            PCA(2, memory=SMALL).fit(path)


def _remove(path):
    import shutil

    shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_system_errors_and_short_reads_at_every_read(tmp_path, monkeypatch):
    X = numbers("npy", 1000, 40)
    path = WRITERS["npy"](tmp_path, X)
    read, count, at, fault = pread._read_at, 0, 0, None

    def faulty(file, into, where):
        nonlocal count
        count += 1
        if count != at:
            return read(file, into, where)
        if fault == "error":
            raise OSError(5, "Input/output error")
        return read(file, into[: max(len(into) // 3, 1)], where) if fault == "short" else 0

    monkeypatch.setattr(pread, "_read_at", faulty)
    twin = PCA(2, memory=SMALL).fit(path)
    total = count
    for k in range(1, total + 1):
        for fault in ("error", "short", "nothing"):
            count, at = 0, k
            if fault == "short":  # the rest is asked for again: exact
                again = PCA(2, memory=SMALL).fit(path)
                assert np.array_equal(again.components_, twin.components_)
            else:
                with pytest.raises(InputError, match=r"Input/output error|became shorter"):
                    PCA(2, memory=SMALL).fit(path)


@pytest.mark.parametrize("kind", ["csv", "images"])
def test_disk_full_at_every_write_of_the_temporary_copy(tmp_path, monkeypatch, kind):
    path = WRITERS[kind](tmp_path, numbers(kind, 2000, 40))
    write, count, at = os.pwrite, 0, 0

    def full(file, data, where):
        nonlocal count
        count += 1
        if count == at:
            raise OSError(28, "No space left on device")
        return write(file, data[: max(len(data) // 2, 1)], where)  # short writes go on

    monkeypatch.setattr(stage.os, "pwrite", full)
    with staging(kind):
        open_rows(path, SMALL)
    total, names = count, sorted(tmp_path.iterdir())
    assert total > 4
    for k in range(1, total + 1, max(total // 8, 1)):
        count, at = 0, k
        with pytest.raises(GramianError, match="No space left on device"):
            open_rows(path, SMALL)
        assert sorted(tmp_path.iterdir()) == names


def test_nothing_is_left_of_a_temporary_copy(tmp_path, monkeypatch):
    path = WRITERS["csv"](tmp_path, numbers("csv", 2000, 40))
    with staging("csv"):
        found = open_rows(path, SMALL)
    assert [each.name for each in tmp_path.iterdir()] == ["x.csv"]  # it has no name
    descriptor = found.rows._file.descriptor
    os.fstat(descriptor)
    del found
    with pytest.raises(OSError, match="descriptor"):  # and is closed when nobody reads it
        os.fstat(descriptor)


def test_temporary_copy_is_elsewhere_if_the_folder_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(stage.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    opens = os.open

    def closed(path, *args, **kwargs):
        if str(path).startswith(str(tmp_path / ".gramian-")):
            raise PermissionError(13, "Permission denied")
        return opens(path, *args, **kwargs)

    monkeypatch.setattr(stage.os, "open", closed)
    path = WRITERS["csv"](tmp_path, numbers("csv", 2000, 40))
    with pytest.warns(GramianWarning, match="in .*/tmp,"):
        open_rows(path, SMALL)


def test_bad_cell_of_a_large_text_file_is_named(tmp_path):
    path = WRITERS["csv"](tmp_path, numbers("csv", 3000, 40))
    lines = path.read_text().splitlines()
    cells = lines[2500].split(",")
    lines[2500] = ",".join([*cells[:-1], "oops"])
    path.write_text("\n".join(lines))
    message = refused(path, SMALL)
    assert "line 2501, column 'v39': 'oops' is not a number" in message
    lines[2500] = ",".join(cells[:-1])
    path.write_text("\n".join(lines))
    assert "line 2501 has 39 fields, the header has 40" in refused(path, SMALL)


def test_nan_in_block_7000_is_named(tmp_path):
    X = np.ones((750_000, 2), np.float32)
    X[:, 1] = np.arange(len(X)) % 7
    X[700_123, 1] = np.nan
    np.save(tmp_path / "x.npy", X)
    found = open_rows(tmp_path / "x.npy")
    found.rows.block_bytes = 800
    assert len(found.rows.row_blocks()) == 7500
    with pytest.raises(InputError, match="1 missing value, the first at row 700123, column 1"):
        PCA(1).fit(found)


def test_full_disk_for_real(tmp_path):
    """A limit on the size of files, as a full disk gives it: short writes, then an error."""
    path = WRITERS["csv"](tmp_path, numbers("csv", 3000, 40))
    script = f"""
        import resource, signal, warnings
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
        from gramian.data.door import open_rows
        from gramian.errors import GramianError
        try:
            open_rows({str(path)!r}, "1MB")
        except GramianError as error:
            print(error)
    """
    out = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120
    )
    assert "temporary copy" in out.stdout and "File too large" in out.stdout, out.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["x.csv"]
