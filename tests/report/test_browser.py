"""The report in a real browser: it draws, answers, stays silent, and runs nobody else's code.

Needs the Python package playwright and an installed Chromium (or a path in GRAMIAN_BROWSER).
"""

import csv
import os
import shutil
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from gramian.report import write_report
from gramian.show.text import visible
from tests.embeddings import cloud, embed, iris
from tests.report.payloads import PAYLOADS

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
        assert chart(page, "return map.data.length") == 4  # three groups and the rings
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
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.append(
                page.evaluate("document.activeElement.id || document.activeElement.tagName")
            )
        wanted = ["map-x", "map-y", "map-color", "map-search", "zoom-in", "zoom-out", "zoom-reset"]
        positions = [reached.index(name) for name in [*wanted, "save-csv", "save-png", "map-equal"]]
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


def test_many_points_are_painted(opened):
    e = cloud(12_000, k=3)
    with opened(e) as page:
        source = chart(page, "return map.layout.images[0].source")
        assert source.startswith("data:image/png;base64,")
        tip = hover_nearest_to_middle(page, ".tip")
        assert "sample_" in tip.text_content()
        page.fill("#map-search", "sample_000077")
        assert "Found 1: sample_000077." in page.text_content("#map-found")
        page.click("#zoom-in")
        page.wait_for_function(
            "old => document.getElementById('map-chart').layout.images[0].source !== old",
            arg=source,
        )
        page.select_option("#map-color", label="depth")
        assert "depth" in page.text_content("#map-legend")


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
