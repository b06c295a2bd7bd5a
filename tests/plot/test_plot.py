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


def wines():
    """PCA of standardized wines as a model, its table and its embedding."""
    from sklearn.datasets import load_wine

    from gramian import PCA

    X, y = load_wine(return_X_y=True)
    model = PCA(scale="unit").fit(X)
    return X, model, model.to_embedding(X, columns={"grower": [f"grower {c}" for c in y]})


def test_scree_with_horns_band_in_the_unit_of_the_bars():
    from gramian import parallel_analysis

    X, _, e = wines()
    found = parallel_analysis(X, scale="unit", n_permutations=39)
    ax = plot.scree(e, parallel=found)
    m = len(found.p_values)
    np.testing.assert_allclose(ax.lines[0].get_ydata()[::2], found.null_mean / 13)
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose(band.max(), found.quantiles([0.95])[0].max() / 13)
    heights = np.array([bar.get_height() for bar in ax.patches[:m]])
    above = heights > found.null_quantile / 13
    assert sum(above) == found.n_components == 3
    bare = plot.scree(replace(e, explained=None), parallel=found)
    np.testing.assert_allclose(bare.lines[0].get_ydata()[::2], found.null_mean)
    with pytest.raises(GramianError, match="another scale"):
        plot.scree(e, parallel=parallel_analysis(X, n_permutations=39))
    saved(ax)


def test_spectrum_tells_negative_eigenvalues():
    from gramian.quality import check_distances

    D = np.array([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0.0]])
    checked = check_distances(D)
    ax = plot.spectrum(checked)
    heights = np.array([bar.get_height() for bar in ax.patches])
    np.testing.assert_allclose(heights, checked.eigenvalues / checked.eigenvalues[0], atol=1e-15)
    assert [bar.get_hatch() is not None for bar in ax.patches] == list(heights < -1e-12)
    assert ax.get_title("right") == f"{checked.n_negative} of 4 negative"
    assert plot.spectrum([3.0, 1e-4, 2.0]).get_title("right") == "none is negative"
    saved(plot.spectrum(iris()))
    saved(plot.spectrum(np.zeros(3)))
    with pytest.raises(GramianError, match="finite"):
        plot.spectrum([1.0, np.nan])
    saved(ax)


def test_biplot_scaling_2_shows_correlations_as_angles():
    _, _, e = wines()
    ax = plot.biplot(e, scaling=2, most=13)
    drawn = np.vstack([c.get_offsets() for c in ax.collections])
    np.testing.assert_allclose(drawn.std(axis=0, ddof=1), 1)
    tips = np.array([t.xy for t in ax.texts if t.get_text() == ""])
    # standardized data: arrows are correlations of variables with axes, times one number
    order = np.argsort(-np.hypot(*e.correlations[:, :2].T), kind="stable")
    ratio = tips / e.correlations[order, :2]
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-9)
    with pytest.raises(GramianError, match="scaling is 1 or 2"):
        plot.biplot(e, scaling=3)


@pytest.mark.parametrize("outline", ["ellipse", "hull"])
def test_outlines_hold_their_groups(outline):
    e = iris()
    ax = plot.map(e, outline=outline)
    assert len(ax.patches) == 3
    for code, patch in enumerate(ax.patches):
        members = e.coordinates[50 * code : 50 * code + 50, :2]
        around = patch.get_path().transformed(patch.get_patch_transform())
        inside = around.contains_points(members, radius=1e-9).sum()
        inside = max(inside, around.contains_points(members, radius=-1e-9).sum())
        assert inside == 50 if outline == "hull" else 44 <= inside <= 50
        np.testing.assert_allclose(
            np.ravel(ax.lines[code].get_xydata()), members.mean(axis=0), atol=1e-12
        )
    line = replace(e, coordinates=np.outer(np.arange(150.0), [1, 1, 0, 0]))
    saved(plot.map(line, outline=outline))
    saved(plot.map(e, color="petal area", outline=outline))
    with pytest.raises(GramianError, match="outline is"):
        plot.map(e, outline="box")


def test_contributions_and_cos2_beside_their_average():
    X, model, e = wines()
    ax = plot.contributions(e, most=5)
    heights = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(heights, np.sort(model.contributions_[:, 0])[::-1][:5])
    np.testing.assert_allclose(ax.lines[0].get_xdata(), 1 / 13)  # what each would make if equal
    assert "8 smaller not drawn" in ax.get_title("right")
    both = plot.contributions(e, (0, 1))
    weights = e.eigenvalues[:2] / e.eigenvalues[:2].sum()
    wanted = np.sort(model.contributions_[:, :2] @ weights)[::-1]
    np.testing.assert_allclose([bar.get_width() for bar in both.patches], wanted)
    assert both.get_xlabel() == "contribution to PC1 and PC2"
    rows = plot.contributions(e, values=model.contributions(X))
    np.testing.assert_allclose(rows.lines[0].get_xdata(), 1 / 178)

    quality = plot.cos2(e)
    wanted = np.sort((e.correlations[:, :2] ** 2).sum(axis=1))[::-1]
    np.testing.assert_allclose([bar.get_width() for bar in quality.patches], wanted)
    np.testing.assert_allclose(quality.lines[0].get_xdata(), e.explained[:2].sum())
    first = plot.cos2(e, values=model.cos2(X)).get_yticklabels()[0].get_text()
    assert first == f"row {np.argmax(model.cos2(X)[:, :2].sum(axis=1)) + 1}"
    for figure in (ax, both, rows, quality):
        saved(figure)
    with pytest.raises(GramianError, match="from 0 to 12"):
        plot.contributions(e, (13,))
    with pytest.raises(GramianError, match="a row of 13 finite numbers"):
        plot.cos2(e, values=np.ones((178, 2)))
    with pytest.raises(GramianError, match="no loadings"):
        plot.contributions(Embedding("MDS", np.zeros((3, 2)), ("a", "b")))


def test_shepard_takes_maps_and_distances_in_any_form():
    from scipy.spatial.distance import pdist, squareform

    from gramian import ClassicalMDS

    P = np.random.default_rng(0).normal(size=(12, 4))
    model = ClassicalMDS(2).fit(P)
    given, shown = pdist(P), pdist(model.embedding_)
    for fitted in (model, model.to_embedding(), shown, squareform(shown)):
        ax = plot.shepard(squareform(given), fitted)
        dots = np.asarray(ax.collections[0].get_offsets())
        np.testing.assert_allclose(dots, np.column_stack([given, shown]))
    assert (dots[:, 1] <= dots[:, 0] + 1e-12).all()  # a projection shortens
    line = ax.lines[0].get_xydata()
    np.testing.assert_array_equal(line[:, 0], line[:, 1])
    steps = plot.shepard(given, model, disparities=np.round(given))
    np.testing.assert_allclose(steps.lines[0].get_ydata(), np.round(np.sort(given)))
    assert steps.get_legend().get_texts()[0].get_text() == "disparities"
    many = pdist(np.random.default_rng(0).normal(size=(220, 2)))
    dense = plot.shepard(many, many)
    assert dense.collections[0].get_array().sum() == len(many)
    saved(dense)
    with pytest.raises(GramianError, match="66 pairs have distances and 6 are on the map"):
        plot.shepard(given, np.ones(6))


def test_stress_per_point_and_residual_variance():
    ax = plot.stress_per_point([1.0, 3.0, 0.0], ["a", "b", "$c$"])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [0.75, 0.25, 0])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["b", "a", r"\$c\$"]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), 1 / 3)
    measures = {"stress_per_point": [1.0, 3.0, 0.0], "residual_variance": (0.5, 0.1)}
    names = ("a", "b", "c")
    e = Embedding("MDS", np.zeros((3, 2)), ("x", "y"), labels=names, measures=measures)
    assert plot.stress_per_point(e).get_yticklabels()[0].get_text() == "b"
    curve = plot.residual_variance(e)
    np.testing.assert_array_equal(curve.lines[0].get_xydata(), [[1, 0.5], [2, 0.1]])
    saved(ax)
    saved(curve)
    saved(plot.stress_per_point(np.zeros(2)))
    with pytest.raises(GramianError, match="did not measure residual_variance"):
        plot.residual_variance(iris())
    with pytest.raises(GramianError, match="2 names for 3 points"):
        plot.stress_per_point([1, 2, 3], ["a", "b"])
    with pytest.raises(GramianError, match="negative"):
        plot.stress_per_point([1, -2])
    with pytest.raises(GramianError, match="NaN"):
        plot.residual_variance([0.5, np.nan])


def test_images_lie_in_rows_from_the_upper_left():
    rows = np.arange(5 * 6.0).reshape(5, 6)
    ax = plot.images(rows, (2, 3), titles=list("abcde"), columns=2)
    drawn = [image.get_array() for image in ax.images]
    np.testing.assert_array_equal(np.array(drawn), rows.reshape(5, 2, 3))
    left, top = zip(*((i.get_extent()[0], i.get_extent()[3]) for i in ax.images), strict=True)
    assert left[0] == left[2] == left[4] < left[1] == left[3]
    assert top[0] == top[1] < top[2] == top[3] < top[4]
    assert ax.yaxis_inverted()
    assert {image.get_clim() for image in ax.images} == {(0, 29)}
    assert [text.get_text() for text in ax.texts] == list("abcde")
    saved(ax)
    with pytest.raises(GramianError, match="rows of 9 numbers"):
        plot.images(rows, (3, 3))
    with pytest.raises(GramianError, match="4 titles for 5 images"):
        plot.images(rows, (2, 3), titles=list("abcd"))


def test_component_images_are_the_loadings_on_one_signed_scale():
    e = iris()
    ax = plot.component_images(e, (2, 2), most=3)
    for image, loading in zip(ax.images, e.loadings.T, strict=False):
        np.testing.assert_array_equal(np.ravel(image.get_array()), loading)
    assert len(ax.images) == 3
    reach = np.abs(e.loadings[:, :3]).max()
    assert {image.get_clim() for image in ax.images} == {(-reach, reach)}
    assert ax.texts[0].get_text() == "PC1 (92.5%)"
    with pytest.raises(GramianError, match="no loadings"):
        plot.component_images(Embedding("MDS", np.zeros((3, 2)), ("a", "b")), (1, 1))


def test_procrustes_arrows_lead_from_one_map_to_the_other():
    e = iris(k=2)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    same = replace(e, coordinates=3 * e.coordinates @ turn + 5, method="turned")
    arrows = plot.procrustes(e, same).collections[0]
    assert max(np.abs(arrows.U).max(), np.abs(arrows.V).max()) < 1e-12
    moved = same.coordinates.copy()
    moved[7] += 4
    ax = plot.procrustes(e, replace(same, coordinates=moved), labels=True)
    arrows = ax.collections[0]
    assert np.argmax(np.hypot(arrows.U, arrows.V)) == 7
    np.testing.assert_allclose(ax.lines[0].get_xydata(), e.coordinates)
    assert "arrows to turned" in ax.get_title()
    saved(ax)
    a, b = replace(e, labels=tuple("ab") * 75), replace(e, labels=tuple("ba") * 75)
    with pytest.raises(GramianError, match="one order"):
        plot.procrustes(a, b)
    with pytest.raises(GramianError, match="same points"):
        plot.procrustes(e, iris())


def test_shepard_of_a_regression_says_its_fit():
    from scipy.spatial.distance import pdist, squareform

    from gramian.quality import shepard

    P = np.random.default_rng(0).normal(size=(12, 4))
    found = shepard(squareform(pdist(P)), P[:, :2])
    ax = plot.shepard(found)
    dots = np.asarray(ax.collections[0].get_offsets())
    np.testing.assert_allclose(dots, np.column_stack([pdist(P), pdist(P[:, :2])]))
    line = ax.lines[0].get_ydata()
    np.testing.assert_allclose(line, np.sort(found.disparities))
    assert f"nonmetric fit {found.nonmetric_fit:.3f}" in ax.get_title()
    saved(ax)
    with pytest.raises(GramianError, match="not given"):
        plot.shepard(pdist(P))


def test_stress_scree_and_residual_bars_draw_their_numbers():
    from gramian.inference import protest
    from gramian.inference.stress import StressScree

    line = plot.stress_scree(StressScree(np.array([2, 4]), np.array([0.3, 0.1]))).lines[0]
    np.testing.assert_array_equal(line.get_xydata(), [[2, 0.3], [4, 0.1]])
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 9, 2))
    found = protest(X, Y, n_permutations=99)
    for result in (found, found.fit, found.fit.residuals):
        bars = plot.procrustes_residuals(result, list("abcdefghi"))
        widths = [bar.get_width() for bar in bars.patches]
        np.testing.assert_allclose(widths, np.sort(found.fit.residuals)[::-1])
    assert bars.get_yticklabels()[0].get_text() == "abcdefghi"[np.argmax(found.fit.residuals)]
    chance = plot.permutations(found)
    assert sum(bar.get_height() for bar in chance.patches) == 99
    np.testing.assert_allclose(chance.lines[0].get_xdata(), found.correlation)
    assert f"p = {found.p_value:.3g}" in chance.get_title("right")
    for ax in (bars, chance):
        saved(ax)


def test_coranking_lines_are_r_nx():
    from gramian.quality import coranking

    X = np.random.default_rng(0).normal(size=(40, 3))
    one, other = coranking(X, X[:, :2]), coranking(X[:30], X[:30, 1:])
    ax = plot.coranking(one)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), one.r_nx)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(1, 39))
    assert list(ax.lines[1].get_xdata()) == [one.best_k]
    both = plot.coranking({"first": one, "$second$": other})
    texts = [text.get_text() for text in both.get_legend().get_texts()]
    assert texts == [f"first AUC {one.auc:.3f}", rf"\$second\$ AUC {other.auc:.3f}"]
    saved(both)
    with pytest.raises(GramianError, match="no map"):
        plot.coranking({})


def test_envfit_arrows_point_where_variables_rise_and_levels_lie_at_their_means():
    from gramian.inference import envfit

    e = iris()
    Z = np.asarray(e.coordinates)
    table = {"up": Z[:, 1] + 0.01 * Z[:, 2], "species": e.columns["species"]}
    fit = envfit(Z, table, n_permutations=19)
    ax = plot.envfit(e, fit, (1, 0))
    (tip,) = (np.array(t.xy) for t in ax.texts if t.get_text() == "")
    np.testing.assert_allclose(tip / np.linalg.norm(tip), [1, 0], atol=0.02)
    crosses = next(line for line in ax.lines if line.get_marker() == "x")
    wanted = [Z[50 * i : 50 * i + 50].mean(axis=0)[[1, 0]] for i in range(3)]
    np.testing.assert_allclose(crosses.get_xydata(), wanted, atol=1e-12)
    names = {text.get_text() for text in ax.texts}
    assert {"up", "species setosa"} <= names
    saved(ax)
    none = plot.envfit(e, fit, p_max=0.01)  # 19 permutations reach no p below 0.05
    assert not none.texts
    with pytest.raises(GramianError, match="fitted to 2 axes, and the map has 4"):
        plot.envfit(e, envfit(Z[:, :2], table, n_permutations=0))


def test_ellipses_of_a_configuration_are_drawn():
    from gramian import ClassicalMDS
    from gramian.inference import bootstrap_configuration

    X = np.random.default_rng(0).normal(size=(9, 6))
    found = bootstrap_configuration(ClassicalMDS(2), X, n_resamples=9)
    ax = plot.ellipses(found)
    drawn = np.array([[*each.center, each.width / 2, each.height / 2] for each in ax.patches])
    np.testing.assert_allclose(drawn, found.ellipses()[:, :4])


def test_every_plot_draws_on_given_axes_and_opens_no_figure():
    X, _, e = wines()
    figure, axes = plt.subplots(4, 5, figsize=(20, 16))
    from gramian import parallel_analysis
    from gramian.inference import bootstrap, envfit, protest
    from gramian.quality import coranking

    agreed = protest(e.coordinates, e.coordinates, n_permutations=19)
    draw = {
        "biplot": lambda ax: plot.biplot(e, ax=ax),
        "component_images": lambda ax: plot.component_images(e, (13, 1), ax=ax),
        "contributions": lambda ax: plot.contributions(e, ax=ax),
        "coranking": lambda ax: plot.coranking(coranking(X, e.coordinates), ax=ax),
        "correlation_circle": lambda ax: plot.correlation_circle(e, ax=ax),
        "cos2": lambda ax: plot.cos2(e, ax=ax),
        "ellipses": lambda ax: plot.ellipses(bootstrap(X, 2, n_resamples=99), ax=ax),
        "envfit": lambda ax: plot.envfit(e, envfit(e.coordinates, X, n_permutations=0), ax=ax),
        "images": lambda ax: plot.images(np.eye(4), (2, 2), ax=ax),
        "map": lambda ax: plot.map(e, ax=ax),
        "parallel": lambda ax: plot.parallel(parallel_analysis(X, n_permutations=39), ax=ax),
        "permutations": lambda ax: plot.permutations(agreed, ax=ax),
        "procrustes": lambda ax: plot.procrustes(e, e, ax=ax),
        "procrustes_residuals": lambda ax: plot.procrustes_residuals(agreed, ax=ax),
        "residual_variance": lambda ax: plot.residual_variance([0.5, 0.1], ax=ax),
        "scree": lambda ax: plot.scree(e, ax=ax),
        "shepard": lambda ax: plot.shepard(np.ones(3), np.ones(3), ax=ax),
        "spectrum": lambda ax: plot.spectrum([2.0, 1.0, -0.5], ax=ax),
        "stress_per_point": lambda ax: plot.stress_per_point([1.0, 2.0], ax=ax),
        "stress_scree": lambda ax: plot.stress_scree([0.2, 0.1], ax=ax),
    }
    assert sorted(draw) == plot.__all__
    for name, ax in zip(draw, axes.flat, strict=True):
        assert draw[name](ax) is ax
    assert plt.get_fignums() == [figure.number]
    saved(axes.flat[0])
