"""Every chore of this checkout: tools/dev.py demo | test | test-full | bench | lint | clean.

Needs only Python >= 3.11 with pip and venv. The environment is `.venv` in the checkout; it is made
on first use and made again when pyproject.toml or the Python version changes. Arguments after `--`
go to the program behind the command:

    python3 tools/dev.py test -- -k pca          (pytest)
    python3 tools/dev.py bench -- --help         (python -m benchmarks)
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(f"gramian needs Python 3.11 or newer; this is Python {sys.version.split()[0]}.")

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
WHEEL_VENV = ROOT / ".venv-wheel"
DIST = ROOT / "dist"
PYTHON = getattr(sys, "_base_executable", None) or sys.executable  # not one inside .venv
BIN, EXE = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
TEST_WORKERS = 2
THREAD_LIMITS = (
    *("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"),
    *("VECLIB_MAXIMUM_THREADS", "POLARS_MAX_THREADS"),
)

Step = tuple[str, Callable[[], object]]


class Failed(Exception):
    """A command or check did not succeed; the message says which and how."""


def run(
    *command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None, capture: bool = False
) -> str:
    """Show and run a command; Failed with the command and its exit code if that is not 0."""
    words = [str(word) for word in command]
    shown = shlex.join(word.removeprefix(f"{ROOT}{os.sep}") for word in words)
    print(f"\n$ {shown}", flush=True)
    inherited = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    out, err = (subprocess.PIPE, subprocess.STDOUT) if capture else (None, None)
    try:
        done = subprocess.run(words, cwd=cwd, env=inherited | (env or {}), stdout=out, stderr=err)
    except OSError as error:
        raise Failed(f"could not start: {shown} ({error})") from None
    said = (done.stdout or b"").decode("utf-8", "replace")
    print(said, end="", flush=True)
    if done.returncode < 0:
        raise Failed(f"killed by {signal.Signals(-done.returncode).name}: {shown}")
    if done.returncode > 0:
        raise Failed(f"exit code {done.returncode}: {shown}")
    return said


def program(name: str, venv: Path = VENV) -> Path:
    """Give the path of a program in an environment."""
    return venv / BIN / (name + EXE)


def install(venv: Path, *what: str | Path) -> None:
    """Install into an environment with its own pip."""
    pip = (program("python", venv), "-m", "pip", "--disable-pip-version-check", "--no-input")
    run(*pip, "install", "--quiet", *what)


def dev_dependencies() -> list[str]:
    """Read the `dev` dependency group (older pips do not know --group)."""
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        return list(tomllib.load(file)["dependency-groups"]["dev"])


def environment(*sets: str) -> None:
    """Make `.venv` hold the package and the wanted sets ("dev", "peers"), or leave it as it is.

    The stamp is written last: an environment whose making was interrupted is made again.
    """
    stamp = VENV / "gramian-dev-stamp.json"
    key = hashlib.sha256((ROOT / "pyproject.toml").read_bytes())
    key.update(f"{sys.version} {ROOT}".encode())
    try:
        known = json.loads(stamp.read_text(encoding="utf-8"))
        held = set(known["sets"]) if known["key"] == key.hexdigest() else set()
    except (OSError, ValueError, KeyError, TypeError):
        held = set()
    if not (held and program("python").exists()):
        held = set()
        run(PYTHON, "-m", "venv", "--clear", VENV)
    wanted = {"package", *sets}
    if wanted <= held:
        return
    wanted |= held
    stamp.unlink(missing_ok=True)
    package = ".[peers]" if "peers" in wanted else "."
    install(VENV, "--editable", package, *(dev_dependencies() if "dev" in wanted else ()))
    stamp.write_text(json.dumps({"key": key.hexdigest(), "sets": sorted(wanted)}), encoding="utf-8")


def browser() -> None:
    """See to a Chromium for the tests of the report: found, or installed where apt-get may.

    Without one those tests skip and say so, so that a failure here is no failure of the project.
    """
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    if os.environ.get("GRAMIAN_BROWSER") or any(map(shutil.which, names)):
        return
    if not (shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0):
        print("no Chromium found: tests of the report in a browser will skip")
        return
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        run("apt-get", "update", "-qq", env=quiet)
        run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", env=quiet)
    except Failed as failure:
        print(f"no Chromium to be had ({failure}): tests of the report in a browser will skip")


def lint_steps() -> list[Step]:
    """List the environment and the checks that only read the source."""
    python = program("python")
    return [
        ("environment", lambda: environment("dev")),
        ("ruff check", lambda: run(python, "-m", "ruff", "check", ".")),
        ("ruff format", lambda: run(python, "-m", "ruff", "format", "--check", ".")),
        ("mypy", lambda: run(python, "-m", "mypy")),
        ("import-linter", lambda: run(program("lint-imports"), "--no-cache")),
    ]


def pytest(extra: list[str], slow: bool) -> None:
    """Run the tests, the cores shared out among the workers."""
    threads = str(max(1, (os.cpu_count() or 1) // TEST_WORKERS))
    which = ["--hypothesis-profile=explore"] if slow else ["-m", "not slow"]
    env = dict.fromkeys(THREAD_LIMITS, threads) | {"MPLBACKEND": "Agg"}
    workers = str(TEST_WORKERS)
    run(program("python"), "-m", "pytest", "-n", workers, *which, *extra, env=env)


def wheel_check() -> None:
    """Build sdist and wheel, install the wheel in a fresh environment, run the demo far away."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(program("python"), "-m", "build", "--outdir", DIST)
    (wheel,) = DIST.glob("*.whl")
    run(PYTHON, "-m", "venv", "--clear", WHEEL_VENV)
    install(WHEEL_VENV, wheel)
    gramian = program("gramian", WHEEL_VENV)
    with tempfile.TemporaryDirectory(prefix="gramian-wheel-") as away:
        version = wheel.name.split("-")[1]
        if version not in run(gramian, "--version", cwd=Path(away), capture=True):
            raise Failed(f"gramian --version does not say {version}, the version of {wheel.name}")
        plain = {"COLUMNS": "1000", "NO_COLOR": "1"}  # file names in one piece
        said = run(gramian, "demo", cwd=Path(away), env=plain, capture=True)
        for suffix in (".csv", ".html"):
            written = [file for file in Path(away).rglob(f"*{suffix}") if file.stat().st_size]
            if not any(file.name in said for file in written):
                found = ", ".join(file.name for file in written) or "none"
                raise Failed(
                    f"gramian demo ended with 0 but wrote no {suffix} file that it names "
                    f"(non-empty {suffix} files it left: {found})"
                )


def run_steps(steps: list[Step]) -> None:
    """Run every step, also after a failure; print the times, then what failed."""
    table: list[tuple[str, float, str]] = []
    failures: list[str] = []
    try:
        for name, step in steps:
            start, outcome = time.monotonic(), "interrupted"
            try:
                step()
                outcome = "ok"
            except Failed as failure:
                outcome = "FAILED"
                failures.append(f"{name}: {failure}")
                print(f"FAILED {failure}", file=sys.stderr, flush=True)
            finally:
                table.append((name, time.monotonic() - start, outcome))
            if failures and name == "environment":
                break
    finally:
        table.append(("total", sum(seconds for _, seconds, _ in table), ""))
        print()
        for name, seconds, outcome in table:
            print(f"{name:<16}{seconds:8.1f} s  {outcome}".rstrip(), flush=True)
    if failures:
        raise Failed("\n  ".join([f"{len(failures)} of {len(steps)} steps", *failures]))


def demo(extra: list[str]) -> None:
    """Install the package alone and run `gramian demo`."""
    environment()
    run(program("gramian"), "demo", *extra)
    print(f"\nThe program is {program('gramian').relative_to(ROOT)}; try it on a file of yours.")


def lint(extra: list[str]) -> None:
    """Run ruff, the format check, mypy and import-linter."""
    run_steps(lint_steps())


def test(extra: list[str], slow: bool = False) -> None:  # noqa: PT028
    """Run lint, the tests, and the demo from a real wheel."""
    tests: Step = ("pytest", lambda: pytest(extra, slow))
    run_steps([*lint_steps(), ("browser", browser), tests, ("wheel", wheel_check)])


def test_full(extra: list[str]) -> None:
    """Run everything of `test`, slow tests included."""
    test(extra, slow=True)


def bench(extra: list[str]) -> None:
    """Compare time, memory and accuracy with the peers: python -m benchmarks."""
    environment("peers")
    run(program("python"), "-m", "benchmarks", *extra)


def clean(extra: list[str]) -> None:
    """Remove environments, caches and built files."""
    names = [VENV.name, WHEEL_VENV.name, DIST.name, "demo-output"]
    names += [".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"]
    places = [ROOT / name for name in names]
    for folder in ("src", "tests", "tools", "benchmarks", "examples", "docs"):
        places += (ROOT / folder).rglob("__pycache__")
    for place in filter(Path.exists, places):
        shutil.rmtree(place)
        print(f"removed {place.relative_to(ROOT)}")


def main(arguments: list[str]) -> int:
    """Run one command; the exit code is 0, 1 (a step failed), 2 (usage) or 130 (interrupted)."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (demo, test, test_full, bench, lint, clean):
        name = command.__name__.replace("_", "-")
        parsers.add_parser(name, help=command.__doc__).set_defaults(command=command)
    chosen = parser.parse_args(arguments[:split]).command
    try:
        chosen(arguments[split + 1 :])
    except Failed as failure:
        print(f"\nFAILED {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
