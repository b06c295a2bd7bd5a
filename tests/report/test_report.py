"""The report as a file: what is in it, that it is safe, small, and the same each time."""

import base64
import hashlib
import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from gramian import PCA, ClassicalMDS, parallel_analysis
from gramian.errors import GramianError, InputError
from gramian.evidence import ChanceSpectrum, Shepard
from gramian.report import write_report
from gramian.report.charts import figure_text
from gramian.report.drawn import MAX_POINTS
from gramian.report.html import Html, element, table
from gramian.report.page import render
from gramian.report.picture import diverging_png
from gramian.results import Embedding
from gramian.show.text import visible
from tests.embeddings import cloud, embed, iris
from tests.report.payloads import PAYLOADS

VOID = {"meta", "link", "input", "br", "img"}


class Page(HTMLParser):
    """Tags, attributes and text of a page, with the nesting checked."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.scripts, self.open = [], [], [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attributes), []))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1].append(data)
        else:
            self.text.append(data)

    def all(self, tag, name):
        return [value for t, n, value in self.attributes if (t, n) == (tag, name)]

    @property
    def data(self):
        block = next(text for a, text in self.scripts if a.get("type") == "application/json")
        return json.loads("".join(block))


@pytest.fixture
def without_plotly(monkeypatch):
    """Leave the large script out where many pages are made and none is opened."""
    monkeypatch.setattr("gramian.report.page._plotly", lambda: "/* plotly */")


@pytest.fixture
def fixed_time(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def test_report_holds_what_a_reader_needs(tmp_path):
    path = tmp_path / "iris.html"
    e = iris(notes=("species is text",), command="gramian pca iris.csv")
    write_report(e, path)
    page = Page(path.read_text(encoding="utf-8"))
    text = " ".join(page.text)
    for part in (
        "PCA of iris.csv",
        "PC1 (92.5%)",
        "Certified: all 4 eigenpairs",
        "dense, one pass",
        "species is text",
        "gramian pca iris.csv",
        "from gramian import PCA",
        "random_state",
        "numpy",
        "On PC1 “setosa” does not overlap “versicolor” and “virginica”.",
        "+0.857",
    ):
        assert part in text, part
    assert page.all("html", "lang") == ["en"]
    assert path.stat().st_size < 5_000_000


def full():
    """An embedding that fills every optional field."""
    e = iris(labels=[f"flower {i}" for i in range(150)])
    rng = np.random.default_rng(0)
    given = rng.gamma(4, 1, 300)
    stress = rng.gamma(2, 1, 150)
    values = e.eigenvalues
    return replace(
        e,
        label="species",
        spectrum=np.array([*values, 0.0, -0.2, -0.5]),
        chance=ChanceSpectrum(values * 0.3, values * 0.4, values * 0.5, 2, 199),
        shepard=Shepard(given, given + rng.normal(0, 0.3, 300), None, 11_175),
        point_stress=stress / stress.sum(),
        point_cos2=rng.dirichlet(np.ones(4), 150),
        edges=np.column_stack([np.arange(149), np.arange(1, 150)]),
        residual_variance=np.array([0.5, 0.2, 0.1, 0.09]),
        image_shape=(2, 2),
        measures={"trustworthiness": 0.93, "goodness_of_fit": (0.4, 0.5), "odd": 3, "none": None},
    )


def test_every_chart_has_a_sentence_and_a_table(without_plotly):
    page = Page(render(full()))
    charts = [v for v in page.all("div", "id") if v.endswith("-chart")]
    kinds = ["map", "scree", "residual", "spectrum", "shepard", "stress", "circle", "contributions"]
    assert charts == [f"{kind}-chart" for kind in kinds]
    assert page.all("div", "role").count("img") == len(charts)
    names = [label for label in page.all("div", "aria-label") if label]
    assert sum(label.endswith(".") for label in names) == len(charts)
    assert page.tags.count("details") == 10
    assert page.tags.count("th") == page.all("th", "scope").__len__()
    assert page.tags.count("caption") == page.tags.count("table")
    controls = set(page.all("select", "id")) | set(page.all("input", "id"))
    assert controls == set(page.all("label", "for"))
    assert len(page.all("img", "alt")) == 4
    links = {link.lstrip("#") for link in page.all("a", "href")}
    assert links == set(page.all("section", "id"))


def test_optional_fields_are_told_in_words(without_plotly):
    text = " ".join(Page(render(full())).text)
    for part in (
        "Horn's parallel analysis with 199 permuted copies of the data finds 2 axes above chance.",
        "2 are negative and make",
        "the distances are not Euclidean",
        "a sample of 300 of 11,175 pairs",
        "an even share would be 0.7% each",
        "after 3 axes the curve flattens",
        "the ten nearest neighbors on the first two axes are near in the data too",
        "Quality of the points (cos2)",
        "Contributions of the points",
    ):
        assert part in text, part


def test_contributions_of_variables_sum_to_one(without_plotly):
    e = full()
    data = Page(render(e)).data["variables"]
    np.testing.assert_allclose(np.square(data["loadings"]).sum(axis=0), 1, rtol=1e-3)


def test_edges_join_drawn_points(without_plotly):
    e = cloud(60_000, k=3)
    e = replace(e, edges=np.column_stack([np.arange(59_999), np.arange(1, 60_000)]))
    data = Page(render(e)).data
    rows = np.frombuffer(base64.b64decode(data["rows"]), "<i4")
    joined = np.frombuffer(base64.b64decode(data["edges"]), "<i4").reshape(-1, 2)
    assert 0 < len(joined) <= 20_000
    assert (np.diff(rows[joined], axis=1) == 1).all()


def test_density_counts_all_points(without_plotly):
    e = cloud(60_000, k=3)
    shades = Page(render(e)).data["density"]
    assert [(s["x"], s["y"]) for s in shades] == [(0, 1), (0, 2), (1, 2)]
    x0, x1, y0, y1 = shades[0]["range"]
    levels = np.frombuffer(base64.b64decode(shades[0]["levels"]), "u1").reshape(120, 160)
    counts, _, _ = np.histogram2d(
        e.coordinates[:, 1], e.coordinates[:, 0], (120, 160), [(y0, y1), (x0, x1)]
    )
    assert counts.sum() == 60_000
    assert np.array_equal(levels[::-1] > 0, counts > 0)
    assert Page(render(iris())).data["density"] == []


def test_component_images_are_the_loadings():
    values = np.array([[1.0, -1.0, 0.0], [0.5, np.nan, -0.5]])
    with Image.open(BytesIO(base64.b64decode(diverging_png(values).split(",")[1]))) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert pixels.shape == (2, 3, 3)
    assert tuple(pixels[0, 0]) == (0x00, 0x72, 0xB2)
    assert tuple(pixels[0, 1]) == (0xD5, 0x5E, 0x00)
    assert pixels[0, 2].min() > 240
    with pytest.raises(GramianError, match="9 pixels, but there are 4 variables"):
        render(iris(image_shape=(3, 3)))


def test_models_report_themselves(tmp_path, without_plotly):
    X = np.random.default_rng(0).normal(size=(40, 5)) @ np.diag([5, 3, 1, 1, 1])
    model = PCA(3, ddof=0).fit(X)
    with pytest.raises(InputError, match=r"model\.report\(path, X\)"):
        model.report(tmp_path / "r.html")
    model.report(tmp_path / "r.html", X, title="forty", columns={"half": ["a", "b"] * 20})
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "Horn's parallel analysis" in " ".join(page.text)
    band = model.to_embedding(X, details=True).chance
    found = parallel_analysis(X, random_state=0)
    np.testing.assert_allclose(band.high, found.quantiles(0.95) * 39 / 40)
    assert band.n_components == found.n_components
    ClassicalMDS(2, metric="cityblock").fit(X).report(tmp_path / "d.html")
    text = " ".join(Page((tmp_path / "d.html").read_text(encoding="utf-8")).text)
    assert "all 780 pairs" in text
    assert "the distances are not Euclidean" in text


def test_shepard_pairs_are_the_distances():
    X = np.random.default_rng(0).normal(size=(30, 3))
    shown = ClassicalMDS(3).fit(X).to_embedding().shepard
    np.testing.assert_allclose(shown.distances, shown.dissimilarities, rtol=1e-10)
    assert len(shown.distances) == shown.n_pairs == 435


def test_policy_names_the_scripts_and_nothing_else(tmp_path):
    path = tmp_path / "r.html"
    write_report(iris(), path)
    page = Page(path.read_text(encoding="utf-8"))
    policy = next(v for v in page.all("meta", "content") if "default-src" in v)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "http" not in policy
    run = ["".join(text) for a, text in page.scripts if "type" not in a]
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in run]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert len(run) == 2
    assert page.all("script", "src") == []
    assert [href for href in page.all("a", "href") if not href.startswith("#")] == []


def test_same_input_same_bytes(tmp_path, fixed_time):
    for name in ("a.html", "b.html"):
        write_report(cloud(500), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert "2023-11-14 22:13 UTC" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_only_the_time_differs(without_plotly, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 0.0)
    first = render(iris())
    monkeypatch.setattr("time.time", lambda: 1e9)
    second = render(iris())
    assert first != second
    stamp = r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"
    assert re.sub(stamp, "", first) == re.sub(stamp, "", second)


def test_size_of_ten_thousand_points(tmp_path):
    path = tmp_path / "r.html"
    write_report(cloud(10_000), path)
    assert path.stat().st_size < 6_000_000
    page = Page(path.read_text(encoding="utf-8"))
    assert len(page.data["labels"]) == 10_000
    packed = base64.b64decode(page.data["coordinates"][0]["data"])
    drawn = np.frombuffer(packed, dtype="<f4")
    np.testing.assert_allclose(drawn, cloud(10_000).coordinates[:, 0], rtol=1e-6, atol=1e-6)


def test_size_has_a_ceiling_whatever_the_names_are(without_plotly):
    names = ["漢字<&>" * 20 + str(i) for i in range(60_000)]
    columns = {f"text {j}": names for j in range(5)} | {
        f"number {j}": np.random.default_rng(j).normal(size=60_000) for j in range(20)
    }
    source = render(cloud(60_000, k=20, labels=names, columns=columns))
    assert len(source.encode()) < 5_100_000  # besides Plotly's 4.8 MB
    page = Page(source)
    text = " ".join(page.text)
    assert f"{MAX_POINTS:,} of 60,000 points drawn" in text
    assert "Row names are shortened to" in text
    assert "columns left out for size" in text
    assert "The map offers the first 10 of 20 axes." in text
    rows = np.frombuffer(base64.b64decode(page.data["rows"]), dtype="<i4")
    assert len(rows) == MAX_POINTS
    assert len(page.data["labels"]) == MAX_POINTS


@pytest.mark.parametrize(
    "place", ["column", "label", "group", "title", "source", "variable", "rest"]
)
def test_hostile_text_stays_text(without_plotly, place):
    for payload in PAYLOADS:
        source = _page_with(place, payload)
        page = Page(source)
        # The same elements and attributes as with a harmless name as long: nothing got in.
        assert _shape(page) == _shape(Page(_page_with(place, "n" * len(payload)))), payload
        for _, text in page.scripts:
            assert "<" not in "".join(text) or "pwned" not in "".join(text)
        assert all("<" not in string for string in _strings(page.data))
        shown = visible(payload, 30).rstrip("…")
        everywhere = " ".join([*page.text, *(v or "" for _, _, v in page.attributes)])
        assert shown in everywhere or (payload == "" and place in ("group", "source"))
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", source)


def _page_with(place, text):
    X = np.random.default_rng(0).normal(size=(6, 3))
    settings = {"labels": list("uvwxyz"), "columns": {"g": list("aabbcc")}, "source": "s.csv"}
    variables, title = ["a", "b", "c"], "title"
    if place == "column":
        settings["columns"] = {text: list("aabbcc"), "other": np.arange(6) / 7}
    elif place == "label":
        settings["labels"] = [text, *"vwxyz"]
    elif place == "group":
        settings["columns"] = {"g": [text, text, "b", "b", "c", "c"]}
    elif place == "title":
        title = text
    elif place == "source":
        settings["source"] = text
        title = None
    elif place == "variable":
        variables = ["a", text, "c"]
    else:
        settings |= {"plan": text, "notes": (text,), "command": text, "parameters": {text: text}}
    return render(embed(X, variables, **settings), title=title)


def _shape(page):
    """How many of which elements and attributes; a name may change the order of groups."""
    return Counter(page.tags), Counter((tag, name) for tag, name, _ in page.attributes)


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def test_figure_text_leaves_no_markup():
    assert figure_text("<b>&amp;</b>") == "&lt;b&gt;&amp;amp;&lt;/b&gt;"


def test_elements_escape_unless_told():
    assert element("p", "<b>", Html("<i>x</i>"), None) == "<p>&lt;b&gt;<i>x</i></p>"
    assert element("a", "x", title='"<>&', hidden=True, lang=None) == (
        '<a title="&quot;&lt;&gt;&amp;" hidden>x</a>'
    )
    assert 'class="sortable"' not in table("t", ("a", "b"), [("1", "2")])


def test_extreme_numbers(without_plotly):
    for scale in (1e-300, 1e-30, 1.0, 1e30, 1e300):
        X = scale * np.random.default_rng(0).normal(size=(5, 2))
        e = Embedding("PCA", X, ("PC1", "PC2"), eigenvalues=np.array([1.0, 0.5]) * scale)
        packed = Page(render(e)).data["coordinates"][0]
        kind = {"f4": "<f4", "f8": "<f8"}[packed["type"]]
        values = np.frombuffer(base64.b64decode(packed["data"]), dtype=kind)
        np.testing.assert_allclose(values.astype(float), X[:, 0], rtol=1e-6)


def test_what_is_absent_is_left_out(without_plotly):
    bare = Embedding("MDS", np.random.default_rng(0).normal(size=(5, 2)), ("MDS1", "MDS2"))
    page = Page(render(bare))
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert "map" in ids
    assert not {"scree", "variables", "notes"} & set(ids)
    assert {link.lstrip("#") for link in page.all("a", "href")} <= set(ids)
    assert "nan" not in " ".join(page.text)
    one = Page(render(embed(np.eye(4, 1), "a")))
    assert "map-y" not in one.all("select", "id")
    assert one.data["variables"] is None


def test_nan_in_correlations_is_drawn_as_zero(without_plotly):
    e = iris()
    e = replace(e, correlations=np.where(e.correlations > 0.9, np.nan, e.correlations))
    page = Page(render(e))
    assert "nan" not in " ".join(page.text).lower()
    assert page.data["variables"]["correlations"][2][0] == 0


def test_uncertified_is_marked(without_plotly):
    text = " ".join(Page(render(iris(residual=1e-3))).text)
    assert "✗ Not certified: largest residual 0.001" in text
    assert "NOT certified" in text


def test_errors(tmp_path):
    with pytest.raises(GramianError, match=r"an \.html file"):
        write_report(iris(), tmp_path / "report.pdf")
    with pytest.raises(GramianError, match="at least one observation"):
        write_report(replace(iris(), coordinates=np.zeros((0, 4))), tmp_path / "r.html")
    with pytest.raises(GramianError, match="got str"):
        write_report("iris", tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_fitted_method_will_do(tmp_path, without_plotly):
    class Fitted:
        def to_embedding(self):
            return iris()

    write_report(Fitted(), tmp_path / "r.html", title="Fisher's irises")
    assert "Fisher&#x27;s irises" in (tmp_path / "r.html").read_text(encoding="utf-8")
