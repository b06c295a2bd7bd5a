"""``gramian help`` and ``gramian cite``: the pages and papers that come with the package."""

from __future__ import annotations

import re
import sys
from importlib import resources
from pathlib import Path

from gramian import __version__
from gramian.cli.methods import METHODS
from gramian.cli.names import did_you_mean
from gramian.cli.request import Speaks
from gramian.cli.run import show
from gramian.errors import GramianError
from gramian.show.text import visible

__all__ = ["citation", "page"]

_OTHER_PAGES = {"components": "how-many"}
_OTHER_PAPERS = {
    "components": ("horn1965",),
    "check": ("gower1966", "cailliez1983"),
    "compare": ("venna2006",),
}
_GRAMIAN = f"""@software{{gramian,
  author  = {{{{The gramian developers}}}},
  title   = {{gramian: PCA and its relatives, with every eigenpair certified}},
  version = {{{__version__}}},
  license = {{BSD-3-Clause}}
}}"""


def page(topic: str | None, request: Speaks) -> int:
    """Print the page of a method, or the help of a command that has none.

    Parameters
    ----------
    topic : str or None
    request : Speaks

    Returns
    -------
    int
        Exit code 0.
    """
    from gramian.cli.app import main

    if topic is None:
        return main(["--help"])
    if topic not in METHODS and topic not in _OTHER_PAGES:
        if topic in _commands():
            return main([topic, "--help"])
        raise GramianError(f"there is no method {visible(topic)!r}; {_nearest(topic)}")
    text = _read(f"{_OTHER_PAGES.get(topic, topic)}.md")
    if request.json:
        from gramian.cli.payload import envelope, to_json

        show(to_json({**envelope("help"), "topic": topic, "page": text}))
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        show(text.rstrip("\n"))
    return 0


def citation(topic: str | None, request: Speaks) -> int:
    """Print BibTeX of a method's papers and of gramian.

    Parameters
    ----------
    topic : str or None
        ``None`` for gramian alone.
    request : Speaks

    Returns
    -------
    int
        Exit code 0.
    """
    if topic in METHODS:
        keys = METHODS[topic].papers
    else:
        keys = () if topic is None else _OTHER_PAPERS.get(topic, ())
        if topic is not None and not keys:
            raise GramianError(f"there is no method {visible(topic)!r}; {_nearest(topic)}")
    known = papers()
    entries = [*(known[key] for key in keys), _GRAMIAN]
    if request.json:
        from gramian.cli.payload import envelope, to_json

        show(to_json({**envelope("cite"), "topic": topic, "bibtex": entries}))
    else:
        show("\n\n".join(entries))
    return 0


def papers() -> dict[str, str]:
    """BibTeX entries by key."""
    text = resources.files("gramian.cli").joinpath("papers.bib").read_text(encoding="utf-8")
    entries = [entry.strip() for entry in re.split(r"^(?=@)", text, flags=re.MULTILINE)]
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries if entry}


def _read(name: str) -> str:
    """A page of ``docs/methods``: in the wheel beside this module, in a checkout where it lies."""
    here = Path(__file__).parent
    for folder in (here / "pages", here.parents[2] / "docs" / "methods"):
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise GramianError(
        f"the page {name} did not come with this installation; install gramian again"
    )


def _commands() -> list[str]:
    from gramian.cli.app import command_names

    return command_names()


def _nearest(topic: str) -> str:
    return did_you_mean(topic, [*METHODS, *_OTHER_PAPERS])
