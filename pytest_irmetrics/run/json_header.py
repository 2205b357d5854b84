"""The head of a run in JSON: what it says of itself, read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.run.answer import Header
from pytest_irmetrics.run.faults import CURE, RunError
from pytest_irmetrics.run.json_text import check_keys, encode, encode_or_refuse, is_number, plain_number, safe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

FORMAT = "pytest-irmetrics run"
VERSION = 1
KEYS = ("format", "version", "golden_set", "depth", "relevance_level", "means", "queries")


def header_lines(header: Header) -> Iterator[str]:
    """Yield a line for each thing that the run says of itself."""
    depth, golden_set, level, means = header
    said = {
        "format": FORMAT,
        "version": VERSION,
        "golden_set": golden_set,
        "depth": depth,
        "relevance_level": None if level is None else plain_number(level),
        "means": {name: float(means[name]) for name in sorted(means)} if means else None,
    }
    for key, value in said.items():
        if value is not None:
            yield f"{encode(key)}: {safe(encode_or_refuse(value, f'the header: {key}'))},\n"


def read_header(document: dict[str, Any], where: str) -> Header:
    """Read what a run says of itself. Raises RunError, also where its queries are no list."""

    def bad(what: str, cure: str = CURE) -> NoReturn:
        raise RunError(f"{where}:1: {what}. {cure}")

    found = document.get("format")
    if found != FORMAT:
        given = (
            "nothing" if found is None else quote(found) if isinstance(found, str) else type(found).__name__
        )
        bad(
            f"is not a stored run: `format` is {given}, not {FORMAT!r}",
            "Give a file that pytest-irmetrics wrote, or a TREC run.",
        )
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        bad("`version` is not a positive integer")
    if version > VERSION:
        bad(
            f"was written in version {quote(str(version))[1:-1]} of the format, and this pytest-irmetrics reads up to {VERSION}",
            "Upgrade pytest-irmetrics, or store it anew (a baseline: `pytest --ir-baseline-update`).",
        )
    check_keys(document, KEYS, bad)
    depth = document.get("depth")
    if depth is not None and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
        bad("`depth` is not a positive integer")
    golden_set = document.get("golden_set")
    if golden_set is not None and not isinstance(golden_set, str):
        bad("`golden_set` is not text")
    level = document.get("relevance_level")
    if level is not None and not is_number(level):
        bad("`relevance_level` is not a number")
    means = document.get("means", {})
    if not isinstance(means, dict) or not all(map(is_number, means.values())):
        bad("`means` is not an object of numbers")
    if not isinstance(document.get("queries"), list):
        bad("`queries` is not a list")
    return Header(depth, golden_set, level, means)
