"""What the source must not contain. Read as syntax, so that prose may speak of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "gramian"
FILES = sorted(PACKAGE.rglob("*.py"))
LOOPS = [path for path in FILES if path.is_relative_to(PACKAGE / "loops")]
Check = Callable[[ast.Module], Iterator[str]]


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def last_name(node: ast.expr) -> str:
    """`njit` for njit and numba.njit; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def unsafe_arithmetic(tree: ast.Module) -> Iterator[str]:
    """fastmath compiles isnan away; parallel=True makes sums depend on the thread count."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.keyword)
            and node.arg in ("fastmath", "parallel")
            and not is_constant(node.value, False)
        ):
            yield f"line {node.lineno}: {node.arg}="


def imported_names(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """(line, module, name) of every import; the name is empty for `import module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((node.lineno, module, alias.name) for alias in node.names)


def code_from_data(tree: ast.Module) -> Iterator[str]:
    """A file or a string must never become running code."""
    for line, module, _ in imported_names(tree):
        if module.split(".")[0] in ("pickle", "cloudpickle", "dill", "marshal", "shelve"):
            yield f"line {line}: import {module}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("eval", "exec"):
                yield f"line {node.lineno}: {node.func.id}("
            if node.func.id == "__import__":
                yield f"line {node.lineno}: __import__("
        if (
            isinstance(node, ast.keyword)
            and node.arg == "allow_pickle"
            and not is_constant(node.value, False)
        ):
            yield f"line {node.lineno}: allow_pickle="


def public_door(tree: ast.Module) -> Iterator[str]:
    """Inside the package, `from gramian import PCA` would go round the layers."""
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    allowed = modules | {"__version__"}
    for line, module, name in imported_names(tree):
        if module.startswith("."):
            yield f"line {line}: relative import; write gramian.{module.strip('.')}"
        if module == "gramian" and name not in allowed:
            yield f"line {line}: {name or 'everything'} from gramian"


def careless_loops(tree: ast.Module) -> Iterator[str]:
    """Every njit is called with nogil=True and cache=True, and no loop is a closure.

    Only an ``except`` may leave the cache out: where no folder for it can be written.
    """
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    excused = {
        id(node)
        for handler in ast.walk(tree)
        if isinstance(handler, ast.ExceptHandler)
        for node in ast.walk(handler)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or last_name(node) not in ("njit", "jit"):
            continue
        call = calls.get(id(node))
        given = {word.arg: word.value for word in call.keywords} if call else {}
        for word in ("nogil",) if id(node) in excused else ("nogil", "cache"):
            if word not in given or not is_constant(given[word], True):
                yield f"line {node.lineno}: {last_name(node)} without {word}=True"
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for inner in {f for outer in functions for f in functions if encloses(outer, f)}:
        for mark in inner.decorator_list:
            name = last_name(mark.func if isinstance(mark, ast.Call) else mark)
            if name in ("njit", "jit", "compiled"):
                yield f"line {inner.lineno}: {inner.name} is compiled inside another function"


def encloses(outer: ast.FunctionDef, inner: ast.FunctionDef) -> bool:
    return outer is not inner and any(node is inner for node in ast.walk(outer))


@pytest.mark.parametrize("path", FILES, ids=name_of)
@pytest.mark.parametrize("check", [unsafe_arithmetic, code_from_data, public_door])
def test_source_contains_nothing_forbidden(path: Path, check: Check) -> None:
    found = list(check(ast.parse(path.read_text(encoding="utf-8"))))
    assert not found, f"{name_of(path)}: {found}"


@pytest.mark.parametrize("path", LOOPS, ids=name_of)
def test_loops_are_cached_and_release_the_gil(path: Path) -> None:
    found = list(careless_loops(ast.parse(path.read_text(encoding="utf-8"))))
    assert not found, f"{name_of(path)}: {found}"


@pytest.mark.parametrize("path", LOOPS, ids=name_of)
def test_compiled_loops_are_what_their_decorator_says(path: Path) -> None:
    name = path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".")
    module = import_module(name.removesuffix(".__init__"))
    for name, loop in vars(module).items():
        if isinstance(loop, Dispatcher):
            assert loop.targetoptions.get("nogil") is True, name
            assert not loop.targetoptions.get("fastmath"), name
            assert not loop.targetoptions.get("parallel"), name
            assert not isinstance(loop._cache, NullCache), name


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (unsafe_arithmetic, "@njit(fastmath=True)\ndef f(): ..."),
        (unsafe_arithmetic, "@njit(fastmath={'contract'})\ndef f(): ..."),
        (unsafe_arithmetic, "g = njit(parallel=True)(f)"),
        (code_from_data, "import pickle"),
        (code_from_data, "def f():\n    from pickle import loads"),
        (code_from_data, "import cloudpickle as safe"),
        (code_from_data, "np.load(path, allow_pickle=True)"),
        (code_from_data, "np.load(path, allow_pickle=trust)"),
        (code_from_data, "eval(text)"),
        (code_from_data, "exec(text)"),
        (public_door, "from gramian import PCA"),
        (public_door, "import gramian"),
        (public_door, "from gramian import maps, PCA"),
        (public_door, "from gramian import *"),
        (public_door, "from .. import PCA"),
        (careless_loops, "@njit\ndef f(): ..."),
        (careless_loops, "@numba.njit\ndef f(): ..."),
        (careless_loops, "@njit(cache=True)\ndef f(): ..."),
        (careless_loops, "@numba.njit(nogil=True, cache=False)\ndef f(): ..."),
        (careless_loops, "g = njit(f)"),
        (careless_loops, "g = partial(njit, cache=True, nogil=True)"),
        (careless_loops, "try: ...\nexcept E: g = njit(f)"),
        (careless_loops, "def h():\n    @compiled\n    def f(): ..."),
        (careless_loops, "def h():\n    @njit(cache=True, nogil=True)\n    def f(): ..."),
    ],
)
def test_each_check_finds_what_it_is_for(check: Check, text: str) -> None:
    assert list(check(ast.parse(text)))


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (unsafe_arithmetic, "'no fastmath=True here'\n@njit(fastmath=False)\ndef f(): ..."),
        (code_from_data, "np.load(path, allow_pickle=False)\nmodel.eval()"),
        (public_door, "from gramian import __version__, maps"),
        (careless_loops, "@njit(cache=True, nogil=True, inline='always')\ndef f(): ..."),
        (careless_loops, "@intrinsic\ndef f(context):\n    def codegen(): ...\n    return codegen"),
    ],
)
def test_each_check_lets_good_lines_pass(check: Check, text: str) -> None:
    assert not list(check(ast.parse(text)))


def test_there_is_source_to_read() -> None:
    assert len(FILES) > 5
    assert LOOPS


def test_names_say_what_is_inside() -> None:
    parts = {part.removesuffix(".py") for path in FILES for part in path.relative_to(PACKAGE).parts}
    assert "maps" in parts
    assert not parts & {"utils", "core", "common", "helpers", "base_impl"}
