"""What is kept of chunks that came back: texts up to a size, none of an id that two chunks have."""

from __future__ import annotations

from pytest_irmetrics.retrieval import titles
from pytest_irmetrics.retrieval.titles import KeptChunks


def test_texts_are_kept_up_to_a_size(monkeypatch):
    monkeypatch.setattr(titles, "_MOST_TEXT", 10)
    monkeypatch.setattr(titles, "_LONGEST_TEXT", 6)
    kept = KeptChunks({}, with_texts=True)
    for name, text in (("a", "123456789"), ("b", "12345"), ("c", "1234"), ("a", "123456xyz")):
        kept.add_text(name, text)
    assert kept.texts == {"a": "123456", "c": "1234"}


def test_two_texts_of_one_id_are_none():
    kept = KeptChunks({}, with_texts=True)
    for text in ("one", "other", "one"):
        kept.add_text("a", text)
    assert kept.texts == {"a": ""}


def test_without_a_report_no_text_is_kept():
    kept = KeptChunks({}, with_texts=False)
    kept.add_text("a", "one")
    assert kept.texts == {}


def test_a_title_is_kept_beside_results_that_have_none():
    kept = {}
    items = ["a", {"id": "b", "title": "B"}, ("c", 0.5), {"id": "d", "title": "D"}]
    titles.keep_titles(items, ["a", "b", "c", "d"], kept)
    assert kept == {"b": "B", "d": "D"}
