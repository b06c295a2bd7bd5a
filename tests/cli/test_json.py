"""What `--json` prints is what docs/reference/json.md says: every field, of that type."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "json.md"
TYPES = {
    "string": lambda x: isinstance(x, str),
    "integer": lambda x: isinstance(x, int) and not isinstance(x, bool),
    "number": lambda x: isinstance(x, int | float) and not isinstance(x, bool),
    "boolean": lambda x: isinstance(x, bool),
    "array": lambda x: isinstance(x, list),
    "object": lambda x: isinstance(x, dict),
    "null": lambda x: x is None,
}
ROW = re.compile(r"^\| `(\w+)` \| ([a-z ]+) \|", re.MULTILINE)


def shapes():
    """Fields with their types, by what they answer; those of all answers in each."""
    start, *sections = re.split(r"^## (\w+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    shared = dict(ROW.findall(start))
    found = zip(sections[::2], sections[1::2], strict=True)
    return {name: shared | dict(ROW.findall(text)) for name, text in found}


COMMANDS = [
    ("embedding", ["pca", "iris.csv"]),
    ("embedding", ["pca", "iris.csv", "-k", "horn", "-o", "z.csv"]),
    ("embedding", ["classical-mds", "iris.csv", "--metric", "cityblock"]),
    ("embedding", ["kernel-pca", "iris.csv"]),
    ("embedding", ["mvu", "iris.csv", "--disconnected", "join"]),
    ("embedding", ["demo"]),
    ("components", ["components", "iris.csv"]),
    ("check", ["check", "d.csv"]),
    ("compare", ["compare", "iris.csv"]),
    ("plan", ["plan", "pca", "iris.csv"]),
    ("help", ["help", "pca"]),
    ("cite", ["cite", "pca"]),
    ("cite", ["cite"]),
    ("doctor", ["doctor"]),
]


@pytest.mark.parametrize(("answers", "words"), COMMANDS)
def test_json_is_as_documented(run, answers, words):
    Path("d.csv").write_text(",a,b,c\na,0,30,10\nb,30,0,12\nc,10,12,0\n")
    code, out, _ = run(*words, "--json")
    assert code == 0
    assert out.isascii()
    found = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    shape = shapes()[answers]
    assert found["schema"] == 1 and found["answers"] == answers
    assert set(found) == set(shape)
    for name, kinds in shape.items():
        assert any(TYPES[kind](found[name]) for kind in kinds.split(" or ")), (name, found[name])


def test_every_shape_is_tried():
    assert set(shapes()) == {answers for answers, _ in COMMANDS}


def test_provenance_names_the_bytes_that_were_read(run):
    Path("v.csv").write_bytes(b"a,b\n1,2\n3,5\n4,4\n")
    found = json.loads(run("pca", "v.csv", "--json", "--threads", "1")[1])["provenance"]
    # printf 'a,b\n1,2\n3,5\n4,4\n' | sha256sum
    assert found["sha256"] == "69ac066d7e87d6edbffca002cfa14c8f4fb9e7ca5c229e722f97b4807adc836d"
    assert found["bytes"] == 16
    assert found["threads"] == 1
    assert found["versions"]["numpy"] == np.__version__
