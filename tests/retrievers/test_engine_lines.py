"""The table of docs/engines.md: each engine's answer is read as it says, and its line gives the other ids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.retrievers.shapes import ENGINES, value
from tests.retrievers.ways import ask, outcome

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
ANSWERS = dict(ENGINES)


def lines_of_the_table():
    """Engine (and method, where it has two) → the line for other ids."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if len(cells) == 4 and cells[3].startswith("`["):
            method = cells[0] not in ANSWERS and re.search(r"index\.(\w+)", cells[1])
            yield f"{cells[0]} {method[1]}" if method else cells[0], cells[3].strip("`")


@pytest.mark.parametrize("engine", ANSWERS)
def test_the_answer_is_read_whole_and_the_line_gives_the_other_ids(engine):
    lines = dict(lines_of_the_table())
    assert set(lines) == set(ANSWERS)
    assert outcome(ask(lambda _query: value(ANSWERS[engine]))) == ["b", "a"]
    assert eval(lines[engine], {"answer": value(ANSWERS[engine])}) == ["doc-9", "doc-12"]
