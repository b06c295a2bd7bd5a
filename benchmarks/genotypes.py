"""Genotypes in a PLINK file beside plink2: time, memory, accuracy."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from subprocess import DEVNULL

import numpy as np

from benchmarks.measure import Settings, Table, sine, value_error
from gramian.loops.threads import cores

ROOT = Path(__file__).resolve().parent.parent
PEOPLES, FST, AXES = 6, 0.01, 10


def simulate(path: Path, n: int, m: int, missing: float = 0.0, seed: int = 0) -> None:
    """A .bed of n samples of six peoples and m variants, by the model of Balding and Nichols.

    Frequencies of a people scatter around the ancestral f by a beta distribution of variance
    FST f (1 - f); the two alleles of a sample are drawn independently.
    """
    rng = np.random.default_rng(seed)
    people = np.arange(n) * PEOPLES // n
    with path.open("wb") as file:
        file.write(b"\x6c\x1b\x01")
        for a in range(0, m, 4096):
            many = min(4096, m - a)
            f = rng.uniform(0.05, 0.95, (many, 1))
            scatter = (1 - FST) / FST
            p = rng.beta(f * scatter, (1 - f) * scatter, (many, PEOPLES)).astype(np.float32)[
                :, people
            ]
            u = rng.random((many, n), np.float32)
            codes = np.zeros((many, -(-n // 4) * 4), np.uint8)  # two copies, one, none: 0, 2, 3
            codes[:, :n] = 2 * (u >= p * p) + (u >= p * (2 - p))
            if missing:
                codes[:, :n][rng.random((many, n), np.float32) < missing] = 1
            four = codes.reshape(many, -1, 4)
            packed = four[..., 0] | four[..., 1] << 2 | four[..., 2] << 4 | four[..., 3] << 6
            file.write(packed.tobytes())
    lines = (f"p{people[i]} s{i} 0 0 0 -9\n" for i in range(n))
    path.with_suffix(".fam").write_text("".join(lines))
    lines = (f"{1 + 22 * j // m}\trs{j}\t0\t{j + 1}\tA\tC\n" for j in range(m))
    path.with_suffix(".bim").write_text("".join(lines))


# Contestants: processes that read the file and write eigenvalues and vectors ----------------------


def ours(path: Path, out: Path, how: str) -> list[str]:
    """A whole process, imports included."""
    return [sys.executable, "-m", "benchmarks.genotypes", str(path), str(out), how]


def plink2(path: Path, out: Path, how: str) -> list[str]:
    """``--pca approx`` is its randomized way, without it the relationship matrix is formed."""
    kind = ["approx"] if how == "approx" else []
    files = ["--bfile", str(path.with_suffix("")), "--out", str(out)]
    return ["plink2", "--threads", str(cores()), *files, "--pca", str(AXES), *kind]


CONTESTANTS: dict[str, tuple[Callable[[Path, Path, str], list[str]], str]] = {
    "gramian": (ours, "auto"),
    "gramian, tolerance 2e-3": (ours, "2e-3"),
    "plink2 approx": (plink2, "approx"),
    "gramian, matrix formed": (ours, "dense"),
    "plink2": (plink2, "exact"),
}
ALONE = {"OPENBLAS_NUM_THREADS": "1"}  # plink2 runs threads of its own; more of BLAS slow it down

USUAL = {"PYTHONDONTWRITEBYTECODE": ""}  # Python keeps what it compiled, as it does unless told


@dataclass(frozen=True)
class Run:
    """Wall time, peak memory of the process, and what it wrote."""

    seconds: float
    megabytes: float
    values: np.ndarray
    vectors: np.ndarray


def run(name: str, path: Path, folder: Path) -> Run:
    """One contestant in a process of its own."""
    build, how = CONTESTANTS[name]
    out = folder / name.replace(" ", "-").replace(",", "")
    where = os.environ | (ALONE if build is plink2 else USUAL)
    command = build(path, out, how)
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=ROOT, env=where, stdout=DEVNULL, stderr=DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{name} ended with {child.returncode}")
    values = np.loadtxt(f"{out}.eigenval")
    vectors = np.loadtxt(f"{out}.eigenvec", usecols=range(2, 2 + AXES))
    return Run(seconds, usage.ru_maxrss / 1000, values, vectors)


# Tables -------------------------------------------------------------------------------------------

COLUMNS = (
    *("data", "contestant", "seconds", "to certified", "to 2e-3", "peak MB"),
    *("error of structure", "of the others", "angle of structure", "of all axes"),
)
NOTES = (
    "Each contestant is a process that reads the .bed file and writes ten eigenvalues and vectors: "
    "wall time with imports and start, peak resident memory of the process. Six peoples, FST "
    "0.01: five axes of structure, the other five at the edge of the noise. Ratios are to our two "
    "runs by products. Errors of eigenvalues (the largest, relative) and sines of the angles of "
    "five and of ten axes are against LAPACK on Z Z' summed in float64; plink2 prints six digits.",
)


def tables(settings: Settings) -> Iterator[Table]:
    """A tenth of the European size; the whole of it with --slow."""
    size = (300, 2_000) if settings.quick else (3192, 197_146) if settings.slow else (1600, 20_000)
    with tempfile.TemporaryDirectory(prefix="gramian-bench-") as name:
        folder = Path(name)
        path = folder / "people.bed"
        simulate(path, *size)
        yield table(path, folder, 1 if settings.quick else 2 if settings.slow else settings.rounds)


def table(path: Path, folder: Path, rounds: int) -> Table:
    """All contestants in turn."""
    from gramian.data.plink import BedRows

    n, m = BedRows(path).shape
    taking = [name for name in CONTESTANTS if "plink2" not in name or which("plink2")]
    run("gramian", path, folder)  # compiled code comes into its cache
    runs: dict[str, list[Run]] = {name: [] for name in taking}
    for _ in range(rounds):
        for name in taking:
            runs[name].append(run(name, path, folder))
    best = {name: min(found, key=lambda each: each.seconds) for name, found in runs.items()}
    values, vectors = exact_pairs(path)
    structure = PEOPLES - 1
    rows = [
        (
            f"{n:,} x {m:,}",
            name,
            found.seconds,
            found.seconds / best["gramian"].seconds,
            found.seconds / best["gramian, tolerance 2e-3"].seconds,
            found.megabytes,
            value_error(found.values[:structure], values[:structure]),
            value_error(found.values[structure:], values[structure:]),
            sine(found.vectors[:, :structure], vectors[:, :structure]),
            sine(found.vectors, vectors),
        )
        for name, found in best.items()
    ]
    return Table(f"Genotypes, {AXES} axes", COLUMNS, rows, NOTES)


def exact_pairs(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors of Z Z' / m by LAPACK."""
    from scipy.linalg import eigh

    from gramian.data.genotypes import standardized
    from gramian.data.plink import BedRows
    from gramian.data.variants import survey

    rows = BedRows(path)
    calls = survey(rows, True)
    f, n = calls.mean / 2, rows.shape[0]
    kept = np.flatnonzero(calls.spread > 0)
    scale = np.sqrt(2 * f * (1 - f))
    Z = standardized(rows, kept, calls.mean[kept], scale[kept], np.zeros(len(kept), bool))
    values, U = eigh(Z.outer() / len(kept), subset_by_index=(n - AXES, n - 1))
    return values[::-1], U[:, ::-1]


def main(arguments: list[str]) -> None:
    """The child: .bed file, where the answer goes, how to solve."""
    from gramian import GenotypePCA
    from gramian.spectral.krylov import BlockKrylov

    path, out, how = arguments
    solver = how if how in ("auto", "dense") else BlockKrylov(tol=float(how), floor=1.0)
    model = GenotypePCA(AXES, normalization="variants", solver=solver).fit(path)
    assert model.residuals_.max() <= model.tolerance_
    np.savetxt(f"{out}.eigenval", model.eigenvalues_)
    names = np.arange(model.n_samples_)[:, None].repeat(2, axis=1)
    np.savetxt(f"{out}.eigenvec", np.hstack([names, model.eigenvectors_]), fmt="%.9g")


if __name__ == "__main__":
    main(sys.argv[1:])
