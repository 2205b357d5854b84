"""docs/reference/golden-set.md has every key of the schema, with its default, and its example is read as it says."""

from __future__ import annotations

import json
import re

import pytest

from pytest_irmetrics import GoldenSet
from tests.cli.console import run
from tests.pages import DOCS

PAGE = (DOCS / "reference" / "golden-set.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
SCHEMA = json.loads(run("schema").out)
DEFINITIONS = SCHEMA["$defs"]


def rows(section):
    """Key → the other cells of its row."""
    table = re.findall(r"^\| `(\w+)` \|(.*)\|$", SECTIONS[section], re.MULTILINE)
    return {key: [cell.strip() for cell in cells.split(" | ")] for key, cells in table}


KEYS = {"The file": SCHEMA, "A query": DEFINITIONS["query"], "A passage": DEFINITIONS["passage"]}


@pytest.mark.parametrize("section", KEYS)
def test_the_page_has_every_key_with_its_default_and_no_other(section):
    schema = KEYS[section]
    assert rows(section).keys() == schema["properties"].keys()
    for key, (_, default, *_) in rows(section).items():
        written = schema["properties"][key].get("default")
        assert (default == "(must be there)") == (key in schema.get("required", ()))
        if written is not None:
            assert default == f"`{written}`"


def test_the_page_has_every_word_of_a_threshold_and_the_ranges():
    words, of_queries = (DEFINITIONS[name]["anyOf"][-1]["properties"] for name in ("limits", "query_limits"))
    assert sorted(rows("Thresholds")) == sorted({*words, "max"})
    assert " and ".join(f"`{word}`" for word in of_queries) in rows("A query")["thresholds"][0]
    assert f"to {DEFINITIONS['grade']['maximum']}" in rows("A passage")["grade"][0]
    weight = DEFINITIONS["query"]["properties"]["weight"]["maximum"]
    assert float(rows("A query")["weight"][0].rpartition(" ")[2]) == weight


def test_the_example_has_every_key_and_is_read_as_the_page_says(tmp_path, monkeypatch):
    (text,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden/faq.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ((command, printed),) = re.findall(r"^\$ pytest-irmetrics (.*)\n(.*)\n```", PAGE, re.MULTILINE)
    assert run(*command.split()).out == f"{printed}\n"
    for key in {key for schema in KEYS.values() for key in schema["properties"]}:
        assert re.search(rf"\b{key}:", text), key
    assert GoldenSet.load("golden/faq.yaml").queries["refund"].params == {"lang": "no", "max_price": 500}
