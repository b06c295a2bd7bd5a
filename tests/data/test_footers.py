"""Footers of Parquet and Arrow files, beside what pyarrow says of them."""

import io

import numpy as np
import pytest

from gramian.data.footers import arrow_cut, parquet_cut

pa = pytest.importorskip("pyarrow")


def table(n, p):
    rng = np.random.default_rng(n + p)
    columns = {f"c{j}": rng.standard_normal(n) for j in range(p)}
    columns["who"] = [f"s{i % 7}" for i in range(n)]
    columns["yes"] = rng.random(n) < 0.5
    return pa.table(columns)


@pytest.mark.parametrize("compression", ["none", "zstd", "snappy"])
@pytest.mark.parametrize(("n", "p", "rows"), [(1000, 3, 300), (500, 40, 500), (20_000, 1, 64)])
def test_row_groups(tmp_path, n, p, rows, compression):
    import pyarrow.parquet as pq

    path = tmp_path / "x.parquet"
    pq.write_table(table(n, p), path, row_group_size=rows, compression=compression)
    with path.open("rb") as file:
        found = parquet_cut(file)
    known = pq.read_metadata(path)
    groups = [known.row_group(i) for i in range(min(known.num_row_groups, 64))]
    stored = [sum(g.column(j).total_compressed_size for j in range(g.num_columns)) for g in groups]
    assert found.rows == max(g.num_rows for g in groups)
    assert found.pieces == known.num_row_groups and found.columns == p + 2
    assert found.stored == max(stored)


@pytest.mark.parametrize("writer", ["pyarrow", "polars"])
@pytest.mark.parametrize(("n", "p", "rows"), [(1000, 3, 300), (500, 40, 500)])
def test_record_batches(tmp_path, n, p, rows, writer):
    import polars
    import pyarrow.feather as feather

    path, given = tmp_path / "x.feather", table(n, p)
    if writer == "pyarrow":
        feather.write_feather(given, path, chunksize=rows, compression="uncompressed")
    else:
        polars.from_arrow(given).write_ipc(path, record_batch_size=rows)
    with path.open("rb") as file:
        found = arrow_cut(file)
    with pa.memory_map(str(path)) as mapped:
        reader = pa.ipc.open_file(mapped)
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        assert found.rows == max(batch.num_rows for batch in batches)
        assert found.pieces == len(batches) and found.columns == p + 2
        sizes = [batch.nbytes for batch in batches]
    assert max(sizes) <= found.stored <= max(sizes) + 64 * 3 * (p + 2)  # buffers are padded


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_damaged_footers_are_said_to_be_damaged(tmp_path, kind):
    import polars

    cut = parquet_cut if kind == "parquet" else arrow_cut
    frame = polars.DataFrame(np.random.default_rng(0).standard_normal((50, 3)))
    path = tmp_path / "x"
    frame.write_parquet(path) if kind == "parquet" else frame.write_ipc(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(3000):
        damaged = bytearray(whole)
        for at in rng.integers(len(whole) - 600, len(whole), 3):
            damaged[at] = rng.integers(256)
        try:
            found = cut(io.BytesIO(bytes(damaged)))
        except ValueError:
            continue
        assert len(found) == 4  # a number more or less, and nothing else
    for end in range(0, len(whole), 7):
        with pytest.raises(ValueError, match="footer|no row groups"):
            cut(io.BytesIO(whole[:end]))
