"""What one can write is named on the page where one looks for it: add a metric, a word or a command there, too."""

from __future__ import annotations

import ast
import re
from itertools import takewhile
from pathlib import Path

import pytest

from pytest_irmetrics import plugin
from pytest_irmetrics.cli.command_line import GOLDEN_HELP
from pytest_irmetrics.golden.formats import SUFFIXES
from pytest_irmetrics.reports.item_report import LIMIT_SIGNS
from pytest_irmetrics.reports.output import FORMATS
from pytest_irmetrics.reports.output import SUFFIXES as SUFFIXES_OF_REPORTS
from pytest_irmetrics.thresholds import WORDS
from tests.test_structure import ROOMS

ROOT = Path(__file__).parents[2]
TRUST_PAGE = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
OPTIONS_PAGE = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
ATTACKS = (ROOT / "tests" / "attacks.md").read_text(encoding="utf-8")
HELP = Path(plugin.__file__).read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = sorted(set(re.findall(r"`([^`\n]+)`", CONTRIBUTING.partition("\n## Recipes\n")[2])))
FORMATS_PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("word", WORDS)
def test_every_word_of_a_threshold_is_in_the_help_and_the_table_of_scores(word):
    assert f"{word}=None" in HELP
    assert word in LIMIT_SIGNS


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_suffix_of_a_golden_set_is_on_its_page_and_in_the_help(suffix):
    assert f"`{suffix}`" in FORMATS_PAGE
    assert suffix in GOLDEN_HELP.replace(",", "").split()


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_of_a_report_is_on_the_page_of_options_and_in_the_help(form):
    option = OPTIONS_PAGE.partition("### `pytest --ir-report`")[2].partition("\n### ")[0]
    assert f"`{form}:PATH`" in option
    assert form not in SUFFIXES_OF_REPORTS or f".{form}" in HELP
    assert f" {form}:" in HELP


def named_tests(page):
    """The tests that a page names as `FILE::NAME` or `FILE::CLASS::NAME`, in `tests/`."""
    return sorted(set(re.findall(r"`((?:unit|plugin|integration)/[\w/]+\.py(?:::\w+)+)`", page)))


def exists(name):
    """Whether a test is where its name says, by its source."""
    path, *names = name.split("::")
    file = ROOT / "tests" / path
    if not file.is_file():
        return False
    body = ast.parse(file.read_text(encoding="utf-8")).body
    for wanted in names:
        found = [node for node in body if getattr(node, "name", None) == wanted]
        if not found:
            return False
        body = getattr(found[0], "body", [])
    return names[-1].startswith(("test_", "Test"))


def test_the_page_on_trust_says_which_test_holds_each_of_its_six_claims():
    table = TRUST_PAGE.partition("| this holds |")[2].splitlines()[2:]
    rows = list(takewhile(lambda row: row.startswith("| "), table))
    assert len(rows) == 6
    assert all(len(named_tests(row)) == 1 for row in rows)


@pytest.mark.parametrize("name", sorted({*named_tests(TRUST_PAGE), *named_tests(ATTACKS)}))
def test_every_test_that_a_page_names_exists(name):
    assert exists(name)


def test_a_test_that_is_gone_is_noticed():
    assert exists("unit/test_what_pages_name.py::test_a_test_that_is_gone_is_noticed")
    assert not exists("unit/test_what_pages_name.py::test_that_is_gone")
    assert not exists("unit/test_nowhere.py::test_x")


def test_the_rooms_of_the_contributing_page_are_those_of_the_code_from_top_to_bottom():
    table = CONTRIBUTING.partition("| room | job |")[2].partition("\n\n")[0]
    assert [
        room.removesuffix(".py") for room in re.findall(r"^\| `([\w.]+)/?` ", table, re.MULTILINE)
    ] == ROOMS[::-1]


def names_in_code():
    """Every word of the code and the tests."""
    folders = (ROOT / "pytest_irmetrics", ROOT / "tests")
    files = (path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".json"})
    return {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}


def test_every_file_and_every_name_of_a_recipe_is_there():
    known = names_in_code() | {"nav", "diff", "console"}
    roots = [ROOT / folder for folder in (".", "pytest_irmetrics", "docs", "docs/reference", "tests")]
    gone = []
    for span in (span for span in RECIPES if "NAME" not in span):
        if re.fullmatch(r"[\w./-]+\.(?:py|md|json|yml)|[\w./-]+/", span):
            there = any((root / span).exists() for root in roots) or any((ROOT / "tests").rglob(span))
        elif name := re.fullmatch(r"(\w+)(?:\(.*\))?", span):
            there = name[1] in known
        else:
            continue
        gone += [] if there else [span]
    assert gone == []
