import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gramian.show.colors import MAX_GROUPS, PALETTE, Groups, Numbers, coloring, grouping
from gramian.show.thumbnail import thin


@pytest.mark.parametrize("wrap", [list, tuple, np.array, pl.Series, pd.Series])
def test_text_makes_groups(wrap):
    groups = coloring(wrap(["b", "a", "b"]))
    assert groups.levels == ("a", "b")
    assert groups.codes.tolist() == [1, 0, 1]
    assert groups.sizes.tolist() == [1, 2]


def test_numbers_make_a_scale_and_few_whole_numbers_groups():
    assert isinstance(coloring([0.5, 1.5, 2.5]), Numbers)
    assert isinstance(coloring(np.arange(100)), Numbers)
    codes = coloring([2, 1, 2, 10, 10])
    assert codes.levels == ("1", "2", "10")
    assert coloring([True, False, True]).levels == ("False", "True")


def test_missing_values_are_a_group_of_their_own_or_nan():
    groups = coloring(["x", None, "", "y"])
    assert groups.levels == ("x", "y", "missing")
    assert groups.codes.tolist() == [0, 2, 2, 1]
    numbers = coloring([1.5, None, 2.5])
    assert np.isnan(numbers.values[1])
    assert coloring([1, 2, None, 1, 2]).levels == ("1", "2", "missing")


def test_names_do_not_color_but_can_be_forced():
    names = [f"name {i}" for i in range(100)]
    assert coloring(names) is None
    groups = grouping(names)
    assert len(groups.levels) == MAX_GROUPS
    assert groups.levels[-1] == "other (81 groups)"


def test_frequent_groups_stay_themselves():
    column = ["big"] * 50 + [f"rare {i}" for i in range(40)] + [None]
    groups = grouping(column)
    assert len(groups.levels) == MAX_GROUPS
    assert groups.levels[0] == "big"
    assert groups.levels[-1] == "missing"
    assert groups.sizes.sum() == len(column)


def test_palette_stays_distinct_for_color_blind_readers():
    """Smallest distance in CIELAB between any two colors, as seen with and without cones."""
    views = {  # Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB
        "all cones": np.eye(3),
        "protanopia": [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        "deuteranopia": [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    }
    for name, view in views.items():
        seen = [_lab(np.asarray(view) @ _linear(color)) for color in PALETTE]
        closest = min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2))
        assert closest > 9, name


def _linear(color):
    rgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _lab(rgb):
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = [t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_thinning_is_fixed_and_fair():
    assert thin(10, 20).tolist() == list(range(10))
    rows = thin(100_000, 1000)
    assert rows.tolist() == thin(100_000, 1000).tolist()
    assert len(set(rows.tolist())) == 1000
    assert np.all(np.diff(rows) > 0)
    groups = Groups(("common", "rare"), np.r_[np.zeros(90_000, int), np.ones(10_000, int)])
    sample = groups.codes[thin(100_000, 1000, groups)]
    assert np.bincount(sample).tolist() == [900, 100]
