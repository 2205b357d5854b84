"""YAML golden sets: what is read of each key."""

from __future__ import annotations

import copy
import gc
from dataclasses import replace

import pytest
import yaml

from pytest_irmetrics.golden import GoldenSetError, Query, yaml_nodes
from pytest_irmetrics.golden.passage import Passage
from pytest_irmetrics.thresholds import Limit
from tests.unit.golden.golden_files import FULL, one_query


@pytest.mark.usefixtures("parser")
def test_reads_every_key(load_yaml):
    golden = load_yaml(FULL)
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


def test_a_set_without_a_name_has_that_of_its_file(load_yaml):
    assert load_yaml(one_query("relevant: b")).name == "faq"


@pytest.mark.parametrize(
    "written", ["0123", "12:30", "no", "1.10", "2024-01-01", "0x_", "1_000", "~0", "nullable", ".nan"]
)
@pytest.mark.usefixtures("parser")
def test_ids_and_texts_are_as_written(load_yaml, written):
    golden = load_yaml(
        f"thresholds: {{mrr: 0.5}}\nqueries:\n- {{id: {written}, query: {written}, relevant: [{written}, b],"
        f" forbidden: {written}0, tags: {written}}}\n- {{query: b, relevant: {{{written}: 1}}}}"
    )
    one, other = golden.queries.values()
    assert (one.id, one.text, list(one.judgments)) == (written, written, [written, "b"])
    assert (one.forbidden, one.tags) == ((written + "0",), (written,))
    assert list(other.judgments) == [written]


@pytest.mark.usefixtures("parser")
def test_quotes_and_blocks_are_text_too(load_yaml):
    golden = load_yaml(
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
def test_params_are_json_values_or_text(load_yaml, written, value):
    (read,) = load_yaml(one_query(f"relevant: b\nparams: {{key: {written}}}")).queries["a"].params.values()
    assert read == value
    # What a retriever gets is a copy; the golden set's own cannot be changed.
    assert type(copy.deepcopy(read)) is type(value)


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
def test_relevant_is_one_id_a_list_or_grades_by_id(load_yaml, written, judgments):
    if judgments is None:
        with pytest.raises(GoldenSetError):
            load_yaml(one_query(f"relevant: {written}"))
    else:
        read = load_yaml("relevance_level: 0.1\n" + one_query(f"relevant: {written}")).queries["a"].judgments
        assert read == judgments
        assert [type(grade) for grade in read.values()] == [type(grade) for grade in judgments.values()]


@pytest.mark.usefixtures("parser")
def test_a_list_may_hold_passages(load_yaml):
    golden = load_yaml(
        one_query("""
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


def test_doc_and_text_may_be_ids(load_yaml):
    assert load_yaml(one_query("relevant: {doc: 2, text: 1}")).queries["a"].judgments == {"doc": 2, "text": 1}


def test_a_set_without_any_text_may_be_checked_against_a_run(load_yaml):
    golden = load_yaml("queries:\n- {id: q1, relevant: a}\n- {id: q2, relevant: b}\n")
    assert [golden.queries[name].text for name in ("q1", "q2")] == [None, None]


@pytest.mark.usefixtures("parser")
def test_aliases_stand_for_what_they_name(load_yaml):
    golden = load_yaml(
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
def test_the_list_of_queries_may_be_an_alias(load_yaml):
    golden = load_yaml("x-all: &all\n- {query: a, relevant: b}\nqueries: *all\n")
    assert golden.where("a") == "faq.yaml:2"


def test_keys_come_in_any_order(load_yaml):
    golden = load_yaml(
        "queries:\n- {relevant: b, query: a, tags: [t]}\nslices: {t: {mrr: 1}}\nrelevance_level: 1\n"
    )
    assert golden.thresholds[0].tag == "t"


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.usefixtures("parser")
def test_reads_every_line_end_and_a_byte_order_mark(load_yaml, break_, mark):
    golden = load_yaml((mark + FULL.replace("\n", break_)).encode())
    assert golden.where("refund") == "faq.yaml:14"
    assert golden.locate("refund", "doc-4") == 16


@pytest.mark.usefixtures("parser")
def test_reads_json(load_yaml):
    golden = load_yaml(
        '{"queries": [{"query": "a", "relevant": {"b": 2}, "no_answer": false, "params": {"c": [1.5]}}]}'
    )
    assert golden.queries["a"].judgments == {"b": 2}
    assert golden.queries["a"].params == {"c": [1.5]}


def test_thresholds_may_name_custom_metrics(load_yaml, yaml_problems):
    text = "thresholds: {freshness@5: {min: -3}}\n" + one_query("relevant: b")
    assert load_yaml(text, custom_metrics=["freshness"]).thresholds[0].metric.kind == "custom"
    assert "Unknown metric" in yaml_problems(text)[0]


def test_leaves_the_garbage_collector_as_it_was(load_yaml):
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            load_yaml(FULL)
            assert gc.isenabled() is enabled
            with pytest.raises(GoldenSetError):
                load_yaml("[")
            assert gc.isenabled() is enabled
        finally:
            gc.enable()


def test_the_two_parsers_agree(load_yaml, monkeypatch):
    monkeypatch.setattr(yaml_nodes, "PARSER", yaml.BaseLoader)
    slow = load_yaml(FULL)
    monkeypatch.undo()
    assert load_yaml(FULL).queries == slow.queries


def test_a_file_with_anchors_is_read_as_one_without(load_yaml):
    cautious = load_yaml("x-a: &a b\nx-b: *a\n" + FULL)
    usual = load_yaml("x-a: b\nx-b: b\n" + FULL)
    assert cautious.queries == usual.queries


@pytest.mark.parametrize("written", ["null", "~"])
@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.usefixtures("parser")
def test_in_quotes_null_is_text(load_yaml, written, quote):
    text = f"{quote}{written}{quote}"
    golden = load_yaml(
        f"queries:\n- {{id: {text}, query: {text}, relevant: [{text}, b], forbidden: [{quote}{written}0{quote}]}}\n"
        f"- {{query: b, relevant: {{{text}: 1}}}}\n- {{query: c, relevant: {text}, tags: {text}}}\n"
        f"- {{query: d, relevant: [{{doc: {text}, text: {text}}}]}}"
    )
    one, two, three, four = golden.queries.values()
    assert (one.id, one.text, list(one.judgments)) == (written, written, [written, "b"])
    assert list(two.judgments) == list(three.judgments) == [written]
    assert three.tags == (written,)
    assert [(passage.doc, passage.text) for passage in four.passages] == [(written, written)]
