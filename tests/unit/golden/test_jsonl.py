"""JSONL golden sets: one query a line, read and checked as in YAML."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.golden import Query
from pytest_irmetrics.golden import jsonl as jsonl_module
from pytest_irmetrics.golden.json_nodes import JsonError, compose
from pytest_irmetrics.golden.nodes import MappingStartEvent
from tests.reached import often
from tests.unit.golden.golden_files import (
    FUZZ,
    damaged,
    json_values,
    jsonl,
    judgments,
    load,
    problems,
    survives,
    texts,
    write,
)

SURROGATE = re.compile("[\ud800-\udfff]")


LINES = [
    {"query": "how do I reset my password", "relevant": ["doc-12", "doc-40"]},
    {
        "id": "refund",
        "query": "refund policy",
        "relevant": {"doc-9": 3, "doc-4": 1, "doc-7": 0},
        "forbidden": ["doc-99"],
        "tags": ["billing"],
        "weight": 2.0,
        "params": {"lang": "no", "max_price": 500, "deep": [1, {"a": None}]},
        "thresholds": {"mrr": {"min": 1.0, "max_drop": "off"}},
        "note": "anything",
        "x-ours": {"any": 1},
    },
    {"query": "asdf qwerty", "no_answer": True},
    {"query": "known to be bad", "relevant": "doc-3", "xfail": "TICKET-7"},
]


def test_a_query_is_read_as_in_yaml():
    ours = load("faq.jsonl", jsonl(*LINES))
    theirs = load("faq.yaml", json.dumps({"queries": LINES}))
    assert list(ours.queries) == list(theirs.queries)
    for query_id, query in ours.queries.items():
        other = theirs.queries[query_id]
        for name in Query.__slots__:
            if name in ("line", "column", "thresholds"):
                continue
            assert getattr(query, name) == getattr(other, name), name
        assert [(t.metric, t.limits) for t in query.thresholds] == [
            (t.metric, t.limits) for t in other.thresholds
        ]
    assert [golden_line.line for golden_line in ours.queries.values()] == [1, 2, 3, 4]
    assert (ours.name, ours.relevance_level, ours.thresholds, ours.left_out) == ("faq", 1, (), ())


@pytest.mark.parametrize("record", [{"relevant": ["a", "b"]}, {"relevant": {"a": 2, "b": 0}, "tags": ["t"]}])
def test_escaped_and_plain_characters_are_the_same(record):
    usual = {"query": "😀 Straße", **record}
    plain = load("a.jsonl", json.dumps(usual, ensure_ascii=False))
    escaped = load("a.jsonl", json.dumps({**usual, "x-else": 1}))  # the emoji as a surrogate pair
    assert plain.queries == escaped.queries


def test_ids_are_text_as_written():
    golden = load("a.jsonl", '{"id": 0.10, "query": "q", "relevant": [1.10, 12, -0, "0123"], "tags": 5}\n')
    (query,) = golden.queries.values()
    assert (query.id, list(query.judgments), query.tags) == ("0.10", ["1.10", "12", "-0", "0123"], ("5",))


def test_queries_without_a_relevant_document_are_read_as_by_trec_eval():
    golden = load(
        "a.jsonl",
        jsonl(
            {"query": "a", "relevant": {"d": 0, "e": -2}},
            {"query": "b", "relevant": []},
            {"query": "c"},
            {"query": "d", "relevant": ["x"]},
            {"query": "e", "relevant": None, "tags": None, "weight": None},
        ),
    )
    assert judgments(golden) == {"a": {"d": 0, "e": -2}, "d": {"x": 1}}
    assert golden.left_out == ("b", "c", "e")


def test_either_all_queries_have_a_text_or_none():
    assert texts(load("a.jsonl", jsonl({"id": "q1", "relevant": ["d"]}))) == {"q1": None}
    assert problems("a.jsonl", jsonl({"id": "q1", "relevant": ["d"]}, {"query": "b", "relevant": ["d"]})) == [
        "a.jsonl:1:1: This query has no `query`, and others do. Write the text to search for."
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"query": "a", "relevent": ["b"]}', "1:16: 'relevent' is no key of a query. Did you mean `relevant`?"),
        ('{"query": "a", "query": "b", "relevant": ["c"]}', "1:16: 'query' is here twice, first on line 1. Keep one."),
        ('{"query": "a", "relevant": {"b": 1, "b": 2}}', "1:37: 'b' is here twice, first on line 1. Keep one."),
        ('{"query": "a", "relevant": ["b", "b"]}', "1:34: The document 'b' is here twice, first on line 1. Keep one."),
        ('{"query": "a", "relevant": {"b": "1"}}', "1:34: The grade of 'b' is text, '1'. Take the quotes off."),
        ('{"query": "a", "relevant": {"b": 1e3, "c": 1001}}', "1:44: The grade of 'c' is 1001, above 1000. Write a number from 0 to 1000."),
        ('{"query": "a", "relevant": {"b": NaN}}', "1:34: 'NaN' is no number in JSON. Write a finite one."),
        ('{"query": "a", "relevant": {"b": true}}', "1:34: The grade of 'b' is 'true', which is no number. Write one from 0 to 1000."),
        ('{"query": "a", "relevant": {"b": ' + "9" * 5000 + "}}", "1:34: The grade of 'b' is"),
        ('{"query": "a", "relevant": ["b", null]}', "1:34: `relevant` has null here, without quotes. Write a text."),
        ('{"query": "a", "relevant": [{"doc": null, "text": "b"}]}', "1:37: `doc` has null here, without quotes. Write a text."),
        ('{"id": false, "query": "a", "relevant": ["b"]}', "1:8: `id` has false here, without quotes. Write a text."),
        ('{"query": "", "relevant": ["b"]}', "1:11: `query` is empty. Write its text, or remove the key."),
        ('{"relevant": ["b"]}', "1:1: This query has no `query`. Write the text to search for."),
        ('{"query": "a", "relevant": ["b"], "weight": 0}', "1:45: `weight` is '0'. Write a number above 0 and up to 1,000,000,000."),
        ('{"query": "a", "no_answer": true, "relevant": ["b"]}', "1:47: A `no_answer` query has no `relevant`. Remove one of the two."),
        ('{"query": "a", "relevant": ["b"], "forbidden": ["b"]}', "1:49: 'b' is forbidden here, and relevant on line 1. Remove it from one of the two."),
        ('{"query": "a", "relevant": ["b"], "thresholds": {"ndgc": 1}}', "1:50: "),
        ('["a"]', "1:1: A query is a mapping, and this is a list. Write `query: …` and `relevant: …`."),
        ('{"query": "a\\ud800", "relevant": ["b"]}', "1:11: An escape in this text is half of a character. Write the character itself."),
        ('{"query": "a\\x", "relevant": ["b"]}', "1:11: An escape in this text is none that JSON has. Double the backslash."),
        ('{"query": "a\tb", "relevant": ["b"]}', '1:13: A control character cannot stand in JSON. Remove it, or write "\\u0009".'),
        ('{"query": "a, "relevant": ["b"]}', "1:16: A `,` is missing before 'relevant'. Write it."),
        ('{"query": "a", "relevant": ["b]}', "1:29: The quote that opens here is never closed on its line. Close it."),
        ('{"query": "a", "relevant": ["b"]', "1:33: The JSON ends here, too early. Close what it opened."),
        ('{"query": "a", "relevant": ["b"],}', "1:34: A '}' makes no sense here. Remove the comma before it."),
        ('{"query": "a", "relevant": ["b",]}', "1:33: A ']' makes no sense here. Remove the comma before it."),
        ("{'query': 'a', 'relevant': ['b']}", "1:2: A key is in double quotes, and here is \"'query'\". Write {\"key\": …}."),
        ('{"query": "a", "no_answer": True}', "1:29: 'True' is no JSON. Write true."),
        ('{"query": "a", "relevant": b}', "1:28: 'b' is no JSON. Put a text in double quotes."),
        ('{"query" "a"}', "1:10: A `:` is missing between a key and its value, before '\"a\"'. Write it."),
        ('{"query": "a", "relevant": ["b"]} {}', "1:35: '{' follows where the JSON has ended. Write one object."),
        ('{"query": , "relevant": ["b"]}', "1:11: A ',' makes no sense here, where a value is wanted. Write one."),
        ('{"query": "a", "params": {"n": 1e999}, "relevant": ["b"]}', "1:32: The number 1e999 is too large. Write a smaller one, or quote it to make it text."),
        ("[" * 100_000, "1:31: Lists and objects are more than 30 deep here. Write them less deep."),
        ('{"_id": "1", "text": "a", "metadata": {}}', "1:1: This is a query of a BEIR folder, without its judgments. Name the folder in place of this file."),
        ("[", "1:1: JSON over several lines begins here. Write one query a line, without a list around them."),
        ("", "1:1: There is no query. Write one a line: "),
        ('{"query": "a"}', 'No query has a judgment. Write "relevant" with the documents of each.'),
    ],
)  # fmt: skip
def test_every_problem_has_its_place_and_words(line, problem):
    (found,) = problems("a.jsonl", line)
    assert found.removeprefix("a.jsonl:").startswith(problem) or found.endswith(problem)


def test_all_lines_are_checked_at_once():
    text = (
        '{"query": "a"\n\n{"query": "b", "relevant": ["c"]}\r\n{"query": "b", "relevant": ["c"]}\nnonsense\n'
    )
    assert [line.split(" ")[0] for line in problems("a.jsonl", text)] == [
        "a.jsonl:1:14:",
        "a.jsonl:4:11:",
        "a.jsonl:5:1:",
    ]


def test_a_line_that_is_too_long(monkeypatch):
    monkeypatch.setattr(jsonl_module, "MAX_LINE", 1_000_000)
    (found,) = problems("a.jsonl", '{"query": "' + "a" * 1_000_000 + '", "relevant": ["b"]}')
    assert found == "a.jsonl:1:1: This line is longer than 1 MB. Split the query."


SEEDS = [
    jsonl({"query": "a", "relevant": ["d"]}, {"query": "b", "relevant": {"d": 2.5}, "tags": ["t"]}).encode(),
    b'{"id": "q", "query": "a\\u00e9", "no_answer": true}\r\n\n{"query": "b", "relevant": "d", "weight": 2}',
    jsonl({"query": "a", "relevant": ["d"], "params": {"x": [None, {"y": 1e3}]}, "note": "n"}).encode(),
]


@often(0.05)
@FUZZ
@given(
    data=st.binary(max_size=8)
    | damaged(SEEDS, '{}[]:,"\\u0dtrue null1-.e\n')
    | damaged(SEEDS, '{}[]:,"\\u0dtrue null1-.e\n')
)
def test_no_bytes_end_in_a_traceback(data):
    survives(write("fuzz.jsonl", data))


@FUZZ
@given(
    value=json_values(12),
    style=st.sampled_from([{}, {"ensure_ascii": False}, {"indent": 1}, {"separators": (",", ":")}]),
)
def test_nodes_are_what_the_standard_library_reads(value, style):
    def plain(node):
        if node.__class__ is list:
            if node[0].__class__ is MappingStartEvent:
                return {key.value: plain(value) for key, value in zip(node[1::2], node[2::2], strict=True)}
            return [plain(item) for item in node[1:]]
        return node.value if node.style else json.loads(node.value)

    text = json.dumps(value, **style)
    if SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        with pytest.raises(JsonError, match="half of a character"):
            compose(json.dumps(value))
    else:
        assert plain(compose(text)) == value
