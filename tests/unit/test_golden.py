from __future__ import annotations

import copy
import gc
import os
import pickle
import random
import string
import subprocess
import sys
import textwrap
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_irmetrics.golden import (
    GoldenSet,
    GoldenSetError,
    Problem,
    Query,
    files,
    yaml_nodes,
)
from pytest_irmetrics.golden import (
    nodes as node,
)
from pytest_irmetrics.golden.errors import MAX_PROBLEMS
from pytest_irmetrics.golden.passage import Passage
from pytest_irmetrics.thresholds import Limit

PARSERS = {"libyaml": getattr(yaml, "CBaseLoader", None), "python": yaml.BaseLoader}

FULL = """\
version: 1
name: faq
relevance_level: 2
x-owner: search team
thresholds:
  ndcg@10: 0.70
  P@5: {min: 0.5, max_drop: 5%, max_lost: 3, x-why: the last release}
slices:
  billing:
    recall@10: 0.90
queries:
  - query: how do I reset my password
    relevant: {doc-12: 2}
  - id: refund
    query: refund policy
    relevant: {doc-9: 3, doc-4: 1, doc-7: 0, doc-5: 2.5}
    forbidden: [doc-99, doc-7]
    tags: [billing, money]
    weight: 2.0
    params: {lang: "no", max_price: 500}
    thresholds: {mrr: {min: 1.0, max_drop: off}}
    note: anything, for people
    x-ticket: {any: [thing]}
  - query: asdf qwerty
    no_answer: true
  - query: known to be bad
    relevant: {doc-3: 2}
    xfail: TICKET-7
"""


@pytest.fixture(params=[name for name, parser in PARSERS.items() if parser])
def parser(request, monkeypatch):
    """Both of PyYAML's parsers: the one written in Python stands in where there is no libyaml."""
    monkeypatch.setattr(yaml_nodes, "PARSER", PARSERS[request.param])
    return request.param


@pytest.fixture
def load(tmp_path):
    def load_text(text: str | bytes, **options) -> GoldenSet:
        path = tmp_path / "faq.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return GoldenSet.load(path, shown="faq.yaml", **options)

    return load_text


@pytest.fixture
def problems(load):
    def problems_of(text: str | bytes, **options) -> list[str]:
        with pytest.raises(GoldenSetError) as caught:
            load(text, **options)
        lines = str(caught.value).splitlines()
        assert lines == [str(problem) for problem in caught.value.problems]
        return [line.removeprefix("faq.yaml:") for line in lines]

    return problems_of


def query(text: str) -> str:
    """A golden set of one query, of lines that follow `query: a`."""
    return "queries:\n- query: a\n" + textwrap.indent(textwrap.dedent(text).strip(), "  ") + "\n"


class TestReading:
    @pytest.mark.usefixtures("parser")
    def test_reads_every_key(self, load):
        golden = load(FULL)
        assert golden.name == "faq"
        assert golden.relevance_level == 2
        assert [(str(t.metric), dict(t.limits), t.tag, t.origin) for t in golden.thresholds] == [
            ("ndcg@10", {"min": Limit(0.7)}, None, "faq.yaml:6:3"),
            (
                "precision@5",
                {"min": Limit(0.5), "max_drop": Limit(5, percent=True), "max_lost": Limit(3)},
                None,
                "faq.yaml:7:3",
            ),
            ("recall@10", {"min": Limit(0.9)}, "billing", "faq.yaml:10:5"),
        ]
        assert list(golden.queries) == [
            "how do I reset my password",
            "refund",
            "asdf qwerty",
            "known to be bad",
        ]
        first, refund, unanswered, bad = golden.queries.values()
        assert first == Query(first.id, first.id, {"doc-12": 2}, line=12, column=5)
        (own,) = refund.thresholds
        assert (str(own.metric), own.limits) == ("mrr", {"min": Limit(1.0), "max_drop": None})
        assert replace(refund, thresholds=()) == Query(
            id="refund",
            text="refund policy",
            judgments={"doc-9": 3, "doc-4": 1, "doc-7": 0, "doc-5": 2.5},
            forbidden=("doc-99", "doc-7"),
            tags=("billing", "money"),
            weight=2.0,
            params={"lang": "no", "max_price": 500},
            note="anything, for people",
            line=14,
            column=5,
        )
        assert (unanswered.no_answer, unanswered.judgments) == (True, {})
        assert (bad.xfail, bad.judgments) == ("TICKET-7", {"doc-3": 2})
        assert golden.tags == {"billing", "money"}
        assert golden.left_out == ()

    def test_without_a_name_it_is_the_files(self, load):
        assert load(query("relevant: b")).name == "faq"

    @pytest.mark.parametrize(
        "written", ["0123", "12:30", "no", "1.10", "2024-01-01", "0x_", "1_000", "~", "null", ".nan"]
    )
    @pytest.mark.usefixtures("parser")
    def test_ids_and_texts_are_as_written(self, load, written):
        golden = load(
            f"thresholds: {{mrr: 0.5}}\nqueries:\n- {{id: {written}, query: {written}, relevant: [{written}, b],"
            f" forbidden: {written}0, tags: {written}}}\n- {{query: b, relevant: {{{written}: 1}}}}"
        )
        one, other = golden.queries.values()
        assert (one.id, one.text, list(one.judgments)) == (written, written, [written, "b"])
        assert (one.forbidden, one.tags) == ((written + "0",), (written,))
        assert list(other.judgments) == [written]

    @pytest.mark.usefixtures("parser")
    def test_quotes_and_blocks_are_text_too(self, load):
        golden = load(
            "queries:\n- query: >-\n    two\n    lines\n  relevant: ['it''s', \"\\u00e9 \\U0001f600\"]\n"
        )
        assert golden.queries["two lines"].judgments == {"it's": 1, "é \U0001f600": 1}

    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ("500", 500),
            ("-1", -1),
            ("1.10", 1.1),
            ("1e3", 1000.0),
            ("true", True),
            ("false", False),
            ("null", None),
            ('"500"', "500"),
            ("'true'", "true"),
            ("no", "no"),
            ("True", "True"),
            ("~", "~"),
            ("012", "012"),
            ("0x1F", "0x1F"),
            (".5", ".5"),
            ("+1", "+1"),
            ("1_000", "1_000"),
            (".nan", ".nan"),
            ("NaN", "NaN"),
            ("12:30", "12:30"),
            ("2024-01-01", "2024-01-01"),
            ('""', ""),
            ("[1, '1', {a: null}]", [1, "1", {"a": None}]),
            ("{}", {}),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_params_are_json_values_or_text(self, load, written, value):
        (read,) = load(query(f"relevant: b\nparams: {{key: {written}}}")).queries["a"].params.values()
        assert read == value
        assert type(read) is type(value)

    @pytest.mark.parametrize(
        ("written", "judgments"),
        [
            ("doc", {"doc": 1}),
            ("[doc]", {"doc": 1}),
            ("'a, b'", {"a, b": 1}),
            ("{doc: 1}", {"doc": 1}),
            ("{doc: 0.5, 'x': 1000, y: 0, z: .25}", {"doc": 0.5, "x": 1000, "y": 0, "z": 0.25}),
            ("{doc: 1, text: 2, grade: 3}", {"doc": 1, "text": 2, "grade": 3}),
            ("{'<<': 1}", {"<<": 1}),
            ("['<<', <<]", None),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_relevant_is_one_a_list_or_graded(self, load, written, judgments):
        if judgments is None:
            with pytest.raises(GoldenSetError):
                load(query(f"relevant: {written}"))
        else:
            read = load("relevance_level: 0.1\n" + query(f"relevant: {written}")).queries["a"].judgments
            assert read == judgments
            assert [type(grade) for grade in read.values()] == [type(grade) for grade in judgments.values()]

    @pytest.mark.usefixtures("parser")
    def test_a_list_may_hold_passages(self, load):
        golden = load(
            query("""
            relevant:
            - faq
            - {doc: handbook, text: "thirty  days\\nafter purchase", grade: 2}
            - doc: handbook
              text: >
                within the
                EU
              x-why: the law
            - {doc: terms, text: no refund, grade: 0}
            """)
        )
        (read,) = golden.queries.values()
        assert read.judgments == {
            "faq": 1,
            "handbook: thirty days after purchase": 2,
            "handbook: within the EU": 1,
            "terms: no refund": 0,
        }
        assert read.passages == (
            Passage("handbook", "thirty  days\nafter purchase", 2),
            Passage("handbook", "within the EU\n"),
            Passage("terms", "no refund", 0),
        )

    def test_doc_and_text_may_be_ids(self, load):
        assert load(query("relevant: {doc: 2, text: 1}")).queries["a"].judgments == {"doc": 2, "text": 1}

    def test_a_set_without_any_text_may_be_checked_against_a_run(self, load):
        golden = load("queries:\n- {id: q1, relevant: a}\n- {id: q2, relevant: b}\n")
        assert [golden.queries[name].text for name in ("q1", "q2")] == [None, None]

    @pytest.mark.usefixtures("parser")
    def test_aliases_stand_for_what_they_name(self, load):
        golden = load(
            "x-common: &docs [a, b]\nx-graded: &graded {c: 2}\n"
            "queries:\n- {query: &text hello, relevant: *docs, tags: &tags [t]}\n"
            "- {id: *text, query: R&D &c., relevant: *graded, tags: *tags}\n".replace(
                "id: *text", "id: two, note: *text"
            )
        )
        assert golden.queries["hello"].judgments == {"a": 1, "b": 1}
        assert golden.queries["two"].judgments == {"c": 2}
        assert golden.queries["two"].tags == ("t",)
        assert golden.queries["two"].note == "hello"

    @pytest.mark.usefixtures("parser")
    def test_the_list_of_queries_may_be_an_alias(self, load):
        golden = load("x-all: &all\n- {query: a, relevant: b}\nqueries: *all\n")
        assert golden.where("a") == "faq.yaml:2"

    def test_keys_come_in_any_order(self, load):
        golden = load(
            "queries:\n- {relevant: b, query: a, tags: [t]}\nslices: {t: {mrr: 1}}\nrelevance_level: 1\n"
        )
        assert golden.thresholds[0].tag == "t"

    @pytest.mark.parametrize("break_", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    @pytest.mark.usefixtures("parser")
    def test_reads_every_line_end_and_a_mark_at_the_start(self, load, break_, mark):
        golden = load((mark + FULL.replace("\n", break_)).encode())
        assert golden.where("refund") == "faq.yaml:14"
        assert golden.locate("refund", "doc-4") == 16

    @pytest.mark.usefixtures("parser")
    def test_reads_json(self, load):
        golden = load(
            '{"queries": [{"query": "a", "relevant": {"b": 2}, "no_answer": false, "params": {"c": [1.5]}}]}'
        )
        assert golden.queries["a"].judgments == {"b": 2}
        assert golden.queries["a"].params == {"c": [1.5]}

    def test_a_metric_of_ones_own_is_known_by_its_name(self, load, problems):
        text = "thresholds: {freshness@5: {min: -3}}\n" + query("relevant: b")
        assert load(text, custom_metrics=["freshness"]).thresholds[0].metric.kind == "custom"
        assert "Unknown metric" in problems(text)[0]

    def test_leaves_the_garbage_collector_as_it_was(self, load):
        for enabled in (True, False):
            (gc.enable if enabled else gc.disable)()
            try:
                load(FULL)
                assert gc.isenabled() is enabled
                with pytest.raises(GoldenSetError):
                    load("[")
                assert gc.isenabled() is enabled
            finally:
                gc.enable()

    def test_the_two_parsers_agree(self, load, monkeypatch):
        monkeypatch.setattr(yaml_nodes, "PARSER", yaml.BaseLoader)
        slow = load(FULL)
        monkeypatch.undo()
        assert load(FULL).queries == slow.queries

    def test_a_file_with_anchors_is_read_as_one_without(self, load):
        cautious = load("x-a: &a b\nx-b: *a\n" + FULL)
        usual = load("x-a: b\nx-b: b\n" + FULL)
        assert cautious.queries == usual.queries


class TestProblems:
    """Each case is a file and what is said of it: line:column: what, and what to do."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", ["1:1: The file is empty."]),
            ("# nothing\n---\n", ["1:1: The file is empty."]),
            ("- query: a\n", ["1:1: A golden set is a mapping with the key `queries`, and this is a list."]),
            ("words\n", ["1:1: A golden set is a mapping with the key `queries`, and this is text."]),
            ("name: x\n", ["1:1: There are no `queries`."]),
            ("queries:\n", ["1:9: `queries` is empty."]),
            ("queries: a\n", ["1:10: `queries` is 'a'."]),
            ("queries: {a: b}\n", ["1:10: `queries` is a mapping."]),
            ("queries: []\n", ["1:10: There is no query."]),
            ("queries:\n- a\n- [b]\n-\n", ["2:3: A query is a mapping, and this is text.", "3:3:", "4:2:"]),
            ("version: 2\n" + query("relevant: b"), ["1:10: `version` is '2', and this reads version 1."]),
            ("name: [a]\n" + query("relevant: b"), ["1:7: `name` is a list. Write one text."]),
            ("relevance_level: 0\n" + query("relevant: b"), ["1:18: `relevance_level` is '0'."]),
            ('relevance_level: "1"\n' + query("relevant: b"), ["1:18: `relevance_level` is the text '1'."]),
            ("relevance_level: high\n" + query("relevant: b"), ["1:18: `relevance_level` is 'high'."]),
            (
                query("relevant: b") + "relevance_level: 2\n",
                ["2:3: No document reaches the relevance level of 2; the best grade is 1."],
            ),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_of_the_set(self, problems, text, expected):
        self.compare(problems(text), expected)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("relevent: b", ["3:3: 'relevent' is no key of a query. Did you mean `relevant`?"]),
            ("documents: b", ["3:3: 'documents' is no key of a query. Did you mean `relevant`?"]),
            (
                "relevant: b\ntreshold: 1",
                ["4:3: 'treshold' is no key of a query. Did you mean `thresholds`?"],
            ),
            ("relevant: b\nzzz: 1", ["4:3: 'zzz' is no key of a query. Its keys are forbidden, id,"]),
            ("relevant: b\nrelevant: c", ["4:3: 'relevant' is here twice, first on line 3. Keep one."]),
            ("relevant: {b: 3, c: 1, b: 2}", ["3:26: 'b' is here twice, first on line 3. Keep one."]),
            ("relevant: [b, c, b]", ["3:20: The document 'b' is here twice, first on line 3. Keep one."]),
            ("note: no more", ["2:3: This query has no relevant document. Add"]),
            ("relevant: []", ["3:13: This query has no relevant document. Add"]),
            ("relevant: {}", ["3:13: This query has no relevant document. Add"]),
            ("relevant: {b: 0}", ["3:13: Every document here has grade 0."]),
            ("relevant:", ["3:12: `relevant` is empty."]),
            ('relevant: ""', ["3:13: `relevant` is empty."]),
            ("relevant: b, c", ["3:13: `relevant` is one document here, 'b, c'."]),
            ('relevant: [b, ""]', ["3:17: A document is missing here."]),
            ('relevant: {"": 1}', ["3:14: A key is missing before the `:`."]),
            ("relevant: [b, [c]]", ["3:17: A document is text, and this is a list."]),
            ("relevant: [b: 3]", ["3:14: A list of documents has no grades. Write a mapping,"]),
            ("relevant: [{doc: b}]", ["3:14: This passage has no `text`. Write the text to find in it."]),
            ("relevant: [{text: b}]", ["3:14: This passage has no `doc`. Write the document's id."]),
            ("relevant: [{doc: b, txet: c}]", ["3:23: 'txet' is no key of a passage. Did you mean `text`?"]),
            ("relevant: [{doc: b, text: c, text: d}]", ["3:32: 'text' is here twice, first on line 3."]),
            ("relevant: [{doc: b, text: [c]}]", ["3:29: `text` is a list. Write the text to find in it."]),
            ('relevant: [{doc: "", text: c}]', ["3:20: `doc` is empty. Write the document's id."]),
            ("relevant: [{doc: b, text: }]", ["3:2"]),
            ('relevant: [{doc: b, text: " \\u200b"}]', ["3:29: `text` is empty, and would be found in"]),
            (
                "relevant: [{doc: b, text: c, grade: high}]",
                ["3:39: The grade of the passage is 'high', which"],
            ),
            ("relevant: [{doc: b, text: c, grade: -1}]", ["3:39: The grade of the passage is -1, below 0."]),
            ("relevant: [{doc: b, text: c, grade: 0}]", ["3:13: Every document here has grade 0."]),
            (
                "relevant: [{doc: b, text: c d}, {doc: b, text: ' c\n  d'}]",
                ["3:35: This passage is here twice, first on line 3. Keep one."],
            ),
            (
                "relevant: [b, {doc: b, text: c}]",
                ["3:17: 'b' is judged as a whole on line 3, and here by passage. Keep one of the two."],
            ),
            (
                "relevant: [c, c, d: 2, {doc: b}]",
                [
                    "3:17: The document 'c' is here twice, first on line 3.",
                    "3:20: A list of documents has no grades. Write a mapping, `relevant: {doc-9: 3, doc-4: 1}`; or a",
                    "3:26: This passage has no `text`.",
                ],
            ),
            ("relevant: {doc: b, text: c}", ["3:13: A passage stands in a list. Write `relevant: [{doc:"]),
            (
                "relevant: [{doc: b, text: c}]\nforbidden: [b]",
                [
                    "4:15: 'b' is forbidden here, and judged by passage on line 3. Remove it from one of the two."
                ],
            ),
            ("relevant: b\nforbidden: [c, b]", ["4:18: 'b' is forbidden here, and relevant on line 3."]),
            ("relevant: b\nforbidden: [c, c]", ["4:18: The document 'c' is here twice, first on line 4."]),
            ("relevant: b\nforbidden: {c: 1}", ["4:14: `forbidden` is a mapping. Write a list"]),
            ("relevant: b\nforbidden:", ["4:13: `forbidden` is empty."]),
            ("relevant: b\ntags: [t, t]", ["4:13: The tag 't' is here twice, first on line 4."]),
            ("relevant: b\ntags: t, u", ["4:9: `tags` is one tag here, 't, u'."]),
            ("relevant: b\nno_answer: true", ["3:13: A `no_answer` query has no `relevant`."]),
            ("no_answer: true\nrelevant: {b: 0}", ["4:13: A `no_answer` query has no `relevant`."]),
            ("no_answer: false", ["2:3: This query has no relevant document."]),
            ("relevant: b\nxfail:", ["4:9: `xfail` is empty."]),
            ("relevant: b\nxfail: true", ["4:10: `xfail` is true. Write why it is known to be bad"]),
            ("relevant: b\nid:", ["4:6: `id` is empty."]),
            ("relevant: b\nid: [c]", ["4:7: `id` is a list. Write one text."]),
            ("relevant: b\nparams: 3", ["4:11: `params` is '3'. Write a mapping, such as {lang: en}."]),
            ("relevant: b\nparams: {c: }", ["4:1"]),
            ("relevant: b\nparams: {c: 1e999}", ["4:15: The number 1e999 is too large."]),
            ("relevant: b\nparams: {c: {d: 1, d: 2}}", ["4:22: 'd' is here twice, first on line 4."]),
            ("relevant: b\n? [c]\n: d", ["4:5: A key is text, and this is a list."]),
            ('relevant: b\n"": d', ["4:3: A key is missing before the `:`."]),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_of_a_query(self, problems, text, expected):
        self.compare(problems(query(text)), expected)

    @pytest.mark.parametrize(
        ("grade", "part"),
        [
            ("-1", "is -1, below 0. Write 0"),
            ("true", "is 'true', which is no number."),
            ("yes", "is 'yes', which is no number."),
            (".nan", "is '.nan', which is no number."),
            ("NaN", "is 'NaN', which is no number."),
            (".inf", "is '.inf', which is no number."),
            ("-.inf", "is '-.inf', which is no number."),
            ("1e999", "is '1e999', which is no number."),
            ("1001", "is 1001, above 1000."),
            ("1000.5", "is 1000.5, above 1000."),
            ("0x10", "is '0x10', which is no number."),
            ("010", "is '010', which is no number."),
            ("1_0", "is '1_0', which is no number."),
            ("1:30", "is '1:30', which is no number."),
            ('"3"', "is text, '3'. Take the quotes off."),
            ("high", "is 'high', which is no number."),
            ("", "is missing."),
            ("[1]", "is a list."),
            ("{c: 1}", "is a mapping."),
            ("9" * 5000, "which is no number."),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_of_a_grade(self, problems, grade, part):
        (problem,) = problems(query(f"relevant: {{b: {grade}}}"))
        assert problem.startswith("3:1"), problem
        assert f"The grade of 'b' {part}" in problem or ("…" in problem and part in problem)
        assert len(problem) < 200

    @pytest.mark.parametrize(
        "weight", ["0", "-1", "1e10", ".inf", ".nan", "true", '"2"', "heavy", "", "[1]", "1e-999"]
    )
    def test_of_a_weight(self, problems, weight):
        (problem,) = problems(query(f"relevant: b\nweight: {weight}"))
        assert problem.startswith("4:1") or not weight
        assert "`weight` is" in problem
        assert "Write a number above 0" in problem

    def test_weights_from_tiny_to_huge(self, load):
        for weight in ("1e-300", ".5", "3", "1000000000"):
            assert load(query(f"relevant: b\nweight: {weight}")).queries["a"].weight == float(weight)

    @pytest.mark.parametrize("value", ["yes", "True", "on", "1", '"true"', "", "[true]"])
    def test_a_boolean_is_true_or_false_alone(self, problems, value):
        found = problems(query(f"no_answer: {value}"))
        assert any("`no_answer` is" in problem and "Write true or false" in problem for problem in found)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("P@5: 0.5\n  precision@5: 0.6", ["3:3: precision@5 is already on line 2, as 'P@5'. Keep one."]),
            ("mrr: 0.5\n  mrr: 0.6", ["3:3: 'mrr' is here twice, first on line 2."]),
            ("ndgc@10: 0.5", ["2:3: Unknown metric 'ndgc@10'. Did you mean ndcg@10?"]),
            ("ndcg@0: 0.5", ["2:3: 'ndcg@0': the cut-off '0' is not a whole number above 0."]),
            ("mrr: 1.5", ["2:8: `min` of mrr is 1.5, which it can never be. Write a number from 0 to 1."]),
            ("mrr: true", ["2:8: `min` of mrr is 'true', which is not a number."]),
            ("mrr:", ["2:7: `min` of mrr is '', which is not a number."]),
            ("mrr: [0.5]", ["2:8: The threshold on mrr is a list."]),
            ("mrr: {}", ["2:8: The threshold on mrr has no limit."]),
            ("mrr: {mim: 0.5}", ["2:9: 'mim' is no word of a threshold. Did you mean `min`?"]),
            ("mrr: {min: [1]}", ["2:14: `min` of mrr is a list."]),
            ("mrr: {tag: a, min: 1}", ["2:9: 'tag' is no word of a threshold."]),
            ("mrr: {min: 2, max: x}", ["2:14: `min` of mrr is 2", "2:22: `max` of mrr is 'x'"]),
            ("no_answer: 1", ["2:3: No query is a `no_answer` one, so this gates nothing."]),
            ("latency_p95: 100", ["2:16: `min` does not apply to latency_p95"]),
            ("a" * 300 + ": 1", ["2:3: 'aaa"]),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_of_thresholds(self, problems, text, expected):
        found = problems(f"thresholds:\n  {text}\n" + query("relevant: b"))
        self.compare(found, expected)

    def test_thresholds_are_a_mapping(self, problems):
        for value, what in (("0.5", "'0.5'"), ("[mrr]", "a list"), ("", "empty")):
            assert (
                f"`thresholds` is {what}. Write metrics"
                in problems(f"thresholds: {value}\n" + query("relevant: b"))[0]
            )
            assert (
                f"`slices` is {what}. Write thresholds"
                in problems(f"slices: {value}\n" + query("relevant: b"))[0]
            )
            assert (
                f"`t` is {what}. Write metrics"
                in problems(f"slices: {{t: {value}}}\n" + query("relevant: b\ntags: t"))[0]
            )

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (
                "thresholds: {mrr: {max: 1}}",
                ["4:22: `max` is about many queries, and this threshold is about one."],
            ),
            ("thresholds: {mrr: {significance: 1}}", ["4:22: `significance` is about many queries"]),
            ("thresholds: {no_answer: 1}", ["4:16: This query has answers"]),
            ("thresholds: {latency_p50: {max: 1}}", ["4:30: `max` is about many queries"]),
        ],
    )
    def test_of_a_querys_own_thresholds(self, problems, text, expected):
        self.compare(problems(query(f"relevant: b\n{text}")), expected)

    def test_a_query_without_an_answer_has_no_other_metric(self, problems, load):
        (problem,) = problems(query("no_answer: true\nthresholds: {mrr: 1}"))
        assert problem.startswith("4:16: mrr is not computed for a `no_answer` query.")
        load("thresholds: {no_answer: 1}\n" + query("no_answer: true\nthresholds: {no_answer: 1}"))
        (problem,) = problems("thresholds: {mrr: 1, latency_p50: {max: 9}}\n" + query("no_answer: true"))
        assert problem.startswith("1:14: Every query is a `no_answer` one, so mrr gates nothing.")

    def test_a_slice_without_a_query_is_a_gate_over_nothing(self, problems):
        text = query("relevant: b\ntags: [billing]") + "slices: {biling: {mrr: 1}, zzz: {mrr: 1}}\n"
        self.compare(
            problems(text),
            [
                "5:10: No query carries the tag 'biling'. Did you mean 'billing'?",
                "5:28: No query carries the tag 'zzz'. Tag some, or remove the slice.",
            ],
        )
        (problem,) = problems(query("relevant: b\ntags: [t]") + "slices: {t: {no_answer: 1}}\n")
        assert "No query with the tag 't' is a `no_answer` one" in problem

    @pytest.mark.usefixtures("parser")
    def test_a_level_that_a_query_does_not_reach_is_about_that_query(self, problems, load):
        text = "relevance_level: {}\nqueries:\n- {{query: a, no_answer: true}}\n- {{query: b, relevant: {{c: 2, d: 0}}}}\n"
        load(text.format(2))
        (problem,) = problems(text.format(1000))
        assert problem.startswith(
            "4:3: No document reaches the relevance level of 1000; the best grade is 2."
        )

    def test_two_queries_with_one_id(self, problems):
        assert problems("queries:\n- {query: a, relevant: b}\n- {query: a, relevant: c}\n") == [
            "3:11: The query 'a' on line 2 has the same text. Give each an `id` of its own."
        ]
        assert problems("queries:\n- {id: x, query: a, relevant: b}\n- {id: x, query: c, relevant: d}\n") == [
            "3:8: The query 'x' on line 2 has this id. Change one."
        ]

    def test_a_query_without_a_text_beside_others(self, problems):
        assert problems("queries:\n- {id: x, relevant: b}\n- {query: c, relevant: d}\n")[0].startswith(
            "2:3: This query has no `query`, and others do."
        )
        assert problems("queries:\n- {relevant: b}\n")[0].startswith("2:3: This query has no `query`.")

    def test_all_of_them_come_at_once_and_in_order(self, problems):
        found = problems(
            "treshold: 1\nslices: {t: {mrr: 2}}\nqueries:\n- {query: a, relevant: {b: -1, c: x}}\n- {query: a, relevant: d}\n"
            "- {query: [e], relevant: f, weight: 0, tags: [g, g]}\n"
        )
        assert [problem.split(": ")[0] for problem in found] == [
            "1:1", "2:10", "2:19", "4:28", "4:35", "5:11", "6:11", "6:37", "6:50",
        ]  # fmt: skip

    def test_those_before_a_syntax_error_come_with_it(self, problems):
        found = problems(
            "relevance_levle: 1\nqueries:\n- {query: a, relevant: {b: -1}}\n- {query: c, relevant: 'd}\n"
        )
        self.compare(
            found, ["1:1: 'relevance_levle'", "3:28: The grade of 'b'", "4:24: The quote that opens here"]
        )

    def test_every_one_says_what_to_do(self, problems):
        for text in (
            "a: 1\n",
            query("relevant: {b: -1}\nweight: 0"),
            "queries: []",
            "[",
            "\t",
            "queries: &a b",
        ):
            for problem in problems(text):
                assert problem.count(". ") >= 1
                assert problem.endswith((".", "?"))

    def test_the_file_is_named_as_the_user_did(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "golden").mkdir()
        (tmp_path / "golden" / "faq.yaml").write_text("queries: a")
        with pytest.raises(GoldenSetError) as caught:
            GoldenSet.load("golden/faq.yaml")
        message = "`queries` is 'a'. Write a list, each query after a `- `."
        assert caught.value.problems == (Problem(str(Path("golden/faq.yaml")), 1, 10, message),)

    def test_their_number_has_an_end(self, problems):
        found = problems("queries:\n" + "-\n" * 5000)
        assert len(found) == MAX_PROBLEMS + 1
        assert "the rest is not read" in found[-1]

    @staticmethod
    def compare(found: list[str], expected: list[str]) -> None:
        assert len(found) == len(expected), found
        for problem, start in zip(found, expected, strict=True):
            assert problem.startswith(start), problem


class TestYaml:
    """What YAML can do, and a golden set has no use for."""

    @pytest.mark.parametrize(
        ("text", "start"),
        [
            (
                "queries:\n- {query: a, relevant: b}\n---\nqueries:\n",
                "3:1: A second YAML document begins here.",
            ),
            ("queries:\n- {query: a, relevant: b}\n...\nmore\n", "4:1: The document has ended before this."),
            (query("relevant: &tv stands"), "3:13: `&tv` is read as an anchor, and nothing refers to it."),
            (query("relevant: *nobody"), "3:13: `*nobody` refers to no anchor before it."),
            (query("relevant: &self [*self]"), "3:20: `*self` refers to no anchor before it."),
            (
                "x-a: &a 1\nx-b: &a 2\nx-c: *a\n" + query("relevant: b"),
                "2:6: The anchor `&a` is already on line 1.",
            ),
            (query("relevant: !!str b"), "3:13: `!!str` is read as a tag, which has no meaning"),
            (query("relevant: [!!int foo]"), "3:14: `!!int` is read as a tag"),
            (query("relevant: !urgent b"), "3:13: `!urgent` is read as a tag"),
            (query("relevant: ! b"), "3:13: `!` is read as a tag"),
            (query("relevant: !e!x b"), "3:13: A text that begins with `!` must be in quotes."),
            ("!!map\n" + query("relevant: b"), "1:1: The golden set as a whole takes no anchor and no tag."),
            ("&all\n" + query("relevant: b"), "1:1: The golden set as a whole takes no anchor and no tag."),
            (
                "queries: !!seq\n- {query: a, relevant: b}\n",
                "1:10: The list of queries takes no anchor and no tag.",
            ),
            (
                "queries: &q\n- {query: a, relevant: b}\n",
                "1:10: The list of queries takes no anchor and no tag.",
            ),
            (
                "x-a: &a {}\nqueries:\n- {<<: *a, query: a, relevant: b}\n",
                "3:4: Merge keys (`<<`) are not read.",
            ),
            (
                "x-a: &a {b: 1}\nqueries:\n- {query: a, relevant: {<<: *a}}\n",
                "3:25: Merge keys (`<<`) are not read.",
            ),
            ("%TAG ! tag:x\n---\n" + query("relevant: b"), "1:1: A `%TAG` line has no meaning"),
            ("%YAML 2.0\n---\n" + query("relevant: b"), "1:1: This asks for another version of YAML."),
            ("queries:\n- query: what: no\n", "2:14: A `: ` makes no sense here."),
            ("queries:\n\t- query: a\n", "2:1: A tab cannot indent. Use spaces."),
            ("queries:\n- query: a\n\trelevant: b\n", "3:"),
            ("queries:\n- query: @me\n", "2:10: No text can begin with '@' unless it is in quotes."),
            ("queries:\n- query: `me\n", "2:10: No text can begin with '`' unless it is in quotes."),
            ("queries:\n- query: 'a\n  relevant: b\n", "2:10: The quote that opens here is never closed."),
            (
                "queries:\n- query: 'it's'\n",
                "2:14: This does not continue",
            ),
            ('queries:\n- query: "C:\\dir"\n', "2:1"),
            ('queries:\n- query: "\\ud800"\n', "2:1"),
            ('queries:\n- query: "\\U00110000"\n', "2:"),
            ('queries:\n- query: "\\UFFFFFFFF"\n', "2:"),
            ('queries:\n- query: "\\u12"\n', "2:13: This escape is cut short."),
            (
                "queries:\n- query: a\n  relevant: [b\n- query: c\n",
                "4:8: The list that opens on line 3 wants",
            ),
            ("queries:\n- query: a\n  relevant: {b: 1\n- query: c\n", "4:"),
            ("queries:\n- query: a\n  relevant: [b, , c]\n", "3:17: A value is missing here."),
            ("queries:\n- query: * a\n", "2:10: A text that begins with `*` must be in quotes."),
            ("queries:\n- query: & a\n", "2:10: A text that begins with `&` must be in quotes."),
            ("queries:\n- query: |a\n", "2:10: A text that begins with `|` or `>` must be in quotes"),
            ("queries:\n- query: a\nb\n", "3:1: This is neither `key: value` nor part of the text above."),
            ("queries:\n  - query: a\n    relevant: b\n  name: c\n", "4:3: This does not continue"),
            ("queries: - a\n", "1:10: A list cannot begin here."),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_is_refused_in_plain_words(self, problems, text, start):
        found = problems(text)
        assert any(problem.startswith(start) for problem in found), found
        assert not any("token" in problem or "scalar" in problem for problem in found)

    @pytest.mark.parametrize("text", ["a !important b", "R&D & more", "2 * 3 *", "a & b!", "<< a", "a << b"])
    @pytest.mark.usefixtures("parser")
    def test_signs_within_a_text_mean_nothing(self, load, text):
        assert text in load(f"queries:\n- {{query: {text}, relevant: b}}\n").queries

    @pytest.mark.parametrize(
        "text",
        [
            "queries: " + "[" * 100_000,
            "queries: " + "[\n" * 100_000,
            "queries: " + "{a: " * 100_000,
            "queries: " + "{a:\n" * 100_000,
            "queries: [{params: " + "[" * 1000,
            "queries:\n- " + "- " * 100_000,
            "queries:\n  ? " + "? " * 100_000,
            "? " * 100_000,
            "".join(" " * depth + "x-a:\n" for depth in range(1000)),
            "queries:\n- params:\n" + "".join(" " * (depth + 4) + "a:\n" for depth in range(1000)),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_depth_ends_before_anything_recurses(self, problems, text):
        (problem,) = problems(text)
        assert "deep here" in problem

    @pytest.mark.usefixtures("parser")
    def test_depth_counts_through_aliases(self, problems):
        lines = ["x-0: &a0 [1]"] + [f"x-{n}: &a{n} [[[[[[[[*a{n - 1}]]]]]]]]" for n in range(1, 6)]
        (problem,) = problems("\n".join(lines))
        assert problem.startswith("5:")
        assert "deep here" in problem

    @pytest.mark.usefixtures("parser")
    def test_billions_of_laughs_end_at_once(self, problems):
        lines = ["x-0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
        lines += [f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
        (problem,) = problems("\n".join(lines))
        assert problem.startswith("6:")
        assert "stand for too much text" in problem

    @pytest.mark.usefixtures("parser")
    def test_the_merge_bomb_ends_at_once(self, problems):
        lines = ["a0: &a0 {k: 1}"]
        lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
        found = problems("\n".join(lines))
        assert len(found) == 1
        assert "stand for too much text" in found[0]

    @pytest.mark.usefixtures("parser")
    def test_many_long_aliases_end_too(self, problems):
        text = "x-long: &a " + "long " * 20_000 + "\nx-all: [" + "*a, " * 20 + "]\n"
        assert "stand for too much text" in problems(text)[0]

    @pytest.mark.usefixtures("parser")
    def test_many_directives_are_not_compared(self, problems):
        (problem,) = problems("%TAG !a! b\n" * 100_000)
        assert problem.startswith("1:1: A `%TAG` line")

    def test_a_second_document_is_not_read(self, problems):
        assert len(problems(query("relevant: b") + "---\n" + "- \n" * 10)) == 1

    @pytest.mark.usefixtures("parser")
    def test_the_greatest_depth_is_read(self, load, problems):
        depth = node.MAX_DEPTH
        load(query("relevant: b") + "x-deep: " + "[" * depth + "]" * depth)
        assert "deep here" in problems(query("relevant: b") + "x-deep: " + "[" * (depth + 1))[0]
        lines = f"x-a: &a {'[' * (depth - 1)}1{']' * (depth - 1)}\nx-b: [*a]\n"
        load(lines + query("relevant: b"))
        assert "deep here" in problems(lines.replace("[*a]", "[[*a]]") + query("relevant: b"))[0]


class TestEncoding:
    @pytest.mark.parametrize(
        ("sign", "name"),
        [
            ("\x85", "U+0085 (next line)"),
            ("\u2028", "U+2028 (line separator)"),
            ("\u2029", "U+2029 (paragraph separator)"),
            ("\ufeff", "U+FEFF (byte order mark)"),
            ("\x00", "U+0000 (control character)"),
            ("\x1b", "U+001B (control character)"),
            ("\x7f", "U+007F (control character)"),
            ("\x9b", "U+009B (control character)"),
            ("\uffff", "U+FFFF (no character)"),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_a_strange_sign_has_a_name_and_a_place(self, problems, sign, name):
        found = problems(f"queries:\n- {{query: é{sign}a, relevant: b, weight: 0}}\n")
        escape = f'"\\u{ord(sign):04x}"'
        assert (
            found[0]
            == f"2:12: Here is the invisible sign {name}. Remove it, or write {escape} within double quotes."
        )
        assert found[1].startswith("2:37: `weight`")
        assert len(found) == 2

    @pytest.mark.parametrize("sign", ["\x85", "\u2028", "\ufeff", "\x00", "\x1b", "\x9b"])
    @pytest.mark.usefixtures("parser")
    def test_its_escape_is_text(self, load, sign):
        assert f"a{sign}" in load(f'queries:\n- {{query: "a\\u{ord(sign):04x}", relevant: b}}\n').queries

    def test_latin_1(self, problems):
        assert problems("queries:\n- {query: caf\xe9, relevant: b}\n".encode("latin-1")) == [
            "2:14: The byte 0xE9 is not UTF-8. In Latin-1 it would be 'é'. Save the file as UTF-8."
        ]
        assert (
            problems(b"queries:\n- {query: caf\x81}")[0]
            == "2:14: The byte 0x81 is not UTF-8. Save the file as UTF-8."
        )

    def test_surrogates_in_bytes(self, problems):
        assert "is not UTF-8" in problems(b"queries: \xed\xa0\x80")[0]

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
    def test_wide_encodings(self, problems, encoding):
        assert problems(FULL.encode(encoding)) == ["1:1: The file is in UTF-16 or UTF-32. Save it as UTF-8."]

    def test_conflict_markers(self, problems):
        text = "queries:\n<<<<<<< HEAD\n- {query: a, relevant: b}\n=======\n- {query: a, relevant: c}\n>>>>>>> other\n"
        message = "A marker of an unresolved merge. Keep one side and remove the markers."
        assert problems(text) == [f"2:1: {message}", f"6:1: {message}"]
        assert problems(text.replace("\n", "\r\n")) == [f"2:1: {message}", f"6:1: {message}"]
        quoted = 'queries:\n- query: "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n"\n  relevant: d\n'
        assert problems(quoted) == [f"3:1: {message}", f"7:1: {message}"]

    def test_what_only_looks_like_one_is_text(self, load):
        load("queries:\n- query: |\n    <<<<<<< HEAD\n    >>>>>>> other\n  relevant: <<<<<<<<<<\n")

    def test_places_count_characters_and_every_kind_of_line_end(self):
        data = "aé\r\n\né€b\rc".encode()
        offsets = [data.index(sign.encode()) for sign in ("a", "é", "€", "b", "c")]
        assert list(files.places(data, offsets)) == [(1, 1), (1, 2), (3, 2), (3, 3), (4, 1)]

    def test_a_million_strange_signs_are_not_all_read(self, problems):
        assert len(problems(b"\x01" * 1_000_000)) == MAX_PROBLEMS + 1


class TestFiles:
    def error_of(self, path) -> str:
        with pytest.raises(GoldenSetError) as caught:
            GoldenSet.load(path)
        (problem,) = caught.value.problems
        assert str(problem) == f"{path}:1:1: {problem.message}"
        return problem.message

    def test_missing(self, tmp_path):
        assert self.error_of(tmp_path / "no.yaml") == "There is no such file. Check the path."
        (tmp_path / "file").touch()
        assert self.error_of(tmp_path / "file" / "no.yaml") == "There is no such file. Check the path."

    def test_a_folder(self, tmp_path):
        assert self.error_of(tmp_path).startswith("This is a folder. Name the golden sets in it")
        (tmp_path / "folder.yaml").mkdir()
        assert self.error_of(tmp_path / "folder.yaml").startswith("This is a folder.")

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
    def test_a_pipe_is_not_waited_for(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.yaml")
        assert self.error_of(tmp_path / "pipe.yaml").startswith("This is no regular file.")

    def test_unreadable(self, tmp_path, monkeypatch):
        path = tmp_path / "a.yaml"
        path.touch()

        def refuse(*_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(type(path), "open", refuse)
        assert self.error_of(path) == "The file may not be read. Check its permissions."

    def test_a_broken_disk(self, tmp_path, monkeypatch):
        path = tmp_path / "a.yaml"
        path.touch()

        def fail(*_, **__):
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(type(path), "open", fail)
        assert self.error_of(path) == "The file cannot be read: Input/output error. Check the path."

    def test_paths_that_can_be_none(self):
        assert self.error_of("a\0b.yaml") == "No file can have this path. Check its characters."
        assert "Check the path" in self.error_of("a" * 5000 + ".yaml")
        assert "Check" in self.error_of("\udc80\ud800.yaml")

    def test_a_loop_of_links(self, tmp_path):
        (tmp_path / "a.yaml").symlink_to(tmp_path / "a.yaml")
        assert "Check the path" in self.error_of(tmp_path / "a.yaml")

    def test_too_large(self, tmp_path, monkeypatch):
        monkeypatch.setattr(files, "MAX_BYTES", 10_000_000)
        path = tmp_path / "a.yaml"
        with path.open("wb") as file:
            file.truncate(10_000_001)
        assert self.error_of(path) == "The file is larger than 10 MB. Split it into several golden sets."

    def test_other_suffixes_name_those_that_are_read(self, tmp_path):
        for name, what in (("a.xlsx", "'.xlsx'"), ("a.txt", "'.txt'"), ("a", "no suffix")):
            (tmp_path / name).touch()
            formats = ".yaml, .yml, .qrels, .jsonl, .csv, .tsv, .json"
            message = f"A golden set is a file with {formats}, and this has {what}. Rename or convert it."
            assert self.error_of(tmp_path / name) == message

    def test_suffixes_of_yaml(self, tmp_path):
        for name in ("a.yaml", "a.yml", "a.YAML"):
            (tmp_path / name).write_text(FULL)
            assert len(GoldenSet.load(str(tmp_path / name)).queries) == 4


class TestPlaces:
    def test_where_a_query_is(self, load):
        golden = load(FULL)
        assert golden.where("refund") == "faq.yaml:14"
        assert golden.where("asdf qwerty") == "faq.yaml:24"
        with pytest.raises(KeyError):
            golden.where("nobody")

    @pytest.mark.parametrize(
        ("query_id", "doc_id", "line"),
        [
            ("how do I reset my password", "doc-12", 13),
            ("refund", "doc-9", 16),
            ("refund", "doc-99", 17),
            ("refund", "nowhere", None),
            ("known to be bad", "doc-3", 27),
            ("known to be bad", "doc-9", None),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_where_a_judgment_is(self, load, query_id, doc_id, line):
        golden = load(FULL)
        assert golden.locate(query_id, doc_id) == line
        assert golden.locate(query_id, doc_id) == line

    @pytest.mark.usefixtures("parser")
    def test_in_every_style(self, load):
        golden = load(
            "queries: [{query: a, relevant: [b,\n c]}, {query: d, relevant: e}, {\n query: f,\n relevant: {\n g: 1}}]\n"
            "x-more: [\n".replace("x-more: [\n", "x-more: 1\n")
        )
        assert [golden.locate("a", "b"), golden.locate("a", "c")] == [1, 2]
        assert golden.locate("d", "e") == 2
        assert golden.locate("f", "g") == 5

    @pytest.mark.usefixtures("parser")
    def test_in_a_block(self, load):
        golden = load(
            "queries:\n- query: a\n  relevant:\n  - b\n  - c\n  - 'd'\n-\n  query: e\n  relevant:\n    f: 1\n    ? g\n    : 2\n"
        )
        assert [golden.locate("a", doc) for doc in "bcd"] == [4, 5, 6]
        assert [golden.locate("e", doc) for doc in "fg"] == [10, 11]

    def test_where_a_passage_is(self, load):
        golden = load(
            query("""
            relevant:
            - b
            - {doc: c, text: d e}
            - doc: c
              text: |
                f
                g
            """)
        )
        assert [golden.locate("a", doc_id) for doc_id in ("b", "c: d e", "c: f g", "c")] == [4, 5, 6, None]

    def test_none_once_the_file_has_changed_or_gone(self, load, tmp_path):
        text = query("relevant: b")
        for change in (
            b"",
            b"\xff\n\n\n",
            b"queries:\n- query: a\n  relevant: [x\n",
            b"\n\n- c\n\n",
            b"a\nb: 'c\nd\n",
        ):
            golden = load(text)
            (tmp_path / "faq.yaml").write_bytes(change)
            assert golden.locate("a", "b") is None
        golden = load(text)
        (tmp_path / "faq.yaml").unlink()
        assert golden.locate("a", "b") is None

    def test_none_for_what_an_alias_stands_for(self, load):
        golden = load("x-d: &d [b]\n" + query("relevant: *d"))
        assert golden.locate("a", "b") is None

    def test_none_without_a_file(self):
        golden = GoldenSet.from_judgments({"q": {"d": 1}}, name="mine")
        assert golden.locate("q", "d") is None
        assert golden.where("q") == "mine"


class TestFromJudgments:
    def error_of(self, *args, **options) -> list[str]:
        with pytest.raises(GoldenSetError) as caught:
            GoldenSet.from_judgments(*args, **options)
        return str(caught.value).splitlines()

    def test_reads_as_trec_eval_does(self):
        judgments = {"q1": {"d1": 2, "d2": -1}, "q2": {"d1": 0}, "q3": {}}
        golden = GoldenSet.from_judgments(
            judgments, texts={"q1": "one", "q4": "four"}, name="faq", relevance_level=2
        )
        assert golden.name == "faq"
        assert golden.path is None
        assert golden.relevance_level == 2
        assert golden.queries == {
            "q1": Query("q1", "one", {"d1": 2, "d2": -1}),
            "q2": Query("q2", None, {"d1": 0}),
        }
        assert golden.left_out == ("q3", "q4")
        assert golden.tags == frozenset()
        assert golden.thresholds == ()

    def test_the_highest_grade(self):
        golden = GoldenSet.from_judgments({"q": {"d": 1000}}, relevance_level=1000)
        assert golden.queries["q"].judgments == {"d": 1000}

    def test_integers_become_text(self):
        assert GoldenSet.from_judgments({1: {2: 3}}).queries["1"].judgments == {"2": 3}

    def test_numbers_of_other_kinds(self):
        numpy = pytest.importorskip("numpy")
        judgments = {
            "q": {"a": numpy.int64(2), "b": numpy.float32(0.5), "c": Fraction(1, 4), numpy.int32(7): 1.5}
        }
        read = GoldenSet.from_judgments(judgments).queries["q"].judgments
        assert read == {"a": 2, "b": 0.5, "c": 0.25, "7": 1.5}
        assert [type(grade) for grade in read.values()] == [int, float, float, float]

    @pytest.mark.parametrize("grade", [True, None, "1", float("nan"), float("inf"), 1001, [1]])
    def test_refuses_what_is_no_grade(self, grade):
        (line,) = self.error_of({"q": {"d": grade}}, name="mine")
        assert line.startswith("mine: Query 'q' grades 'd' ")
        assert line.endswith("Give a number up to 1000.")

    def test_refuses_what_is_no_id(self):
        lines = self.error_of({"": {"d": 1}, True: {"d": 1}, 1.5: {"d": 1}, "q": {None: 1, 10**5000: 1}})
        assert [line.split(".")[0] for line in lines[:2]] == [
            "judgments: The query id '' is no id", "judgments: The query id True is no id",
        ]  # fmt: skip
        assert len(lines) == 5

    def test_refuses_the_same_id_as_text_and_integer(self):
        lines = self.error_of({1: {"d": 1}, "1": {"d": 1}, "q": {2: 1, "2": 1}})
        assert "The query '1' is here twice" in lines[0]
        assert "Query 'q' judges '2' twice" in lines[1]

    @pytest.mark.parametrize(
        ("judgments", "options", "part"),
        [
            ([("q", "d")], {}, "The judgments are no mapping."),
            ({"q": ["d"]}, {}, "The judgments of query 'q' are of type list. Give {id: grade}."),
            ({"q": {"d": 1}}, {"texts": ["a"]}, "The texts are no mapping."),
            ({"q": {"d": 1}}, {"texts": {"q": 3}}, "The text of query 'q' is 3."),
            ({"q": {"d": 1}}, {"texts": {"q": " "}}, "The text of query 'q' is ' '."),
            ({"q": {"d": 1}}, {"relevance_level": 0}, "relevance_level is 0."),
            ({"q": {"d": 1}}, {"relevance_level": True}, "relevance_level is True."),
            ({"q": {}}, {}, "There is no query with a judgment."),
            ({}, {}, "There is no query with a judgment."),
        ],
    )
    def test_refuses(self, judgments, options, part):
        (line,) = self.error_of(judgments, **options)
        assert line.startswith(f"judgments: {part}")


class TestObjects:
    def test_yaml_is_loaded_for_files_alone(self):
        code = "import sys, pytest_irmetrics.golden as g; g.GoldenSet.from_judgments({1: {2: 3}}); assert 'yaml' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])

    def test_a_query_can_be_copied_and_sent(self):
        passages = (Passage("d", "text"),)
        values = ("q", "t", {"d": 1}, ("f",), ("t",), 2.0, {"p": 1}, (), True, "why", "note", 3, 4, passages)
        made = Query(*values)
        assert tuple(getattr(made, field.name) for field in fields(Query)) == values
        assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == replace(made) == made

    def test_a_set_can_be_copied_and_sent(self, load):
        golden = load(FULL)
        sent = pickle.loads(pickle.dumps(golden))
        assert (sent.queries, sent.path, sent.thresholds) == (golden.queries, golden.path, golden.thresholds)
        assert sent.where("refund") == "faq.yaml:14"

    def test_an_error_can_be_sent(self, load):
        with pytest.raises(GoldenSetError) as caught:
            load("queries: a")
        sent = pickle.loads(pickle.dumps(caught.value))
        assert (str(sent), sent.problems) == (str(caught.value), caught.value.problems)

    def test_queries_share_nothing_that_can_change(self, load):
        one, other = load("queries:\n- {query: a, relevant: b}\n- {query: c, relevant: d}\n").queries.values()
        assert one.params is not other.params


SIGNS = list(
    b"[]{}:,-?!&*#|>'\"%@`<\\ \n\t\r~\x00\x85\xe2\x80\xa8\xef\xbb\xbf\xc2" + string.printable.encode()
)
PIECES = [
    b"<<: ", b"*a", b"&a ", b"!!str ", b"---\n", b"...\n", b"%TAG ! x\n", b"queries:", b"relevant:", b"- ", b"? ", b": ",
    b"\\ud800", b'"', b"'", b"\xc2\x85", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"<<<<<<< ", b"\r\n", b"{", b"[", b"1e999",
    b"x-a: &a [b]\n", b"true", b"0", b"-1", b".nan", b"thresholds: {mrr: 2}\n",
]  # fmt: skip


def mutated(data: bytes, source: random.Random) -> bytes:
    """Change some bytes, as a slip of the editor, a bad merge or malice would."""
    buffer = bytearray(data)
    for _ in range(source.randint(1, 6)):
        at = source.randrange(len(buffer) + 1)
        kind = source.randrange(6)
        if kind == 0 and at < len(buffer):
            buffer[at] = source.choice(SIGNS)
        elif kind == 1:
            buffer[at:at] = bytes([source.choice(SIGNS)])
        elif kind == 2:
            del buffer[at : at + source.randint(1, 12)]
        elif kind == 3:
            buffer[at:at] = source.choice(PIECES)
        elif kind == 4:
            length = source.randint(1, 40)
            start = source.randrange(len(buffer) + 1)
            buffer[at:at] = buffer[start : start + length]
        elif kind == 5:
            buffer[at:at] = b"\n" + b" " * source.randrange(8)
    return bytes(buffer)


SEEDS = [
    FULL.encode(),
    b"x-common: &docs [a, b]\nqueries:\n- {query: &t hello, relevant: *docs, tags: [t]}\n- {id: *t, relevant: {c: 1}}\n",
    b'{"queries": [{"query": "a\\u00e9", "relevant": {"b": 2}, "params": {"c": [1.5, null, {"d": "e"}]}}]}',
    b"queries:\n- {query: a, relevant: [b, {doc: c, text: d e, grade: 2}, {doc: c, text: ' f\\n g'}], forbidden: [h]}\n",
    "queries:\n- query: |\n    zwei\n    Zeilen ä\n  relevant:\n  - 'it''s'\n  - \"\\x41\"\n".encode(),
]


class TestFind:
    IDS = ("plain", "two\nlines", "a ::b", r"a\nb", "a\nb", "bi\u202edi")

    @pytest.mark.parametrize(
        ("written", "found"),
        [
            *((query_id, query_id) for query_id in IDS),
            (r"two\nlines", "two\nlines"),
            (r"a :\:b", "a ::b"),
            (r"bi\u202edi", "bi\u202edi"),
            ("two lines", None),
            (r"no\nsuch", None),
            ("", None),
        ],
    )
    def test_takes_an_id_and_what_messages_print_of_it(self, written, found):
        golden = GoldenSet.from_judgments({query_id: {"d": 1} for query_id in self.IDS})
        query = golden.find(written)
        assert (query and query.id) == found

    def test_what_two_ids_are_printed_as_is_neither(self):
        golden = GoldenSet.from_judgments({"a\nb ::c": {"d": 1}, "a\\nb ::c": {"d": 1}})
        assert golden.find("a\\nb :\\:c") is None


class TestNothingEscapes:
    """Whatever the bytes, there is a golden set or an error with a place in every line."""

    def check(self, path, data: bytes) -> None:
        path.write_bytes(data)
        golden, problems = None, ()
        try:
            golden = GoldenSet.load(path, shown="f.yaml")
        except GoldenSetError as error:
            problems = error.problems
        if golden is None:
            assert problems
            for problem in problems:
                assert problem.line is not None
                assert problem.column is not None
                assert 1 <= problem.line <= data.count(b"\n") + data.count(b"\r") + 2
                assert problem.column >= 1
                assert "\n" not in problem.message
                assert len(problem.message) < 600
        else:
            for query_ in golden.queries.values():
                for doc_id in query_.judgments:
                    golden.locate(query_.id, doc_id)

    def test_of_bytes_that_were_changed(self, tmp_path, parser):
        source = random.Random(5)
        for _ in range(1000 if parser == "libyaml" else 200):
            self.check(tmp_path / "f.yaml", mutated(source.choice(SEEDS), source))

    @given(data=st.binary(max_size=60))
    @settings(max_examples=100, deadline=None)
    def test_of_any_bytes(self, tmp_path_factory, data):
        self.check(tmp_path_factory.getbasetemp() / "f.yaml", data)

    @given(text=st.text(max_size=60))
    @settings(max_examples=100, deadline=None)
    def test_of_any_text_in_a_query(self, tmp_path_factory, text):
        path = tmp_path_factory.getbasetemp() / "f.yaml"
        self.check(
            path, f"queries:\n- query: {text}\n  relevant: [{text}]\n".encode("utf-8", "surrogatepass")
        )
