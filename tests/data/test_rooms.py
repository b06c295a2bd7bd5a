"""Memory of blocks: nobody's numbers are overwritten, and nothing is kept when all is done."""

import gc
import threading

import numpy as np
import pytest

from gramian.data import rooms

SHAPE = 500, 300  # 1.2 MB


@pytest.fixture(autouse=True)
def nothing_held():
    gc.collect()
    assert rooms._held == 0
    yield
    gc.collect()
    assert rooms._held == 0 and not rooms._spare


def test_a_block_that_was_let_go_serves_the_next():
    kept, gone = rooms.block(SHAPE, "f8"), rooms.block(SHAPE, "f8")
    kept[:], gone[:] = 1, 2
    place = gone.ctypes.data
    del gone
    following = rooms.block(SHAPE, "f8")
    assert following.ctypes.data == place and (kept == 1).all()


def test_a_view_keeps_its_block():
    whole, other = rooms.block(SHAPE, "f8"), rooms.block(SHAPE, "f8")
    whole[:] = np.arange(300)
    line = whole[7].reshape(3, 100).T
    place = whole.ctypes.data
    del whole
    following = rooms.block(SHAPE, "f8")
    following[:] = -1
    assert following.ctypes.data != place and line[99, 2] == 299
    assert other.flags.writeable and other.flags.c_contiguous and other.dtype == np.float64


def test_small_and_empty_blocks_are_arrays_as_usual():
    assert rooms.block((3, 4), "f4").shape == (3, 4) and rooms.block((0, 9), ">f8").size == 0


def test_threads_do_not_share():
    wrong = []

    def work(number):
        for _ in range(200):
            mine = rooms.block(SHAPE, "f4" if number % 2 else "f8")
            mine[:] = number
            if not (mine == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
