"""What a cell of a table says, read and written: texts guarded against spreadsheets, parameters, tags."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from pytest_irmetrics.base.strict_json import loads

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["guarded", "param_text", "read_param", "read_tags", "tags_text", "unguarded"]

# A spreadsheet takes a cell that begins so for a formula, unless it is a number; a space before makes it a text.
_FORMULA = re.compile(r"\s*[-=+@\t\r](?!(?<=-)[0-9]+(?:\.[0-9]+)?\Z)", re.DOTALL)
_JSON = re.compile(r"""["\[{0-9tfn-]""")
_DEPTH = 20


def guarded(cell: str) -> str:
    """Return a cell with a space before what a spreadsheet would take for a formula; `unguarded` takes it off."""
    return f" {cell}" if _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """Return a cell without the space that keeps a spreadsheet from reading a formula."""
    return cell[1:] if cell[:1] == " " and _FORMULA.match(cell) else cell


def read_param(cell: str) -> object:
    """Read a parameter: the value where the cell is JSON (a number, true, false, null, a quoted text, a list, an object), else text."""
    if _JSON.match(cell) is None:
        return cell
    try:
        value = loads(cell)
        if _depth(value) > _DEPTH:
            return cell
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return cell
    return value


def param_text(value: object) -> str:
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
    """Read tags with commas between, or a JSON list of them. None where one is there twice or none is."""
    if cell[:1] == "[":
        listed = read_param(cell)
        if isinstance(listed, list) and all(isinstance(tag, str) for tag in listed):
            return tuple(listed) if len({*listed}) == len(listed) and "" not in listed else None
    tags = tuple(tag.strip() for tag in cell.split(","))
    return tags if len({*tags}) == len(tags) and "" not in tags else None


def tags_text(tags: Sequence[str]) -> str:
    """Write tags so that `read_tags` reads them."""
    joined = ", ".join(tags)
    return (
        joined if not tags or read_tags(joined) == tuple(tags) else json.dumps(list(tags), ensure_ascii=False)
    )
