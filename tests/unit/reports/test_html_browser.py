"""The HTML report in a browser: inert, usable without and with its script, on a desk and on a phone.

Needs Chromium and its driver (Debian: chromium, chromium-driver), and is skipped where they are missing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_irmetrics.reports import SessionReport
from pytest_irmetrics.reports.history_html import render as render_history
from pytest_irmetrics.reports.history_report import (
    HistoryPoint,
    MetricHistory,
    MetricSince,
    Since,
    TestHistory,
)
from pytest_irmetrics.reports.html import render
from tests.browser import CHROMIUM, DRIVER, open_browser
from tests.large_reports import large_session
from tests.unit.reports.samples import HOSTILE, broken, failing, gate, hostile, passing, query, sliced, tried

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="no Chromium and chromedriver here to open the report with"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser, tmp_path):
    """Open a report; afterwards nothing may have gone wrong in it, and nothing may have been fetched."""

    def open_page(session, **options):
        path = tmp_path / "report.html"
        path.write_text(
            render(session if isinstance(session, SessionReport) else SessionReport(session, 1)),
            encoding="utf-8",
        )
        browser.show(path, **options)
        return browser

    yield open_page
    browser.devtools("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.do("return performance.getEntriesByType('resource').length") == 0
    assert browser.complaints() == []


def ids(browser):
    """The queries that are shown, in order."""
    script = "return [...document.querySelectorAll('.queries > li:not([hidden]) .which .id')].map(e => e.textContent)"
    return browser.do(script)


def choose(browser, name, value):
    browser.do(
        f"const control = document.querySelector('[name={name}]'); control.value = {json.dumps(value)};"
        "control.dispatchEvent(new Event('input')); control.dispatchEvent(new Event('change'))"
    )


def some():
    queries = [
        query("same", scores={"mrr": 1.0, "map": 0.2}, scores_before={"mrr": 1.0, "map": 0.7}),
        query("fell", scores={"mrr": 0.25, "map": 0.9}, scores_before={"mrr": 0.5, "map": 0.9}),
        query("rose", scores={"mrr": 0.5, "map": 0.5}, scores_before={"mrr": 0.0, "map": 0.1}),
        query(
            "explains",
            now=("rare", "d1"),
            scores={"mrr": 0.9, "map": 0.8},
            scores_before={"mrr": 1.0, "map": 0.8},
        ),
    ]
    return failing(queries=queries, gates=[gate(queries=["explains"])])


def test_hostile_text_runs_no_script(page):
    browser = page(SessionReport([hostile(), passing()], 1, {}, {HOSTILE[0]: HOSTILE[1]}))
    browser.do("for (const part of document.querySelectorAll('details')) part.open = true")
    # The browser throttles who clicks hundreds at once; every link has the same form.
    browser.do("for (const link of [...document.querySelectorAll('a')].slice(0, 30)) link.click()")
    for element in ("script", "style", "h1", "header"):
        assert browser.do(f"return document.querySelectorAll('{element}').length") == 1, element
    assert (
        browser.do(
            "return document.querySelectorAll('img, iframe, textarea, [onerror], [onmouseover]').length"
        )
        == 0
    )
    assert browser.do("return document.title").startswith("Retrieval quality: 1 of 2 golden sets fails")
    assert "javascript:document.title='pwned'" in ids(browser)
    assert browser.do("return location.protocol") == "file:"


def test_the_worst_is_first_and_each_can_be_opened(page):
    browser = page([some()])
    assert ids(browser) == ["explains", "fell", "rose", "same"]
    shown = "return [...document.querySelectorAll('.ranking')].map(e => e.checkVisibility())"
    assert browser.do(shown) == [True, False, False, False]  # what explains the failure is open
    browser.do("document.querySelectorAll('summary.line')[1].click()")
    assert browser.do(shown) == [True, True, False, False]
    assert browser.do("return document.querySelector('.ranking tbody tr').innerText").split() == [
        *("1", "d1", "grade", "3", "now", "2"),
        *("rare", "unjudged", "new"),
    ]


def test_a_page_reads_the_same_without_scripts(page):
    browser = page([some()], script=False)
    # The driver's own scripts run all the same.
    assert ids(browser) == ["explains", "fell", "rose", "same"]
    assert browser.do("return document.querySelector('.controls').checkVisibility()") is False
    assert browser.do("return document.querySelector('.change').textContent") == "worse"


def test_queries_are_found_filtered_and_sorted(page):
    browser = page([some()])
    told = "return document.querySelector('output').innerText"
    assert browser.do(told) == "4 of 4 shown"
    choose(browser, "words", "RARE")
    assert ids(browser) == ["explains"]
    assert browser.do(told) == "1 of 4 shown"
    choose(browser, "words", "")
    choose(browser, "kind", "worse")
    assert ids(browser) == ["explains", "fell"]
    choose(browser, "kind", "explains")
    assert ids(browser) == ["explains"]
    choose(browser, "kind", "all")
    for order, expected in {
        "fall": ["fell", "explains", "same", "rose"],
        "rise": ["rose", "same", "explains", "fell"],
        "score": ["fell", "rose", "explains", "same"],
        "id": ["explains", "fell", "rose", "same"],
        "written": ["same", "fell", "rose", "explains"],
    }.items():
        choose(browser, "order", order)
        assert ids(browser) == expected, order


def test_another_metric_changes_what_is_shown_and_sorted(page):
    browser = page([some()])
    choose(browser, "order", "fall")
    choose(browser, "metric", "map")
    assert ids(browser) == ["same", "explains", "fell", "rose"]
    parts = "['.change', '.now', '.delta'].map(name => line.querySelector(name).textContent)"
    assert browser.do(f"return [...document.querySelectorAll('summary.line')].map(line => {parts})") == [
        ["worse", "0.2000", "−0.5000"],
        ["same", "0.8000", "0.0000"],
        ["same", "0.9000", "0.0000"],
        ["better", "0.5000", "+0.4000"],
    ]
    assert browser.do("return document.querySelector('.chosen').innerText") == "map"


def test_a_link_to_a_query_opens_it(page):
    browser = page([some()], fragment="#q-fell")
    assert browser.do("return document.querySelector('#q-fell details').open") is True
    choose(browser, "words", "nothing that is there")
    browser.do("document.querySelector('.gates a').click()")
    assert browser.wait_until("return document.querySelector('#q-explains details').open")
    assert ids(browser) == ["explains"]


@pytest.mark.parametrize("media", ["", "print"])
@pytest.mark.parametrize("width", [320, 400, 1280, 1920])
def test_no_width_needs_scrolling_sideways(page, width, media):
    long = query("query-" + "x" * 200, now=("document-" + "y" * 200, "d1"), text="word " * 60)
    known = query("known", status="xfail: " + "for a reason " * 30)
    items = [failing(queries=[long, known]), passing(), tried(nodeid="t")]
    browser = page(broken(items), width=width, media=media)
    browser.do("for (const part of document.querySelectorAll('details')) part.open = true")
    assert browser.do("return [innerWidth, document.documentElement.scrollWidth <= innerWidth]") == [
        width,
        True,
    ]


SIZES = {
    "one test": (1, 115, 0.2),
    "12 tests": (12, 30, 0.5),
    "100 tests": (100, 20, 0.5),
    "5,000 queries": (1, 5000, 0.2),
}


@pytest.mark.parametrize("size", SIZES)
def test_no_size_of_session_needs_scrolling_sideways(page, size):
    browser = page(large_session(*SIZES[size]))
    for width in (320, 400, 1280, 1920):
        browser.resize(width)
        assert browser.do("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("media", ["light", "dark", "print"])
@pytest.mark.parametrize("tests", [1, 3])
def test_axe_finds_nothing_in_a_whole_session(page, tests, media):
    """Of few queries: axe-core takes a minute for hundreds, all of one form."""
    browser = page(
        large_session(tests, 4, 0.5),
        scheme="dark" if media == "dark" else "light",
        media="print" if media == "print" else "",
    )
    assert browser.axe(axe()) == []


@pytest.mark.parametrize("tests", [1, 2])
def test_the_history_looks_the_same_way(browser, tmp_path, tests):
    path = tmp_path / "history.html"
    path.write_text(
        render_history([a_history(f"test_search.py::test[{n}]") for n in range(tests)]), encoding="utf-8"
    )
    for width in (320, 400, 1280, 1920):
        browser.show(path, width=width)
        assert browser.do("return document.documentElement.scrollWidth") <= width
    for scheme in ("light", "dark"):
        browser.show(path, scheme=scheme)
        assert browser.axe(axe()) == []
    assert browser.complaints() == []


def a_history(test):
    points = [
        HistoryPoint(
            f"{n}" * 40,
            1_700_000_000 + n * 86_400,
            "Reorder the fields " * 8,
            "ir_baselines/x.json",
            query_count=40,
            n=40,
            means={"mrr": 0.9 - n / 10},
            changes={"mrr": -0.1 if n else None},
        )
        for n in range(3)
    ]
    line = [point.means["mrr"] for point in points]
    summary = MetricHistory("mrr", line[0], line[-1], line[0], points[0].commit, line[-1] - line[0], line)
    since = Since(
        "v1",
        points[0].commit,
        points[0].time,
        metrics=[MetricSince("mrr", 0.9, 0.7, -0.2, (-0.3, -0.1), 40, ["a"], [])],
    )
    return TestHistory(
        test, "ir_baselines/x.json", "golden/faq.yaml", ["mrr"], "mrr", 10, points, [summary], since
    )


def axe():
    found = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    return Path(found.__file__).with_name("axe.min.js").read_text(encoding="utf-8")


def test_the_first_screen_says_what_broke_when_and_on_what(page):
    for width, height in ((1280, 800), (400, 800)):
        browser = page(large_session(), width=width, height=height)
        for part in ("h1", ".lead", ".facts", ".meta time", ".meta code"):
            bottom = f"return document.querySelector('.top {part}').getBoundingClientRect().bottom"
            assert 0 < browser.do(bottom) < height, part
    at = "return document.querySelector('.scores').getBoundingClientRect().top"
    assert page(large_session(), width=1280, height=800).do(at) < 500


def test_the_counts_on_top_show_the_queries_that_they_count(page):
    browser = page([some()])
    choose(browser, "words", "nothing that is there")
    browser.do("document.querySelector('[data-kind=better]').click()")
    assert ids(browser) == ["rose"]
    assert browser.do("return location.hash") == "#?kind=better"


def test_light_and_dark_follow_the_reader(page):
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = page([failing()], scheme="light").do(ground)
    dark = page([failing()], scheme="dark").do(ground)
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(16, 19, 23)")


def test_hundreds_of_queries_stay_usable(page):
    docs = [f"document-{number}" for number in range(10)]
    queries = [query(f"query {number}", now=docs, before=docs[::-1]) for number in range(700)]
    browser = page([failing(queries=queries)])
    choose(browser, "words", "69")
    assert set(ids(browser)) == {f"query {number}" for number in range(700) if "69" in str(number)}
    choose(browser, "words", "")
    assert len(ids(browser)) == 700


def test_what_is_chosen_stands_in_the_address(page):
    browser = page([some()], fragment="#?order=fall&metric=map&kind=worse")
    assert ids(browser) == ["same"]
    choose(browser, "kind", "all")
    choose(browser, "words", "r")
    assert ids(browser) == ["same", "explains", "fell", "rose"]
    assert browser.do("return location.hash") == "#?words=r&order=fall&metric=map"
    for name, value in (("words", ""), ("order", "worst"), ("metric", "mrr")):
        choose(browser, name, value)
    assert browser.do("return location.hash") == ""


def test_a_bar_leads_to_its_query(page):
    browser = page([some()])
    browser.do(
        "document.querySelector('.bars a').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))"
    )
    assert browser.wait_until("return document.querySelector('#q-fell details').open")
    assert browser.do("return location.hash") == "#q-fell"


def test_the_index_of_several_golden_sets_is_sorted_by_a_click(page):
    many = [passing(f"t.py::test[{name}]", golden_set=f"{name}.yaml") for name in "bca"]
    browser = page(SessionReport([*many, failing()], 1))
    names = "return [...document.querySelectorAll('.index tbody a')].map(e => e.textContent)"
    assert browser.do(names) == ["golden/faq.yaml", "a.yaml", "b.yaml", "c.yaml"]
    heads = "document.querySelectorAll('.index thead button')"
    browser.do(f"{heads}[1].click()")
    assert browser.do(names) == ["a.yaml", "b.yaml", "c.yaml", "golden/faq.yaml"]
    browser.do(f"{heads}[1].click()")
    assert browser.do(names) == ["golden/faq.yaml", "c.yaml", "b.yaml", "a.yaml"]
    assert browser.do("return document.querySelector('[aria-sort]').innerText").startswith("golden set")


def test_queries_of_several_golden_sets_are_one_list(page):
    help_set = failing(
        "t.py::test[help]",
        golden_set="help.yaml",
        queries=[query("worst", scores={"mrr": 0.0}, scores_before={"mrr": 1.0})],
        gates=[gate(queries=["worst"])],
    )
    browser = page(SessionReport([some(), help_set], 1))
    assert ids(browser)[:2] == ["worst", "explains"]
    choose(browser, "set", "set-help.yaml")
    assert ids(browser) == ["worst"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_about(page, scheme):
    script = axe()
    browser = page(broken([some(), sliced(nodeid="s"), tried(nodeid="t"), passing()]), scheme=scheme)
    browser.do("for (const part of document.querySelectorAll('details')) part.open = true")
    assert browser.axe(script) == []


def test_thousands_of_queries_are_searched_at_once(page):
    queries = [
        query(f"query {number}", now=["d1"], before=["d1"], scores={"mrr": 1.0}, scores_before={"mrr": 1.0})
        for number in range(3000)
    ]
    browser = page([failing(queries=[*queries, query("worst")], gates=[gate(queries=["worst"])])])
    choose(browser, "words", "query 2999")
    assert ids(browser) == []
    assert browser.do("return document.querySelector('.found').innerText") == "1.0000 query 2999"
