"""Read what commands work on, files or ``-``, standard input: golden sets, stored runs, a project's baselines, documents."""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
import zlib
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.atomic_write import write_whole
from pytest_irmetrics.base.files import MAX_RUN_BYTES
from pytest_irmetrics.base.wording import listed, plural, printable, quote
from pytest_irmetrics.cli.shared import STANDARD, CommandError, print_note, shown_path
from pytest_irmetrics.evaluation.evaluate import DEFAULT_METRICS, read_metrics
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.retrieval.passages import document_of
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.baseline import folders_with_baselines, list_baselines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric

USUAL_METRICS = read_metrics([*DEFAULT_METRICS, "no_answer"])
"""The metrics that are scored unless ``--metrics`` is given; `no_answer` only if the set has such queries."""


# Files and standard streams ---------------------------------------------------------------------------------------


_DOCUMENT_IDS = ("docid", "doc_id", "_id", "id")
"""The keys of a corpus that hold a document's id; the first that is there does."""


@contextmanager
def readable_file(name: str, suffix: str = "") -> Iterator[Path]:
    """Yield the path of a file to read: of ``-`` a copy of standard input with this suffix, which is gone after the ``with``.

    Raises CommandError.
    """
    if name != STANDARD:
        yield Path(name)
        return
    try:
        data = sys.stdin.buffer.read(MAX_RUN_BYTES + 1)
    except (AttributeError, OSError, ValueError):  # closed
        raise CommandError(f"{STANDARD}: Standard input cannot be read. Name a file.") from None
    if len(data) > MAX_RUN_BYTES:
        raise CommandError(
            f"{STANDARD}: Standard input is larger than {MAX_RUN_BYTES // 1_000_000_000} GB. Split it."
        )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{STANDARD}{suffix}"
        copy.write_bytes(data)
        yield copy


def write_file(name: str, data: bytes, *, again: str = "write it again") -> None:
    """Write a file whole or not at all, or ``-``: to standard output. `again` is how to retry, for messages."""
    if name != STANDARD:
        write_whole(Path(name), data, again=again)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


# Golden sets ------------------------------------------------------------------------------------------------------


def load_golden(name: str, custom_metrics: Collection[str]) -> GoldenSet:
    """Load the golden set in a file or folder, or ``-``: in standard input, which is YAML. Raises GoldenSetError and CommandError.

    Its file cannot be read again later where it is ``-``.
    """
    with readable_file(name, ".yaml") as path:
        return GoldenSet.load(path, custom_metrics=custom_metrics, shown=name)


def find_query(golden: GoldenSet, wanted: str, where: str) -> Query:
    """Return the query of an id, or the only one that asks this text. Raises CommandError, which begins with `where`."""
    by_text = [query for query in golden.queries.values() if query.text == wanted]
    query = golden.find(wanted) or (by_text[0] if len(by_text) == 1 else None)
    if query is not None:
        return query
    close = [one.id for one in by_text] or get_close_matches(wanted, list(golden.queries))
    advice = (
        f"Did you mean {' or '.join(map(quote, close[:3]))}?"
        if close
        else f"There are {listed(list(golden.queries), 5)}."
    )
    raise CommandError(f"{where}: There is no query {quote(wanted)}. {advice}")


# Runs -------------------------------------------------------------------------------------------------------------


def load_runs(paths: Sequence[str], tests: Sequence[str]) -> list[tuple[str, Run]]:
    """Load the runs in some files, each with a name for messages.

    Of JSON reports with several tests `tests` says which: one test for all the files, or one for each. Raises RunError and
    CommandError.
    """
    if len(tests) not in (0, 1, len(paths)):
        raise CommandError(
            f"--test is given {plural(len(tests), 'time')} for {plural(len(paths), 'run')}. Give it once, or once for each "
            "run, in their order."
        )
    runs = []
    for number, path in enumerate(paths):
        test = tests[number % len(tests)] if tests else None
        with readable_file(path) as file:
            is_json = path == STANDARD and file.read_bytes()[:100].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(
                b"{"
            )
            run = Run.load(file.rename(f"{file}.json") if is_json else file, test=test, shown=path)
        runs.append((path if len(tests) < 2 else f"{path} ({test})", run))
    return runs


class Baseline(NamedTuple):
    """The file of one baseline, and the folder of the test that it belongs to."""

    path: Path
    folder: Path

    @property
    def test(self) -> str:
        """The id of its test, as far as the file's name tells it."""
        file = self.folder / f"{self.path.parent.name}.py"
        return f"{shown_path(file)}::{self.path.name.removesuffix('.json')}"

    def golden_file(self, run: Run) -> Path | None:
        """Return the file of the golden set that the baseline's run names; None where it names none."""
        return None if run.golden_set is None else Path(os.path.normpath(self.folder / run.golden_set))


def baselines_from_here(directory: str) -> list[Baseline]:
    """Return the baselines in folders of a name in the current folder and below; hidden folders and environments are left out."""
    return [
        Baseline(path, folder)
        for folder in folders_with_baselines(Path(), directory)
        for path in list_baselines(folder / directory)
    ]


def baselines_of_golden_set(file: str, directory: str) -> Iterator[tuple[str, Run]]:
    """Yield the baselines of a golden set from the current folder down, each with a name for messages."""
    for baseline in baselines_from_here(directory):
        try:
            run = Run.load(baseline.path)
            golden_file = baseline.golden_file(run)
            if golden_file is not None and os.path.realpath(golden_file) == os.path.realpath(file):
                yield shown_path(baseline.path), run
        except ValueError as error:  # a RunError, or a name of a golden set that no file has
            print_note(str(error))


# Documents --------------------------------------------------------------------------------------------------------


def titles_of_reports(paths: Iterable[str]) -> dict[str, str]:
    """Return the titles of documents that the JSON reports among some files of runs have."""
    titles: dict[str, str] = {}
    for path in paths:
        # Any other file is a run without titles, or has been refused as one.
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            for test in json.loads(Path(path).read_bytes())["tests"]:
                titles.update((doc_id, str(title)) for doc_id, title in test["titles"].items())
    return titles


class Documents(NamedTuple):
    """What is known of documents besides their ids."""

    titles: Mapping[str, str]
    texts: Mapping[str, str]

    def title(self, doc_id: str) -> str:
        """Return the title of a document, or of the one that a chunk is of; empty where it is unknown."""
        return self.titles.get(doc_id) or self.titles.get(document_of(doc_id), "")


def load_documents(runs: Iterable[str], corpus: str | None, wanted: Iterable[str]) -> Documents:
    """Return what the JSON reports among some files of runs say of documents, and a file of JSON Lines of those wanted.

    `wanted` are ids as rankings have them. Raises CommandError for a corpus that cannot be read.
    """
    titles, texts, number = titles_of_reports(runs), dict[str, str](), 1
    ids = {one for doc_id in wanted for one in (doc_id, document_of(doc_id))}
    if corpus is None:
        return Documents(titles, texts)
    try:
        with readable_file(corpus) as path:
            opened = gzip.open if path.suffix == ".gz" else open
            with opened(path, "rt", encoding="utf-8-sig") as lines:
                for number, line in enumerate(lines, 1):  # noqa: B007 - for the error
                    row = json.loads(line) if line.strip() else {}
                    doc_id = next((str(row[name]) for name in _DOCUMENT_IDS if name in row), "")
                    if doc_id in ids:
                        titles.setdefault(doc_id, " ".join(str(row.get("title") or "").split()))
                        texts[doc_id] = str(row.get("text") or "")
    except (OSError, EOFError, zlib.error, ValueError, TypeError, AttributeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        advice = "Give JSON Lines of docid, title and text, in UTF-8."
        raise CommandError(f"{printable(corpus)}:{number}: cannot be read: {reason}. {advice}") from None
    if ids and not ids & {*titles, *texts}:
        print_note(
            f"{corpus}: holds none of the documents to judge. Check that it spells ids as the rankings do."
        )
    return Documents(titles, texts)


# What to score ----------------------------------------------------------------------------------------------------


def scorable_metrics(metrics: Iterable[Metric], golden: GoldenSet) -> tuple[Metric, ...]:
    """Return the metrics, each once, that a stored run can be scored with: no latency, `no_answer` only with such queries."""
    no_answer = any(query.no_answer for query in golden.queries.values())
    kinds = ("ranking", "no_answer") if no_answer else ("ranking",)
    return tuple(metric for metric in read_metrics(metrics) if metric.kind in kinds)


def metrics_beyond(metrics: Iterable[Metric], depth: int | None) -> list[Metric]:
    """Return the metrics whose cut-off is greater than the depth of a run; none if that is unknown."""
    return [metric for metric in metrics if depth is not None and (metric.cutoff or 0) > depth]
