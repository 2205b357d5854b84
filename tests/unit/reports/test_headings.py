"""What a test is called where it has one line: whole where it fits, else what tells it from the others."""

from __future__ import annotations

import itertools

import pytest

from pytest_irmetrics.base.layout import display_width
from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.reports.headings import headings
from tests.unit.reports.samples import passing

SETS = ("products", "customer-support-articles")
RETRIEVERS = ("bm25-with-synonyms", "dense-multilingual")
LANGUAGES = ("en", "de")


def items(sets=SETS, retrievers=RETRIEVERS, languages=LANGUAGES):
    return [
        passing(f"test_search.py::test_shop[{retriever}-{name}-{language}]", golden_set=f"golden/{name}.yaml")
        for name, retriever, language in itertools.product(sets, retrievers, languages)
    ]


def names(found, width):
    return [heading.fit(width, Screen(80)) for heading in headings(found).values()]


@pytest.mark.parametrize("width", [20, 26, 34, 48, 60, 100])
def test_no_two_tests_have_one_name(width):
    shown = names(items(), width)
    assert len({*shown}) == len(shown) == 8
    assert all(display_width(name) <= width for name in shown)


def test_parameters_that_all_tests_have_are_left_out():
    assert names(items(["products"]), 100) == [
        "golden/products.yaml [bm25-with-synonyms-en]",
        "golden/products.yaml [bm25-with-synonyms-de]",
        "golden/products.yaml [dense-multilingual-en]",
        "golden/products.yaml [dense-multilingual-de]",
    ]
    assert names(items(["products"], languages=["en"]), 100) == [
        "golden/products.yaml [bm25-with-synonyms]",
        "golden/products.yaml [dense-multilingual]",
    ]


def test_one_test_for_each_golden_set_is_called_by_it():
    found = items(retrievers=["bm25"], languages=["en"])
    assert names(found, 100) == ["golden/products.yaml", "golden/customer-support-articles.yaml"]
    assert names(found, 26) == ["golden/products.yaml", "customer-support-articles"]


def test_tests_of_several_names_keep_these():
    found = [passing(f"test_search.py::test_{name}[faq]", golden_set="golden/faq.yaml") for name in "ab"]
    assert names(found, 100) == ["golden/faq.yaml, test_a[faq]", "golden/faq.yaml, test_b[faq]"]


def test_where_these_do_not_fit_the_tests_name_is_left():
    found = [
        passing(f"test_search.py::test_{name}[faq]", golden_set="golden/faq.yaml")
        for name in ("quality", "recall")
    ]
    assert names(found, 26) == ["test_quality[faq]", "test_recall[faq]"]


def test_golden_sets_of_one_name_keep_their_folders():
    found = [passing(f"test.py::test[{lang}-faq]", golden_set=f"{lang}/faq.yaml") for lang in ("en", "de")]
    assert names(found, 7) == ["en/faq", "de/faq"]


@pytest.mark.parametrize("width", [12, 26])
def test_a_terminal_of_ascii_gets_ascii(width):
    found = [heading.fit(width, Screen(80, "ascii")) for heading in headings(items()).values()]
    assert all(name.isascii() and display_width(name) <= width for name in found)
