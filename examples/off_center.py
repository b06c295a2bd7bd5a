"""Data far from the origin: where a textbook shortcut goes wrong without a word.

500 observations of 6 variables whose standard deviations run from 3 to 0.1, moved away from the
origin. Moving the data changes no variance, so PCA should not notice. The truth is a singular value
decomposition of the very same numbers, centered in higher precision.

    python examples/off_center.py
"""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA as ScikitLearnPCA

from gramian import PCA

CASES = [(np.float32, 1e2), (np.float32, 1e3), (np.float32, 1e4), (np.float64, 1e8)]


def off_center(dtype: type, mean: float) -> np.ndarray:
    """500 x 6 numbers with this mean, rounded to ``dtype``."""
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((500, 6)) * np.geomspace(3.0, 0.1, 6)
    return (Y + mean).astype(dtype)


def true_variances(X: np.ndarray) -> np.ndarray:
    """Eigenvalues of the covariance of X as it stands, centered in extended precision."""
    exact = X.astype(np.longdouble)
    Y = (exact - exact.mean(axis=0)).astype(np.float64)
    return np.linalg.svd(Y, compute_uv=False) ** 2 / (len(X) - 1)


def errors(variances: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Relative error of the first eigenvalue, and the largest of all six."""
    found = np.abs(np.asarray(variances, np.float64) / truth - 1)
    return float(found[0]), float(found.max())


def measured() -> list[tuple[str, float, float, float, float]]:
    """One row a case: name, gramian (first, worst), scikit-learn (first, worst)."""
    rows = []
    for dtype, mean in CASES:
        X = off_center(dtype, mean)
        truth = true_variances(X)
        ours = errors(PCA().fit(X).explained_variance_, truth)
        theirs = errors(ScikitLearnPCA().fit(X).explained_variance_, truth)
        rows.append((f"{np.dtype(dtype).name}, mean {mean:.0e}", *ours, *theirs))
    return rows


if __name__ == "__main__":
    print("relative error of eigenvalues     gramian               scikit-learn")
    print(f"{'':28}{'first':>10}{'worst':>11}{'first':>12}{'worst':>11}")
    for name, *numbers in measured():
        a, b, c, d = (f"{number:.1e}" for number in numbers)
        print(f"{name:28}{a:>10}{b:>11}{c:>12}{d:>11}")
