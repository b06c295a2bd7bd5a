"""A folder of images as rows: one image a row, its numbers line by line, in the order of names.

All images must have one size and one mode (gray or color). They come into memory if they fit, else
they are decoded once to a temporary copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramian.data.array_rows import ArrayRows
from gramian.data.rows import RowBlocked
from gramian.data.stage import Stage
from gramian.errors import InputError, MemoryRefusedError
from gramian.memory import budget, in_words

_plain = {"1": "L", "P": "RGB", "RGBA": "RGBA", "LA": "LA"}  # what palettes and bits become
_bits = {"L": np.uint8, "RGB": np.uint8, "RGBA": np.uint8, "LA": np.uint8, "I;16": np.uint16}


def open_images(paths: Sequence[Path], memory: Any) -> tuple[RowBlocked, tuple[str, ...]]:
    """Rows of the images, and their names without ending."""
    size, mode = _looked_at(paths[0])
    dtype = np.dtype(_bits.get(mode, np.float32))
    width = len(_decoded(paths[0], size, mode, budget(memory)))
    names = tuple(path.stem for path in paths)
    if len(paths) * width * 8 <= budget(memory) // 3:
        X = np.empty((len(paths), width), dtype)
        for i, path in enumerate(paths):
            X[i] = _decoded(path, size, mode, budget(memory))
        return ArrayRows(X, memory), names
    stage = Stage(f"the folder {paths[0].parent}", paths[0], width, dtype)
    for block in _blocks(paths, size, mode, width, dtype, budget(memory)):
        stage.add(block)
    return stage.rows(memory), names


def _blocks(
    paths: Sequence[Path], size: Any, mode: str, width: int, dtype: Any, allowed: int
) -> Iterator[np.ndarray]:
    step = max(1, min(allowed // 24, 16_000_000) // (width * dtype.itemsize))
    for a in range(0, len(paths), step):
        some = paths[a : a + step]
        yield np.stack([_decoded(path, size, mode, allowed) for path in some])


def _looked_at(path: Path) -> tuple[tuple[int, int], str]:
    """Width, height and mode, without decoding."""
    image = _opened(path)
    with image:
        return image.size, _plain.get(image.mode, image.mode)


def _decoded(path: Path, size: tuple[int, int], mode: str, allowed: int) -> np.ndarray:
    """One image as a row; of the size and mode of the first."""
    image = _opened(path)
    with image:
        found = image.size, _plain.get(image.mode, image.mode)
        if found != (size, mode):
            raise InputError(
                f"{path} has {found[0][0]} x {found[0][1]} pixels ({found[1]}), the first image "
                f"{size[0]} x {size[1]} ({mode}); images must be of one size and kind"
            )
        if size[0] * size[1] * 8 > allowed // 8:  # before a pixel is decoded
            raise MemoryRefusedError(
                f"{path} has {size[0]} x {size[1]} pixels, too many for {in_words(allowed)} of "
                "memory; make the images smaller, or allow more (memory=)"
            )
        try:
            return np.asarray(image.convert(mode) if image.mode != mode else image).ravel()
        except (OSError, SyntaxError, ValueError) as error:
            raise InputError(f"{path} cannot be decoded ({error}); the file is damaged") from None


def _opened(path: Path) -> Any:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise InputError(
            f'{path}: images need the package Pillow: pip install "gramian[images]"'
        ) from None
    try:
        return Image.open(path)
    except UnidentifiedImageError:
        raise InputError(f"{path} is not an image, whatever its name says") from None
    except (OSError, Image.DecompressionBombError) as error:
        raise InputError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
