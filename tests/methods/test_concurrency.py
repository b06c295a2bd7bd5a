"""Every method on eight threads at once, after a fork, without a network: the same answers."""

import multiprocessing
import os
import socket
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gramian import (
    ICA,
    MDS,
    PCA,
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    ProbabilisticPCA,
)

X = np.random.default_rng(0).normal(size=(300, 6)) * np.arange(1, 7)
JOBS = [
    lambda: PCA(2).fit_transform(X),
    lambda: ProbabilisticPCA(2).fit_transform(np.where(X > 9, np.nan, X)),
    lambda: ICA(2, random_state=0, max_iter=1000).fit_transform(X**3),
    lambda: ClassicalMDS(2, metric="cityblock").fit_transform(X),
    lambda: MDS(2, n_init=1, random_state=0).fit_transform(X),
    lambda: KernelPCA(2, kernel="rbf", gamma=0.01).fit_transform(X),
    lambda: Isomap(n_components=2, n_neighbors=12).fit_transform(X),
    lambda: LocallyLinearEmbedding(n_components=2, n_neighbors=12).fit_transform(X),
    lambda: LaplacianEigenmaps(n_components=2, n_neighbors=12).fit_transform(X),
]


def answers():
    return [job() for job in JOBS]


@pytest.fixture(scope="module")
def alone():
    return answers()


def same(found, alone):
    for i, (Z, expected) in enumerate(zip(found, alone, strict=True)):
        np.testing.assert_array_equal(Z, expected, err_msg=f"job {i}")


def test_eight_threads_at_once(alone):
    order = [i for _ in range(2) for i in range(len(JOBS))]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: JOBS[i](), order))
    for i, Z in zip(order, found, strict=True):
        np.testing.assert_array_equal(Z, alone[i], err_msg=f"job {i}")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_after_a_fork(alone):
    context = multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python: threads and fork
        with context.Pool(1) as pool:
            same(pool.apply_async(answers).get(timeout=200), alone)


def test_in_a_new_process(alone):
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        same(pool.apply_async(answers).get(timeout=200), alone)


def test_nothing_connects_anywhere(monkeypatch, alone):
    def refuse(*_):
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    same(answers(), alone)
