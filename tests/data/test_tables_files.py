"""Where tables come from: paths, pipes, compressed files, and how each of them fails."""

from __future__ import annotations

import contextlib
import gzip
import importlib
import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gramian.data import grid, source
from gramian.data.tables import read_table
from gramian.errors import InputError, MemoryRefusedError

CONTENT = b"a,b\n1,2\n3,4\n"
NUMBERS = [[1, 2], [3, 4]]


def zstandard() -> Any:
    """The module that writes Zstandard here, or None."""
    for name in source.ZSTANDARD_MODULES:
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    return None


def refusal(path: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_table(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.txt", "with space.csv", "données 🙂.csv", "[a]*?.csv", "t.CSV"]
)
def test_paths(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(CONTENT)
    for given in (path, str(path), os.fsencode(path)):
        np.testing.assert_array_equal(read_table(given).numbers, NUMBERS)


def test_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_bytes(CONTENT)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    np.testing.assert_array_equal(read_table("~/t.csv").numbers, NUMBERS)


def test_file_objects_are_read_from_where_they_stand() -> None:
    file = io.BytesIO(b"# a remark\n" + CONTENT)
    file.readline()
    np.testing.assert_array_equal(read_table(file).numbers, NUMBERS)
    np.testing.assert_array_equal(read_table(io.StringIO("é,b\n1,2\n3,4\n")).numbers, NUMBERS)


def test_a_file_object_that_gives_a_byte_at_a_time() -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(1 if size else 0)

    np.testing.assert_array_equal(read_table(Slow(b"\xef\xbb\xbf" + CONTENT)).numbers, NUMBERS)
    assert "UTF-16" in refusal(Slow(CONTENT.decode().encode("utf-16")))


def test_standard_input() -> None:
    script = "from gramian.data.tables import read_table; print(read_table('-').numbers.tolist())"
    for content in (CONTENT, gzip.compress(CONTENT)):
        run = subprocess.run(
            [sys.executable, "-c", script], input=content, capture_output=True, check=True
        )
        assert run.stdout.split() == b"[[1.0, 2.0], [3.0, 4.0]]".split()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a POSIX thing")
def test_a_named_pipe_can_be_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "BLOCK", 16)
    content = b"a,b\n" + b"1,2\n" * 20 + b"1,x\n" * 20  # text shows late: a second pass
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    table = read_table(pipe, text="keep")
    writer.join()
    assert table.others == {"b": ["2"] * 20 + ["x"] * 20}


def test_a_pipe_that_never_ends_is_refused() -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            return b"1,2\n" * 1000

    with pytest.raises(MemoryRefusedError, match="more than 1 MB came through a pipe"):
        read_table(Endless(), max_bytes=1_000_000)


def test_missing_file_with_a_suggestion(tmp_path: Path) -> None:
    (tmp_path / "iris.csv").write_bytes(CONTENT)
    assert "no such file; did you mean 'iris.csv'?" in refusal(tmp_path / "irs.csv")
    assert "no such file; check the path" in refusal(tmp_path / "quite different")
    assert "no folder" in refusal(tmp_path / "absent" / "iris.csv")


def test_an_address_is_not_fetched() -> None:
    assert "no such file" in refusal("http://localhost:9/t.csv")


def test_directory(tmp_path: Path) -> None:
    assert "this is a directory" in refusal(tmp_path)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(CONTENT)
    path.chmod(0)
    assert "no permission to read" in refusal(path)


def test_no_permission_as_the_system_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", locked)
    assert "no permission to read" in refusal(tmp_path / "t.csv")
    assert "this is a directory" in refusal(tmp_path)


def test_names_no_system_can_open(tmp_path: Path) -> None:
    sentence = refusal(tmp_path / ("x" * 300 + ".csv"))
    assert "cannot be opened" in sentence
    assert len(sentence) < 200
    assert "cannot be opened" in refusal("a\0b.csv")


def test_something_that_is_no_path() -> None:
    assert "from a path or a file object, got int" in refusal(7)


def test_a_disk_that_fails_while_reading() -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 15:
                raise OSError(5, "Input/output error")
            return super().read(16 if size is None else min(size, 16))

    assert "cannot be read (Input/output error)" in refusal(Failing(b"a,b\n" + b"1,2\n" * 20))


# Compressed files


@pytest.mark.parametrize("name", ["t.csv.gz", "t.tsv.gz", "t.csv", "no ending"])
def test_gzip_whatever_the_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(CONTENT))
    np.testing.assert_array_equal(read_table(path).numbers, NUMBERS)


def test_gzip_of_several_members() -> None:
    content = gzip.compress(CONTENT) + gzip.compress(b"5,6\n")
    np.testing.assert_array_equal(read_table(io.BytesIO(content)).numbers, [*NUMBERS, [5, 6]])


def test_damaged_gzip() -> None:
    whole = gzip.compress(b"a,b\n" + os.urandom(3000).hex("\n").encode())
    assert "truncated" in refusal(io.BytesIO(whole[: len(whole) // 2]))
    assert "truncated" in refusal(io.BytesIO(whole[:-1]))
    wrong = bytearray(gzip.compress(CONTENT))
    wrong[-6] ^= 1  # the checksum
    assert "the compressed file is damaged" in refusal(io.BytesIO(wrong))
    wrong = bytearray(gzip.compress(CONTENT))
    wrong[10] = 0xFF  # the first byte of the deflate stream
    assert "the compressed file is damaged" in refusal(io.BytesIO(wrong))


def test_a_decompression_bomb_is_stopped_on_its_way() -> None:
    bomb = gzip.compress(b"a,b\n" + b"1,000000000000002\n" * 1_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(MemoryRefusedError, match="holds more than 3 MB"):
        read_table(io.BytesIO(bomb), max_bytes=3_000_000, columns="a")


def test_a_bomb_of_a_single_line_is_stopped_too() -> None:
    bomb = gzip.compress(b"1," * 10_000_000)
    with pytest.raises(MemoryRefusedError, match="holds more than 3 MB"):
        read_table(io.BytesIO(bomb), max_bytes=3_000_000)


@pytest.mark.skipif(zstandard() is None, reason="no Zstandard module is installed")
def test_zstandard() -> None:
    zstd = zstandard()
    packed = zstd.compress(CONTENT)
    np.testing.assert_array_equal(read_table(io.BytesIO(packed)).numbers, NUMBERS)
    assert "truncated" in refusal(io.BytesIO(packed[:-3]))
    damaged = bytearray(packed)
    damaged[5] ^= 0xFF
    assert "damaged" in refusal(io.BytesIO(damaged))
    with pytest.raises(MemoryRefusedError, match="holds more than 1 MB"):
        read_table(io.BytesIO(zstd.compress(b"1,2\n" * 1_000_000)), max_bytes=1_000_000)


def test_zstandard_without_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in source.ZSTANDARD_MODULES:
        monkeypatch.setitem(sys.modules, module, None)
    sentence = refusal(io.BytesIO(source.ZSTANDARD + b"rest"))
    assert "backports.zstd" in sentence
    assert "zstd -d" in sentence
