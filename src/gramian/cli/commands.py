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
def pca(
    file: options.File,
    components: options.Components = None,
    standardize: options.Standardize = False,
    output: options.Output = None,
    report: options.Report = None,
    force: options.Force = False,
    memory: options.Memory = None,
    seed: options.Seed = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    id: options.Id = None,
    color: options.Color = None,
    no_header: options.NoHeader = False,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    missing: options.Missing = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Principal component analysis of the rows of a table.

    Finds the directions in which the rows differ most. Prints eigenvalues, shares and the
    certificate. Text columns are kept for color and hover.
    """
    return run(
        Reading(file, columns, drop, id, color, no_header, delimiter, decimal, missing, memory),
        _pca(components or "", standardize=standardize, memory=memory, seed=seed),
        Outputs(output, report, force),
        Messages(quiet),
        json=json,
        command=shlex.join(["gramian", *sys.argv[1:]]),
    )


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
            n_components=min(10, most) if wanted is None and most > 0 else wanted,
            scale="unit" if standardize else None,
            memory=memory,
            random_state=seed,
        )

    return estimator


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
