"""YAML golden sets: what is wrong with a key or a value is reported at its line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_irmetrics.golden import GoldenSet, GoldenSetError, Problem
from pytest_irmetrics.golden.errors import MAX_PROBLEMS
from tests.unit.golden.golden_files import one_query, start_alike


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
        ("version: 2\n" + one_query("relevant: b"), ["1:10: `version` is '2', and this reads version 1."]),
        ("name: [a]\n" + one_query("relevant: b"), ["1:7: `name` is a list. Write one text."]),
        ("relevance_level: 0\n" + one_query("relevant: b"), ["1:18: `relevance_level` is '0'."]),
        ('relevance_level: "1"\n' + one_query("relevant: b"), ["1:18: `relevance_level` is the text '1'."]),
        ("relevance_level: high\n" + one_query("relevant: b"), ["1:18: `relevance_level` is 'high'."]),
        (
            one_query("relevant: b") + "relevance_level: 2\n",
            ["2:3: No document reaches the relevance level of 2; the best grade is 1."],
        ),
    ],
)
@pytest.mark.usefixtures("parser")
def test_a_bad_value_of_the_set_is_reported_at_its_place(yaml_problems, text, expected):
    start_alike(yaml_problems(text), expected)


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
        ("relevant: ~", ["3:13: `relevant` is ~. Write the text that is meant, or "]),
        ("relevant: [b, null]", ["3:17: A document is null here. Write the text that is meant, or "]),
        ("relevant: [null]", ["3:14: A document is null here."]),
        ("relevant: {~: 1}", ["3:14: A document is ~ here."]),
        ("relevant: {b: ~}", ["3:17: The grade of 'b' is '~', which is no number."]),
        ("relevant: {b: null}", ["3:17: The grade of 'b' is 'null', which is no number."]),
        ("relevant: [{doc: ~, text: c}]", ["3:20: `doc` is ~. Write the document's id."]),
        ("relevant: [{doc: b, text: null}]", ["3:29: `text` is null. Write the text to find in it."]),
        ("relevant: b\nforbidden: ~", ["4:14: `forbidden` is ~."]),
        ("relevant: b\nforbidden: [c, ~]", ["4:18: A document is ~ here."]),
        ("relevant: b\ntags: null", ["4:9: `tags` is null."]),
        ("relevant: b\nid: ~", ["4:7: `id` is ~."]),
        ('relevant: [b, ""]', ["3:17: A document is missing here."]),
        ('relevant: {"": 1}', ["3:14: A key is missing before the `:`."]),
        ("relevant: [b, [c]]", ["3:17: A document is text, and this is a list."]),
        ("relevant: [b: 3]", ["3:14: A list of documents has no grades. Write a mapping,"]),
        (
            "relevant: [{doc: b, grade: 2}]",
            [
                "3:14: This passage has no `text`. Write the text to find in it. For the whole document, write its id alone."
            ],
        ),
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
            ["4:15: 'b' is forbidden here, and judged by passage on line 3. Remove it from one of the two."],
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
def test_a_bad_value_of_a_query_is_reported_at_its_place(yaml_problems, text, expected):
    start_alike(yaml_problems(one_query(text)), expected)


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
def test_a_bad_grade_is_reported_with_its_document(yaml_problems, grade, part):
    (problem,) = yaml_problems(one_query(f"relevant: {{b: {grade}}}"))
    assert problem.startswith("3:1"), problem
    assert f"The grade of 'b' {part}" in problem or ("…" in problem and part in problem)
    assert len(problem) < 200


@pytest.mark.parametrize(
    "weight", ["0", "-1", "1e10", ".inf", ".nan", "true", '"2"', "heavy", "", "[1]", "1e-999"]
)
def test_a_bad_weight_is_reported(yaml_problems, weight):
    (problem,) = yaml_problems(one_query(f"relevant: b\nweight: {weight}"))
    assert problem.startswith("4:1") or not weight
    assert "`weight` is" in problem
    assert "Write a number above 0" in problem


def test_weights_may_be_tiny_or_huge(load_yaml):
    for weight in ("1e-300", ".5", "3", "1000000000"):
        assert load_yaml(one_query(f"relevant: b\nweight: {weight}")).queries["a"].weight == float(weight)


@pytest.mark.parametrize("value", ["yes", "True", "on", "1", '"true"', "", "[true]"])
def test_only_true_and_false_are_booleans(yaml_problems, value):
    found = yaml_problems(one_query(f"no_answer: {value}"))
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
def test_a_bad_threshold_is_reported_at_its_place(yaml_problems, text, expected):
    found = yaml_problems(f"thresholds:\n  {text}\n" + one_query("relevant: b"))
    start_alike(found, expected)


def test_thresholds_that_are_no_mapping_are_reported(yaml_problems):
    for value, what in (("0.5", "'0.5'"), ("[mrr]", "a list"), ("", "empty")):
        assert (
            f"`thresholds` is {what}. Write metrics"
            in yaml_problems(f"thresholds: {value}\n" + one_query("relevant: b"))[0]
        )
        assert (
            f"`slices` is {what}. Write thresholds"
            in yaml_problems(f"slices: {value}\n" + one_query("relevant: b"))[0]
        )
        assert (
            f"`t` is {what}. Write metrics"
            in yaml_problems(f"slices: {{t: {value}}}\n" + one_query("relevant: b\ntags: t"))[0]
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
def test_a_threshold_of_one_query_takes_only_the_words_for_one_query(yaml_problems, text, expected):
    start_alike(yaml_problems(one_query(f"relevant: b\n{text}")), expected)


def test_a_no_answer_query_takes_only_a_no_answer_threshold(yaml_problems, load_yaml):
    (problem,) = yaml_problems(one_query("no_answer: true\nthresholds: {mrr: 1}"))
    assert problem.startswith("4:16: mrr is not computed for a `no_answer` query.")
    load_yaml("thresholds: {no_answer: 1}\n" + one_query("no_answer: true\nthresholds: {no_answer: 1}"))
    (problem,) = yaml_problems("thresholds: {mrr: 1, latency_p50: {max: 9}}\n" + one_query("no_answer: true"))
    assert problem.startswith("1:14: Every query is a `no_answer` one, so mrr gates nothing.")


def test_a_slice_without_a_query_is_reported(yaml_problems):
    text = one_query("relevant: b\ntags: [billing]") + "slices: {biling: {mrr: 1}, zzz: {mrr: 1}}\n"
    start_alike(
        yaml_problems(text),
        [
            "5:10: No query carries the tag 'biling'. Did you mean 'billing'?",
            "5:28: No query carries the tag 'zzz'. Tag some, or remove the slice.",
        ],
    )
    (problem,) = yaml_problems(one_query("relevant: b\ntags: [t]") + "slices: {t: {no_answer: 1}}\n")
    assert "No query with the tag 't' is a `no_answer` one" in problem


@pytest.mark.usefixtures("parser")
def test_a_relevance_level_that_no_document_of_a_query_reaches_is_reported_at_the_query(
    yaml_problems, load_yaml
):
    text = "relevance_level: {}\nqueries:\n- {{query: a, no_answer: true}}\n- {{query: b, relevant: {{c: 2, d: 0}}}}\n"
    load_yaml(text.format(2))
    (problem,) = yaml_problems(text.format(1000))
    assert problem.startswith("4:3: No document reaches the relevance level of 1000; the best grade is 2.")


def test_two_queries_with_one_id_are_reported(yaml_problems):
    assert yaml_problems("queries:\n- {query: a, relevant: b}\n- {query: a, relevant: c}\n") == [
        "3:11: The query 'a' on line 2 has the same text. Give each an `id` of its own."
    ]
    assert yaml_problems(
        "queries:\n- {id: x, query: a, relevant: b}\n- {id: x, query: c, relevant: d}\n"
    ) == ["3:8: The query 'x' on line 2 has this id. Change one."]


def test_a_query_without_a_text_beside_queries_with_one_is_reported(yaml_problems):
    assert yaml_problems("queries:\n- {id: x, relevant: b}\n- {query: c, relevant: d}\n")[0].startswith(
        "2:3: This query has no `query`, and others do."
    )
    assert yaml_problems("queries:\n- {relevant: b}\n")[0].startswith("2:3: This query has no `query`.")


def test_all_problems_are_reported_at_once_in_the_order_of_the_file(yaml_problems):
    found = yaml_problems(
        "treshold: 1\nslices: {t: {mrr: 2}}\nqueries:\n- {query: a, relevant: {b: -1, c: x}}\n- {query: a, relevant: d}\n"
        "- {query: [e], relevant: f, weight: 0, tags: [g, g]}\n"
    )
    assert [problem.split(": ")[0] for problem in found] == [
        "1:1", "2:10", "2:19", "4:28", "4:35", "5:11", "6:11", "6:37", "6:50",
    ]  # fmt: skip


def test_problems_before_a_syntax_error_are_reported_with_it(yaml_problems):
    found = yaml_problems(
        "relevance_levle: 1\nqueries:\n- {query: a, relevant: {b: -1}}\n- {query: c, relevant: 'd}\n"
    )
    start_alike(
        found, ["1:1: 'relevance_levle'", "3:28: The grade of 'b'", "4:24: The quote that opens here"]
    )


def test_every_message_says_what_to_do(yaml_problems):
    for text in (
        "a: 1\n",
        one_query("relevant: {b: -1}\nweight: 0"),
        "queries: []",
        "[",
        "\t",
        "queries: &a b",
    ):
        for problem in yaml_problems(text):
            assert problem.count(". ") >= 1
            assert problem.endswith((".", "?"))


def test_messages_name_the_file_as_the_user_did(tmp_path):
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden" / "faq.yaml").write_text("queries: a")
    with pytest.raises(GoldenSetError) as caught:
        GoldenSet.load("golden/faq.yaml")
    message = "`queries` is 'a'. Write a list, each query after a `- `."
    assert caught.value.problems == (Problem(str(Path("golden/faq.yaml")), 1, 10, message),)


def test_problems_are_capped(yaml_problems):
    found = yaml_problems("queries:\n" + "-\n" * 5000)
    assert len(found) == MAX_PROBLEMS + 1
    assert "the rest is not read" in found[-1]
