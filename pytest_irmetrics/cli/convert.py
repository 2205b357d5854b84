"""The command ``convert``: write a golden set or a run in another format."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.gzipped import is_packed, pack, without_gz
from pytest_irmetrics.base.read_file import read_regular
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.cli.command_line import (
    OK,
    CommandError,
    add_command,
    add_metric_option,
    add_quiet_option,
    add_test_option,
    print_escaped,
)
from pytest_irmetrics.cli.inputs import load_runs
from pytest_irmetrics.cli.standard_streams import STANDARD, print_about, readable_file, write_file
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.files import lines_of
from pytest_irmetrics.golden.formats import SUFFIXES, format_by_suffix, is_golden_folder, read_golden_set
from pytest_irmetrics.golden.read_trec import topics_path
from pytest_irmetrics.golden.write import FORMATS, ConversionError, drop_unsupported
from pytest_irmetrics.run import RunError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.run import Run

_RUN, _JSON_RUN = "run", "json"
_FORMAT_NAMES = (*FORMATS, _RUN)
_RUN_SUFFIXES = (".run", ".trec", ".res", ".json")
_COMMENT = re.compile(r"(?m)(?:^|[ \t])#|(?:^|[\s{,-])x-[^\s:]+:")
"""A comment in YAML, or a key that begins with x-, which is ignored."""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "convert",
        _convert,
        short="turn golden sets and runs from one format into another",
        description=(
            "Write a golden set in another format: YAML (.yaml), JSONL (.jsonl), CSV or TSV (.csv, .tsv), TREC qrels "
            "with the texts in NAME.topics.tsv beside them (.qrels), a BEIR folder, or Quepid's rated queries (--to "
            "quepid); or a run, TREC (.run, .trec) to JSON (.json) and back. Suffixes say which; --from and --to say it "
            "where they do not. A name may end in .gz; - is standard input or output. What OUT cannot hold is said on standard error; all else is in it."
        ),
        examples="""
pytest-irmetrics convert msmarco.qrels golden/msmarco.yaml
pytest-irmetrics convert golden/faq.yaml faq.csv
pytest-irmetrics convert case_judgements.csv golden/movies.yaml --force
pytest-irmetrics convert golden/faq.yaml ratings.csv --to quepid
pytest-irmetrics convert nfcorpus/ golden/nfcorpus.jsonl
pytest-irmetrics convert bm25.run bm25.json
zcat msmarco.qrels.gz | pytest-irmetrics convert - golden/msmarco.yaml --from trec
""",
    )
    parser.add_argument("source", metavar="IN", help="a golden set or a run")
    parser.add_argument("target", metavar="OUT", help="the file, or for BEIR the folder, to write")
    parser.add_argument(
        "--from",
        dest="form",
        choices=_FORMAT_NAMES,
        help="the format of IN, where its suffix does not say it",
    )
    parser.add_argument(
        "--to",
        choices=(*_FORMAT_NAMES, _JSON_RUN),
        help="the format of OUT, where its suffix does not say it; of a run, run is TREC and json is JSON",
    )
    add_test_option(parser)
    parser.add_argument("--force", action="store_true", help="write over what is there")
    add_quiet_option(parser, "what was written")
    add_metric_option(parser)


def _convert(options: argparse.Namespace) -> int:
    form = options.form or _source_format(options.source)
    to = options.to or _target_format(options.target, form)
    if form == _RUN and to in (_RUN, _JSON_RUN):
        _convert_run(options, to)
        return OK
    if _RUN in (form, to) or to == _JSON_RUN:
        raise CommandError(
            f"{options.source}: A run holds rankings and a golden set judgments, and neither becomes the other. "
            "`pytest-irmetrics label` judges what a run returned."
        )
    if options.tests:
        raise CommandError(
            f"{options.source}: --test says whose run of a JSON report is wanted, and this is a golden set. Leave it out."
        )
    _convert_golden_set(options, form, to)
    return OK


def _convert_golden_set(options: argparse.Namespace, form: str, to: str) -> None:
    """Write a golden set in another format. Raises CommandError."""
    with readable_file(options.source) as source:
        golden = read_golden_set(form, source, options.source, options.metric)
        has_comments = form == "yaml" and _COMMENT.search("\n".join(lines_of(source)))
    try:
        kept, notes = drop_unsupported(golden, FORMATS[to])
        files = FORMATS[to].render(kept, options.target) if kept.queries else {}
    except ConversionError as error:
        raise CommandError(f"{options.source}: {error}") from None
    if has_comments:
        notes.append("Comments and keys that begin with x- are for people, and are not carried over.")
    if not files:
        _print_notes(notes)
        raise CommandError(
            f"{options.source}: Nothing of it can be held as {FORMATS[to].title}. Convert it to YAML or JSONL."
        )
    if options.target == STANDARD and len(files) > 1:
        kept, files = _judgments_alone(kept, files, to)
        notes.append(
            "Standard output holds the judgments alone: the texts, of NAME.topics.tsv, are left out."
        )
    if to == "trec" and len(files) == 1:
        _refuse_topics_beside(options.target)
    contents = {path: _packed_as_named(path, text) for path, text in files.items()}
    is_new = _is_new(contents, options)
    if is_new:
        for path, data in contents.items():
            write_file(path, data, again="convert again")
    _print_notes(notes)
    judgments = sum(len(query.judgments) for query in kept.queries.values())
    count = f"{plural(len(kept.queries), 'query', 'queries')}, {plural(judgments, 'judgment')}"
    _print_done(" and ".join(files), count, options, is_new=is_new)


def _judgments_alone(
    golden: GoldenSet, files: Mapping[str, str], to: str
) -> tuple[GoldenSet, dict[str, str]]:
    """Return what standard output can hold of several files: of TREC's the qrels, which have no texts. Raises CommandError."""
    if to != "trec":
        raise CommandError(
            f"{STANDARD}: {FORMATS[to].title} is several files, and standard output is one. Name a folder."
        )
    queries = [replace(query, text=None) for query in golden.queries.values()]
    return GoldenSet(queries, name=golden.name), {STANDARD: files[STANDARD]}


def _refuse_topics_beside(target: str) -> None:
    """Raise CommandError where the topics of another set lie beside qrels without texts."""
    if target != STANDARD and os.path.lexists(topics_path(target)):
        raise CommandError(
            f"{topics_path(target)}: These topics would be read with {target}, and the set has no texts. "
            "Remove them, or name another OUT."
        )


def _packed_as_named(path: str, text: str) -> bytes:
    """Return the bytes of a file, packed where its name ends in .gz."""
    return pack(text.encode()) if is_packed(Path(path)) else text.encode()


def _source_format(source: str) -> str:
    """Return the format of the input, by its suffix; a missing file is reported by its reader."""
    path = Path(source)
    if source == STANDARD:
        raise CommandError(
            f"{source}: Standard input does not say what it is. Say it: --from {_alternatives(_FORMAT_NAMES)}."
        )
    if is_golden_folder(path):
        return "beir"
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where it may not look
        raise CommandError(
            f"{source}: This folder has no queries.jsonl and qrels/, as BEIR's have. Name a file."
        )
    suffix = without_gz(path).suffix.lower()
    if suffix in _RUN_SUFFIXES:
        return _RUN
    form = format_by_suffix(path)
    if form is None:
        raise CommandError(
            f"{source}: Its suffix does not say what it is. Say it: --from {_alternatives(_FORMAT_NAMES)}."
        )
    return form


def _target_format(target: str, form: str) -> str:
    """Return the format of the output, by its suffix."""
    if target == STANDARD:
        names = (_RUN, _JSON_RUN) if form == _RUN else tuple(name for name in FORMATS if name != "beir")
        raise CommandError(
            f"{target}: Standard output does not say what to write. Say it: --to {_alternatives(names)}."
        )
    suffix = without_gz(Path(target)).suffix.lower()
    if suffix in _RUN_SUFFIXES:
        return _RUN
    if target.endswith(("/", os.sep)) or os.path.isdir(target):  # noqa: PTH112 - as above
        return "beir"
    to = SUFFIXES.get(suffix)
    if to is None:
        raise CommandError(
            f"{target}: Its suffix does not say what to write. Say it: --to {_alternatives(_FORMAT_NAMES)}."
        )
    return to


def _alternatives(names: tuple[str, ...]) -> str:
    """Return names as a list in a sentence, the last after `or`."""
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _convert_run(options: argparse.Namespace, to: str) -> None:
    """Write a run as JSON or as a TREC run."""
    ((_, run),) = load_runs([options.source], options.tests)
    as_trec = to != _JSON_RUN and without_gz(Path(options.target)).suffix.lower() != ".json"
    lost = _lost_in_trec(run) if as_trec else []
    with tempfile.TemporaryDirectory() as folder:
        written = (
            Path(folder)
            / f"run{'.run' if as_trec else '.json'}{'.gz' if is_packed(Path(options.target)) else ''}"
        )
        try:
            run.save(written)
        except RunError as error:  # an id that the format cannot hold
            raise CommandError(f"{options.source}: {error}") from None
        data = written.read_bytes()
    is_new = _is_new({options.target: data}, options)
    if is_new:
        write_file(options.target, data, again="convert again")
    if lost:
        _print_notes([f"A TREC run holds no {', '.join(lost)}."])
    held = sum(not as_trec or bool(answer.rankings[0]) for answer in run.answers.values())
    _print_done(options.target, plural(held, "query", "queries"), options, is_new=is_new)


def _lost_in_trec(run: Run) -> list[str]:
    """Name what a run has that a TREC run cannot hold."""
    answers = run.answers.values()
    counts = {
        "texts": sum(answer.text is not None for answer in answers),
        "params": sum(bool(answer.params) for answer in answers),
        "judgments": sum(bool(answer.judgments) for answer in answers),
        "weights": sum(answer.weight not in (None, 1) for answer in answers),
        "tags": sum(bool(answer.tags) for answer in answers),
        "rankings but the first": sum(len(answer.rankings) > 1 for answer in answers),
        "empty results": sum(not answer.rankings[0] for answer in answers),
    }
    lost = [f"{what} ({plural(count, 'query', 'queries')})" for what, count in counts.items() if count]
    header = {
        "depth": run.depth,
        "golden set": run.golden_set,
        "relevance level": run.relevance_level,
        "means": run.means,
    }
    return lost + [what for what, value in header.items() if value]


def _is_new(contents: Mapping[str, bytes], options: argparse.Namespace) -> bool:
    """Say whether any of these files is to be written. Raises CommandError for one that is there and says something else."""
    existing = [path for path in contents if path != STANDARD and os.path.lexists(path)]
    if len(existing) == len(contents) and all(_holds(Path(path), data) for path, data in contents.items()):
        return False
    if existing and not options.force:
        raise CommandError(
            f"{existing[0]}: It is there already. Write over it with --force, or name another OUT."
        )
    return True


def _holds(path: Path, data: bytes) -> bool:
    """Say whether a file has this content."""
    try:
        return read_regular(path, len(data)) == data
    except OSError:
        return False


def _print_done(written: str, count: str, options: argparse.Namespace, *, is_new: bool) -> None:
    """Print which files were written and what is in them, or that they were like this already."""
    if not options.quiet:
        as_it_was = "" if is_new else "; it was like this already, and nothing was written"
        print_about(options.target, f"{written}: {count}{as_it_was}")


def _print_notes(notes: list[str]) -> None:
    """Print on standard error what the output does not hold."""
    for line in notes:
        print_escaped(f"note: {line}", sys.stderr)
