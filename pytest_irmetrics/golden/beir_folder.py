"""A BEIR folder by the names of its files: ``queries.jsonl``, and ``qrels/test.tsv`` or another split."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["is_golden_folder", "split_of", "splits_of"]

_FIRST_COLUMN = b"query-id"


def is_golden_folder(path: Path) -> bool:
    """Say whether a folder is a golden set itself: one of BEIR, with ``queries.jsonl`` and ``qrels``.

    Also one whose ``queries.jsonl`` is missing, by the header of its judgments: its reader says what it lacks.
    """
    if os.path.isfile(path / "queries.jsonl"):  # noqa: PTH113 - Path.is_file raises where it may not look
        return os.path.isdir(path / "qrels")  # noqa: PTH112 - as above
    return any(_begins_as_split(split) for split in splits_of(path) if os.path.isfile(split))  # noqa: PTH113 - a pipe is not waited for


def _begins_as_split(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_FIRST_COLUMN)).lower() == _FIRST_COLUMN
    return False


def split_of(folder: Path) -> Path | None:
    """Return the file that a folder's judgments are read from; None where that is not clear."""
    splits = splits_of(folder)
    tests = [split for split in splits if split.stem == "test"]
    return tests[0] if tests else splits[0] if len(splits) == 1 else None


def splits_of(folder: Path) -> list[Path]:
    """Return the files of its judgments, by name."""
    try:
        return sorted((folder / "qrels").glob("*.tsv"))
    except OSError:
        return []
