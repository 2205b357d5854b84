"""Formats of golden sets: for each its suffixes, the module that reads and writes it, and what it holds of a query."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import GoldenSetError, Problem

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


class Format(NamedTuple):
    """A format of golden sets."""

    title: str
    """The name of the format, in a sentence."""
    suffixes: tuple[str, ...]
    """None of a folder."""
    module: str
    """The module `golden.format_MODULE`, imported when it is needed: ``read(path, shown, custom)`` returns a GoldenSet or
    raises GoldenSetError; ``render(golden, path, form)``, with the name of the format, returns the content of each file by
    its path or raises ConversionError."""
    holds: frozenset[str]
    """Of a query besides its id, text and judgments; and `set`: name, relevance level and thresholds of the set."""
    as_trec_eval: bool = True
    """Whether it holds grades below 0, and queries without a relevant document, as trec_eval does."""

    def load(self) -> Any:
        """Return the module that reads and writes the format."""
        return import_module(f"{__package__}.format_{self.module}")


OPTIONAL = ("forbidden", "tags", "weight", "params", "thresholds", "no_answer", "xfail", "note", "passages")
"""What a query may have besides its id, text and judgments."""
_COLUMNS = frozenset({"tags", "weight", "params"})

FORMATS = {
    "yaml": Format("YAML", (".yaml", ".yml"), "yaml", frozenset({*OPTIONAL, "set"}), as_trec_eval=False),
    "jsonl": Format("JSONL", (".jsonl",), "jsonl", frozenset(OPTIONAL)),
    "csv": Format("CSV", (".csv",), "tables", _COLUMNS),
    "tsv": Format("TSV", (".tsv",), "tables", _COLUMNS),
    "trec": Format("TREC", (".qrels",), "trec", frozenset()),
    "beir": Format("BEIR", (), "tables", frozenset()),
}
SUFFIXES = {suffix: name for name, form in FORMATS.items() for suffix in form.suffixes}
"""Suffix → format."""


def format_by_suffix(path: Path) -> str | None:
    """Return the format that a file's suffix stands for, also before ``.gz``; None where it stands for none."""
    return SUFFIXES.get(without_gz(path).suffix.lower())


def read_golden_set(form: str | None, path: Path, shown: str, custom: Collection[str] = ()) -> Any:
    """Return the GoldenSet that is read in a format, unless given that of the suffix or folder. Raises GoldenSetError.

    `shown` is its path in messages, `custom` are the names of metrics of one's own.
    """
    return FORMATS[form or _format_of(path, shown)].load().read(path, shown, custom)


def _format_of(path: Path, shown: str) -> str:
    """Say which format a file is in, by its suffix, or a folder. Raises GoldenSetError where it is none."""
    is_folder = os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises for a folder that may not be entered
    form = format_by_suffix(path)
    if is_folder and is_golden_folder(path):
        return "beir"
    if form is not None and not is_folder:
        return form
    formats = ", ".join(SUFFIXES)
    suffix = quote(path.suffix) if path.suffix else "no suffix"
    message = f"A golden set is a file with {formats}, and this has {suffix}. Rename or convert it."
    if is_folder:
        message = f"This is a folder. Name the golden sets in it, files with {formats}."
    raise GoldenSetError([Problem(shown, 1, 1, message)])


# BEIR folders


def is_golden_folder(path: Path) -> bool:
    """Say whether a folder is a BEIR data set, with ``queries.jsonl`` and ``qrels``."""
    return os.path.isfile(path / "queries.jsonl") and os.path.isdir(path / "qrels")  # noqa: PTH112, PTH113 - Path's methods raise where they may not look


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
