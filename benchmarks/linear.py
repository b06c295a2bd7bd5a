"""Probabilistic PCA with missing values and ICA beside their peers: time and accuracy."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Settings, Table, interleaved
from benchmarks.memory import ROOT


def masked(X: np.ndarray, share: float, seed: int) -> np.ndarray:
    """X with a share of its values missing at random; no row or column loses all."""
    missing = np.random.default_rng(seed).random(X.shape) < share
    missing[missing.all(axis=1), 0] = False
    for j in np.flatnonzero(missing.all(axis=0)):
        missing[0, j] = False
    return np.where(missing, np.nan, X)


def error(filled: np.ndarray, X: np.ndarray, given: np.ndarray) -> float:
    """Root mean square error of what was missing, in standard deviations of the variables."""
    deviations = X.std(axis=0)
    off = (filled - X) / np.where(deviations > 0, deviations, 1.0)
    return float(np.sqrt(np.mean(off[np.isnan(given)] ** 2)))


def mixed(n: int, k: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Laplace, uniform and Student sources, mixed by a Gaussian matrix."""
    rng = np.random.default_rng(0)
    third = k // 3
    S = np.column_stack(
        [
            rng.laplace(size=(n, third)),
            rng.uniform(-1, 1, (n, third)),
            rng.standard_t(5, (n, k - 2 * third)),
        ]
    )
    A = rng.standard_normal((k, k))
    return (S @ A.T).astype(dtype), A


def amari(P: np.ndarray) -> float:
    """Distance of a product of unmixing and mixing matrix from a scaled permutation; 0 is best."""
    P, k = np.abs(P), len(P)
    rows = np.sum(P / P.max(axis=1, keepdims=True)) - k
    columns = np.sum(P / P.max(axis=0)) - k
    return float((rows + columns) / (2 * k * (k - 1)))


def ppca_tables(settings: Settings) -> Iterator[Table]:
    """Imputation of masked data."""
    from sklearn.datasets import load_digits, load_iris, load_wine
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, SimpleImputer

    from gramian import ProbabilisticPCA

    data = {"iris": (load_iris, None), "wine": (load_wine, "unit")}
    if not settings.quick:
        data["digits"] = (load_digits, None)
    rows: list[tuple[Any, ...]] = []
    for name, (load, scale) in data.items():
        X = load().data
        for share in (0.3,) if settings.quick else (0.1, 0.3, 0.5):
            given = masked(X, share, 0)

            def ours(given: np.ndarray = given, scale: Any = scale) -> np.ndarray:
                model = ProbabilisticPCA(scale=scale, shrinkage="auto", tol=1e-4)
                return model.fit(given).impute(given)

            calls = {
                "gramian": ours,
                "mean": lambda given=given: SimpleImputer().fit_transform(given),
                "scikit-learn IterativeImputer": lambda given=given: IterativeImputer(
                    random_state=0
                ).fit_transform(given),
            }
            ours(given[:40])
            times = interleaved(calls, 1 if name == "digits" else settings.rounds, settings.rest)
            for contestant, timing in times.items():
                ratio = timing.seconds / times["gramian"].seconds
                off = error(timing.answer, X, given)
                rows.append(
                    (f"{name}, {share:.0%} missing", contestant, timing.seconds, ratio, off)
                )
    columns = ("case", "contestant", "seconds", "peer / ours", "error")
    note = "Error: root mean square over the missing values, in standard deviations."
    yield Table("Missing values: probabilistic PCA by EM", columns, rows, (note,))


def others() -> Iterator[tuple[str, np.ndarray, str | None]]:
    """Data that were not looked at when the rule for the shrinkage was chosen: name, X, scale."""
    from sklearn.datasets import load_breast_cancer, load_diabetes

    yield "breast cancer", load_breast_cancer().data, "unit"
    yield "diabetes", load_diabetes().data, None
    folder = Path(os.environ.get("GRAMIAN_SHARED_DATA") or ROOT.parent / "shared" / "data")
    for name, file, columns, scale in (
        ("25 personality items", "bfi/bfi_25items_complete.csv", range(25), None),
        ("USArrests", "USArrests/USArrests.csv", range(1, 5), "unit"),
        ("places rated (log)", "places_rated/places.csv", range(9), "unit"),
        ("soils of varespec", "varespec/varechem.csv", range(-14, 0), "unit"),
    ):
        if (folder / file).is_file():
            with (folder / file).open(encoding="utf-8") as lines:
                X = np.array([[line[c] for c in columns] for line in list(csv.reader(lines))[1:]])
            yield name, np.log10(X.astype(float)) if "log" in name else X.astype(float), scale


def other_tables(settings: Settings) -> Iterator[Table]:
    """Imputation of data that had no part in the choice of a rule, over several masks."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, SimpleImputer

    from gramian import ProbabilisticPCA

    masks = 1 if settings.quick else 5
    rows: list[tuple[Any, ...]] = []
    for name, X, scale in list(others())[: 2 if settings.quick else None]:
        for share in (0.5,) if settings.quick else (0.1, 0.3, 0.5):
            errors = []
            for seed in range(masks):
                given = masked(X, share, seed)
                model = ProbabilisticPCA(scale=scale, shrinkage="auto", tol=1e-4).fit(given)
                peer = IterativeImputer(random_state=0).fit_transform(given)
                mean = SimpleImputer().fit_transform(given)
                errors.append([error(Z, X, given) for Z in (model.impute(given), peer, mean)])
            better = sum(own < peers for own, peers, _ in errors)
            means = np.mean(errors, axis=0)
            rows.append((f"{name}, {share:.0%} missing", *means, f"{better} of {masks}"))
    columns = ("case", "gramian", "IterativeImputer", "mean", "better on masks")
    note = f"Root mean square errors as above, on average over {masks} masks."
    yield Table("Missing values: data that nothing was chosen by", columns, rows, (note,))


def ica_tables(settings: Settings) -> Iterator[Table]:
    """Mixed sources."""
    from sklearn.decomposition import FastICA

    from gramian import ICA

    n, k = (4_000, 6) if settings.quick else (100_000, 30)
    rows: list[tuple[Any, ...]] = []
    for dtype in ("float32", "float64"):
        X, A = mixed(n, k, dtype)
        calls = {
            "gramian": lambda X=X: ICA().fit(X).components_,
            "scikit-learn FastICA": lambda X=X: FastICA(random_state=0).fit(X).components_,
        }
        calls["gramian"](X[:2000])
        times = interleaved(calls, 1 if settings.quick else 5, settings.rest)
        for contestant, timing in times.items():
            ratio = timing.seconds / times["gramian"].seconds
            rows.append((dtype, contestant, timing.seconds, ratio, amari(timing.answer @ A)))
    columns = ("dtype", "contestant", "seconds", "peer / ours", "Amari distance")
    yield Table(f"Independent components, {n:,} x {k}", columns, rows)
