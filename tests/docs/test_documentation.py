"""The documentation is true: its code runs, its output is real, its links lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from gramian.cli.app import main
from gramian.data.examples import iris_path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)\s]+)\)")
# Numbers of the size of rounding differ between machines; everything else is compared.
ROUNDING = re.compile(r"\b\d(\.\d+)?e-1[4-9]\b")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """Code of a page, and the output shown right below it."""

    language: str
    code: str
    line: int
    shown: str | None


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that are run, in order."""
    text = page.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    out = []
    for i, block in enumerate(found):
        after = found[i + 1] if i + 1 < len(found) else None
        below = after is not None and not text[block.end() : after.start()].strip()
        shown = after[2] if after is not None and below and after[1] == "text" else None
        line = text.count("\n", 0, block.start()) + 2
        if block[1] in ("python", "console", "bash"):
            out.append(Block(block[1], block[2], line, shown))
    return out


def assert_shown(shown: str, found: str, where: str) -> None:
    """`...` in the page stands for anything; columns may be spaced differently."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    want, got = (ROUNDING.sub("rounding", each) for each in (shown, found))
    same = doctest.OutputChecker().check_output(want, got, flags)
    assert same, f"{where} shows\n{shown}\nbut the output is\n{found}"


def run_python(block: Block, names: dict[str, object], where: str) -> None:
    code = compile("\n" * (block.line - 1) + block.code, where, "exec")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code, names)
    if block.shown is not None:
        assert_shown(block.shown, said.getvalue(), where)


def run_console(block: Block, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Each `$ gramian ...` must end with 0 and print what follows it; other commands are prose."""
    for command in re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]:
        line, _, shown = command.partition("\n")
        words = shlex.split(line)
        if words[0] != "gramian":
            continue
        monkeypatch.setattr(sys, "argv", words)
        said, complained = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            code = main(words[1:])
        assert code == 0, f"{where}: {line}\n{complained.getvalue()}"
        if shown.strip():
            assert_shown(shown, said.getvalue(), f"{where}: {line}")


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_code_runs_and_prints_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with iris_path() as path:
        shutil.copy(path, "iris.csv")
    names: dict[str, object] = {"__name__": "__page__"}
    try:
        for block in blocks(page):
            where = f"{name_of(page)}:{block.line}"
            if block.language == "python":
                run_python(block, names, where)
            else:
                run_console(block, monkeypatch, where)
    finally:
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for _, target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.is_relative_to(ROOT), target
        assert place.exists(), f"{target} does not exist"
        if anchor:
            assert anchor in anchors(place), f"{target}: no such heading"


def anchors(page: Path) -> set[str]:
    """Headings as GitHub turns them into anchors."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pictures_are_pictures_and_described(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for described, target in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", text):
        assert len(described) > 10, f"{target} has no description"
        assert (page.parent / target).read_bytes().startswith(b"\x89PNG\r\n")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_read_well(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "\t" not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    british = r"colour|centre|neighbour|behaviour|analyse|normalis|organis|licence|grey\b"
    assert not re.findall(british, text, re.IGNORECASE)


def test_every_page_of_docs_is_reachable_from_the_index() -> None:
    reached, todo = set(), [ROOT / "docs" / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
        places = [(page.parent / target.partition("#")[0]).resolve() for _, target in links]
        todo += [place for place in places if place.is_file()]
    decisions = set((ROOT / "docs" / "decisions").glob("*.md"))  # listed by their folder
    assert set((ROOT / "docs").rglob("*.md")) - reached - decisions == set()


def test_the_check_of_output_can_fail() -> None:
    assert_shown("a  1e-15 ...\n", "a 3.2e-16 anything\n", "here")
    with pytest.raises(AssertionError, match="shows"):
        assert_shown("0.95\n", "0.96\n", "here")
