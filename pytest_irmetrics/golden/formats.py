"""Formats of golden sets: which one a path is in, and how it is read."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import GoldenSetError, Problem

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

SUFFIXES = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".qrels": "trec",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
}
"""Suffix → format."""

_READERS = {
    "yaml": ("pytest_irmetrics.golden.read_yaml", "read_yaml"),
    "jsonl": ("pytest_irmetrics.golden.read_jsonl", "read_jsonl"),
    "csv": ("pytest_irmetrics.golden.read_tables", "read_table"),
    "tsv": ("pytest_irmetrics.golden.read_tables", "read_table"),
    "trec": ("pytest_irmetrics.golden.read_trec", "read_qrels"),
    "beir": ("pytest_irmetrics.golden.read_tables", "read_folder"),
    "quepid": ("pytest_irmetrics.golden.read_tables", "read_table"),
}
"""Format → the module and the function that read it: golden sets load them, and they make golden sets."""

_BEIR_COLUMN = b"query-id"
"""The first column of a BEIR split."""


def format_by_suffix(path: Path) -> str | None:
    """Return the format that a file's suffix stands for, also before ``.gz``; None where it stands for none."""
    return SUFFIXES.get(without_gz(path).suffix.lower())


def format_of(path: Path, shown: str) -> str:
    """Say which format a file is in, by its suffix, or a folder. Raises GoldenSetError where it is none."""
    is_folder = os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises for a folder that may not be entered
    if is_folder and is_golden_folder(path):
        return "beir"
    form = format_by_suffix(path)
    if form is not None and not is_folder:
        return form
    formats = ", ".join(SUFFIXES)
    suffix = quote(path.suffix) if path.suffix else "no suffix"
    message = f"A golden set is a file with {formats}, and this has {suffix}. Rename or convert it."
    if is_folder:
        message = f"This is a folder. Name the golden sets in it, files with {formats}."
    raise GoldenSetError([Problem(shown, 1, 1, message)])


def read_golden_set(form: str, path: Path, shown: str, custom: Collection[str] = ()) -> Any:
    """Return the GoldenSet that is read in a format; `shown` is its path in messages. Raises GoldenSetError.

    `custom` are the names of metrics of one's own. The module that reads it is imported now.
    """
    module, function = _READERS[form]
    return getattr(import_module(module), function)(path, shown, custom)


# BEIR folders -----------------------------------------------------------------------------------------------------


def is_golden_folder(path: Path) -> bool:
    """Say whether a folder is a BEIR data set, with ``queries.jsonl`` and ``qrels``.

    Also one without ``queries.jsonl`` if a split has BEIR's header, so that its reader can say what is missing.
    """
    if os.path.isfile(path / "queries.jsonl"):  # noqa: PTH113 - Path.is_file raises where it may not look
        return os.path.isdir(path / "qrels")  # noqa: PTH112 - as above
    return any(_starts_like_split(split) for split in splits_of(path) if os.path.isfile(split))  # noqa: PTH113 - reading a pipe would wait


def _starts_like_split(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_BEIR_COLUMN)).lower() == _BEIR_COLUMN
    return False


def split_of(folder: Path) -> Path | None:
    """Return the split of a BEIR folder that is read: ``test.tsv``, or else the only one; None if there is no such split."""
    splits = splits_of(folder)
    tests = [split for split in splits if split.stem == "test"]
    return tests[0] if tests else splits[0] if len(splits) == 1 else None


def splits_of(folder: Path) -> list[Path]:
    """Return the files ``qrels/*.tsv`` of a folder, by name."""
    try:
        return sorted((folder / "qrels").glob("*.tsv"))
    except OSError:
        return []
