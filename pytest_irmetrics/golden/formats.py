"""Formats of golden sets: find the one that a path stands for among those that the modules `format_NAME` declare, and read it."""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from pytest_irmetrics.base import paused_gc
from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.query import OPTIONAL_KEYS
from pytest_irmetrics.golden.source import Source, Wrong


class Format(NamedTuple):
    """A format of golden sets, as `FORMATS` of the module that reads and writes it declares it under its name.

    That module is `golden.format_NAME`, and may have several, as format_tables.py has BEIR. ``read(source)`` there returns a GoldenSet or raises
    Wrong or GoldenSetError; ``render(golden, path, form)``, with the name of the format, returns the content of each file by
    its path or raises ConversionError.
    """

    suffixes: tuple[str, ...]
    """In lower case; none of a folder."""
    holds: frozenset[str]
    """The keys of a query that it holds, besides its id, text and judgments; and `set`: the keys of the set."""
    as_trec_eval: bool = True
    """Whether it holds grades below 0, and queries without a relevant document, as trec_eval does."""


KEYS = (*OPTIONAL_KEYS, "passages", "unjudged")
"""What a query may have besides its id, text and judgments; the last is that it has none of these."""


def _modules(first: str) -> Iterator[Any]:
    """Yield the modules of formats, `format_FIRST` before the others; each is imported when it is reached, as a run needs few."""
    inside = pkgutil.iter_modules([str(Path(__file__).parent)])
    modules = [module.name for module in inside if module.name.startswith("format_")]
    for name in sorted(modules, key=lambda name: (name != f"format_{first}", name)):
        yield import_module(f"{__package__}.{name}")


def formats() -> dict[str, Format]:
    """Return all formats by their names, YAML first."""
    return {name: form for module in _modules("yaml") for name, form in module.FORMATS.items()}


def suffixes() -> str:
    """Return the suffixes of all formats, for messages."""
    return ", ".join(suffix for form in formats().values() for suffix in form.suffixes)


def module_of(form: str) -> Any:
    """Return the module that reads and writes a format."""
    return next(module for module in _modules(form) if form in module.FORMATS)


def format_of(path: Path) -> str | None:
    """Return the format of a BEIR folder, or that a suffix stands for, also before ``.gz``; None where there is none."""
    if is_beir_folder(path):
        return "beir"
    suffix = without_gz(path).suffix.lower()
    declared = (named for module in _modules(suffix[1:]) for named in module.FORMATS.items())
    return next((name for name, form in declared if suffix in form.suffixes), None)


def is_beir_folder(path: Path) -> bool:
    """Say whether a folder is a BEIR data set, which format_tables.py and `GoldenSet.lines` read."""
    return os.path.isfile(path / "queries.jsonl") and os.path.isdir(path / "qrels")  # noqa: PTH112, PTH113 - Path's methods raise where they may not look


def read_golden_set(path: Path, shown: str | None, custom: Collection[str], form: str | None = None) -> Any:
    """Return the GoldenSet that is read in a format, unless given that of the suffix or folder. Raises GoldenSetError.

    `shown` is its path in messages, `custom` are the names of metrics of one's own.
    """
    source = Source(path, str(path) if shown is None else shown, custom)
    with paused_gc():
        return source.require(_read, source, form or format_of(path))


def _read(source: Source, form: str | None) -> Any:
    if form != "beir" and os.path.isdir(source.path):  # noqa: PTH112 - Path.is_dir raises for a folder that may not be entered
        advice = f"Name the golden sets in it, {source.shown.rstrip('/')}/*.yaml: files with {suffixes()}."
        raise Wrong((1, 1), f"This is a folder. {advice}")
    if form is None:
        suffix = quote(one) if (one := without_gz(source.path).suffix) else "no suffix"
        cure = "Rename or convert it." if os.path.exists(source.path) else "And there is no such file."  # noqa: PTH110 - as above
        raise Wrong((1, 1), f"A golden set is a file with {suffixes()}, and this has {suffix}. {cure}")
    return module_of(form).read(source)
