"""What `check` notes of golden sets that are valid and doubtful."""

from __future__ import annotations

import json

import pytest

from tests.golden.files import cli, write

PAIR = "- {{id: q1, query: '{}', relevant: d1{}}}\n- {{id: q2, query: '{}', relevant: {}}}\n"
TWO = "- {query: one thing, relevant: [a, b]}\n- {query: another, relevant: c, tags: [t]}\n"


def notes(capsys, text: str, head: str = "") -> list[str]:
    """Return the notes of `check` on a valid YAML golden set, of its queries and what stands above them."""
    write("faq.yaml", f"{head}queries:\n{text}")
    (_, *lines), _ = cli(capsys, "check", "faq.yaml")
    assert all(": note: " in line for line in lines)
    return lines


def queries(*records: object) -> str:
    return "".join(f"- {json.dumps(record, ensure_ascii=False)}\n" for record in records)


def one(relevant="doc-1", text="opening hours", **more):
    return {"query": text, "relevant": relevant, **more}


DOUBTFUL = {
    "doc-1 ": "'doc-1 ' ends with white space.",
    "\tdoc-1": "'\\tdoc-1' begins with white space.",
    "doc-1\u00a0": "'doc-1\\xa0' ends with white space.",
    "doc\u00a01": "'doc\\xa01' has a character that cannot be seen, U+00A0 (no-break space).",
    "doc-1\u200b": "'doc-1\\u200b' has a character that cannot be seen, U+200B (zero width space).",
    "doc\u00ad-1": "'doc\\xad-1' has a character that cannot be seen, U+00AD (soft hyphen).",
    "doc\a1": "'doc\\x071' has a character that cannot be seen, U+0007.",
    "doc\n1": "'doc\\n1' has a character that cannot be seen, U+000A.",
    "\u202edoc": "'\\u202edoc' has a character that cannot be seen, U+202E (right-to-left override).",
    "doc\u3164": "'doc\\u3164' has a character that cannot be seen, U+3164 (hangul filler).",
    "doc\u200d1": "'doc\\u200d1' has a character that cannot be seen, U+200D (zero width joiner).",
}


@pytest.mark.parametrize(("doc_id", "words"), DOUBTFUL.items())
def test_a_doubtful_id_is_named_wherever_it_stands(capsys, doc_id, words):
    for record in (one(doc_id), one([doc_id, "d"]), one({doc_id: 2}), one("d", forbidden=[doc_id])):
        (found,) = notes(capsys, queries(record))
        assert found == f"faq.yaml:2: note: The document id {words} Remove it, if it is not meant."
    (found,) = notes(capsys, queries(one(id=doc_id)))
    assert found == f"faq.yaml:2: note: The query id {words} Remove it, if it is not meant."
    (found,) = notes(capsys, queries(one(tags=[doc_id]), one("doc-2", "other words", tags=[doc_id])))
    assert found == f"faq.yaml:2: note: The tag {words} Remove it, if it is not meant."


def test_plain_ids_and_texts_are_not_named(capsys):
    ids = [
        "doc-1",
        "a b",
        "é a",
        "文書",
        "a/b?c=d#e",
        "Smith,John",
        "a, b",
        "1,2",
        "https://example.org/x,y.html",
    ]
    texts = ["two\nlines", "a, b and c", "می\u200cخواهم", "¿dónde?", "naïve", "tab\tinside"]
    assert notes(capsys, queries(one(ids), *(one(text=text) for text in texts))) == []


@pytest.mark.parametrize("text", ["opening hours ", "opening\u200bhours", "opening\u00a0hours"])
def test_a_doubtful_text_is_named(capsys, text):
    (found,) = notes(capsys, queries(one(text=text)))
    assert found.startswith(f"faq.yaml:2: note: The query {text!a} ")


def test_two_spellings_of_one_text(capsys):
    (found,) = notes(capsys, queries(one("caf\u00e9"), one("cafe\u0301", "other words")))
    what = "The document ids 'cafe\\u0301' and 'caf\\xe9' are two spellings of one text, and two ids here."
    assert found == f"faq.yaml:3: note: {what} Write the one that the index has."
    (found,) = notes(capsys, queries(one("doc-2"), one("DOC-2", "other words")))
    assert found.startswith("faq.yaml:3: note: The document ids 'DOC-2' and 'doc-2' are two spellings")
    assert notes(capsys, queries(one(text="caf\u00e9"), one(text="cafe\u0301", tags=["t"]))) == []
    assert notes(capsys, queries(one("caf\u00e9"), one("caf\u00e9", "other words"))) == []


def test_a_text_that_a_comment_cuts_is_named(capsys):
    passages = "- doc: d\n    text: 'a #1'\n  - {doc: d, text: b} # c\n  - doc: e\n    text: two #3"
    others = "- {query: 'x #y', relevant: d} #z\n- query: q # u\n  relevant: d\n"
    found = notes(capsys, f"- query: what is issue #42 about\n  relevant:\n  {passages}\n{others}")
    begin = (
        "2: note: The text 'what is issue' ends before '#42 about', ",
        "8: note: The text 'two' ends before '#3', ",
    )
    assert [line.partition("which")[0] for line in found] == [f"faq.yaml:{one}" for one in begin]


def test_at_most_ten_of_a_kind_are_listed(capsys):
    found = notes(capsys, queries(one([f"doc-{number} " for number in range(1000)])))
    assert len(found) == 11
    assert found[-1] == "faq.yaml:2: note: More of this kind begin here."
    assert len(notes(capsys, queries(one([f"doc-{number} " for number in range(10)])))) == 10


@pytest.mark.parametrize(
    ("one", "other", "relevant", "more", "advice"),
    [
        ("refund policy", "Refund  policy?", "d1", "", "Both count in the means"),
        ("¿refund policy?", "ｒｅｆｕｎｄ policy", "d1", "", "Both count in the means"),
        ("refund policy", "Refund policy", "{d1: 1, d2: 2}", "", "Both count in the means"),
        ("refund policy", "Refund policy", "d9", ", tags: [x]", "Both count in the means"),
        ("refund policy", "Refund policy", "d1", ", tags: [x]", None),
        ("refund policy", "Refund policy", "d1", ", params: {lang: no}", None),
        ("refund policy", "refund policies", "d1", "", None),
        ("refund policy", "policy refund", "d1", "", None),
        ("x == True", "x != True", "d1", "", None),
        ("learning C", "learning C++", "d1", "", None),
        ('"exact phrase"', "exact phrase", "d1", "", None),
        ("???", "!!!", "d1", "", None),
    ],
)
def test_queries_that_ask_the_same_are_named(capsys, one, other, relevant, more, advice):
    found = notes(capsys, PAIR.format(one, more, other, relevant))
    assert len(found) == (advice is not None)
    for line in found:
        assert line.startswith(
            f"faq.yaml:3: note: {other!r} is {one!r} on line 2 but for case, punctuation or Unicode form."
        )
        assert advice in line


def test_queries_with_the_same_params_in_another_order_ask_the_same(capsys):
    pair = one(params={"a": 1, "b": 2}), one(text="Opening hours", params={"b": 2, "a": 1})
    assert len(notes(capsys, queries(*pair))) == 1


def test_the_line_of_a_doubtful_document_is_named(capsys):
    (found,) = notes(capsys, "- query: a\n  relevant:\n  - d\n  - 'e '\n")
    assert found.startswith("faq.yaml:5: note: The document id 'e ' ends")
    (found,) = notes(capsys, "- query: a\n  relevant: d\n  tags: ['e ']\n")
    assert found.startswith("faq.yaml:2: note: The tag 'e ' ends")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ("mrr: 0", "faq.yaml:1:14: note: `min: 0` of mrr is a gate that nothing fails"),
        ("mrr: {min_each: 0}", "`min_each: 0` of mrr is a gate that nothing fails"),
        ("mrr: {max: 1}", "`max: 1` of mrr is a gate that nothing fails"),
        ("mrr: {max_drop: 1}", "`max_drop: 1` of mrr is a gate that nothing fails"),
        ("mrr: {max_drop: 100%}", "`max_drop: 100%` of mrr is a gate that nothing fails"),
        ("mrr: {max_lost: 2}", "`max_lost: 2` of mrr is a gate that nothing fails"),
        ("P@10: 0.2", "`min: 0.2` of precision@10 cannot be met: with these judgments the best ranking there is scores 0.1500. Lower it, or choose a metric that allows for how many documents are relevant (r_precision, ndcg)."),
        ("P@10: {min_each: 0.15}", "the best ranking there is scores 0.1000"),
        ("recall@1: 0.8", "the best ranking there is scores 0.7500"),
        ("P@10: 0.15", None),
        ("P@10: {max: 0.2}, latency_p95: {max: 250}", None),
        ("'mrr(rel=2,miss=skip)': {min: 1.0, min_each: 1.0}", None),
        ("mrr: {min: 1.0, max_drop: off, max_lost: 1}", None),
        ("ndcg@10: {min_each: 1.0, max_drop: 5%}", None),
    ],
)  # fmt: skip
def test_limits_that_nothing_fails_or_nothing_meets_are_named(capsys, limits, words):
    found = notes(capsys, TWO, f"thresholds: {{{limits}}}\n")
    assert len(found) == (words is not None)
    assert all(words in line for line in found)


def test_limits_of_slices_and_queries_are_looked_at_too(capsys):
    (found,) = notes(capsys, TWO, "slices: {t: {P@2: 0.6}}\n")
    assert found.startswith("faq.yaml:1:14: note: `min: 0.6` of precision@2 cannot be met")
    assert notes(capsys, TWO, "slices: {'*': {mrr: {max_lost: 1}}}\n") == []
    found, _ = notes(capsys, TWO, "slices: {'*': {mrr: {max_lost: 2}}, t: {mrr: {max_lost: 1}}}\n")
    assert found.startswith("faq.yaml:1:16: note: `max_lost: 2` of mrr is a gate that nothing fails")
    (found,) = notes(capsys, "- {query: one thing, relevant: a, thresholds: {P@2: 0.6}}\n")
    assert found.startswith("faq.yaml:2:48: note: `min: 0.6` of precision@2 cannot be met")


def test_the_best_mean_is_of_the_queries_that_count_by_their_weights(capsys):
    queries = "- {query: one, relevant: {a: 2, b: 1}, weight: 3}\n- {query: two, relevant: {c: 2, d: 1}}\n"
    others = f"- {{query: three, relevant: {dict.fromkeys('abcdefghij', 2)}, xfail: T-1}}\n- {{query: x, no_answer: true}}\n"
    for level, best in ((1, "0.2000"), (2, "0.1000")):
        head = f"relevance_level: {level}\nthresholds: {{P@10: 0.3, recall@10: {{min_each: 1}}}}\n"
        (found,) = notes(capsys, queries + others, head)
        assert f"the best ranking there is scores {best}." in found
    (found,) = notes(capsys, queries.replace(", b: 1", ""), "thresholds: {P@10: 0.3}\n")
    assert "the best ranking there is scores 0.1250." in found


def test_the_best_ranking_has_the_best_document_first(capsys):
    head = "thresholds: {bpref(rel=3): 1.0, ndcg@10: 1.0, no_answer: 1.0, overlap@5: 1.0, judged: 1.0}\n"
    assert notes(capsys, "- {query: a, relevant: {d1: 1, d2: 3}}\n", head) == []
    (found,) = notes(capsys, "- {query: a, relevant: {d1: 1, d2: 2}}\n", head)
    assert "bpref(rel=3) cannot be met" in found


@pytest.mark.parametrize(
    ("key", "ids", "named"),
    [
        ("forbidden", "a, b", True),
        ("relevant", "a,c", True),
        ("forbidden", "a, z", False),
        ("forbidden", "a,", False),
        ("relevant", "d-8, d-9", True),
        ("relevant", "Route 66, Arizona", False),
    ],
)
def test_a_list_without_brackets_is_named_where_each_part_is_an_id(capsys, key, ids, named):
    found = notes(
        capsys,
        f"{TWO}- {{id: q, query: a third, {'' if key == 'relevant' else 'relevant: d, '}{key}: '{ids}'}}\n",
    )
    told = f"faq.yaml:4: note: The document id '{ids}' is one id, though its parts look like ids. If a list is meant, write [{ids}]."
    assert found == ([told] if named else [])
