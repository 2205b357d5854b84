"""docs/statistics.md lists every statement of the messages that is about chance."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import pytest_irmetrics

CODE = Path(pytest_irmetrics.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
CHANCE = re.compile(
    r"\b(likely|surely|probably|certainly|once in|times in|chance|too few|estimate)\b|% interval|p = |p < "
)

NOT_PRINTED = {"noise hides any fall"}
"""Words of the code for an outcome."""


def texts_of(path):
    """The texts of a module's messages: its strings, or the fixed parts of them, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield " ".join(node.value.split())


FOUND = {
    (path.relative_to(CODE).as_posix(), text)
    for room in ("gates", "analysis", "reports")
    for path in CODE.joinpath(room).glob("*.py")
    for text in texts_of(path)
    if CHANCE.search(text) and text not in NOT_PRINTED
}


@pytest.mark.parametrize(("module", "text"), sorted(FOUND))
def test_a_statement_about_chance_is_on_the_page(module, text):
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    lacking = f"{module} says {text!r}; {PAGE.name} does not tell how often that is true"
    assert text.strip("().,:; ") in page, lacking
