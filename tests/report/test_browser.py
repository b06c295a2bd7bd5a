"""The report in a real browser: it draws, answers, stays silent, and runs nobody else's code.

Needs the Python package playwright and an installed Chromium (or a path in GRAMIAN_BROWSER).
"""

import csv
import os
import shutil
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gramian.report import write_report
from gramian.show.text import visible
from tests.embeddings import cloud, embed, iris
from tests.report.payloads import PAYLOADS
from tests.report.test_report import full

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="module")
def browser():
    driver = pytest.importorskip(
        "playwright.sync_api", reason="browser tests skipped: pip install playwright"
    )
    program = os.environ.get("GRAMIAN_BROWSER") or next(
        filter(None, map(shutil.which, NAMES)), None
    )
    if program is None:
        pytest.skip("browser tests skipped: no Chromium found (apt install chromium)")
    with driver.sync_playwright() as playwright:
        # Containers run as root, where Chromium's own sandbox cannot start.
        flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        chromium = playwright.chromium.launch(executable_path=program, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report; whatever goes wrong in it or leaves it fails the test."""

    @contextmanager
    def open_report(embedding, title=None, **context):
        path = tmp_path / "report.html"
        write_report(embedding, path, title=title)
        settings = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **context}
        view = browser.new_context(**settings)
        page, trouble = view.new_page(), []
        page.on(
            "dialog", lambda dialog: (trouble.append(f"dialog {dialog.message}"), dialog.dismiss())
        )
        page.on("pageerror", lambda error: trouble.append(f"page error {error}"))
        page.on(
            "console",
            lambda message: (
                message.type in ("error", "warning")
                and trouble.append(f"console {message.type}: {message.text}")
            ),
        )
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "data:", "blob:"))
                or trouble.append(f"request {request.url}")
            ),
        )
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-drawn]", timeout=30_000)
        yield page
        assert trouble == []
        view.close()

    return open_report


def chart(page, expression):
    """Evaluate an expression of the map's Plotly element, called ``map``."""
    return page.evaluate(
        f"(() => {{ const map = document.getElementById('map-chart'); {expression} }})()"
    )


def hover_nearest_to_middle(page, selector):
    page.locator("#map-chart").scroll_into_view_if_needed()
    box = page.locator("#map-chart").bounding_box()
    for dx in range(0, 200, 3):
        page.mouse.move(box["x"] + box["width"] / 2 + dx, box["y"] + box["height"] / 2 + dx / 3)
        if page.locator(selector).count() and page.locator(selector).first.is_visible():
            return page.locator(selector).first
    raise AssertionError("nothing to hover over")


def test_map_draws_hovers_and_switches(opened):
    with opened(iris(labels=[f"flower {i}" for i in range(150)])) as page:
        assert chart(page, "return map.data.length") == 5  # three groups, labels, rings
        assert page.locator("#map-chart .points path").count() == 150
        symbols = chart(page, "return map.data.slice(0, 3).map((t) => t.marker.symbol)")
        colors = chart(page, "return map.data.slice(0, 3).map((t) => t.marker.color)")
        assert len(set(symbols)) == len(set(colors)) == 3
        assert "flower" in hover_nearest_to_middle(page, "#map-chart .hovertext").text_content()

        page.select_option("#map-x", "1")
        page.select_option("#map-y", "2")
        assert chart(page, "return map.layout.xaxis.title.text").startswith("PC2 (")
        assert "PC2 (5.3%) across, PC3 (1.7%) up" in page.get_attribute("#map-chart", "aria-label")

        page.select_option("#map-color", label="petal area")
        assert chart(page, "return map.data[1].marker.color.length") == 150
        assert "petal area" in page.text_content("#map-legend")
        page.select_option("#map-color", label="one color")
        assert page.text_content("#map-legend") == ""


def test_found_points_are_marked(opened):
    with opened(iris(labels=[f"flower {i}" for i in range(150)])) as page:
        page.fill("#map-search", "FLOWER 14")
        page.wait_for_function(
            "document.getElementById('map-chart').layout.annotations.length == 8"
        )
        assert "Found 11: flower 14, flower 140" in page.text_content("#map-found")
        assert chart(page, "return map.data.at(-1).x.length") == 11
        page.fill("#map-search", "no such flower")
        assert "No point matches" in page.text_content("#map-found")


def test_keyboard_reaches_everything(opened):
    with opened(iris()) as page:
        reached = []
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.append(
                page.evaluate("document.activeElement.id || document.activeElement.tagName")
            )
        wanted = (
            "map-x map-y map-color map-label map-search map-view-flat map-drag-zoom map-equal "
            "map-arrows zoom-in zoom-out zoom-reset save-csv save-png save-svg contributions-axis"
        )
        positions = [reached.index(name) for name in wanted.split()]
        assert positions == sorted(positions)
        assert "SUMMARY" in reached

        before = chart(page, "return map.layout.xaxis.range")
        page.focus("#zoom-in")
        page.keyboard.press("Enter")
        after = chart(page, "return map.layout.xaxis.range")
        assert after[1] - after[0] == pytest.approx(0.6 * (before[1] - before[0]), rel=1e-3)
        page.focus("#map-legend button")
        page.keyboard.press("Space")
        assert page.get_attribute("#map-legend button", "aria-pressed") == "false"
        assert chart(page, "return map.data[0].visible") is False


def test_tables_sort(opened):
    with opened(iris()) as page:
        page.click("#scree summary")
        button = page.locator("#scree th button", has_text="eigenvalue")
        first = page.locator("#scree tbody th").first
        button.click()
        assert first.text_content() == "PC4"
        button.click()
        assert first.text_content() == "PC1"
        heading = page.locator("#scree th[aria-sort]")
        assert heading.get_attribute("aria-sort") == "descending"
        assert heading.text_content() == "eigenvalue"


@pytest.mark.parametrize("n", [150, 12_000])
def test_saved_files(opened, tmp_path, n):
    e = iris() if n == 150 else cloud(n, k=3)
    with opened(e) as page:
        saved = {}
        for button in ("save-csv", "save-png", "save-svg"):
            with page.expect_download() as download:
                page.click(f"#{button}")
            saved[button] = tmp_path / download.value.suggested_filename
            download.value.save_as(saved[button])
        rows = list(csv.DictReader(saved["save-csv"].read_text(encoding="utf-8").splitlines()))
        assert len(rows) == n
        values = np.array([[float(row[name]) for name in e.axis_names] for row in rows])
        np.testing.assert_allclose(values, e.coordinates, rtol=1e-5, atol=1e-6)
        assert rows[7][next(iter(e.columns))] == next(iter(e.columns.values()))[7]
        assert saved["save-png"].read_bytes().startswith(b"\x89PNG")
        assert ET.parse(saved["save-svg"]).getroot().tag.endswith("svg")


INK = """() => {
    const canvas = document.getElementById("map-canvas");
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const { data } = pen.getImageData(0, 0, copy.width, copy.height);
    let sum = 0;
    for (let i = 3; i < data.length; i += 4) sum += data[i] > 0;
    return canvas.hidden ? 0 : sum / (data.length / 4);
}"""
PIXELS = "document.getElementById('map-canvas').toDataURL()"


def test_many_points_are_painted(opened):
    e = cloud(12_000, k=3)
    with opened(e) as page:
        assert 0.02 < page.evaluate(INK) < 0.9
        tip = hover_nearest_to_middle(page, ".tip")
        assert "sample_" in tip.text_content()
        page.fill("#map-search", "sample_000077")
        assert "Found 1: sample_000077." in page.text_content("#map-found")
        before = page.evaluate(PIXELS)
        page.click("#zoom-in")
        page.wait_for_function(f"old => {PIXELS} !== old", arg=before)
        page.select_option("#map-color", label="depth")
        assert "depth" in page.text_content("#map-legend")


def test_thinned_points_have_all_behind_them(opened):
    with opened(cloud(50_200, k=3)) as page:
        whole = page.evaluate(INK)
        for group in page.locator("#map-legend button").all():
            group.click()
        page.wait_for_timeout(200)
        assert 0.02 < page.evaluate(INK) <= whole  # what is left is the shade
        page.select_option("#map-x", "1")
        page.select_option("#map-y", "0")
        page.wait_for_timeout(200)
        assert page.evaluate(INK) > 0.02
        assert "50,000 of 50,200 points drawn" in page.text_content("#map")


def test_space_turns_by_mouse_and_keyboard(opened):
    with opened(iris(labels=[f"flower {i}" for i in range(150)])) as page:
        assert not page.is_visible("#map-z")
        page.focus("#map-view-flat")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("!document.getElementById('map-canvas').hidden")
        assert page.is_visible("#map-z")
        assert "PC3 (1.7%) toward you" in page.get_attribute("#map-chart", "aria-label")
        texts = page.locator("#map-chart .annotation-text").all_text_contents()
        assert ["PC1" in t or "PC2" in t or "PC3" in t for t in texts if t] == [True] * 3
        assert page.evaluate(INK) > 0.005
        page.mouse.move(0, 0)
        for act in (
            drag,
            lambda page: page.click("#turn-left"),
            lambda page: page.click("#zoom-in"),
        ):
            before = page.evaluate(PIXELS)
            act(page)
            page.wait_for_function(f"old => {PIXELS} !== old", arg=before)
        assert "flower" in hover_nearest_to_middle(page, ".tip").text_content()
        page.check("#map-arrows")
        page.wait_for_function(
            "document.getElementById('map-chart').layout.annotations.length > 10"
        )
        page.check("#map-view-flat", force=True)
        page.wait_for_function("document.getElementById('map-canvas').hidden")
        assert chart(page, "return map.layout.xaxis.title.text").startswith("PC1 (")


def drag(page, path=((60, 25),)):
    page.locator("#map-chart").scroll_into_view_if_needed()
    box = page.locator("#map-chart").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for dx, dy in path:
        page.mouse.move(x + dx, y + dy, steps=8)
    page.mouse.up()


@pytest.mark.parametrize(("n", "space"), [(300, False), (300, True), (12_000, False)])
def test_lasso_lists_what_it_holds(opened, tmp_path, n, space):
    e = cloud(n, k=3)
    with opened(e) as page:
        if space:
            page.check("#map-view-space", force=True)
        page.check("#map-drag-lasso", force=True)
        drag(page, ((150, 0), (150, 120), (0, 120), (0, 4)))
        page.wait_for_selector("#map-picked h3")
        head = page.text_content("#map-picked h3")
        size = int(head.split()[0].replace(",", ""))
        assert 0 < size < n
        assert page.locator("#map-picked tbody tr").count() == min(size, 200)
        with page.expect_download() as download:
            page.click("#picked-csv")
        download.value.save_as(tmp_path / "s.csv")
        kept = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
        assert len(kept) == size
        if not space:  # the lasso was a rectangle: what it holds is what lies inside
            Z = np.array([[float(row["PC1"]), float(row["PC2"])] for row in kept])
            low, high = Z.min(axis=0), Z.max(axis=0)
            inside = np.all((e.coordinates[:, :2] >= low) & (e.coordinates[:, :2] <= high), axis=1)
            assert inside.sum() == pytest.approx(size, abs=max(3, 0.02 * size))
        page.click("#picked-clear")
        page.wait_for_selector("#map-picked h3", state="detached")


def test_search_and_enter_list_points(opened):
    with opened(iris(labels=[f"flower {i}" for i in range(150)])) as page:
        page.fill("#map-search", "flower 14")
        page.keyboard.press("Enter")
        page.wait_for_selector("#map-picked h3")
        assert page.text_content("#map-picked h3") == "11 points selected"


def test_labels_by_column(opened):
    e = replace(iris(labels=[f"flower {i}" for i in range(150)]), label="species")
    written = "return map.data.at(-2).text"
    with opened(e) as page:
        page.wait_for_function("document.getElementById('map-chart').data.at(-2).text.length > 3")
        assert set(chart(page, written)) == {"setosa", "versicolor", "virginica"}
        page.fill("#map-search", "virgin")
        assert "Found 50" in page.text_content("#map-found")
        page.select_option("#map-label", label="names")
        assert all(text.startswith("flower") for text in chart(page, written))
        page.select_option("#map-label", label="none")
        assert chart(page, written) == []


def test_every_chart_is_drawn_and_saved(opened, tmp_path):
    with opened(full()) as page:
        for chart_ in page.locator(".chart").all():
            assert chart_.locator(".main-svg").count() >= 1, chart_.get_attribute("id")
        for button in page.locator("[data-save]").all():
            with page.expect_download() as download:
                button.click()
            page.wait_for_timeout(200)  # Chromium drops the eleventh download of a second
            assert download.value.suggested_filename.startswith("pca-of-iris-csv-")
        assert page.locator(".images img").count() == 4
        assert page.evaluate("[...document.images].every((i) => i.complete && i.naturalWidth == 2)")
        page.select_option("#contributions-axis", "1")
        assert "PC2 is made most by" in page.get_attribute("#contributions-chart", "aria-label")
        page.uncheck("#map-graph")
        assert chart(page, "return map.data.some((t) => t.mode == 'lines')") is False


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_keeps_a_reader_out(opened, scheme, width):
    """axe-core's rules: no serious finding, contrast included."""
    package = pytest.importorskip(
        "axe_playwright_python", reason="axe-core skipped: pip install axe-playwright-python"
    )
    source = Path(package.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    size = {"width": width, "height": 900}
    with opened(full(), viewport=size, color_scheme=scheme) as page:
        for folded in page.locator("details > summary").all():
            folded.click()
        page.fill("#map-search", "flower 1")
        page.keyboard.press("Enter")
        page.wait_for_selector("#map-picked table")
        page.evaluate(source)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        bad = [
            (v["id"], v["impact"], [node["html"][:120] for node in v["nodes"][:3]])
            for v in found["violations"]
            if v["impact"] in ("serious", "critical", "moderate")
        ]
        assert bad == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "light"), (390, "dark")])
def test_fits_the_screen(opened, width, scheme):
    size = {"width": width, "height": 844}
    with opened(cloud(300), viewport=size, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == width
        dark = (
            page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        )
        assert dark == (scheme == "dark")
        ink = chart(page, "return map.layout.font.color")
        assert ink == page.evaluate(
            "getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()"
        )


def test_prints_on_white(opened):
    with opened(iris(), color_scheme="dark") as page:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert chart(page, "return map.layout.font.color") == "#000"
        assert page.pdf(format="A4").startswith(b"%PDF")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert chart(page, "return map.layout.font.color") != "#000"


def test_without_script_the_map_is_still_there(browser, tmp_path):
    write_report(iris(), tmp_path / "r.html")
    view = browser.new_context(java_script_enabled=False)
    page = view.new_page()
    page.goto((tmp_path / "r.html").as_uri())
    assert page.locator("#map-chart svg circle").count() == 50
    view.close()


def test_hostile_names_do_nothing(opened):
    """Every payload at once as row name, variable, group, column; the worst ones as title too."""
    rng = np.random.default_rng(0)
    names = [payload[:200] for payload in PAYLOADS]
    n = len(names)
    columns = {
        name: [names[(i + j) % n] for i in range(3 * n)] for j, name in enumerate(names[:20])
    }
    e = embed(
        rng.normal(size=(3 * n, n)),
        names,
        k=4,
        labels=names * 3,
        columns=columns,
        source=names[0],
        notes=tuple(names),
        command=" ".join(names),
        plan=names[6],
        parameters=dict.fromkeys(names, "<img src=x onerror=pwned()>"),
    )
    e = replace(e, axis_names=tuple(names[:4]))
    for start in (0, 8, 32):
        title = "".join(name[:24] for name in names[start : start + 8])
        with opened(e, title=title) as page:
            assert page.title() == " ".join(visible(title, 200).split())
            assert page.evaluate("document.scripts.length") == 3
            assert (
                page.locator("iframe, object, embed, base, img, form, marquee, video").count() == 0
            )
            if start:
                continue
            for i in range(20):
                page.select_option("#map-color", str(i))
            page.fill("#map-search", "<script>")
            assert "<script>pwned()</script>" in page.text_content("#map-found")
            marked = page.locator("#map-chart .annotation-text").all_text_contents()
            assert "<script>pwned()</script>" in marked
            assert page.locator("#map-chart a").count() == 0
            hover_nearest_to_middle(page, "#map-chart .hovertext")
            for heading in page.locator("#variables th button:visible").all()[:3]:
                heading.click()


ATTACK = """async () => {
    const reports = [];
    addEventListener("securitypolicyviolation", (event) => reports.push(event.effectiveDirective));
    const add = (html) => document.body.insertAdjacentHTML("beforeend", html);
    add("<img src='https://evil.example/p.png' onerror='window.pwned = 1'>");
    add("<button onclick='window.pwned = 1' id=trap>x</button>");
    document.getElementById("trap").click();
    const script = document.createElement("script");
    script.textContent = "window.pwned = 1";
    document.body.append(script);
    try { await fetch("https://evil.example"); } catch {}
    await new Promise((done) => setTimeout(done, 300));
    return [window.pwned ?? 0, reports];
}"""


def test_markup_that_got_in_could_not_run_either(browser, tmp_path):
    """The policy behind the escaping."""
    write_report(iris(), tmp_path / "r.html")
    view = browser.new_context()
    page = view.new_page()
    page.goto((tmp_path / "r.html").as_uri())
    page.wait_for_selector("html[data-drawn]")
    pwned, reports = page.evaluate(ATTACK)
    view.close()
    assert pwned == 0
    assert {"img-src", "connect-src", "script-src-attr", "script-src-elem"} <= set(reports)
