"""Command `schema`: the JSON Schema and the reader accept the same golden sets."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import jsonschema
import pytest
import yaml

from pytest_irmetrics import cli
from pytest_irmetrics.base.numbers import MAX_GRADE, MAX_WEIGHT
from pytest_irmetrics.cli.schema import SCHEMA
from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from pytest_irmetrics.golden.values import PASSAGE_KEYS, QUERY_KEYS, SET_KEYS
from pytest_irmetrics.metrics import FAMILIES
from pytest_irmetrics.thresholds import QUERY_WORDS, WORDS

EXAMPLE = Path(__file__).parents[3] / "example_project" / "golden" / "rules.yaml"

VALID = {
    "all of it": """
        version: 1
        name: faq
        relevance_level: 1
        x-owner: search
        thresholds:
          ndcg@10: 0.70
          mrr: {min: 0.80, max_drop: 0.01, min_each: 0, max_lost: 3, significance: 0.05, x-why: because}
          P@5: {max_drop: 5%, min: off, min_gain: 0.02}
          recall: off
          hit@3: ".5"
          latency_p95: {max: 250}
          no_answer: 1
          x-note: {a: b}
        slices:
          billing: {recall@10: 0.90}
        queries:
          - query: how do I reset my password
            relevant: [doc-12, doc-40]
          - id: refund
            query: refund policy
            relevant: {doc-9: 3, doc-4: 1.5, doc-7: 0}
            forbidden: [doc-99]
            tags: [billing]
            weight: 2.0
            params: {lang: "no", max_price: 500, deep: [1, {a: null}]}
            thresholds: {mrr: 1.0, ndcg@10: {max_drop: 5%}}
            note: anything, for people
            x-seen: 2024-01-01
          - {query: asdf qwerty, no_answer: true, tags: billing}
          - {query: known to be bad, relevant: doc-3, xfail: TICKET-7, no_answer: false}
    """,
    "texts that look like something else": """
        name: 12
        queries:
          - {id: 0123, query: 12:30, relevant: [no, 1.10, 7, true], forbidden: 5, tags: [2024, on], xfail: 7}
          - {query: 2024, relevant: 10}
          - {query: true, relevant: {1: 2}}
    """,
    "ids alone": "queries: [{id: q1, relevant: d1}]",
    "a version in quotes": "version: '1'\nqueries: [{id: q1, relevant: d1}]",
    "passages": "queries: [{query: a, relevant: [b, {doc: c, text: 12, grade: 0.5, x-why: d}, {doc: c, text: e}]}]",
}

INVALID = {
    "a list": "- {query: a, relevant: b}",
    "no queries": "name: faq",
    "an empty list": "queries: []",
    "a query that is text": "queries: [a]",
    "an unknown key": "querys: []\nqueries: [{query: a, relevant: b}]",
    "another version": "version: 2\nqueries: [{query: a, relevant: b}]",
    "a level of 0": "relevance_level: 0\nqueries: [{query: a, relevant: b}]",
    "an unknown key of a query": "queries: [{query: a, relevent: b}]",
    "no answer at all": "queries: [{query: a}]",
    "no_answer: false alone": "queries: [{query: a, no_answer: false}]",
    "an answer and none": "queries: [{query: a, relevant: b, no_answer: true}]",
    "neither query nor id": "queries: [{relevant: b}]",
    "an empty text": "queries: [{query: '', relevant: b}]",
    "a blank text": "queries: [{query: ' ', relevant: b}]",
    "a missing text": "queries: [{query: , relevant: b}]",
    "an empty relevant": "queries: [{query: a, relevant: []}]",
    "no grades": "queries: [{query: a, relevant: {}}]",
    "a document twice": "queries: [{query: a, relevant: [b, b]}]",
    "a grade below 0": "queries: [{query: a, relevant: {b: -1, c: 1}}]",
    "a grade over 1000": "queries: [{query: a, relevant: {b: 1001}}]",
    "a grade that is text": "queries: [{query: a, relevant: {b: high}}]",
    "a grade that is a boolean": "queries: [{query: a, relevant: {b: true}}]",
    "a passage without its text": "queries: [{query: a, relevant: [{doc: b}]}]",
    "a passage with an empty text": "queries: [{query: a, relevant: [{doc: b, text: ''}]}]",
    "a passage with an unknown key": "queries: [{query: a, relevant: [{doc: b, text: c, tags: d}]}]",
    "a passage twice": "queries: [{query: a, relevant: [{doc: b, text: c}, {doc: b, text: c}]}]",
    "a tag of no text": "queries: [{query: a, relevant: b, tags: [[c]]}]",
    "a tag twice": "queries: [{query: a, relevant: b, tags: [c, c]}]",
    "a weight of 0": "queries: [{query: a, relevant: b, weight: 0}]",
    "a weight beyond all sums": "queries: [{query: a, relevant: b, weight: 1.0e+10}]",
    "params that are none": "queries: [{query: a, relevant: b, params: [c]}]",
    "no_answer that is text": "queries: [{query: a, no_answer: 'true'}]",
    "xfail without a reason": "queries: [{query: a, relevant: b, xfail: true}]",
    "a limit beyond the scale": "thresholds: {ndcg@10: 70}\nqueries: [{query: a, relevant: b}]",
    "a limit below the scale": "thresholds: {mrr: -0.1}\nqueries: [{query: a, relevant: b}]",
    "a limit that is text": "thresholds: {ndcg@10: high}\nqueries: [{query: a, relevant: b}]",
    "per cent of nothing": "thresholds: {ndcg@10: 5%}\nqueries: [{query: a, relevant: b}]",
    "a threshold without a limit": "thresholds: {ndcg@10: {}}\nqueries: [{query: a, relevant: b}]",
    "an unknown word": "thresholds: {ndcg@10: {mn: 0.5}}\nqueries: [{query: a, relevant: b}]",
    "a drop below 0": "thresholds: {ndcg@10: {max_drop: -0.1}}\nqueries: [{query: a, relevant: b}]",
    "a drop over 1": "thresholds: {ndcg@10: {max_drop: 5}}\nqueries: [{query: a, relevant: b}]",
    "a gain below 0": "thresholds: {ndcg@10: {min_gain: -0.1}}\nqueries: [{query: a, relevant: b}]",
    "a query's min_gain": "queries: [{query: a, relevant: b, thresholds: {ndcg: {min_gain: 0.1}}}]",
    "half a lost query": "thresholds: {ndcg@10: {max_lost: 0.5}}\nqueries: [{query: a, relevant: b}]",
    "significance of 1": "thresholds: {ndcg@10: {significance: 1}}\nqueries: [{query: a, relevant: b}]",
    "a latency's min": "thresholds: {latency_p95: 100}\nqueries: [{query: a, relevant: b}]",
    "a latency's drop": "thresholds: {latency_p95: {max_drop: 1}}\nqueries: [{query: a, relevant: b}]",
    "a slice that is no mapping": "slices: {t: [mrr]}\nqueries: [{query: a, relevant: b, tags: t}]",
    "a query's max": "queries: [{query: a, relevant: b, thresholds: {mrr: {max: 1}}}]",
    "a query's max_lost": "queries: [{query: a, relevant: b, thresholds: {ndcg: {max_lost: 1}}}]",
}


class Core(yaml.SafeLoader):
    """YAML 1.2's core schema, which editors read: `no` and 12:30 are text, 0123 is a number."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - as the class above has it


for kind, pattern, first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"null|Null|NULL|~|", "nN~"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+0123456789."),
):
    regex = re.compile(f"(?:{pattern})$")
    Core.add_implicit_resolver(
        f"tag:yaml.org,2002:{kind}", regex, [*first, *([""] if kind == "null" else [])]
    )
Core.add_constructor(
    "tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node))
)  # 0123 is 123


def schema():
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def validator():
    described = schema()
    jsonschema.Draft202012Validator.check_schema(described)
    return jsonschema.Draft202012Validator(described)


def as_json(text):
    """What an editor sees: JSON's mappings have text for keys."""
    return json.loads(json.dumps(yaml.load(text, Core)))


def load(folder, text):
    (folder / "x.yaml").write_text(text)
    return GoldenSet.load(folder / "x.yaml")


def test_prints_the_file(capsys):
    assert cli.main(["schema"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (SCHEMA.read_text(encoding="utf-8"), "")
    assert out == json.dumps(schema(), indent=2) + "\n"
    assert out.isascii()
    assert len(out) < 40_000


@pytest.mark.parametrize("name", VALID)
def test_accepts_valid_golden_sets(validator, tmp_path, name):
    text = textwrap.dedent(VALID[name])
    load(tmp_path, text)
    validator.validate(as_json(text))


def test_accepts_the_example_project_and_the_golden_set_of_init(validator, tmp_path, monkeypatch, capsys):
    validator.validate(as_json(EXAMPLE.read_text(encoding="utf-8")))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["init"]) == 0
    assert capsys.readouterr().err == ""
    validator.validate(as_json(Path("golden/faq.yaml").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", INVALID)
def test_rejects_invalid_golden_sets(validator, tmp_path, name):
    with pytest.raises(GoldenSetError):
        load(tmp_path, INVALID[name])
    assert not validator.is_valid(as_json(INVALID[name]))


def test_knows_every_key_and_word():
    described = schema()
    definitions = described["$defs"]
    assert set(described["properties"]) == SET_KEYS
    assert set(definitions["query"]["properties"]) == QUERY_KEYS
    assert set(definitions["passage"]["properties"]) == PASSAGE_KEYS
    for name, words in (("limits", WORDS), ("query_limits", QUERY_WORDS)):
        for limits in (name, f"{name}_of_own"):
            assert list(definitions[limits]["anyOf"][-1]["properties"]) == list(words)


def test_knows_every_bound():
    described = schema()
    properties, definitions = described["properties"], described["$defs"]
    assert properties["relevance_level"]["maximum"] == definitions["grade"]["maximum"] == MAX_GRADE
    assert definitions["query"]["properties"]["weight"]["maximum"] == MAX_WEIGHT
    scores = [family for family in FAMILIES.values() if family.kind != "latency"]
    scale = {
        "type": "number",
        "minimum": min(family.lower for family in scores),
        "maximum": max(family.upper for family in scores),
    }
    for name in ("limits", "query_limits"):
        assert definitions[name]["anyOf"][0] == scale
        words = definitions[name]["anyOf"][-1]["properties"]
        assert words["max_drop"]["anyOf"][0]["maximum"] == scale["maximum"] - scale["minimum"]


def test_offers_every_built_in_metric():
    """A new metric belongs into golden.schema.json, with the first line of what it says about itself."""
    definitions = schema()["$defs"]
    offered = {name: definitions[name]["properties"] for name in ("thresholds", "query_thresholds")}
    for family in FAMILIES.values():
        for name in [family.name, *([f"{family.name}@10"] if family.kind == "ranking" else [])]:
            limits = "limits_of_latency" if family.kind == "latency" else "limits"
            described = {"description": family.definition.splitlines()[0], "$ref": f"#/$defs/{limits}"}
            assert offered["thresholds"].pop(name) == described
            if family.kind != "latency":  # its one word, max, is about many queries
                assert offered["query_thresholds"].pop(name) == {
                    **described,
                    "$ref": "#/$defs/query_limits",
                }
    assert offered == {"thresholds": {}, "query_thresholds": {}}  # nothing that is no metric


def test_describes_every_key():
    """Editors show the description while one types."""
    described = schema()
    keys = {**described["properties"], **described["$defs"]["query"]["properties"]}
    assert [key for key, value in keys.items() if "description" not in value] == ["queries"]
    offered = described["$defs"]["thresholds"]["properties"]
    assert {"ndcg@10", "mrr", "latency_p95", "no_answer"} <= set(offered)
    assert all(value["description"] for value in offered.values())
