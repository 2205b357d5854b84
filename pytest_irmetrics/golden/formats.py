"""Formats of golden sets: for each its suffixes, the module that reads and writes it, and what it holds of a query."""

from __future__ import annotations

import os
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.source import Source, Wrong


class Format(NamedTuple):
    """A format of golden sets."""

    suffixes: tuple[str, ...]
    """In lower case; none of a folder."""
    module: str
    """The module `golden.format_MODULE`, imported when it is needed: ``read(source)`` returns a GoldenSet or raises Wrong or
    GoldenSetError; ``render(golden, path, form)``, with the name of the format, returns the content of each file by its
    path or raises ConversionError."""
    holds: frozenset[str]
    """The keys of a query that it holds, besides its id, text and judgments; and `set`: the keys of the set."""
    as_trec_eval: bool = True
    """Whether it holds grades below 0, and queries without a relevant document, as trec_eval does."""

    def load(self) -> Any:
        """Return the module that reads and writes the format."""
        return import_module(f"{__package__}.format_{self.module}")


KEYS = ("forbidden", "tags", "weight", "params", "thresholds", "no_answer", "xfail", "note", "passages")
"""What a query may have besides its id, text and judgments."""
_COLUMNS = frozenset(("tags", "weight", "params"))

FORMATS = {
    "yaml": Format((".yaml", ".yml"), "yaml", frozenset((*KEYS, "set")), as_trec_eval=False),
    "jsonl": Format((".jsonl",), "jsonl", frozenset(KEYS)),
    "csv": Format((".csv",), "tables", _COLUMNS),
    "tsv": Format((".tsv",), "tables", _COLUMNS),
    "trec": Format((".qrels",), "trec", frozenset()),
    "beir": Format((), "tables", frozenset()),
}
SUFFIXES = {suffix: name for name, form in FORMATS.items() for suffix in form.suffixes}
"""Suffix → format."""


def format_of(path: Path) -> str | None:
    """Return the format of a BEIR folder, or that a suffix stands for, also before ``.gz``; None where there is none."""
    return "beir" if is_golden_folder(path) else SUFFIXES.get(without_gz(path).suffix.lower())


def is_golden_folder(path: Path) -> bool:
    """Say whether a folder is a BEIR data set, with ``queries.jsonl`` and ``qrels``."""
    return os.path.isfile(path / "queries.jsonl") and os.path.isdir(path / "qrels")  # noqa: PTH112, PTH113 - Path's methods raise where they may not look


def read_golden_set(
    path: Path, shown: str | None = None, custom: Collection[str] = (), form: str | None = None
) -> Any:
    """Return the GoldenSet that is read in a format, unless given that of the suffix or folder. Raises GoldenSetError.

    `shown` is its path in messages, `custom` are the names of metrics of one's own.
    """
    source = Source(path, str(path) if shown is None else shown, custom)
    golden = source.attempt(_read, source, form or format_of(path))
    source.raise_any()
    return golden


def _read(source: Source, form: str | None) -> Any:
    formats = ", ".join(SUFFIXES)
    if form != "beir" and os.path.isdir(source.path):  # noqa: PTH112 - Path.is_dir raises for a folder that may not be entered
        raise Wrong((1, 1), f"This is a folder. Name the golden sets in it, files with {formats}.")
    if form is None:
        suffix = quote(source.path.suffix) if source.path.suffix else "no suffix"
        raise Wrong(
            (1, 1), f"A golden set is a file with {formats}, and this has {suffix}. Rename or convert it."
        )
    return FORMATS[form].load().read(source)
