import pytest

import gramian.data.dask.blocks as dask_blocks


@pytest.fixture
def small_blocks(monkeypatch):
    """Every chunk of a Dask array is a block."""
    monkeypatch.setattr(dask_blocks, "_small", 1)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers; a nanny starts one anew that was killed."""
    from tests.scale.cluster import Processes

    with Processes(tmp_path_factory.mktemp("cluster")) as processes:
        yield processes
