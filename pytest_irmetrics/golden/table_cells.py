"""Read and write the cells of tables: parameters, tags, and a guard against spreadsheet formulas."""

from __future__ import annotations

import json
import re

from pytest_irmetrics.base.strict_json import loads

_FORMULA = re.compile(r"\s*[-=+@\t\r](?!(?<=-)[0-9]+(?:\.[0-9]+)?\Z)", re.DOTALL)
"""The start of a cell that a spreadsheet takes for a formula; negative numbers are none."""
_JSON = re.compile(r"""["\[{0-9tfn-]""")
_MAX_DEPTH = 20
"""Levels of lists and objects in a parameter; a deeper one is text."""


def guard_formula(cell: str) -> str:
    """Return a cell with a space before it if a spreadsheet would take it for a formula; `unguard_formula` removes it."""
    return f" {cell}" if _FORMULA.match(cell) else cell


def unguard_formula(cell: str) -> str:
    """Return a cell without the space that `guard_formula` put before it."""
    return cell[1:] if cell[:1] == " " and _FORMULA.match(cell) else cell


def read_param(cell: str) -> object:
    """Read a parameter: the value of a cell that is JSON (such as ``3``, ``true``, ``"3"`` or ``[1]``), else its text."""
    if _JSON.match(cell) is None:
        return cell
    try:
        value = loads(cell)
        if _depth(value) > _MAX_DEPTH:
            return cell
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return cell
    return value


def write_param(value: object) -> str:
    """Write a parameter so that `read_param` reads it."""
    if isinstance(value, str) and value and read_param(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _depth(value: object) -> int:
    """Return how deep lists and objects are. Raises ValueError for an empty key."""
    if isinstance(value, dict):
        if "" in value:
            raise ValueError("a key is empty")
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def read_tags(cell: str) -> tuple[str, ...] | None:
    """Read tags with commas between them; None if a tag is empty or there twice."""
    tags = tuple(tag.strip() for tag in cell.split(","))
    return tags if len({*tags}) == len(tags) and "" not in tags else None
