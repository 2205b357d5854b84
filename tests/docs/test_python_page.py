"""docs/reference/python.md: examples that give what they show, and every argument of `evaluate`."""

from __future__ import annotations

import inspect
import re

import pytest

import pytest_irmetrics
from tests.pages import DOCS

PAGE = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")


def test_the_arguments_of_evaluate_are_all_on_the_page():
    table = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert table == list(inspect.signature(pytest_irmetrics.evaluate).parameters)


def test_the_setting_of_metrics_has_those_of_evaluate():
    metrics = inspect.signature(pytest_irmetrics.evaluate).parameters["metrics"].default
    assert f"| {' '.join(metrics)} |" in (DOCS / "reference" / "options.md").read_text(encoding="utf-8")


def test_every_public_name_is_on_the_page():
    assert [name for name in pytest_irmetrics.__all__ if not re.search(rf"\b{name}\b", PAGE)] == []


def test_a_name_that_is_not_public_cannot_be_imported():
    with pytest.raises(ImportError, match="GoldenSett"):
        exec("from pytest_irmetrics import GoldenSett")


def show(value):
    return f"{value:.4f}" if isinstance(value, float) else repr(value)


def test_the_examples_give_what_they_show(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden/faq.yaml").write_text(
        "queries:\n- {id: reset, query: how do I reset my password, relevant: [doc-12, doc-40]}\n"
        "- {id: refund, query: refund policy, relevant: {doc-9: 3, doc-4: 1, doc-7: 0}}\n"
    )
    compared: list[tuple[str, str]] = []
    names = {"_compare": lambda value, shown: compared.append((show(value), show(shown)))}
    found = 0
    for code in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        # What a comment shows of an expression is compared where the expression stands.
        shown = re.compile(r"^( *)(\S.*?)  # ([^;\n]+)$", re.MULTILINE)
        found += len(shown.findall(code))
        exec(shown.sub(r"\1_compare(\2, \3)", code), names)
    assert [value for value, _ in compared] == [value for _, value in compared]
    assert len(compared) == found > 15
