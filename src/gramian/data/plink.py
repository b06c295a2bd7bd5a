"""Genotypes in PLINK files (.bed, .bim, .fam) as rows: a sample each, a variant a column.

The calls stay as they are stored, two bits each, and are decoded a block of variants at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from sys import intern
from typing import Any

import numpy as np

from gramian.data.centering import Centering
from gramian.data.pread import opened, read_items, refuse_changed, same_there, state_of
from gramian.data.rows import RowBlocked
from gramian.errors import InputError
from gramian.maps import Array
from gramian.show.text import count, visible

_MAGIC = b"\x6c\x1b\x01"
_COPIES = np.array([2, np.nan, 1, 0])  # what the four codes mean; the second is no call
_exactly = 50_000_000  # calls up to which sums run in float64


class BedRows(RowBlocked):
    """The calls of a .bed file, n samples x m variants, as copies of the first allele.

    Parameters
    ----------
    path : path
        Of the .bed file; its .bim and .fam lie beside it.
    memory : int, str or None
        Budget for blocks under way.

    Attributes
    ----------
    families, people : tuple of str
        Of each sample its family; family and name, by which samples are told apart everywhere. A
        family of 0 means none, and so does one called as the sample.
    samples : tuple of str
        What samples are called: by their names, or by both where several have the same name.
    variants, alleles : tuple of str
        Names; the allele counted and the other.
    """

    def __init__(self, path: str | os.PathLike[str], memory: Any = None) -> None:
        self.path = Path(path).expanduser()
        found = [(line[0], line[1]) for line in _lines(self.path.with_suffix(".fam"), 6)]
        self.families = tuple(family for family, _ in found)
        self.people = tuple(f"{'0' if each == own else each} {own}" for each, own in found)
        self._refuse_same_people()
        alone = len({own for _, own in found}) == len(found)
        self.samples = tuple(own if alone else f"{each} {own}" for each, own in found)
        lines = _lines(self.path.with_suffix(".bim"), 6)
        named = [(line[1], intern(f"{line[4]}/{line[5]}")) for line in lines]
        self.variants = tuple(name for name, _ in named)
        self.alleles = tuple(both for _, both in named)  # counted/other
        n, m = len(self.samples), len(self.variants)
        super().__init__((n, m), np.float64 if n * m <= _exactly else np.float32, True, memory)
        self.width, self.begin = -(-n // 4), 0
        self._state = state_of(self.path)
        self._refuse_wrong()

    @property
    def resident(self) -> bool:
        """A file is not, and is decoded anew at every visit."""
        return False

    @property
    def stored_bytes(self) -> int:
        """Bytes that one pass reads."""
        return self.shape[1] * self.width

    @contextmanager
    def _visit(self) -> Iterator[None]:
        self._passes[0] += 1
        refuse_changed(self.path, self._state)
        yield
        refuse_changed(self.path, self._state)

    def _lead(self, start: int, stop: int) -> Array:
        from gramian.loops.genotypes import decode

        out = np.empty((stop - start, self.shape[0]), self.dtype)
        tables = np.tile(_COPIES.astype(self.dtype), (len(out), 1))
        decode(self.packed(start, stop), tables, 0, len(out), 0, self.shape[0], out, 0, 0)
        return out

    def _minor(self, start: int, stop: int) -> Array:
        out = np.empty((self.shape[1], stop - start), self.dtype)
        step = max(1, self.block_bytes // (8 * self.shape[0]))
        for a in range(0, len(out), step):
            out[a : a + step] = self._lead(a, min(a + step, len(out)))[:, start:stop]
        return out

    def part(self, start: int, stop: int) -> BedRows:
        """Variants start:stop of the same file, without names: small enough to be sent."""
        other = copy(self)
        other.shape, other.begin = (self.shape[0], stop - start), self.begin + start
        other.path, other._passes = self.path.resolve(), [0]
        other.centering = Centering.none(0, self.dtype)  # a part is whole when it has arrived
        other.families = other.people = other.samples = other.variants = other.alleles = ()
        return other

    def arrived(self) -> BedRows:
        """A part that came to another machine: the file there must be as long."""
        other = copy(self)
        other._passes, other._state = [0], same_there(self.path, self._state)
        other.centering = Centering.none(self.shape[1], self.dtype)
        return other

    def named(self, variant: int) -> str:
        """`` (rs123)``, if names are known."""
        return f" ({visible(self.variants[variant])})" if self.variants else ""

    def packed(self, start: int, stop: int) -> Array:
        """The bytes of some variants (v, width)."""
        with opened(self.path) as file:
            at = len(_MAGIC) + (self.begin + start) * self.width
            many = (stop - start) * self.width
            packed = read_items(self.path, file, at, many, np.dtype(np.uint8))
        return packed.reshape(-1, self.width)

    def chosen(self, which: Array) -> Array:
        """The bytes of the variants ``which``, in rising order."""
        first, last = which[0], which[-1] + 1
        if last - first > 4 * len(which):  # far apart: only those
            return np.concatenate([self.packed(v, v + 1) for v in which])
        return self.packed(first, last)[which - first]

    def variant_blocks(self, m: int) -> list[tuple[int, int]]:
        """A fixed partition of ``m`` variants: blocks of bounded size, sixteen or more."""
        step = max(1, min(self.block_bytes // (4 * self.width), -(-m // 16)))
        return [(a, min(a + step, m)) for a in range(0, m, step)]

    def _refuse_same_people(self) -> None:
        lines: dict[str, int] = {}
        for number, who in enumerate(self.people, 1):
            first = lines.setdefault(who, number)
            if first != number:
                family, _, name = who.partition(" ")
                whose = "" if family == "0" else f" of family {visible(family, 40)}"
                raise InputError(
                    f"{self.path.with_suffix('.fam')}: lines {first} and {number} both name sample "
                    f"{visible(name, 40)}{whose}; samples are told apart by family and name, so "
                    "give one of them another (plink2 --update-ids)"
                )

    def _refuse_wrong(self) -> None:
        n, m = self.shape
        if not n or not m:
            raise InputError(f"{self.path.stem} has {n} samples and {m} variants; both are needed")
        with opened(self.path) as file:
            begins = os.read(file, 3)
        if begins[:2] != _MAGIC[:2]:
            raise InputError(f"{self.path} is no PLINK .bed file: it begins with {begins!r}")
        if begins[2:] != _MAGIC[2:]:
            raise InputError(
                f"{self.path} is sample-major (an old format); write it anew with plink --make-bed"
            )
        expected, found = len(_MAGIC) + m * self.width, self._state[0]
        if expected != found:
            raise InputError(
                f"{self.path} should have {expected:,} bytes for {n:,} samples (.fam) and {m:,} "
                f"variants (.bim), but has {found:,}: the three files do not belong together, or "
                "one is cut short"
            )


def _lines(path: Path, fields: int) -> Iterator[list[str]]:
    """The fields of every line of a .fam or .bim file."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                words = line.split()
                if len(words) < fields:
                    raise InputError(
                        f"{path}, line {number}: {count(len(words), 'field')} instead of {fields}: "
                        f"{visible(line.strip(), 60)!r}"
                    )
                yield words
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror or error}; a .bed file needs its .bim and .fam"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8") from None
