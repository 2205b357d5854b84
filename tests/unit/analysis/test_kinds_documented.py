"""The words for kinds of change: each has a sentence, and a row in the documentation."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from pytest_irmetrics.analysis import sign_wording
from pytest_irmetrics.analysis.answer_pairs import SignKind
from pytest_irmetrics.analysis.kind_of_change import Kind

PAGE = Path(__file__).parents[3] / "docs/messages.md"


def words(kinds):
    return {
        word for part in get_args(kinds) for word in ([part] if isinstance(part, str) else get_args(part))
    }


def test_each_kind_of_change_is_in_the_documentation():
    rows = [
        line.split("|")[1].strip() for line in PAGE.read_text(encoding="utf-8").splitlines() if "| `" in line
    ]
    assert {f"`{word}`" for word in words(Kind)} <= {*rows}


def test_each_sign_has_a_sentence():
    assert set(sign_wording._SENTENCES) == words(SignKind)
