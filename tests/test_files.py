import os
import stat
import sys

import pytest

from gramian.errors import GramianError
from gramian.files import check_target, replacing


def test_writes_whole(tmp_path):
    path = tmp_path / "out.bin"
    with replacing(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out.bin"]


@pytest.mark.parametrize("end", [ValueError, KeyboardInterrupt])
def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, end):
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")

    def write():
        with replacing(path) as file:
            file.write(b"half")
            raise end

    with pytest.raises(end):
        write()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.bin"]


def test_full_disk_is_one_sentence(tmp_path):
    sentence = r"cannot write .*out.bin: No space left on device"
    with pytest.raises(GramianError, match=sentence), replacing(tmp_path / "out.bin"):
        raise OSError(28, "No space left on device")
    assert os.listdir(tmp_path) == []


def test_longest_possible_name(tmp_path):
    path = tmp_path / ("n" * 251 + ".csv")
    with replacing(path) as file:
        file.write(b"x")
    assert path.read_bytes() == b"x"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions and links")
def test_permissions_and_links_survive(tmp_path):
    umask = os.umask(0o027)
    try:
        new = tmp_path / "new"
        with replacing(new) as file:
            file.write(b"x")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    new.chmod(0o604)
    link = tmp_path / "link"
    link.symlink_to(new)
    with replacing(link) as file:
        file.write(b"y")
    assert link.is_symlink()
    assert new.read_bytes() == b"y"
    assert stat.S_IMODE(new.stat().st_mode) == 0o604


def test_targets_that_cannot_be_written(tmp_path):
    with pytest.raises(GramianError, match="there is no folder"):
        check_target(tmp_path / "absent" / "out.csv")
    with pytest.raises(GramianError, match="it is a folder"):
        check_target(tmp_path)
    with pytest.raises(GramianError, match="File name too long"):
        check_target(tmp_path / ("n" * 300))


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device file")
def test_a_device_is_never_replaced(tmp_path):
    with pytest.raises(GramianError, match="not a regular file"):
        check_target("/dev/null")
    if hasattr(os, "mkfifo"):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with pytest.raises(GramianError, match="not a regular file"), replacing(pipe):
            pass


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_locked_folder(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(GramianError, match="no permission"):
        check_target(tmp_path / "out.csv")
    tmp_path.chmod(0o700)
