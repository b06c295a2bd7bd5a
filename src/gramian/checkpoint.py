"""Checkpoints: what a long run has done so far, in a file from which it can be taken up again.

1. stages   a run is a fixed sequence of stages (a pass over the data, a search for eigenpairs,
            replicates, iterations), numbered as they come; stages may contain stages
2. state    each is a loop whose state is a few arrays: ``keep`` them after a step, and what
            stages inside it did before that step is forgotten
3. write    all finished results and the states of the open stages, as one file of tensors, every
            thirty seconds and when a pass ends; written beside the old file and moved over it
4. resume   the run begins as before; a stage that the file knows takes its state from there. Sums
            go on in the same order, so the result has the same bits as without an interruption
5. refuse   a file whose data or settings are not those of this run; one that is no checkpoint

Whoever computes calls ``steps`` or ``stage``, and need not know whether anybody keeps a checkpoint;
``checkpointing`` surrounds a run that has one. Threads that the run starts keep nothing themselves.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.files import check_target, forget_stale
from gramian.maps import Array
from gramian.show.text import visible
from gramian.tensors import read_tensors, write_tensors

__all__ = [
    *("Checkpoint", "Stage", "checkpointing", "digest_of", "is_kept", "lasting"),
    *("rng_state", "set_rng", "stage", "steps"),
]

FORMAT = 1
_soon = 1.0  # seconds of work that are worth a write when a stage ends
_instead = "finish that run, name another file, or delete this one to start anew"


@dataclass(frozen=True)
class Checkpoint:
    """Where a run keeps what it has done, and how often.

    Parameters
    ----------
    path : path
        Removed when the run ends well.
    every : float
        Seconds of work that may be lost.

    Examples
    --------
    >>> from gramian.checkpoint import Checkpoint
    >>> Checkpoint("run.checkpoint").every
    30.0
    """

    path: str | os.PathLike[str]
    every: float = 30.0

    @staticmethod
    def of(given: Any) -> Checkpoint:
        """From a path, or as it is."""
        found = given if isinstance(given, Checkpoint) else None
        if isinstance(given, (str, os.PathLike)):
            found = Checkpoint(given)
        if found is None or isinstance(found.every, bool) or not found.every >= 0:
            raise InputError(
                f"checkpoint={visible(given)!r}: give the path of a file, such as "
                "'run.checkpoint', or Checkpoint(path, every=seconds)"
            )
        return found


class Stage:
    """One stage of a run. This one is of a run that keeps no checkpoint: it remembers nothing.

    Attributes
    ----------
    known : dict of arrays or None
        The state that the file has of this stage.
    finished : bool
        Whether ``known`` is its result.
    """

    known: dict[str, Array] | None = None
    finished = False

    def keep(self, **state: Any) -> None:
        """The state after a step; the arrays must stay as they are until the next one."""

    def finish(self, **result: Any) -> None:
        """The result, in place of the state."""


_here: ContextVar[_Run | None] = ContextVar("checkpoint", default=None)
_held: ContextVar[list[_Run] | None] = ContextVar("checkpoints that last", default=None)


@contextmanager
def checkpointing(where: Any, who: Callable[[], Mapping[str, Any]]) -> Iterator[None]:
    """Surround a run that keeps a checkpoint; taken up again if the file is there.

    Parameters
    ----------
    where : path, Checkpoint or None
        ``None`` keeps none (but stages take part in a run that surrounds this one).
    who : function
        Returns what identifies the run: its method, settings and data. The file of a run with
        another identity is refused.
    """
    if where is None:
        yield
        return
    run = _Run(Checkpoint.of(where), who())
    token = _here.set(run)
    lasting = _held.get()
    try:
        yield
    finally:
        _here.reset(token)
    if lasting is None:
        run.remove()
    else:
        lasting.append(run)


@contextmanager
def lasting() -> Iterator[None]:
    """Let checkpoints of runs inside last until this block ends well.

    For what follows a fit, such as placing the rows and writing files: killed there, the fit need
    not be done again.
    """
    held: list[_Run] = []
    token = _held.set(held)
    try:
        yield
        for run in held:
            run.remove()
    finally:
        _held.reset(token)


@contextmanager
def stage(kind: str, **about: Any) -> Iterator[Stage]:
    """A stage of the run that surrounds this, if it keeps a checkpoint.

    Parameters
    ----------
    kind : str
        What it does.
    **about
        What its state depends on, for example how the data are cut; JSON can hold it.
    """
    held = _held.get()
    run = _here.get() or (held[-1] if held else None)
    if run is None:
        yield Stage()
        return
    opened = run.enter(f"{kind} {json.dumps(about, sort_keys=True, default=str)}")
    try:
        yield opened
    finally:
        run.leave(opened)


def steps(
    kind: str,
    count: int,
    state: dict[str, Array],
    coming: Callable[[int], Iterable[Any]] | None = None,
    **about: Any,
) -> Iterator[Any]:
    """0 ... count - 1, from where an earlier run was stopped.

    Parameters
    ----------
    kind : str
    count : int
    state : dict of arrays
        All that a step takes over from the one before. Filled in from the checkpoint; a step may
        change the arrays in place or put others there.
    coming : function, optional
        ``coming(i)`` are the things to go through from number i on, instead of the numbers.
    **about
        As for ``stage``.
    """
    with stage(kind, count=count, **about) as here:
        first = 0
        if here.known is not None:
            first = int(here.known.pop("steps done"))
            state.update(here.known)
        each = range(first, count) if coming is None or first == count else coming(first)
        for done, item in enumerate(each, first + 1):
            yield item
            here.keep(**{"steps done": np.int64(done)}, **state)
        here.finish(**{"steps done": np.int64(count)}, **state)


def is_kept() -> bool:
    """Whether the run that surrounds this keeps a checkpoint."""
    return bool(_here.get() or _held.get())


def digest_of(*parts: Any) -> str:
    """A digest of arrays, bytes and words: the same for the same content."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype}{part.shape}".encode())
            flat = part if part.flags.c_contiguous else np.ascontiguousarray(part)
            found.update(flat.reshape(-1).view(np.uint8).data if flat.size else b"")
        else:
            found.update(part if isinstance(part, bytes) else str(part).encode())
        found.update(b"\0")
    return found.hexdigest()


def rng_state(rng: np.random.Generator) -> Array:
    """The state of a generator of random numbers, as an array."""
    text = json.dumps(rng.bit_generator.state, default=lambda array: array.tolist())
    return np.frombuffer(text.encode(), np.uint8)


def set_rng(rng: np.random.Generator, state: Array) -> None:
    """Bring a generator of the same kind to a state."""
    rng.bit_generator.state = json.loads(state.tobytes())


class _Open(Stage):
    """A stage of a run with a checkpoint."""

    def __init__(self, run: _Run, key: tuple[int, ...], kind: str) -> None:
        self.run, self.key, self.kind = run, key, kind
        self.inside = 0  # stages begun inside since the last ``keep``
        entry = run.entries.get(key)
        if entry is not None and entry.kind != kind:
            raise InputError(
                f"{run.name} belongs to a run with another plan (it was at {entry.kind!r}, this "
                f"run is at {kind!r}), perhaps because another memory= was allowed; {_instead}"
            )
        if entry is not None:
            self.known, self.finished = dict(entry.state), entry.finished

    def keep(self, **state: Any) -> None:
        self._put(state, finished=False)
        self.run.write_if_due()

    def finish(self, **result: Any) -> None:
        self._put(result, finished=True)
        self.finished = True
        self.run.write_if_due(ended=True)

    def _put(self, state: Mapping[str, Any], *, finished: bool) -> None:
        entries, depth = self.run.entries, len(self.key)
        for key in [each for each in entries if each[:depth] == self.key]:
            del entries[key]
        arrays = {name: np.asarray(value) for name, value in state.items()}
        entries[self.key] = _Entry(self.kind, arrays, finished)
        self.inside = 0


@dataclass(frozen=True)
class _Entry:
    """What is known of a stage."""

    kind: str
    state: dict[str, Array]
    finished: bool


class _Run:
    """The stages of a run, and the file they are kept in."""

    def __init__(self, checkpoint: Checkpoint, who: Mapping[str, Any]) -> None:
        self.path, self.every = Path(checkpoint.path).expanduser(), float(checkpoint.every)
        self.name = visible(self.path, 200)
        self.who = {name: _told(value) for name, value in who.items()}
        self.entries: dict[tuple[int, ...], _Entry] = {}
        self.open: list[_Open] = []
        self.begun = 0
        check_target(self.path)
        forget_stale(self.path)
        if self.path.exists():
            self._read()
        self.written = self.looked = time.monotonic()
        self.took = 0.0  # seconds of the last write

    def enter(self, kind: str) -> _Open:
        """The next stage, inside the one that is open."""
        outer = self.open[-1] if self.open else None
        key: tuple[int, ...]
        if outer is None:
            key, self.begun = (self.begun,), self.begun + 1
        else:
            key, outer.inside = (*outer.key, outer.inside), outer.inside + 1
        found = _Open(self, key, kind)
        self.open.append(found)
        return found

    def leave(self, stage: _Open) -> None:
        """Close a stage, and any inside it that an error left open."""
        if stage in self.open:
            del self.open[self.open.index(stage) :]

    def write_if_due(self, *, ended: bool = False) -> None:
        """Write if the next step could make too much work undone, or a stage of some length ended.

        Writing at the end of stages takes no more than a twentieth of the time.
        """
        now = time.monotonic()
        step, self.looked = now - self.looked, now
        due = now - self.written + step >= self.every
        if due or (ended and now - self.written >= max(_soon, 20 * self.took)):
            self._write()
            self.written = self.looked = time.monotonic()
            self.took = self.written - now

    def remove(self) -> None:
        """The run ended well."""
        with suppress(OSError):
            self.path.unlink()

    def _write(self) -> None:
        arrays: dict[str, Array] = {}
        listed, empty, sideways = {}, {}, []
        for key, entry in self.entries.items():
            place = ".".join(map(str, key))
            listed[place] = [entry.kind, entry.finished]
            for name, array in entry.state.items():
                if array.flags.f_contiguous and not array.flags.c_contiguous:
                    sideways.append(f"{place}/{name}")  # BLAS may round otherwise if it is turned
                if array.size:
                    arrays[f"{place}/{name}"] = array
                else:
                    empty[f"{place}/{name}"] = [str(array.dtype), list(array.shape)]
        arrays.setdefault("nothing yet", np.zeros(1, np.uint8))
        facts = {
            "checkpoint": FORMAT,
            "run": self.who,
            "stages": listed,
            "empty": empty,
            "sideways": sideways,
        }
        write_tensors(self.path, facts, arrays)

    def _read(self) -> None:
        try:
            stored = read_tensors(self.path)
            stored.verify()
        except InputError as error:
            said = str(error).removeprefix(self.name).removeprefix(":").strip()
            raise InputError(
                f"checkpoint {self.name} cannot be used: {said.partition('; ')[0]}; delete it to "
                "start anew, or name another file"
            ) from None
        facts = stored.facts
        if facts.get("checkpoint") != FORMAT:
            what = "holds a model, no" if "method" in facts else "is no"
            raise InputError(f"{self.name} {what} checkpoint of this version; name another file")
        self._refuse_other(facts["run"])
        for place, (kind, finished) in facts["stages"].items():
            self.entries[_key(place)] = _Entry(kind, {}, bool(finished))
        # copies: the file can then be replaced, which not every system allows while it is mapped
        for place, array in stored.arrays.items():
            self._put(place, np.array(array, order="F" if place in facts["sideways"] else "C"))
        for place, (dtype, shape) in facts["empty"].items():
            self._put(place, np.zeros(shape, dtype))

    def _put(self, place: str, array: Array) -> None:
        where, _, name = place.partition("/")
        if name:
            self.entries[_key(where)].state[name] = array

    def _refuse_other(self, found: Mapping[str, Any]) -> None:
        for name in dict.fromkeys([*self.who, *found]):
            mine: Any = self.who.get(name)
            other: Any = found.get(name)
            if mine == other:
                continue
            if name == "data":
                raise InputError(
                    f"{self.name} is the checkpoint of a run on other data, or on data that were "
                    f"changed since; {_instead}"
                )
            if name == "settings":
                name = next(
                    each
                    for each in dict.fromkeys([*mine, *other])
                    if mine.get(each) != other.get(each)
                )
                mine, other = mine.get(name), other.get(name)
            raise InputError(
                f"{self.name} is the checkpoint of a run with {name} = {visible(other)}, this one "
                f"has {visible(mine)}; {_instead}"
            )


def _key(place: str) -> tuple[int, ...]:
    return tuple(map(int, place.split(".")))


def _told(value: Any) -> Any:
    """A setting in words: by its name, or by its content."""
    if isinstance(value, Mapping):
        return {str(name): _told(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return digest_of(value)
    if isinstance(value, np.random.Generator):
        return digest_of(rng_state(value).tobytes())
    if isinstance(value, np.random.RandomState):
        return digest_of(*value.get_state(legacy=True))
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return value if isinstance(value, str) else repr(value)
