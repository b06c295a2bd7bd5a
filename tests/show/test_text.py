import pytest

from gramian.show.text import count, listed, number, percent, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("", "(empty)"),
        ("a\x1b[2J", "a\\x1b[2J"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\u202eabc", "\\u202eabc"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("\ufeffx\u200b", "\\ufeffx\\u200b"),
        ("\x9b31m", "\\x9b31m"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("👩‍🔬", "👩‍🔬"),
        ("می‌خواهم", "می‌خواهم"),
        ("日本", "日本"),
        (12, "12"),
    ],
)
def test_visible_shows_what_would_be_obeyed(text, shown):
    assert visible(text) == shown


def test_visible_shortens():
    assert visible("x" * 10_000, 10) == "x" * 9 + "…"
    assert visible("x" * 10, 10) == "x" * 10
    assert len(visible("\x1b" * 100, 10)) == 10


def test_words_and_numbers():
    assert count(1, "axis", "axes") == "1 axis"
    assert count(12_000, "observation") == "12,000 observations"
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdefghij"), 3) == "a, b, c and 7 more"
    assert percent(0.9246) == "92.5%"
    assert percent(0.0003) == "<0.1%"
    assert percent(0.0) == "0.0%"
    assert percent(float("nan")) == "-"
    assert number(float("inf")) == "-"
    assert number(0.000123456) == "0.00012346"
