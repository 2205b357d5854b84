"""A path → the format that it is in, and its contents through the reader of that format."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import GoldenSetError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from pytest_irmetrics.golden.query import Contents

    Reader = Callable[[Path, str, Collection[str]], Contents]

__all__ = ["SUFFIXES", "format_of", "read"]

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

SUFFIXES = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".qrels": "trec",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "quepid",
}
"""Suffix → format."""

_READERS = {
    "yaml": ("pytest_irmetrics.golden.yaml", "read_yaml"),
    "trec": ("pytest_irmetrics.golden.trec", "read_qrels"),
    "jsonl": ("pytest_irmetrics.golden.jsonl", "read_jsonl"),
    "csv": ("pytest_irmetrics.golden.tables", "read_table"),
    "tsv": ("pytest_irmetrics.golden.tables", "read_table"),
    "beir": ("pytest_irmetrics.golden.beir", "read_folder"),
    "quepid": ("pytest_irmetrics.golden.quepid", "read_quepid"),
}
"""Format → the module and the function that read it; none is imported before it is needed."""


def format_of(path: Path, shown: str) -> str:
    """Say which format a file is in, by its suffix, or a folder. Raises GoldenSetError where it is none."""
    is_folder = os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises for a folder that may not be entered
    if is_folder:
        from pytest_irmetrics.golden.beir import is_golden_folder  # noqa: PLC0415 - few golden sets are folders

        if is_golden_folder(path):
            return "beir"
    form = SUFFIXES.get(path.suffix.lower())
    if form is not None and not is_folder:
        return form
    formats = ", ".join(SUFFIXES)
    if is_folder:
        message = f"This is a folder. Name the golden sets in it, files with {formats}."
    else:
        suffix = quote(path.suffix) if path.suffix else "no suffix"
        message = f"A golden set is a file with {formats}, and this has {suffix}. Rename or convert it."
    raise GoldenSetError([Problem(shown, 1, 1, message)])


def read(form: str, path: Path, shown: str, custom_metrics: Collection[str] = ()) -> Contents:
    """Read a file or folder in one of the formats, whatever its suffix. Raises GoldenSetError."""
    module, function = _READERS[form]
    reader: Reader = getattr(import_module(module), function)
    return reader(path, shown, custom_metrics)
