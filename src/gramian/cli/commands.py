"""The commands. Each gathers its options, names its estimator, and hands over to ``run``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gramian import __version__
from gramian.cli import options
from gramian.cli.messages import Messages
from gramian.cli.outputs import Outputs
from gramian.cli.reading import Reading
from gramian.cli.request import Request, asked
from gramian.cli.run import check as run_check
from gramian.cli.run import run
from gramian.errors import GramianError
from gramian.show.text import visible

__all__ = ["app"]

app = typer.Typer(
    name="gramian",
    help="See the shape of data: PCA and its relatives, with every eigenpair certified.",
    epilog="Start with: gramian demo",
    rich_markup_mode=None,  # plain help: quick, and reads well in a pipe
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _gramian(
    version: Annotated[
        bool, typer.Option("--version", "-V", is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    if version:
        print(f"gramian {__version__}")
        raise typer.Exit


@app.command(epilog="Example: gramian demo --out-dir results")
def demo(
    out_dir: Annotated[
        Path, typer.Option(metavar="DIR", help="Where to write the two files.")
    ] = Path(),
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """See what a result looks like: PCA of the iris data.

    The data come with gramian. Writes gramian-demo.csv and gramian-demo.html, replacing those of
    an earlier demo.
    """
    from gramian.data.examples import iris_path

    try:
        out_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GramianError(
            f"cannot create the folder {visible(out_dir, 200)}: {error.strerror}"
        ) from error
    outputs = Outputs(
        out_dir / "gramian-demo.csv",
        out_dir / "gramian-demo.html",
        force=True,
        title="PCA of Fisher's irises",
    )
    with iris_path() as path:
        return run(
            Reading(str(path), color="species"),
            _pca("", standardize=False, memory=None, seed=0),
            outputs,
            Messages(quiet),
            json=json,
            command="gramian demo",
        )


@app.command(epilog="Example: gramian pca iris.csv --color species -o axes.csv --report iris.html")
@asked
def pca(
    file: options.File,
    request: Request,
    components: options.Components = None,
    standardize: options.Standardize = False,
) -> int:
    """Principal component analysis of the rows of a table.

    Finds the directions in which the rows differ most. Prints eigenvalues, shares and the
    certificate. Text columns are kept for color and hover.
    """
    memory, seed = request.memory, request.seed
    estimator = _pca(components or "", standardize=standardize, memory=memory, seed=seed)
    return request.run(file, estimator)


@app.command(epilog="Example: gramian classical-mds distances.csv --report map.html")
@asked
def classical_mds(
    file: options.DistancesOrRows,
    request: Request,
    components: options.Axes = None,
    metric: options.Metric = "precomputed",
    correction: options.Correction = None,
    landmarks: options.Landmarks = None,
) -> int:
    """Classical multidimensional scaling of distances: principal coordinates.

    Draws points so that their distances are those of the file, as nearly as a few axes allow.
    Prints eigenvalues, goodness of fit, and whether the distances are Euclidean.
    """

    def estimator(shape: tuple[int, int]) -> Any:
        from gramian.methods.classical_mds import ClassicalMDS

        return ClassicalMDS(
            n_components=_count(components, 2, shape[0] - 1),
            metric=metric,
            correction=correction,
            landmarks=landmarks,
            memory=request.memory,
            random_state=request.seed,
        )

    return request.run(file, estimator, distances=metric == "precomputed")


@app.command(epilog="Example: gramian kernel-pca iris.csv --gamma median --color species")
@asked
def kernel_pca(
    file: options.File,
    request: Request,
    components: options.Axes = None,
    kernel: options.KernelName = "rbf",
    gamma: options.Gamma = None,
    degree: options.Degree = 3,
    coef0: options.Offset = 1,
    no_center: options.NoCenter = False,
    landmarks: options.Landmarks = None,
) -> int:
    """Kernel principal component analysis of the rows of a table.

    PCA in the space of a kernel: sees curved shapes that straight axes miss. Prints eigenvalues,
    shares, and the kernel with its parameters as they were decided.
    """
    decided = _gamma(gamma)

    def estimator(shape: tuple[int, int]) -> Any:
        from gramian.methods.kernel_pca import KernelPCA

        return KernelPCA(
            n_components=_count(components, 10, shape[0] - (not no_center)),
            kernel=kernel,
            gamma=decided,
            degree=degree,
            coef0=coef0,
            center=not no_center,
            landmarks=landmarks,
            memory=request.memory,
            random_state=request.seed,
        )

    return request.run(file, estimator)


@app.command(epilog="Example: gramian components iris.csv --standardize")
def components(
    file: options.File,
    standardize: options.Standardize = False,
    permutations: options.Permutations = 199,
    alpha: options.Alpha = 0.05,
    memory: options.Memory = None,
    seed: options.Seed = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    id: options.Id = None,
    no_header: options.NoHeader = False,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    missing: options.Missing = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """How many components a table has: every rule in use, and a recommendation.

    Parallel analysis permutes each column on its own and keeps the axes that carry more variance
    than the permuted data's. The other rules are shown beside it.
    """
    from gramian.cli.components import how_many_of

    return how_many_of(
        Reading(file, columns, drop, id, None, no_header, delimiter, decimal, missing, memory),
        Messages(quiet),
        standardize=standardize,
        permutations=permutations,
        alpha=alpha,
        seed=seed or 0,
        json=json,
        command=shlex.join(["gramian", *sys.argv[1:]]),
    )


@app.command(epilog="Example: gramian check distances.csv")
def check(
    file: options.Distances,
    memory: options.Memory = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Is it a distance, a metric, Euclidean; and what would repair it.

    Reads a matrix of distances and names the triangle that breaks the triangle inequality most,
    the share of negative eigenvalues, and what each repair would take.
    """
    command = shlex.join(["gramian", *sys.argv[1:]])
    return run_check(file, memory, Messages(quiet), json=json, command=command)


def _pca(components: str, *, standardize: bool, memory: str | None, seed: int | None) -> Any:
    """A function from the shape of the data to the estimator."""
    wanted = _components(components)

    def estimator(shape: tuple[int, int]) -> Any:
        from gramian.methods.pca import PCA

        most = min(shape[0] - 1, shape[1])
        return PCA(
            n_components=_count(wanted, 10, most),
            scale="unit" if standardize else None,
            memory=memory,
            random_state=seed,
        )

    return estimator


def _count(wanted: Any, usual: int, most: int) -> Any:
    """How many axes: as asked for, else as usual, but never more than there can be."""
    return min(usual, most) if wanted is None and most > 0 else wanted


def _gamma(text: str | None) -> float | str | None:
    """``--gamma`` as the estimator takes it."""
    if text in (None, "median"):
        return text
    try:
        return float(text)
    except ValueError:
        raise GramianError(
            f"--gamma takes a number above 0 or the word median; got {visible(text)!r}"
        ) from None


def _components(text: str) -> int | float | str | None:
    """``-k`` as the estimator takes it: a count, a share, or the word ``horn`` or ``mle``."""
    if text in ("", "horn", "mle"):
        return text or None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise GramianError(
        f"-k takes a number of axes, a share of the variance such as 0.9, horn or mle; "
        f"got {visible(text)!r}"
    )
