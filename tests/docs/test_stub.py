"""`pytest_irmetrics/__init__.pyi`, which type checkers and editors read, declares what the package has and the page on Python lists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import pytest_irmetrics
from tests.docs.public import class_body, described_fields
from tests.docs.test_made import SETTLED

STUB = ast.parse(Path(pytest_irmetrics.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
CLASSES = {node.name: node.body for node in STUB.body if isinstance(node, ast.ClassDef)}


def functions(statements):
    """Name → its arguments and what it returns; a default that is a constant's name is `...`."""
    found = {
        node.name: node for node in statements if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return {
        name: re.sub(r"= ?_?[A-Z_]+\b", "=...", f"{ast.unparse(node.args)} → {ast.unparse(node.returns)}")
        for name, node in found.items()
        if node.returns
    }


def test_the_names_are_those_of_the_package():
    (names,) = (ast.literal_eval(node.value) for node in STUB.body if isinstance(node, ast.Assign))
    assert sorted(names) == sorted(pytest_irmetrics.__all__)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_in_an_editor_what_the_page_lists_as_it_is_implemented(name):
    cls = getattr(pytest_irmetrics, name)
    shown = functions(CLASSES[name])
    implemented = functions(class_body(cls))
    assert shown == {one: implemented[one] for one in shown}
    fields = {
        node.target.id: ast.unparse(node.annotation.slice)
        for node in CLASSES[name]
        if isinstance(node, ast.AnnAssign)
    }
    described = {one: annotation for one, (annotation, _) in described_fields(cls)}
    assert fields == {one: described[one] for one in fields}
    assert {*shown, *fields} - {"__getitem__"} == {*SETTLED[name].split()}


@pytest.mark.parametrize("name", functions(STUB.body))
def test_a_function_takes_and_returns_what_it_is_implemented_with(name):
    path = Path(getattr(pytest_irmetrics, name).__code__.co_filename)
    implemented = functions(ast.parse(path.read_text(encoding="utf-8")).body)
    assert functions(STUB.body)[name] == implemented[name]
