"""How long the HTML report may be: what fails and what changed is there in full, the rest compact, and the page says so."""

from __future__ import annotations

import re

import pytest

from pytest_irmetrics.reports import SessionReport, html, html_queries
from pytest_irmetrics.reports.html import render
from pytest_irmetrics.reports.html_page import Room
from tests.large_reports import large_session
from tests.unit.reports.page import Page
from tests.unit.reports.samples import failing, gate, passing, query


def test_of_very_many_queries_those_that_changed_are_shown_in_full(monkeypatch):
    monkeypatch.setattr(html_queries, "_IN_FULL", 2)
    monkeypatch.setattr(html_queries, "_ROWS", 3)
    same = {"scores": {"mrr": 1.0}, "scores_before": {"mrr": 1.0}}
    queries = [query(f"q{number}", now=("d2", "d1"), before=("d2", "d1"), **same) for number in range(5)]
    page = Page(
        render(
            SessionReport([failing(queries=[*queries, query("worst")], gates=[gate(queries=["worst"])])], 1)
        )
    )
    assert "1 of 6 are shown with their rankings: those that changed or fail" in page.text
    assert sum("ranking" in table.get("class", "") for table in page.all("table")) == 1
    assert [item["id"] for item in page.all("li") if "data-now" in item] == [
        "q-worst",
        "q-q0",
        "q-q1",
        "q-q2",
    ]
    assert "2 more queries, one a line 1.0000 q3 1.0000 q4" in page.text
    assert "q-q4" not in {link["href"][1:] for link in page.all("a")}


def test_of_many_bars_those_of_the_first_golden_sets_are_links(monkeypatch):
    monkeypatch.setattr(html, "_LINKED_BARS", 1)
    page = Page(render(SessionReport([failing(), failing("t.py::test[z]", golden_set="z.yaml")], 1)))
    assert [link["aria-label"] for link in page.all("a") if "tabindex" in link] == ["refund: −0.5000"]
    assert [path["d"] for path in page.all("path") if path.get("class") == "bar bad"] == [
        "M0 2h26.2v116h-26.2z"
    ]


def sections(page):
    return [attributes["id"] for attributes in page.all("section") if attributes.get("class") == "set"]


def test_there_is_room_until_the_first_text_that_is_too_long():
    room = Room(10, most=3)
    assert room.take("äöü")
    assert not room.take("more than 4")
    assert not room.take("a")
    assert not room.is_open
    few = Room(10, most=1)
    assert few.take("a")
    assert not few.is_open


def test_queries_in_full_are_so_long_together_and_so_are_the_others(monkeypatch):
    queries = [query(f"q{n}") for n in range(6)]
    session = SessionReport([failing(queries=queries)], 1)
    whole = render(session)
    size = len(whole[whole.index('<li id="q-q0"') : whole.index('<li id="q-q1"')].encode())
    monkeypatch.setattr(html_queries, "_IN_FULL_BYTES", 2 * size + 10)
    monkeypatch.setattr(html_queries, "_ROWS", 1)
    text = Page(render(session)).text
    assert (
        "2 of 6 are shown with their rankings: those that changed or fail, the worst first; the others by"
        in text
    )
    assert "3 more queries, one a line 0.5000 −0.5000 q3 0.5000 −0.5000 q4 0.5000 −0.5000 q5" in text
    monkeypatch.setattr(html, "_PAGE", 0)
    text = Page(render(session)).text
    assert "the others by their scores, 3 of them not at all, to keep this page small" in text
    assert "one a line" not in text


def test_of_many_golden_sets_those_that_fail_and_then_those_that_changed_have_a_section(monkeypatch):
    same = [query("q", now=("d1", "d2"), scores={"mrr": 1.0, "ndcg@10": 0.9})]
    items = [
        passing("t.py::test[a]", golden_set="same.yaml", queries=same),
        passing("t.py::test[b]", golden_set="changed.yaml", queries=[query("other")]),
        failing("t.py::test[c]", golden_set="failing.yaml"),
    ]
    session = SessionReport(items, 1)
    assert sections(Page(render(session))) == ["set-failing.yaml", "set-same.yaml", "set-changed.yaml"]
    text = render(session)
    sizes = [len(part.encode()) for part in re.findall(r'<section id="set-.*?</section>', text, re.DOTALL)]
    monkeypatch.setattr(html, "_SECTIONS", sizes[0] + sizes[2] + 10)
    assert sections(Page(render(session))) == ["set-failing.yaml", "set-changed.yaml"]
    monkeypatch.setattr(html, "_SECTIONS", 1)
    page = Page(render(session))
    assert sections(page) == ["set-failing.yaml"]
    assert "1 of 3 golden sets are shown in full below, to keep this page small" in page.text
    assert "passes changed.yaml" in page.text
    assert "#set-changed.yaml" not in {link.get("href") for link in page.all("a")}


def test_of_very_many_golden_sets_the_table_has_the_first_and_a_text_the_others(monkeypatch):
    items = [passing(f"t.py::test[{n}]", golden_set=f"{n}.yaml") for n in range(3)]
    row = render(SessionReport(items)).partition("<tbody>")[2].partition("</tr>")[0]
    monkeypatch.setattr(html, "_INDEX", len(row.encode()) + 20)
    text = Page(render(SessionReport(items))).text
    assert "2 more, one a line 1.yaml: passes 1 gate 2.yaml: passes 1 gate" in text
    monkeypatch.setattr(html, "_INDEX_LINES", 30)
    text = Page(render(SessionReport(items))).text
    assert "1 more, one a line (1 left out, to keep this page small) 1.yaml" in text


def test_of_very_many_variants_the_first_are_side_by_side(monkeypatch):
    items = [
        passing(f"t.py::test[{name}-{golden}]", golden_set=f"{golden}.yaml")
        for golden in "ab"
        for name in ("bm25", "dense")
    ]
    assert Page(render(SessionReport(items))).text.count("Side by side: ") == 2
    monkeypatch.setattr(html, "_SIDE_BY_SIDE", 0)
    text = Page(render(SessionReport(items))).text
    assert "Side by side: " not in text
    assert "2 more side by side left out, to keep this page small." in text


@pytest.mark.parametrize(("tests", "queries"), [(100, 115), (1000, 10)])
def test_many_tests_whose_queries_all_moved_make_less_than_5_mb(tests, queries):
    page = render(large_session(tests, queries, 1))
    assert 3_000_000 < len(page.encode()) < 5_000_000
    assert "to keep this page small" in page
