"""The HTML report in Chromium: inert, readable without its script, usable with it, on a desk and on a phone.

Needs Chromium and its driver (Debian: chromium, chromium-driver), and is skipped where they are missing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_irmetrics.cli import main
from tests.browser import CHROMIUM, DRIVER, open_browser
from tests.large_reports import write_large_report

from .rich_session import run_pytest

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="no Chromium and chromedriver here to open the report with"
)
WIDTHS = (320, 400, 1280, 1920)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser):
    """Open a page; afterwards nothing may have gone wrong in it, and nothing may have been fetched."""

    def open_page(path, **options):
        browser.show(path, **options)
        return browser

    yield open_page
    browser.devtools("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.do("return performance.getEntriesByType('resource').length") == 0
    assert browser.complaints() == []


QUERIES = {
    # id: (ranking before, ranking now); the relevant documents of each are a and b
    "same": ("a x y b", "a x y b"),
    "fell": ("x a b", "x y z a b"),
    "rose": ("x y b", "x a"),
    "worst": ("a b", "rare x b a"),
}


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    """Give the report of one test of four queries."""
    folder = tmp_path_factory.mktemp("some")
    files = {
        "conftest.py": "import json, pathlib, pytest\n@pytest.fixture\ndef retriever():\n    return lambda query, k: json.loads(pathlib.Path('answers.json').read_text())[query].split()\n",
        "pytest.ini": "[pytest]\nir_metrics = mrr recall@2\n",
        "faq.yaml": "queries:\n"
        + "".join(f"  - {{id: {i}, query: text of {i}, relevant: [a, b]}}\n" for i in QUERIES),
        "test_it.py": "import pytest\n@pytest.mark.ir_golden('faq.yaml')\n@pytest.mark.ir_threshold('mrr', max_drop=0.01)\ndef test_it(irmetrics): irmetrics.check()\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    for place, options in ((0, ["--ir-baseline-update"]), (1, ["--ir-baseline", "--ir-report=r.html"])):
        answers = {f"text of {i}": rankings[place] for i, rankings in QUERIES.items()}
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        run_pytest(folder, *options)
    return folder / "r.html"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Give the report of three tests of forty queries."""
    report = write_large_report(tmp_path_factory.mktemp("large"), 3, 40)
    assert main(["report", str(report), "-o", str(report.with_suffix(".html"))]) == 0
    return report.with_suffix(".html")


def ids(browser):
    """The queries that are shown, in order."""
    return browser.do(
        "return [...document.querySelectorAll('.queries > li:not([hidden]) .which .id')].map(e => e.textContent)"
    )


def choose(browser, name, value):
    browser.do(
        f"const control = document.querySelector('[name={name}]'); control.value = {json.dumps(value)};"
        "control.dispatchEvent(new Event('input')); control.dispatchEvent(new Event('change'))"
    )


def test_hostile_texts_run_no_script(page, rich):
    browser = page(rich.folder / "r.html")
    browser.do("for (const part of document.querySelectorAll('details')) part.open = true")
    browser.do("for (const link of [...document.querySelectorAll('a:not(svg a)')].slice(0, 30)) link.click()")
    assert browser.do("return document.querySelectorAll('script, h1').length") == 2
    assert browser.do("return document.title").startswith("Retrieval quality: ")
    assert "<b>|`x`| \\u202e::error::" in ids(browser)
    assert browser.do("return location.protocol") == "file:"


@pytest.mark.parametrize("script", [True, False])
def test_the_worst_is_first_and_open_with_and_without_scripts(page, some, script):
    browser = page(some, script=script)
    assert ids(browser) == ["worst", "fell", "rose", "same"]
    shown = "return [...document.querySelectorAll('.ranking')].map(e => e.checkVisibility())"
    assert browser.do(shown) == [True, True, False, False]  # what explains the failure is open
    assert browser.do("return document.querySelector('.ranking tbody tr').innerText").split() == [
        *("1", "a", "grade", "1", "now", "4"),
        *("rare", "unjudged", "new"),
    ]
    assert browser.do("return document.querySelector('.controls').checkVisibility()") is script
    assert browser.do("return document.querySelector('.change').textContent") == "worse"
    if script:
        browser.do("document.querySelectorAll('summary.line')[2].click()")
        assert browser.do(shown) == [True, True, True, False]


CHOICES = [
    # what is chosen, one after another, and the queries that are then shown
    ({"words": "RARE"}, ["worst"]),
    ({"words": "", "kind": "worse"}, ["worst", "fell"]),
    ({"kind": "explains"}, ["worst", "fell"]),
    ({"kind": "better"}, ["rose"]),
    ({"kind": "all", "order": "fall"}, ["worst", "fell", "same", "rose"]),
    ({"order": "rise"}, ["rose", "same", "fell", "worst"]),
    ({"order": "score"}, ["fell", "worst", "rose", "same"]),
    ({"order": "id"}, ["fell", "rose", "same", "worst"]),
    ({"order": "fall", "metric": "recall@2"}, ["worst", "fell", "same", "rose"]),
    ({"words": "nothing that is there"}, []),
]


def test_queries_are_found_filtered_and_sorted_and_the_address_says_how(page, some):
    browser = page(some)
    told = "return document.querySelector('output').innerText"
    assert browser.do(told) == "4 of 4 shown"
    for choice, shown in CHOICES:
        for name, value in choice.items():
            choose(browser, name, value)
        assert ids(browser) == shown, choice
        assert browser.do(told) == f"{len(shown)} of 4 shown"
    assert browser.do("return document.querySelector('.chosen').innerText") == "recall@2"
    assert browser.do("return location.hash") == "#?words=nothing+that+is+there&order=fall&metric=recall%402"
    parts = "['.change', '.now', '.delta'].map(name => line.querySelector(name).textContent)"
    assert browser.do(f"return [...document.querySelectorAll('summary.line')].map(line => {parts})") == [
        ["worse", "0.0000", "−1.0000"],
        ["worse", "0.0000", "−0.5000"],
        ["same", "0.5000", "0.0000"],
        ["better", "0.5000", "+0.5000"],
    ]
    browser = page(some, fragment="#?order=rise&kind=worse")
    assert ids(browser) == ["fell", "worst"]
    browser.do("document.querySelector('[data-kind=better]').click()")
    assert ids(browser) == ["rose"]


def test_links_and_bars_lead_to_their_queries(page, some):
    browser = page(some, fragment="#q-rose")
    assert browser.do("return document.querySelector('#q-rose details').open") is True
    choose(browser, "words", "nothing that is there")
    browser.do("document.querySelector('.set a.id').click()")
    assert browser.wait_until("return document.querySelector('#q-worst details').open")
    assert ids(browser) == ["worst"]
    browser.do(
        "document.querySelectorAll('.bars a')[1].dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))"
    )
    assert browser.wait_until(
        "return location.hash === '#q-fell' && document.querySelector('#q-fell details').open"
    )


@pytest.mark.parametrize("media", ["", "print"])
def test_no_width_needs_scrolling_sideways(page, rich, large, media):
    for path in (rich.folder / "r.html", large):
        browser = page(path, media=media)
        browser.do("for (const part of document.querySelectorAll('details')) part.open = true")
        for width in WIDTHS:
            browser.resize(width)
            assert browser.do("return [innerWidth, document.documentElement.scrollWidth <= innerWidth]") == [
                width,
                True,
            ]


@pytest.mark.parametrize("look", ["light", "dark", "print"])
def test_axe_finds_nothing_and_the_colours_follow_the_reader(page, rich, look):
    axe = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    source = Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    browser = page(
        rich.folder / "r.html",
        scheme="dark" if look == "dark" else "light",
        media="print" if look == "print" else "",
    )
    ground = browser.do("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(16, 19, 23)" if look == "dark" else "rgb(255, 255, 255)")
    assert browser.axe(source) == []


def test_the_first_screen_says_what_broke_when_and_on_what(page, large):
    for width in (1280, 400):
        browser = page(large, width=width, height=800)
        for part in ("h1", ".lead", ".facts", ".meta time"):
            bottom = browser.do(
                f"return document.querySelector('.top {part}').getBoundingClientRect().bottom"
            )
            assert 0 < bottom < 800, part


def test_the_broken_queries_begin_on_the_first_screen_on_a_phone_on_the_second(page, large):
    for width, height, screens in ((1280, 900, 1), (390, 844, 2)):
        browser = page(large, width=width, height=height)
        first = "document.querySelector('.set .query a').getBoundingClientRect().bottom"
        assert 0 < browser.do(f"return {first}") < height * screens
        above = "document.querySelector('.set .wide').getBoundingClientRect().top"
        assert browser.do(f"return {first} < {above}")


def test_the_index_of_several_golden_sets_is_sorted_by_a_click_and_their_queries_are_one_list(page, large):
    browser = page(large)
    names = "return [...document.querySelectorAll('.index tbody a')].map(e => e.textContent.slice(11, 12))"
    assert browser.do(names) == ["0", "2", "1"]
    for order in ("012", "210"):
        browser.do("document.querySelectorAll('.index thead button')[0].click()")
        assert "".join(browser.do(names)) == order
    assert browser.do("return document.querySelector('[aria-sort]').innerText").startswith("golden set")
    assert len(ids(browser)) == 120
    choose(browser, "set", browser.do("return document.querySelector('[name=set]').options[2].value"))
    assert len(ids(browser)) == 40
