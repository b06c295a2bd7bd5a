"""The commands. Each gathers its options and hands over to the module that runs it.

Commands that fit a method are made from the registry in ``methods.py``, one for each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gramian import __version__
from gramian.cli import options
from gramian.cli.methods import METHODS, Method
from gramian.cli.names import starting
from gramian.cli.request import (
    Asks,
    Fits,
    Limited,
    Makes,
    Plans,
    Speaks,
    Writes,
    asked,
    with_options,
)
from gramian.errors import GramianError
from gramian.show.text import visible

__all__ = ["app"]

_PLAIN: dict[str, Any] = {
    "rich_markup_mode": None,  # plain help: quick, and reads well in a pipe
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
app = typer.Typer(
    name="gramian",
    help="See the shape of data: PCA and its relatives, with every eigenpair certified.",
    epilog="Start with: gramian demo. Then: gramian pca FILE, gramian help pca.",
    **_PLAIN,
)
plans = typer.Typer(
    name="plan",
    help="What a run would take, before it runs: route, memory, passes over the data.",
    epilog="Example: gramian plan pca big.npy -k 10 --memory 2GB",
    no_args_is_help=True,
    **_PLAIN,
)


def _version(asked: bool) -> None:
    if asked:
        print(f"gramian {__version__}")
        raise typer.Exit


def _show_config(asked: bool) -> None:
    if asked:
        from gramian.cli.config import described

        print(described())
        raise typer.Exit


@app.callback()
def _gramian(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            is_eager=True,
            callback=_version,
            help="Print the version and stop.",
        ),
    ] = False,
    show_config: Annotated[
        bool,
        typer.Option(
            "--show-config",
            is_eager=True,
            callback=_show_config,
            help="Print the settings from the environment and from gramian.toml, and stop.",
        ),
    ] = False,
) -> None:
    pass


@app.command(epilog="Example: gramian demo --out-dir results")
@asked
def demo(
    request: Speaks,
    out_dir: Annotated[
        Path, typer.Option(metavar="DIR", help="Where to write the two files.")
    ] = Path(),
) -> int:
    """See what a result looks like: PCA of the iris data.

    The data come with gramian. Writes gramian-demo.csv and gramian-demo.html, replacing those of
    an earlier demo.
    """
    from gramian.cli.outputs import Outputs
    from gramian.cli.reading import Reading
    from gramian.cli.run import run
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
        reading = Reading(str(path), color="species")
        fits = Fits(json=request.json, quiet=request.quiet, verbose=request.verbose, seed=0)
        return run(METHODS["pca"], {}, reading, fits, outputs, command="gramian demo")


def _fitting(method: Method) -> Any:
    """The command that fits a method and shows the result."""

    def command(request: Makes, file: str, **own: Any) -> int:
        from gramian.cli.run import run

        reading = request.reading(file, distances=method.reads_distances(own), gaps=method.gaps)
        return run(method, own, reading, request, request.outputs, kept=request.kept)

    return _from_registry(method, command, Makes)


def _planning(method: Method) -> Any:
    """The command that plans a method and runs nothing."""

    def command(request: Plans, file: str, **own: Any) -> int:
        from gramian.cli.plan import plan

        reading = request.reading(file, distances=method.reads_distances(own), gaps=method.gaps)
        return plan(method, own, reading, request)

    return _from_registry(method, command, Plans)


def _from_registry(method: Method, command: Any, kind: type[Fits]) -> Any:
    """A function with the file, the method's own options and those of a request."""
    import inspect

    file = inspect.Parameter("file", inspect.Parameter.KEYWORD_ONLY, annotation=method.file)
    made = with_options(command, [file, *method.own], "request", kind)
    made.__name__, made.__doc__ = method.build.__name__, method.build.__doc__
    return made


for _method in METHODS.values():
    app.command(_method.name, epilog=f"Example: {_method.example}")(_fitting(_method))
    plans.command(
        _method.name,
        help=f"What this would take: {_method.summary}",
        epilog=f"Example: gramian plan {_method.name} FILE",
    )(_planning(_method))


@app.command(epilog="Example: gramian components iris.csv --standardize")
@asked
def components(
    file: options.File,
    request: Asks,
    standardize: options.Standardize = False,
    permutations: options.Permutations = 199,
    alpha: options.Alpha = 0.05,
    seed: options.Seed = None,
) -> int:
    """How many components a table has: every rule in use, and a recommendation.

    Parallel analysis permutes each column on its own and keeps the axes that carry more variance
    than the permuted data's. The other rules are shown beside it.
    """
    from gramian.cli.components import how_many_of

    return how_many_of(
        request.reading(file),
        request,
        standardize=standardize,
        permutations=permutations,
        alpha=alpha,
        seed=seed or 0,
    )


@app.command(epilog="Example: gramian check distances.csv")
@asked
def check(file: options.Distances, request: Limited, decimal: options.Decimal = ".") -> int:
    """Is it a distance, a metric, Euclidean; and what would repair it.

    Reads a matrix of distances and names the triangle that breaks the triangle inequality most,
    the share of negative eigenvalues, and what each repair would take.
    """
    from gramian.cli.run import check as run_check

    return run_check(file, request, decimal)


@app.command(epilog="Example: gramian transform iris.gramian new.csv -o placed.csv")
@asked
def transform(model: options.Model, file: options.File, request: Writes) -> int:
    """Place new rows on the axes of a saved model.

    The columns must be those of the fit, in the same order; text columns are kept. A model of
    distances takes the distances of each new point to the points of the fit. Says how far the new
    points lie outside the axes.
    """
    from gramian.cli.transform import transform as run_transform

    return run_transform(model, request.reading(file), request)


@app.command(
    epilog="Example: gramian compare iris.csv -m pca -m 'kernel-pca --gamma 0.1' --standardize"
)
@asked
def compare(
    file: options.File,
    request: Fits,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--method",
            metavar="METHOD",
            help="A method with its options in one pair of quotation marks; may be repeated. "
            "Default: every method that reads a table.",
            show_default=False,
            autocompletion=starting(lambda: METHODS),
        ),
    ] = None,
    axes: options.PictureAxes = 2,
    neighbors: options.Neighbors = 10,
    standardize: options.Standardize = False,
) -> int:
    """Several methods side by side, ranked by how well they keep neighbors and distances.

    Every method draws the same table; the pictures are judged by trustworthiness, continuity,
    stress-1 and time.
    """
    from gramian.cli.compare import compare as run_compare

    return run_compare(
        request.reading(file),
        request,
        methods,
        axes=axes,
        neighbors=neighbors,
        standardize=standardize,
    )


app.add_typer(plans)


def _topics() -> list[str]:
    return [*METHODS, "components"]


@app.command("help", epilog="Example: gramian help kernel-pca")
@asked
def help_(
    request: Speaks,
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="METHOD",
            help="A method or another command.",
            show_default=False,
            autocompletion=starting(_topics),
        ),
    ] = None,
) -> int:
    """The page of a method: mathematics, when to use it, limits, examples."""
    from gramian.cli.pages import page

    return page(topic, request)


@app.command(epilog="Example: gramian cite kernel-pca >> references.bib")
@asked
def cite(
    request: Speaks,
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="METHOD",
            help="A method; without one, gramian alone is cited.",
            show_default=False,
            autocompletion=starting(_topics),
        ),
    ] = None,
) -> int:
    """BibTeX of the method's paper and of gramian."""
    from gramian.cli.pages import citation

    return citation(topic, request)


@app.command(epilog="Example: gramian doctor --json")
@asked
def doctor(request: Limited) -> int:
    """What gramian runs on: versions, threads, memory limits, and whether all is well."""
    from gramian.cli.doctor import doctor as run_doctor

    return run_doctor(request)
