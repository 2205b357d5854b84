"""Command `schema`: the JSON Schema and the reader accept the same golden sets."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import fields
from pathlib import Path

import jsonschema
import pytest
import yaml

from pytest_irmetrics import GoldenSet, GoldenSetError, Query
from tests.cli.console import run
from tests.docs.test_made import SETTLED
from tests.expected import assert_as_expected

EXAMPLE = Path(__file__).parents[2] / "example_project" / "golden" / "rules.yaml"

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
          map: {max_drop: auto}
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
          - {query: nobody judged it, relevant: [], thresholds: {overlap@10: 0.5}}
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
    "numbers at their bounds": "relevance_level: 1000\nqueries: [{query: a, relevant: {b: 1000}, weight: 1.0e+9}]",
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
    "a limit that is text": "thresholds: {ndcg@10: high}\nqueries: [{query: a, relevant: b}]",
    "per cent of nothing": "thresholds: {ndcg@10: 5%}\nqueries: [{query: a, relevant: b}]",
    "a threshold without a limit": "thresholds: {ndcg@10: {}}\nqueries: [{query: a, relevant: b}]",
    "an unknown word": "thresholds: {ndcg@10: {mn: 0.5}}\nqueries: [{query: a, relevant: b}]",
    "a query's min_gain": "queries: [{query: a, relevant: b, thresholds: {ndcg: {min_gain: 0.1}}}]",
    "a query's auto": "queries: [{query: a, relevant: b, thresholds: {ndcg: {max_drop: auto}}}]",
    "a slice that is no mapping": "slices: {t: [mrr]}\nqueries: [{query: a, relevant: b, tags: t}]",
    "a query's max": "queries: [{query: a, relevant: b, thresholds: {mrr: {max: 1}}}]",
    "a blank in per cent": "thresholds: {ndcg: {max_drop: 5 %}}\nqueries: [{query: a, relevant: b}]",
    "a level over 1000": "relevance_level: 1001\nqueries: [{query: a, relevant: b}]",
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


@pytest.fixture(scope="module")
def schema():
    printed = run("schema").out
    described = json.loads(printed)
    assert printed == json.dumps(described, indent=2) + "\n"
    assert printed.isascii()
    jsonschema.Draft202012Validator.check_schema(described)
    return described


def test_an_editor_shows_of_each_key_metric_and_word_what_is_expected(schema):
    told = re.findall(r'"([^"\n]+)": \{\n *"description": (".*")', json.dumps(schema, indent=2))
    assert_as_expected("schema.txt", "".join(f"{key}: {text}\n" for key, text in dict.fromkeys(told)))


@pytest.fixture(scope="module")
def validator(schema):
    return jsonschema.Draft202012Validator(schema)


def as_json(text):
    """What an editor sees: JSON's mappings have text for keys."""
    return json.loads(json.dumps(yaml.load(text, Core)))


@pytest.mark.parametrize("name", [*VALID, "the example project", "init"])
def test_the_schema_accepts_what_is_read(validator, tmp_path, name):
    if name == "init":
        run("init", "--dir", str(tmp_path))
        text = (tmp_path / "golden" / "faq.yaml").read_text(encoding="utf-8")
    else:
        text = textwrap.dedent(VALID[name]) if name in VALID else EXAMPLE.read_text(encoding="utf-8")
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    GoldenSet.load(tmp_path / "x.yaml")
    validator.validate(as_json(text))


@pytest.mark.parametrize("name", INVALID)
def test_the_schema_refuses_what_is_refused(validator, tmp_path, name):
    (tmp_path / "x.yaml").write_text(INVALID[name])
    with pytest.raises(GoldenSetError):
        GoldenSet.load(tmp_path / "x.yaml")
    assert not validator.is_valid(as_json(INVALID[name]))


def test_every_built_in_metric_is_offered_and_every_key_is_described(schema, tmp_path):
    (tmp_path / "x.yaml").write_text("keys: 1\nthresholds: {qqq: 1}\nqueries: [{keys: 1}]")
    said = run("check", str(tmp_path / "x.yaml")).out
    (known,) = re.findall(r"Known are (.*)\.", said)
    of_set, of_query = (set(keys.split(", ")) for keys in re.findall(r"Its keys are (.*);", said))
    definitions = schema["$defs"]
    assert (set(schema["properties"]), set(definitions["query"]["properties"])) == (of_set, of_query)
    otherwise_written = {"text", "judgments", "passages", "line", "column"}  # query, relevant, or nowhere
    assert {field.name for field in fields(Query)} - otherwise_written | {"query", "relevant"} == of_query
    assert of_query - {"query", "relevant"} <= {*SETTLED["Query"].split()}  # docs/reference/python.md
    offered = definitions["thresholds"]["properties"]
    assert {"ndcg@10", "overlap@10"} < set(offered)
    assert {name.partition("@")[0] for name in offered} == set(known.split(", "))
    of_queries = definitions["query_thresholds"]["properties"]
    assert set(offered) - set(of_queries) == {"latency_p50", "latency_p95"}
    keys = {**schema["properties"], **definitions["query"]["properties"], **offered, **of_queries}
    assert [key for key, value in keys.items() if "description" not in value] == ["queries"]
