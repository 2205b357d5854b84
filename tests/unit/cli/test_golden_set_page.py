"""docs/reference/golden-set.md has every key of the schema, with its default, and its example is read as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_irmetrics import GoldenSet, cli
from pytest_irmetrics.base.numbers import MAX_GRADE, MAX_WEIGHT
from pytest_irmetrics.cli.schema import SCHEMA as SCHEMA_PATH
from pytest_irmetrics.golden.values import PASSAGE_KEYS, QUERY_KEYS, SET_KEYS
from pytest_irmetrics.thresholds import QUERY_WORDS, WORDS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "golden-set.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
SCHEMA = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
DEFINITIONS = SCHEMA["$defs"]


def rows(section):
    """Key → the other cells of its row."""
    table = re.findall(r"^\| `(\w+)` \|(.*)\|$", SECTIONS[section], re.MULTILINE)
    return {key: [cell.strip() for cell in cells.split(" | ")] for key, cells in table}


KEYS = {
    "The file": (SCHEMA, SET_KEYS),
    "A query": (DEFINITIONS["query"], QUERY_KEYS),
    "A passage": (DEFINITIONS["passage"], PASSAGE_KEYS),
}


@pytest.mark.parametrize("section", KEYS)
def test_the_page_has_every_key_and_no_other(section):
    schema, keys = KEYS[section]
    assert rows(section).keys() == schema["properties"].keys() == keys


@pytest.mark.parametrize("section", KEYS)
def test_the_defaults_and_what_must_be_there_are_those_of_the_schema(section):
    schema, _ = KEYS[section]
    for key, (_, default, *_) in rows(section).items():
        written = schema["properties"][key].get("default")
        assert (default == "(must be there)") == (key in schema.get("required", ()))
        if written is not None:
            assert default == f"`{written}`"


def test_the_page_has_every_word_of_a_threshold():
    assert sorted(rows("Thresholds")) == sorted(WORDS)
    allowed = DEFINITIONS["query_limits"]["anyOf"][-1]["properties"]
    assert sorted(allowed) == sorted(QUERY_WORDS)
    assert " and ".join(f"`{word}`" for word in QUERY_WORDS) in rows("A query")["thresholds"][0]


def test_the_ranges_are_those_of_the_code():
    assert f"up to {MAX_GRADE}" in rows("The file")["relevance_level"][0]
    assert f"to {MAX_GRADE}" in rows("A passage")["grade"][0]
    assert float(rows("A query")["weight"][0].rpartition(" ")[2]) == MAX_WEIGHT


def test_the_example_has_every_key_and_is_read_as_the_page_says(tmp_path, monkeypatch, capsys):
    (text,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden/faq.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ((command, printed),) = re.findall(r"^\$ pytest-irmetrics (.*)\n(.*)\n```", PAGE, re.MULTILINE)
    assert cli.main(command.split()) == 0
    assert capsys.readouterr().out == f"{printed}\n"
    for key in {*SET_KEYS, *QUERY_KEYS, *PASSAGE_KEYS}:
        assert re.search(rf"\b{key}:", text), key
    assert GoldenSet.load("golden/faq.yaml").queries["refund"].params == {"lang": "no", "max_price": 500}
