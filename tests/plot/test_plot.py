"""Figures: what is drawn, with which numbers, and that nothing is shown or lost on the way."""

import io
import itertools
import sys
import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from gramian import plot
from gramian.errors import GramianError
from gramian.results import Embedding
from tests.embeddings import cloud, embed, iris
from tests.report.payloads import PAYLOADS


@pytest.fixture(autouse=True)
def _close_figures(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_: pytest.fail("a plot must not show itself"))
    yield
    plt.close("all")


def saved(ax, kind="png"):
    out = io.BytesIO()
    ax.figure.savefig(out, format=kind)
    return out.getvalue()


def test_scree_draws_the_shares():
    e = iris()
    ax = plot.scree(e)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], e.explained)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.cumsum(e.explained))
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["PC1", "PC2", "PC3", "PC4"]
    assert saved(ax).startswith(b"\x89PNG")


def test_scree_of_bare_eigenvalues_and_of_many():
    ax = plot.scree(replace(iris(), explained=None))
    assert ax.get_ylabel() == "eigenvalue"
    saved(plot.scree(cloud(50, k=20)))
    with pytest.raises(GramianError, match="no eigenvalues"):
        plot.scree(Embedding("MDS", np.zeros((3, 2)), ("a", "b")))


def test_map_draws_every_point_in_the_color_and_shape_of_its_group():
    e = iris()
    ax = plot.map(e)
    drawn = np.vstack([c.get_offsets() for c in ax.collections])
    np.testing.assert_allclose(drawn, e.coordinates[:, :2])  # iris is sorted by species
    assert len({tuple(c.get_facecolor()[0]) for c in ax.collections}) == 3
    assert len({c.get_paths()[0].vertices.shape for c in ax.collections}) == 3
    legend = ax.get_legend()
    assert [t.get_text() for t in legend.get_texts()] == ["setosa", "versicolor", "virginica"]
    assert ax.get_xlabel() == "PC1 (92.5%)"
    assert ax.get_aspect() == 1.0
    saved(ax)


def test_map_of_other_axes_and_numbers():
    e = iris()
    ax = plot.map(e, axes=(2, 0), color="petal area")
    np.testing.assert_allclose(ax.collections[0].get_offsets(), e.coordinates[:, [2, 0]])
    np.testing.assert_allclose(ax.collections[0].get_array(), e.columns["petal area"])
    assert ax.collections[0].get_cmap().name == "viridis"
    own = np.where(np.arange(150) % 10, np.linspace(0, 1, 150), np.nan)
    ax = plot.map(e, color=own)
    assert [len(c.get_offsets()) for c in ax.collections] == [15, 135]
    saved(ax)


def test_given_axes_are_used_and_returned():
    figure, axes = plt.subplots(2, 2)
    e = iris()
    functions = (plot.scree, plot.map, plot.correlation_circle, plot.biplot)
    for function, ax in zip(functions, axes.flat, strict=True):
        assert function(e, ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
    left, _ = plt.figure().subfigures(1, 2)
    plot.map(e, ax=left.subplots(), labels=True)


def test_names_do_not_cover_each_other():
    ax = plot.map(cloud(200), labels=True)
    saved(ax)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert 20 < len(boxes) <= 200
    for a, b in itertools.combinations(boxes, 2):
        assert not (a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1)


def test_circle_holds_the_correlations():
    e = iris()
    ax = plot.correlation_circle(e)
    tips = [t.xy for t in ax.texts if t.get_text() == ""]
    order = np.argsort(-np.hypot(*e.correlations[:, :2].T), kind="stable")
    np.testing.assert_allclose(tips, e.correlations[order, :2])
    assert {t.get_text() for t in ax.texts} - {""} == set(e.variables)
    assert (
        len([t for t in plot.correlation_circle(cloud(50), most=5).texts if not t.get_text()]) == 5
    )


def test_biplot_keeps_directions():
    e = iris()
    ax = plot.biplot(e)
    tips = np.array([t.xy for t in ax.texts if t.get_text() == ""])
    order = np.argsort(-np.hypot(*e.loadings[:, :2].T), kind="stable")
    ratio = tips / e.loadings[order, :2]
    np.testing.assert_allclose(ratio, ratio[0, 0])
    assert ratio[0, 0] > 0


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_other_formats(kind):
    assert saved(plot.biplot(iris(), labels=True), kind)


def test_odd_names_are_only_text():
    rng = np.random.default_rng(0)
    names = [payload[:100] for payload in PAYLOADS]
    n = len(names)
    e = embed(rng.normal(size=(n, n)), names, k=3, labels=names, columns={names[0]: names})
    e = replace(e, axis_names=("$x^2$", "\\frac", "%"), color=names[0])
    with warnings.catch_warnings():
        # The default font lacks some letters, and there is no layout for scripts such as Arabic.
        warnings.filterwarnings("ignore", message=".*missing from font")
        warnings.filterwarnings("ignore", message=".*does not support")
        saved(plot.map(e, labels=True))
        saved(plot.correlation_circle(e, most=n))
        saved(plot.scree(e))


def test_errors_say_what_to_do():
    e = iris()
    with pytest.raises(GramianError, match="from 0 to 3"):
        plot.map(e, axes=(0, 4))
    with pytest.raises(GramianError, match="from 0 to 3"):
        plot.map(e, axes=(0, 1, 2))
    with pytest.raises(GramianError, match="known: species, petal area"):
        plot.map(e, color="sort")
    with pytest.raises(GramianError, match="3 values for 150 points"):
        plot.map(e, color=[1, 2, 3])
    with pytest.raises(GramianError, match="needs two axes"):
        plot.map(embed(np.eye(3, 1), "a"))
    bare = Embedding("MDS", np.zeros((3, 2)), ("a", "b"))
    with pytest.raises(GramianError, match="no correlations"):
        plot.correlation_circle(bare)
    with pytest.raises(GramianError, match="no loadings"):
        plot.biplot(bare)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(GramianError, match=r"pip install gramian\[plot\]"):
        plot.scree(iris())


def test_parallel_draws_eigenvalues_and_their_band():
    from gramian import parallel_analysis

    rng = np.random.default_rng(0)
    found = parallel_analysis(
        rng.standard_normal((60, 5)) + rng.standard_normal((60, 1)), n_permutations=39
    )
    ax = plot.parallel(found)
    mean, line, kept, rest = ax.lines
    np.testing.assert_allclose(mean.get_ydata(), found.null_mean)
    np.testing.assert_allclose(line.get_ydata(), found.eigenvalues)
    assert list(kept.get_xdata()) == [1] and list(rest.get_xdata()) == [2, 3, 4, 5]
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose(band.max(), found.quantiles([0.95])[0].max())
    np.testing.assert_allclose(band.min(), found.quantiles([0.05])[0].min())
    assert saved(ax).startswith(b"\x89PNG")


def test_ellipses_lie_round_their_points():
    from gramian.inference import bootstrap

    rng = np.random.default_rng(0)
    found = bootstrap(rng.standard_normal((30, 3)) * [5, 2, 0.5], 2, n_resamples=99)
    ax = plot.ellipses(found, (1, 0), level=0.5)
    drawn = np.array([[*e.center, e.width / 2, e.height / 2, e.angle] for e in ax.patches])
    np.testing.assert_allclose(drawn, found.ellipses((1, 0), 0.5))
    np.testing.assert_allclose(ax.lines[0].get_xdata(), found.coordinates[:, 1])
    assert ax.get_xlabel() == "axis 2" and saved(ax).startswith(b"\x89PNG")
