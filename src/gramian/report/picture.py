"""Small images without a library: PNG files as data addresses, densities of points as bytes."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from gramian.maps import Array
from gramian.show.colors import PALETTE

__all__ = ["density", "diverging_png"]


def diverging_png(values: Array) -> str:
    """An image of signed numbers, blue above 0 and orange below, as a ``data:`` address.

    Parameters
    ----------
    values : array of shape (height, width)
    """
    pixels = np.nan_to_num(np.asarray(values, dtype=np.float64))
    largest = float(np.abs(pixels).max())
    share = pixels / largest if largest > 0 else pixels
    levels = np.round(127.5 + 127.5 * share).astype(np.uint8)
    return _png(levels, _diverging())


def density(x: Array, y: Array, width: int, height: int) -> tuple[list[float], Array]:
    """How many points lie in each cell of a grid over all of them.

    Parameters
    ----------
    x, y : array of shape (n,)
    width, height : int

    Returns
    -------
    range : list of four floats
        Left, right, bottom, top.
    levels : array of uint8 of shape (height, width)
        The top row first; 255 in the fullest cell, by the logarithm of the count.
    """
    counts, across, up = np.histogram2d(
        np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), bins=(width, height)
    )
    logs = np.log1p(counts.T[::-1])
    levels = np.round(255 * logs / logs.max()).astype(np.uint8)
    edges = [across[0], across[-1], up[0], up[-1]]
    return [float(edge) for edge in edges], levels


def _diverging() -> bytes:
    """256 colors from the palette's orange through near-white to its blue."""
    ends = [_rgb(PALETTE[1]), (247, 247, 245), _rgb(PALETTE[0])]
    steps = np.linspace(0, 2, 256)
    channels = [np.interp(steps, [0, 1, 2], channel) for channel in zip(*ends, strict=True)]
    return np.round(np.column_stack(channels)).astype(np.uint8).tobytes()


def _rgb(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))


def _png(levels: Array, palette: bytes) -> str:
    """A PNG with a palette: the format's three obligatory blocks and the colors."""
    height, width = levels.shape
    # Every line starts with the number of its filter: 0, none.
    lines = np.column_stack([np.zeros(height, np.uint8), levels]).tobytes()
    size = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    blocks = (
        (b"IHDR", size),
        (b"PLTE", palette),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    )
    whole = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in blocks
    )
    return "data:image/png;base64," + base64.b64encode(whole).decode()
