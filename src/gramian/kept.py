"""What a fitted method keeps, as JSON and arrays, and whether that is what was declared.

A class declares each attribute with its kind, a method in ``_keeps()``, a value in ``keeps``:

    float, int | None, Plan      types; values that declare what they keep are looked into
    "n k"                        finite floats of that shape; a letter is the same size everywhere
    "n p nan"                    the same, where NaN means missing
    "m -> n"                     m positions among n
    "text n"                     n names
    "=k"                         the number k itself
    "p?"                         any of these, or None
    (GramEmbedding, {"n": "m"})  a value whose n is called m here
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array
from gramian.show.text import visible
from gramian.tensors import DTYPES, parsed

__all__ = ["Agreement", "Decoder", "as_text", "names_of", "written"]

_NUMBERS: dict[str, Any] = {
    each.__name__: each for each in (float, np.float64, np.float32, np.int64, np.int32)
}
_FOREIGN = "it was not saved by gramian, or changed since"


def written(value: Any, name: str, arrays: dict[str, Array]) -> Any:
    """A value as JSON; arrays are put aside under their name.

    Parameters
    ----------
    value : None, bool, number, str, array, list, tuple, mapping, or of a class with ``keeps``
    name : str
        Where it belongs: ``"gram_.pairs"``.
    arrays : dict
        Arrays found inside are added here.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, (np.bool_, str)):
        return value.item() if isinstance(value, np.bool_) else str(value)
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) in _NUMBERS.values():
        return {"is": type(value).__name__, "value": repr(getattr(value, "item", lambda: value)())}
    if isinstance(value, np.ndarray) and value.dtype in DTYPES.values() and value.size:
        flip = value.ndim == 2 and value.strides[0] < value.strides[1]  # products see the order
        arrays[name] = value.T if flip else value
        return {"is": "array", "name": name, "flip": flip}
    if isinstance(value, (list, tuple)):
        items = [written(each, f"{name}.{i}", arrays) for i, each in enumerate(value)]
        return items if isinstance(value, list) else {"is": "tuple", "items": items}
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        inside = {key: written(each, f"{name}.{key}", arrays) for key, each in value.items()}
        return {"is": "dict", "items": inside}
    if hasattr(type(value), "keeps"):
        inside = {key: getattr(value, key) for key in type(value).keeps}
        return {"is": type(value).__name__} | {
            key: written(each, f"{name}.{key}", arrays) for key, each in inside.items()
        }
    what = name.removeprefix("params.")
    if callable(value):
        called = visible(getattr(value, "__name__", type(value).__name__))
        raise InputError(
            f"{what} is a function ({called}), and a model file holds no code; "
            "only what is known by name can be saved"
        )
    raise InputError(
        f"{what} is a {type(value).__name__}, which a model file cannot hold; it holds numbers, "
        f"text, lists and arrays of numbers (set another with set_params({what}=...) and save)"
    )


@dataclass(frozen=True)
class Decoder:
    """JSON of an untrusted file as values: numbers, text, and the classes that are known."""

    where: str
    arrays: Mapping[str, Array]
    known: Mapping[str, Any]
    used: list[str] = field(default_factory=list)

    def value(self, found: Any) -> Any:
        """What ``written`` was given."""
        if isinstance(found, list):
            return [self.value(each) for each in found]
        if not isinstance(found, dict):
            return found
        inside = dict(found)
        kind = str(inside.pop("is", None))
        if kind == "array" and set(inside) == {"name", "flip"}:
            array = self.array(inside["name"])
            return array.T if inside["flip"] is True else array
        if kind in ("tuple", "dict") and set(inside) == {"items"}:
            return self._items(kind, inside["items"])
        if kind in _NUMBERS and set(inside) == {"value"}:
            try:
                return _NUMBERS[kind](str(inside["value"]))
            except (ValueError, OverflowError):
                pass
        elif kind in self.known:
            made = self.known[kind]
            if set(inside) == set(made.keeps):
                return made(**{key: self.value(each) for key, each in inside.items()})
        raise InputError(f"{self.where}: {visible(found, 60)} is no value of a model; {_FOREIGN}")

    def array(self, name: Any) -> Array:
        """The array of that name; whoever asks for it uses it."""
        if not isinstance(name, str) or name not in self.arrays or name in self.used:
            raise InputError(
                f"{self.where}: array {visible(name)!r} is not there, or used twice; {_FOREIGN}"
            )
        self.used.append(name)
        return self.arrays[name]

    def _items(self, kind: str, items: Any) -> Any:
        if kind == "tuple" and isinstance(items, list):
            return tuple(map(self.value, items))
        if kind == "dict" and isinstance(items, dict):
            return {key: self.value(each) for key, each in items.items()}
        raise InputError(f"{self.where}: {visible(items, 60)} is no {kind}; {_FOREIGN}")


@dataclass(frozen=True)
class Agreement:
    """Whether values agree with their declared kinds: shapes at once, numbers when asked."""

    where: str
    sizes: dict[str, int] = field(default_factory=dict)
    numbers: list[Callable[[], None]] = field(default_factory=list)

    def check(
        self, value: Any, kind: Any, name: str, called: Mapping[str, str] | None = None
    ) -> None:
        """Raise unless the value is of that kind, but for the numbers in arrays."""
        if isinstance(kind, tuple):
            kind, called = kind
        if isinstance(kind, str):
            if value is None and kind.endswith("?"):
                return
            self._shape(value, kind.removesuffix("?"), name, called or {})
            return
        nothing = isinstance(value, float) and math.isnan(value)
        truth = isinstance(value, bool) and kind is not bool  # Python takes it for a number
        if nothing or truth or not isinstance(value, kind):
            self.refuse(name, f"is {visible(type(value).__name__)}, not {_named(kind)}")
        for key, inner in getattr(type(value), "keeps", {}).items():
            self.check(getattr(value, key), inner, f"{name}.{key}", called)

    def _shape(self, value: Any, kind: str, name: str, called: Mapping[str, str]) -> None:
        if kind.startswith("="):
            if type(value) is not int or not self._same(value, kind[1:]):
                self.refuse(
                    name, f"is {visible(value)}, not {kind[1:]} = {self.sizes.get(kind[1:])}"
                )
            return
        text = kind.startswith("text")
        left, _, among = kind.removeprefix("text").removesuffix("nan").partition("->")
        letters = [called.get(each, each) for each in left.split()]
        wanted = "u" if text else "i" if among else "f"
        shape = value.shape if isinstance(value, np.ndarray) else ()
        if not shape or value.dtype.kind != wanted:
            self.refuse(name, "is not an array of its type")
        elif text:
            self.numbers.append(lambda: self._names(value, letters[0], name))
        elif len(shape) != len(letters) or not all(map(self._same, shape, letters)):
            declared = " x ".join(f"{each} = {self.sizes.get(each, '?')}" for each in letters)
            self.refuse(name, f"has the shape {shape}, not {declared}")
        elif among:
            n = called.get(among.strip(), among.strip())
            self.numbers.append(lambda: self._positions(value, n, name))
        else:
            self.numbers.append(lambda: self._finite(value, kind.endswith("nan"), name))

    def _same(self, size: int, letter: str) -> bool:
        return self.sizes.setdefault(letter, size) == size

    def _finite(self, value: Array, missing: bool, name: str) -> None:
        step = max(1, 1_000_000 // max(value[0].size, 1))
        for a in range(0, len(value), step):
            part = value[a : a + step]
            if not (np.isfinite(part) | (missing & np.isnan(part))).all():
                self.refuse(name, "holds NaN or infinity")

    def _positions(self, value: Array, n: str, name: str) -> None:
        if value.min() < 0 or value.max() >= self.sizes.get(n, 0):
            self.refuse(name, f"holds positions outside 0 to {self.sizes.get(n, 0) - 1}")

    def _names(self, value: Array, letter: str, name: str) -> None:
        if not self._same(len(names_of(value, self.where)), letter):
            self.refuse(name, f"does not hold {self.sizes[letter]} names")

    def refuse(self, name: str, why: str) -> None:
        """Say what is wrong with an attribute."""
        raise InputError(f"{self.where}: {visible(name)} {why}; {_FOREIGN}")


def as_text(names: Sequence[str]) -> Array:
    """Names as bytes: any number of them, outside the header."""
    return np.frombuffer(json.dumps([str(each) for each in names]).encode(), np.uint8)


def names_of(text: Array, where: str) -> tuple[str, ...]:
    """The names that ``as_text`` was given."""
    found = parsed(text.tobytes(), where)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise InputError(f"{where}: a list of names holds something else; {_FOREIGN}")
    return tuple(found)


def _named(kind: Any) -> str:
    return getattr(kind, "__name__", str(kind))
