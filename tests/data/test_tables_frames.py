"""Data frames and Parquet files: the same table, whatever it was kept in."""

from __future__ import annotations

import datetime
import io
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from gramian.data.frames import TOGETHER
from gramian.data.tables import frame_to_table, is_frame, read_table
from gramian.errors import GramianWarning, InputError, MemoryRefusedError

NAN = float("nan")
MAKERS = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "pyarrow": pa.table,
}
every_library = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def refusal(frame: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        frame_to_table(frame, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@every_library
def test_integers_booleans_and_floats_become_float64(make: Any) -> None:
    columns = {
        "i": np.array([1, -2], np.int64),
        "u": np.array([200, 255], np.uint8),
        "b": np.array([True, False]),
        "f": [0.5, 1e300],
    }
    table = frame_to_table(make(columns))
    assert table.numbers.dtype == np.float64
    assert table.numbers.flags.c_contiguous
    np.testing.assert_array_equal(table.numbers, [[1, 200, 1, 0.5], [-2, 255, 0, 1e300]])
    assert table.columns == ("i", "u", "b", "f")
    assert table.labels is None
    assert table.others == {}
    assert table.notes == ()


@every_library
def test_float32_is_kept_where_nothing_needs_more(make: Any) -> None:
    f4, i2, i4 = np.array([0.1, 2], "f4"), np.array([3, 4], "i2"), np.array([3, 4], "i4")
    for columns, dtype in [
        ({"a": f4, "b": f4}, np.float32),
        ({"a": f4, "b": i2}, np.float32),
        ({"a": f4, "b": np.array([True, False])}, np.float32),
        ({"a": f4, "b": i4}, np.float64),
        ({"a": f4, "b": i4.astype("f8")}, np.float64),
        ({"a": i2, "b": i2}, np.float64),
    ]:
        table = frame_to_table(make(columns))
        assert table.numbers.dtype == dtype
        expected = [each.astype(dtype) for each in columns.values()]
        np.testing.assert_array_equal(table.numbers, np.column_stack(expected))


@every_library
@pytest.mark.parametrize("other", [[1.5, 2.5], [1, 2], [True, False]])
def test_null_means_missing(make: Any, other: list[Any]) -> None:
    for kept in ([other[0], None], [None, None]):
        table = frame_to_table(make({"a": [1.0, 2.0], "b": kept}))
        first = NAN if kept[0] is None else float(other[0])
        np.testing.assert_array_equal(table.numbers, [[1, first], [2, NAN]])


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float32", "boolean", "double[pyarrow]", "uint8[pyarrow]"]
)
def test_nullable_types_of_pandas(dtype: str) -> None:
    values = pd.array([1, None, 0], dtype=dtype)
    table = frame_to_table(pd.DataFrame({"a": values, "b": values}))
    np.testing.assert_array_equal(table.numbers, [[1, 1], [NAN, NAN], [0, 0]])
    assert table.numbers.dtype == (np.float32 if dtype == "Float32" else np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_frame_of_one_float_type_is_not_copied(dtype: Any) -> None:
    X = np.asfortranarray(np.random.default_rng(0).standard_normal((50, 3)).astype(dtype))
    frame = pd.DataFrame(X, copy=False)
    table = frame_to_table(frame)
    assert np.shares_memory(table.numbers, frame.to_numpy())
    np.testing.assert_array_equal(table.numbers, X)
    assert table.columns == ("0", "1", "2")
    polar = pl.from_numpy(X)
    table = frame_to_table(polar)
    assert np.shares_memory(table.numbers, polar["column_0"].to_numpy())
    np.testing.assert_array_equal(table.numbers, X)


def test_many_columns_of_different_types() -> None:
    p = 2 * TOGETHER + 3
    columns = {f"c{j}": np.array([j, j + 0.5 * (j % 2)], [int, float][j % 2]) for j in range(p)}
    columns |= {f"o{j}": np.array([j, None], object) for j in range(3)}
    table = frame_to_table(pd.DataFrame(columns))
    assert table.columns == tuple(columns)
    expected = np.column_stack([np.array(list(each), float) for each in columns.values()])
    np.testing.assert_array_equal(table.numbers, expected)


@every_library
def test_text_is_refused_with_an_example(make: Any) -> None:
    frame = make({"a": [1.0, 2.0], "s": [None, "clay"], "t": ["x", "y"]})
    sentence = refusal(frame)
    assert "2 columns are not numbers" in sentence
    assert "'s' ('clay' in row 1, counted from 0)" in sentence
    assert "'t' ('x' in row 0, counted from 0)" in sentence


@every_library
def test_text_is_kept_apart(make: Any) -> None:
    day = datetime.date(2020, 1, 2)
    frame = make({"id": ["u", "v"], "a": [1, 2], "s": [None, "clay"], "d": [day, day]})
    table = frame_to_table(frame, text="keep")
    np.testing.assert_array_equal(table.numbers, [[1], [2]])
    assert table.labels == ("u", "v")
    assert table.others == {"s": ["", "clay"], "d": ["2020-01-02"] * 2}
    assert table.notes[0] == "column 1 'id' taken as row names"
    assert table.notes[1].startswith("not numbers, and kept apart: 's' ('clay' in row 1")


def test_text_that_looks_like_numbers_is_text() -> None:
    assert "'a' ('1.5' in row 0" in refusal(pd.DataFrame({"a": ["1.5", "2"], "b": [1, 2]}))


def test_no_numbers_at_all() -> None:
    frame = pd.DataFrame({"a": ["x", "x"]})
    assert "no column holds numbers" in refusal(frame, text="keep")


@pytest.mark.parametrize(
    "values",
    [
        pd.Categorical(["u", "v"]),
        pd.to_datetime(["2020-01-01", None]),
        pd.to_timedelta([1, 2]),
        pd.period_range("2020", periods=2, freq="D"),
        pd.Series([1, "x"], dtype=object),
        pd.Series([1, "x"], dtype="object").to_numpy(),
    ],
)
def test_what_is_not_a_number_in_pandas(values: Any) -> None:
    assert "a column is not numbers: 'v'" in refusal(pd.DataFrame({"v": values, "a": [1, 2]}))


def test_a_word_among_objects_is_the_example() -> None:
    frame = pd.DataFrame({"v": pd.Series([1, 2.5, "n.d."], dtype=object)})
    assert "'v' ('n.d.' in row 2" in refusal(frame)


def test_objects_that_are_numbers() -> None:
    values = [1, 2.5, Decimal("0.5"), True, None, np.float32(3), pd.NA, NAN, np.int8(-1)]
    table = frame_to_table(pd.DataFrame({"a": pd.Series(values, dtype=object)}))
    expected = [1, 2.5, 0.5, 1, NAN, 3, NAN, NAN, -1]
    np.testing.assert_array_equal(table.numbers[:, 0], expected)


def test_decimals_and_sparse_columns() -> None:
    values = [Decimal("1.25"), None]
    for frame in (pl.DataFrame({"a": values, "b": [1, 2]}), pa.table({"a": values, "b": [1, 2]})):
        np.testing.assert_array_equal(frame_to_table(frame).numbers, [[1.25, 1], [NAN, 2]])
    sparse = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 7.0]), "b": [1, 2]})
    np.testing.assert_array_equal(frame_to_table(sparse).numbers, [[0, 1], [7, 2]])


@pytest.mark.parametrize("text", ["refuse", "keep"])
def test_nested_and_complex_columns_are_refused(text: Any) -> None:
    for frame in (
        pl.DataFrame({"v": [[1], [2]], "a": [1, 2]}),
        pa.table({"v": [{"q": 1}, {"q": 2}], "a": [1, 2]}),
        pd.DataFrame({"v": [[1], [2]], "a": [1, 2]}),
    ):
        assert "column 'v' is nested" in refusal(frame, text=text)
    for values in ([1j, 2], pd.Series([1j, 2], dtype=object)):
        frame = pd.DataFrame({"v": values, "a": [1, 2]})
        assert "column 'v' holds complex numbers" in refusal(frame, text=text)


def test_duplicate_names() -> None:
    X = np.ones((2, 3))
    assert "'a' (columns 1 and 3)" in refusal(pd.DataFrame(X, columns=["a", "b", "a"]))
    assert "'1' (columns 1 and 2)" in refusal(pd.DataFrame(X, columns=[1, "1", "b"]))
    assert "'a' (columns 1 and 2)" in refusal(pa.table([[1], [2]], names=["a", "a"]))


def test_integers_beyond_2_53_are_said_once() -> None:
    exact = np.array([2**53, -(2**60), 2**62 + 2**10, -(2**63)])
    for make in MAKERS.values():
        table = frame_to_table(make({"a": exact, "b": [1, 2, 3, 4]}))
        np.testing.assert_array_equal(table.numbers[:, 0], exact)
        for values in (exact + np.array([0, 1, 0, 0]), np.array([2**64 - 1, 1, 2, 3], np.uint64)):
            with pytest.warns(GramianWarning, match="beyond 2\\^53 are rounded.*'a'") as seen:
                frame_to_table(make({"a": values, "b": values}))
            assert len(seen) == 1


def test_an_index_is_row_names_if_it_means_something() -> None:
    def labels(index: Any) -> Any:
        return frame_to_table(pd.DataFrame({"a": [1.0, 2.0]}, index=index)).labels

    assert labels(None) is None
    assert labels([7, 3]) is None, "rows that were shuffled or selected"
    assert labels(["u", "v"]) == ("u", "v")
    assert labels(pd.Index([7, 3], name="plot")) == ("7", "3")
    assert labels(pd.MultiIndex.from_tuples([("u", 1), ("v", 2)])) == ("u 1", "v 2")
    frame = pd.DataFrame({"id": ["x", "y"], "a": [1, 2]}, index=["u", "v"])
    table = frame_to_table(frame, text="keep")
    assert table.labels == ("u", "v"), "the index comes before a column of text"
    assert table.others == {"id": ["x", "y"]}


def test_the_frame_is_never_changed() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, NAN], "s": ["x", None]}, index=["u", "v"])
    before = frame.copy(deep=True)
    frame_to_table(frame, text="keep")
    pd.testing.assert_frame_equal(frame, before)


def test_empty_frames_are_left_to_the_caller() -> None:
    for frame in (pl.DataFrame({"a": [], "b": []}, schema={"a": pl.Float64, "b": pl.Int8}),
                  pd.DataFrame({"a": [], "b": []}, dtype=object)):  # fmt: skip
        assert frame_to_table(frame).numbers.shape == (0, 2)
    assert frame_to_table(pd.DataFrame(index=[0, 1, 2])).numbers.shape == (3, 0)


def test_lazy_frames_and_strangers() -> None:
    assert ".collect()" in refusal(pl.LazyFrame({"a": [1]}))
    assert "not a data frame" in refusal(pd.Series([1, 2]))


def test_is_frame() -> None:
    frame = pd.DataFrame({"a": [1]})
    for yes in (frame, pl.DataFrame(frame), pl.LazyFrame(frame), pa.table({"a": [1]})):
        assert is_frame(yes) is True
    for no in (np.ones((2, 2)), np.ones(2).view(np.recarray), [[1]], {"columns": 1}, frame["a"],
               pl.Series([1]), scipy.sparse.eye_array(3), "t.csv", None):  # fmt: skip
        assert is_frame(no) is False


def test_nothing_heavy_is_imported_for_an_array() -> None:
    script = (
        "import sys, numpy; from gramian.data.tables import is_frame; is_frame(numpy.ones((2, 2)));"
        "print([m for m in ('pandas', 'polars', 'narwhals', 'pyarrow') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_pandas_and_pyarrow_are_not_needed(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2], "s": ["x", "y"]}).write_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a,s\n1,x\n2,y\n")
    script = (
        "import sys; sys.modules.update(pandas=None, pyarrow=None)\n"
        "import polars; from gramian.data.tables import frame_to_table, read_table\n"
        "for name in sys.argv[1:]: print(read_table(name, text='keep').numbers.tolist())\n"
        "print(frame_to_table(polars.DataFrame({'a': [1, 2]})).numbers.tolist())"
    )
    paths = [str(tmp_path / "t.csv"), str(tmp_path / "t.parquet")]
    run = [sys.executable, "-c", script, *paths]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == ["[[1.0], [2.0]]"] * 3


# Parquet


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table [1]*.parquet"


def test_parquet_keeps_float32(path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((100, 3)).astype("f4")
    pl.from_numpy(X).write_parquet(path, row_group_size=7)
    table = read_table(path)
    assert table.numbers.dtype == np.float32
    np.testing.assert_array_equal(table.numbers, X)


def test_parquet_with_everything(path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array(["u", "v"]).dictionary_encode(),
            "i": pa.array([1, None], pa.int32()),
            "b": [True, False],
            "kind": pa.array(["x", None]).dictionary_encode(),
            "when": [datetime.datetime(2020, 1, 1)] * 2,
            "dec": [Decimal("1.5"), Decimal("2.5")],
        }
    )
    pq.write_table(table, path)
    with pytest.raises(InputError, match=r"3 columns are not numbers: 'id' \('u' in row 0"):
        read_table(path)
    for source in (path, io.BytesIO(path.read_bytes())):
        found = read_table(source, text="keep")
        np.testing.assert_array_equal(found.numbers, [[1, 1, 1.5], [NAN, 0, 2.5]])
        assert found.columns == ("i", "b", "dec")
        assert found.labels == ("u", "v")
        assert list(found.others) == ["kind", "when"]
        assert found.others["kind"] == ["x", ""]
        assert found.others["when"][0].startswith("2020-01-01")


def test_parquet_choosing_columns(path: Path) -> None:
    pl.DataFrame(
        {"n": [[1], [2]], "id": ["u", "u"], "a": [1, 2], "b": [3, 4], "s": ["x", "y"]}
    ).write_parquet(path)
    for options in ({"columns": ["a"]}, {"columns": [2]}, {"drop": ["n", 3, "s"]}):
        table = read_table(path, labels=1, others=["b", "s"], **options)
        np.testing.assert_array_equal(table.numbers, [[1], [2]])
        assert table.labels == ("u", "u")
        assert table.others == {"b": ["3", "4"], "s": ["x", "y"]}
    with pytest.raises(InputError, match="no column 'aa'; did you mean 'a'"):
        read_table(path, columns="aa")
    with pytest.raises(InputError, match=r"'s' \('x' in row 0"):
        read_table(path, columns=["a", "s"], text="keep")


@pytest.mark.parametrize("text", ["refuse", "keep"])
def test_parquet_nested(path: Path, text: Any) -> None:
    pl.DataFrame({"a": [1], "v": [{"q": 1}]}).write_parquet(path)
    with pytest.raises(InputError, match="column 'v' is nested"):
        read_table(path, text=text)


def test_parquet_without_rows(path: Path) -> None:
    pl.DataFrame({"a": []}, schema={"a": pl.Float64}).write_parquet(path)
    with pytest.raises(InputError, match="has no rows"):
        read_table(path)


def test_parquet_damaged(path: Path) -> None:
    pl.DataFrame({"a": np.arange(1000.0)}).write_parquet(path)
    whole = path.read_bytes()
    for content in (whole[:-8], whole[: len(whole) // 2], b"PAR1"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="the Parquet file is damaged") as caught:
            read_table(path)
        assert "\n" not in str(caught.value)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="this is not a Parquet file"):
        read_table(path)


def test_parquet_that_unpacks_to_too_much(path: Path) -> None:
    pl.DataFrame({"a": np.zeros(2_000_000)}).write_parquet(path)
    assert path.stat().st_size < 200_000
    with pytest.raises(MemoryRefusedError, match="2000000 rows of 1 columns takes about 32 MB"):
        read_table(path, max_bytes=10_000_000)
