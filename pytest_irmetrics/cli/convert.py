# This docstring is the --help: `make expected` renews the pages.
"""Turn golden sets and runs from one format into another.

Write a golden set in another of its formats, or a run: TREC (.run, .trec, .res)
to JSON (.json) and back. TREC qrels have the texts in NAME.topics.tsv beside
them. Suffixes say the format; else --from and --to do. A name may end in .gz;
- is standard input or output. Comments, keys that begin with x-, and a run's
scores and tags, whose order is kept, are not carried over; what else OUT cannot
hold is said on standard error.

examples:
  pytest-irmetrics convert msmarco.qrels golden/msmarco.yaml
  pytest-irmetrics convert case_judgements.csv golden/movies.yaml --force
  pytest-irmetrics convert nfcorpus/ golden/nfcorpus.jsonl
  pytest-irmetrics convert bm25.run bm25.json
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from pytest_irmetrics.base.files import packed_as_named, without_gz
from pytest_irmetrics.base.wording import listed, plural, quote
from pytest_irmetrics.cli import shared
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.golden.format_yaml import set_as_dict
from pytest_irmetrics.golden.formats import KEYS, Format, format_of, formats, module_of, read_golden_set
from pytest_irmetrics.golden.query import query_as_dict
from pytest_irmetrics.golden.rows import ConversionError
from pytest_irmetrics.metrics import Grade
from pytest_irmetrics.run import Run, RunError, trec

_FORMATS = formats()

ARGUMENTS = (
    shared.TEST,
    shared.CUSTOM_METRIC,
    shared.argument("source", metavar="IN", help=f"a run, or {shared.GOLDEN_HELP}"),
    shared.argument("target", metavar="OUT", help="the file, or for BEIR the folder, to write"),
    shared.argument("--from", dest="form", choices=(*_FORMATS, "run"), help="the format of IN, where its suffix does not say it"),
    shared.argument("--to", choices=(*_FORMATS, "run", "json"), help="the format of OUT, where its suffix does not say it; of a run, run is TREC and json is JSON"),
    shared.argument("--force", action="store_true", help="write over what is there"),
)  # fmt: skip
_RUN_SUFFIXES = {"run": "run", "trec": "run", "res": "run", "json": "json"}
"""Suffix of a run → its format; none may be one of golden sets, as `.txt` is. Their format `trec` is qrels."""
_ON_TREC = "A TREC run holds the ids of one ranking a query, and no empty one: all else is left out."


def run(options: argparse.Namespace) -> int:
    """Read the input, write it in the other format, and say what that cannot hold."""
    form = options.form or _format_of(options.source, "--from")
    to = options.to or _format_of(options.target, "--to")
    is_run = to in _RUN_SUFFIXES.values()
    if (form in _RUN_SUFFIXES.values()) is not is_run:
        text = f"{options.source}: A run holds rankings and a golden set judgments, and neither becomes the other. `pytest-irmetrics label` judges what a run returned."
        raise shared.CommandError(text)
    files, count, notes = _convert_run(options, to) if is_run else _convert_golden_set(options, form, to)
    existing = [path for path in files if path != shared.STANDARD and os.path.lexists(path)]
    if existing and not options.force:
        raise shared.CommandError(f"{existing[0]}: It is there already. Give --force, or another OUT.")
    for path, data in files.items():
        shared.write_file(path, packed_as_named(Path(path), data), again="convert again")
    for note in notes:
        shared.print_note(note)
    shared.print_about(options.target, f"{' and '.join(files)}: {count}")
    return shared.OK


def _format_of(name: str, option: str) -> str:
    """Return the format that a name stands for. Raises CommandError, which names the `option` that says it, where it does not."""
    path = without_gz(Path(name))
    if name.endswith(("/", os.sep)):
        return "beir"
    form = _RUN_SUFFIXES.get(path.suffix.lower().removeprefix(".")) or format_of(path)
    if form is None:
        text = f"{name}: The name does not say the format. Say it: {option} {', '.join(_FORMATS)} or run."
        raise shared.CommandError(text)
    return form


def _convert_golden_set(
    options: argparse.Namespace, form: str, to: str
) -> tuple[dict[str, bytes], str, list[str]]:
    """Return a golden set's files in a format, what they hold, and notes on what they do not. Raises CommandError."""
    target = options.target
    with shared.readable_file(options.source) as source:
        golden = read_golden_set(source, options.source, options.custom_metrics, form)
    try:
        kept, notes = _set_as_held(golden, to)
        files = module_of(to).render(kept, target, to) if kept.queries else {}
    except ConversionError as error:
        raise shared.CommandError(f"{options.source}: {error}") from None
    if not files:
        message = f"{options.source}: Nothing of it can be held as {to.upper()}. Convert it to JSONL."
        raise shared.CommandError(message)
    if target == shared.STANDARD and len(files) > 1:
        if shared.STANDARD not in files:
            raise shared.CommandError(f"{shared.STANDARD}: {to.upper()} is several files. Name a folder.")
        files = {shared.STANDARD: files[shared.STANDARD]}
        notes.append("Standard output holds the judgments alone: the texts are left out.")
    judgments = sum(len(query.judgments) for query in kept.queries.values())
    count = f"{plural(len(kept.queries), 'query')}, {plural(judgments, 'judgment')}"
    return {path: text.encode() for path, text in files.items()}, count, notes


def _set_as_held(golden: GoldenSet, to: str) -> tuple[GoldenSet, list[str]]:
    """Return a golden set as far as a format can hold it, and sentences on what that cannot."""
    target = _FORMATS[to]
    held = {
        query.id: _query_as_held(query, target, golden.relevance_level) for query in golden.queries.values()
    }
    keys = {key for query in golden.queries.values() for key in query_as_dict(query)}
    keys |= {"passages" for query in golden.queries.values() if query.passages}
    dropped = [key for key in KEYS if key in keys and key not in target.holds]
    dropped += [f"{key} of the set" for key in (() if "set" in target.holds else set_as_dict(golden))]
    notes = [f"{to.upper()} has no place for {', '.join(dropped)}."] if dropped else []
    below = sum(grade < 0 for query in golden.queries.values() for grade in query.judgments.values())
    if below and not target.as_trec_eval:
        notes.append(f"{plural(below, 'grade')} below 0 became 0.")
    left_out = [*(query_id for query_id, query in held.items() if query is None), *golden.left_out]
    if left_out:
        lacks = "judgment" if target.as_trec_eval else "relevant document"
        notes += [f"Left out, because {to.upper()} holds no {lacks} of them: {listed(left_out, word=quote)}."]
    return replace(golden, _queries=filter(None, held.values())), notes


def _query_as_held(query: Query, target: Format, level: Grade) -> Query | None:
    """Return a query with the judgments that a format holds; None where it cannot hold the query at all."""
    if query.no_answer or query.is_unjudged:
        return query if ("no_answer" if query.no_answer else "unjudged") in target.holds else None
    passages = () if "passages" in target.holds else {passage.key for passage in query.passages}
    grades = {doc: grade for doc, grade in query.judgments.items() if doc not in passages}
    if not target.as_trec_eval:
        grades = {doc: max(grade, 0) for doc, grade in grades.items()}
    is_held = bool(grades) and (target.as_trec_eval or max(grades.values()) >= level)
    return replace(query, judgments=grades) if is_held else None


def _convert_run(options: argparse.Namespace, to: str) -> tuple[dict[str, bytes], str, list[str]]:
    """Return a run's file, as JSON or as a TREC run, how many queries it holds, and a note on what it does not.

    It is read as what its name, or on standard input its content, says.
    """
    ((_, source),) = shared.load_runs([options.source], options.tests)
    try:
        text = source.dumps() if to == "json" else "".join(trec.lines(source.answers))
    except RunError as error:  # an id that the format cannot hold
        raise shared.CommandError(f"{options.source}: {error}") from None
    notes = [_ON_TREC] if to == "run" and source != Run({i: source[i] for i in source}) else []
    held = [query_id for query_id in source if to == "json" or source[query_id]]
    return {options.target: text.encode()}, plural(len(held), "query"), notes
