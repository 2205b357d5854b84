"""Ids and texts that look like others and are not are accepted, and named."""

from __future__ import annotations

import json

import pytest

from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.lint import lint


@pytest.fixture
def doubts(tmp_path):
    def find(*queries):
        path = tmp_path / "faq.yaml"
        lines = ["queries:", *(f"- {json.dumps(query, ensure_ascii=False)}" for query in queries)]
        path.write_text("\n".join(lines), encoding="utf-8")
        return [str(warning) for warning in lint(GoldenSet.load(path, shown="faq.yaml"))]

    return find


def one(relevant="doc-1", text="opening hours", **more):
    return {"query": text, "relevant": relevant, **more}


@pytest.mark.parametrize(
    ("doc_id", "told"),
    [
        ("doc-1 ", "'doc-1 ' ends with white space."),
        ("\tdoc-1", "'\\tdoc-1' begins with white space."),
        ("doc-1\u00a0", "'doc-1\\xa0' ends with white space."),
        ("doc\u00a01", "'doc\\xa01' has a character that is no plain blank, U+00A0 (no-break space)."),
        ("doc-1\u200b", "'doc-1\\u200b' has a character that cannot be seen, U+200B (zero width space)."),
        ("doc\u00ad-1", "'doc\\xad-1' has a character that cannot be seen, U+00AD (soft hyphen)."),
        ("doc\a1", "'doc\\x071' has a character that cannot be seen, U+0007."),
        ("doc\n1", "'doc\\n1' has a character that cannot be seen, U+000A."),
        ("\u202edoc", "'\\u202edoc' has a character that cannot be seen, U+202E (right-to-left override)."),
        ("doc\u3164", "'doc\\u3164' has a character that cannot be seen, U+3164 (hangul filler)."),
        ("doc\u200d1", "'doc\\u200d1' has a character that cannot be seen, U+200D (zero width joiner)."),
    ],
)
def test_a_doubtful_document_is_named(doubts, doc_id, told):
    [found] = doubts(one(doc_id))
    assert found.startswith(f"faq.yaml:2: note: The document id {told}")
    assert doubts(one([doc_id, "doc-9"])) == [found]
    assert doubts(one({doc_id: 2})) == [found]
    assert doubts(one("doc-9", forbidden=[doc_id])) == [found]


@pytest.mark.parametrize(
    "doc_id",
    [
        "doc-1",
        "a b",
        "é",
        "文書",
        "a/b?c=d#e",
        "Smith,John",
        "1,2",
        ",a",
        "a,",
        "https://example.org/x,y.html",
    ],
)
def test_plain_documents_are_not_named(doubts, doc_id):
    assert doubts(one(doc_id)) == []


def test_two_spellings_of_one_text(doubts):
    [found] = doubts(one("caf\u00e9"), one("cafe\u0301", "other words"))
    assert found == (
        "faq.yaml:3: note: The document ids 'cafe\\u0301' and 'caf\\xe9' are two spellings of one text, and two ids here. "
        "Write the one that the index has."
    )
    assert doubts(one("caf\u00e9"), one("caf\u00e9", "other words")) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("opening hours ", "'opening hours ' ends with white space."),
        ("opening\u200bhours", "'opening\\u200bhours' has a character that cannot be seen, U+200B"),
        ("opening\u00a0hours", "'opening\\xa0hours' has a character that is no plain blank, U+00A0"),
    ],
)
def test_a_doubtful_text_is_named(doubts, text, told):
    [found] = doubts(one(text=text))
    assert found.startswith(f"faq.yaml:2: note: The query {told}")
    [found] = doubts(one(id=text))
    assert found.startswith(f"faq.yaml:2: note: The query id {told}")


@pytest.mark.parametrize(
    "text", ["two\nlines", "a, b and c", "می\u200cخواهم", "¿dónde?", "naïve", "tab\tinside"]
)
def test_plain_texts_are_not_named(doubts, text):
    assert doubts(one(text=text)) == []


def test_doubtful_tags_are_named(doubts):
    [found] = doubts(one(tags=["billing "]), one("doc-2", "other words", tags=["billing "]))
    assert "The tag 'billing ' ends with white space." in found


def test_many_are_counted(doubts):
    found = doubts(one([f"doc-{number} " for number in range(1000)]))
    assert len(found) == 11
    assert "990 more of this kind begin here." in found[-1]


def test_judgments_from_python():
    golden = GoldenSet.from_judgments({"q": {"doc-1 ": 1}})
    assert [warning.message for warning in lint(golden)] == [
        "The document id 'doc-1 ' ends with white space. Remove it, if it is not meant."
    ]
