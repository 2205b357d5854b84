"""What commands share: their arguments, what they read (files or ``-``, standard input), and printing that is safe anywhere."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.atomic_write import write_whole
from pytest_irmetrics.base.escape import escape_terminal, to_stream
from pytest_irmetrics.base.files import MAX_RUN_BYTES, parameter_id, read_bytes
from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.base.wording import listed, plural, quote
from pytest_irmetrics.evaluation.evaluate import DEFAULT_METRICS
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.golden.formats import suffixes
from pytest_irmetrics.golden.query import folded
from pytest_irmetrics.metrics import Metric, MetricError
from pytest_irmetrics.metrics.names import read_metrics, split_names
from pytest_irmetrics.reports.blocks import Block, Level
from pytest_irmetrics.reports.terminal import lines
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.baseline import BaselineName, find_baselines

OK, FAILED = 0, 1
"""Exit statuses of commands; argparse itself exits with 2 for a wrong command line. In docs/reference/cli.md and docs/outside-python.md, too."""
STANDARD = "-"
"""As a file's name on the command line: standard input where it is read, standard output where it is written."""

GOLDEN_HELP = f"a golden set: {suffixes()}, or a BEIR folder; - is standard input"


USUAL_METRICS = read_metrics([*DEFAULT_METRICS, "no_answer"])
"""The metrics that are scored unless ``--metrics`` is given; `no_answer` only if the set has such queries."""


class CommandError(IRMetricsError):
    """What a command cannot do, as ``file:line: what is wrong. What to do.``; it is printed, and the command exits with 1."""


# Types of arguments


def _metrics(text: str) -> tuple[Metric, ...]:
    """Parse an argument that lists metrics that a stored run can be scored with."""
    try:
        metrics = read_metrics(split_names(text))
    except MetricError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not metrics or not all(metric.is_compared for metric in metrics):
        message = f"{text!r} is no list of metrics that a stored run tells. Write for example ndcg@10,mrr."
        raise argparse.ArgumentTypeError(message)
    return metrics


def ranking_metric(text: str) -> Metric:
    """Parse an argument that is the name of one metric over rankings."""
    metric, *more = _metrics(text)
    if more or metric.kind != "ranking":
        raise argparse.ArgumentTypeError(f"{text!r} is not one metric over rankings, such as ndcg@10.")
    return metric


def _number_to_show(text: str) -> int:
    """Read how many rows to show; 0 is all."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no count. Write a whole number; 0 shows all")
    return int(text)


# Arguments of commands


Argument = tuple[bool, tuple[str, ...], dict[str, Any]]


def argument(*names: str, exclusive: bool = False, **settings: Any) -> Argument:
    """Declare an argument of a command, as argparse takes it; of the `exclusive` ones at most one may be given."""
    return exclusive, names, settings


def limit_argument(what: str) -> Argument:
    """Declare the option `--limit`: how many rows a command shows at most."""
    about = f"{what}; 0: all (default: %(default)s)"
    return argument("--limit", type=_number_to_show, default=20, metavar="N", help=about)


# fmt: off
CUSTOM_METRIC = argument("--metric", dest="custom_metrics", action="append", default=[], metavar="NAME", help="the name of a metric of your own, so that a threshold on it is no mistake (repeatable)")
METRICS = argument("--metrics", type=_metrics, action="extend", metavar="METRICS", help=f"what to score, such as ndcg@5,P@3 (default: {','.join(DEFAULT_METRICS)})")
TEST = argument("--test", dest="tests", action="append", default=[], metavar="NAME", help="of a JSON report of several tests, the one whose run is meant: its id, or a part that no other has; given once, or once for each run in their order")
BASELINE_DIR = argument("--baseline-dir", default="ir_baselines", metavar="NAME", help="the folder of the baselines beside the tests, as the setting ir_baseline_dir names it (default: ir_baselines)")
# fmt: on


# Printing


def print_escaped(line: str, stream: TextIO | None = None) -> None:
    """Print one line, on standard output unless told otherwise; control characters and workflow commands are escaped."""
    stream = sys.stdout if stream is None else stream
    print(to_stream(escape_terminal(line), stream.encoding), file=stream)


def print_about(written: str, line: str) -> None:
    """Print a line about a file that was written; on standard error where that is standard output."""
    print_escaped(line, sys.stderr if written == STANDARD else sys.stdout)


def print_note(line: str) -> None:
    """Print a note on standard error."""
    print_escaped(f"note: {line}", sys.stderr)


def print_error(error: Exception | str) -> None:
    """Print what is wrong on standard error, if anything is, after all that was printed before it."""
    sys.stdout.flush()
    for line in str(error).splitlines():
        print_escaped(line, sys.stderr)


def print_line(line: str) -> None:
    """Print one line that is free of control characters already, such as those of `stdout_screen`."""
    print(line)  # noqa: T201 - a command prints


def harmless_json(text: str) -> str:
    """Escape, in JSON, what is not ASCII, and what a terminal or a CI log takes for a command."""
    text = re.sub(r"[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], text)
    return text.replace("##", "#\\u0023").replace("::", ":\\u003a")


def print_blocks(blocks: Iterable[Block], **how: Any) -> None:
    """Print blocks of a report as pytest prints them with ``-v``; `how` as `terminal.lines` takes it."""
    for line in lines(blocks, stdout_screen(), Level.VERBOSE, **how):
        print_line(line.text)


def stdout_screen() -> Screen:
    """Return the width and encoding of standard output; 100 columns where it is no terminal."""
    return Screen(max(shutil.get_terminal_size((100, 24)).columns, 40), sys.stdout.encoding)


# Files and standard streams


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
    except OSError:  # a folder, or a file that is open for writing
        raise CommandError(f"{STANDARD}: Standard input cannot be read. Name a file.") from None
    if len(data) > MAX_RUN_BYTES:
        text = f"{STANDARD}: Standard input is larger than {MAX_RUN_BYTES // 1_000_000_000} GB. Split it."
        raise CommandError(text)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{STANDARD}{suffix}"
        copy.write_bytes(data)
        yield copy


def write_file(name: str, data: bytes, again: str = "write it again") -> None:
    """Write a file whole or not at all, or ``-``: to standard output. `again` is how to retry, for messages."""
    if name != STANDARD:
        write_whole(Path(name), data, again=again)
    else:
        sys.stdout.buffer.write(data)


# Golden sets


def load_golden(name: str, custom_metrics: Collection[str]) -> GoldenSet:
    """Load the golden set in a file or folder, or ``-``: in standard input, which is YAML. Raises GoldenSetError and CommandError."""
    with readable_file(name, ".yaml") as path:
        golden = GoldenSet.load(path, custom_metrics=custom_metrics, shown=name)
        _ = name == STANDARD and golden.lines  # kept, as the copy of standard input is gone hereafter
    return golden


def find_query(golden: GoldenSet, wanted: str, where: str) -> Query:
    """Return the query of an id, or the only one that asks this text. Raises CommandError, which begins with `where`."""
    by_text = [query for query in golden.queries.values() if query.text == wanted]
    query = golden.find(wanted) or (by_text[0] if len(by_text) == 1 else None)
    if query is not None:
        return query
    close = [one.id for one in by_text] or get_close_matches(wanted, list(golden.queries))
    meant = f"Did you mean {listed(close, word=quote, between=' or ')}?"
    advice = meant if close else f"There are {listed(list(golden.queries), 5)}."
    raise CommandError(f"{where}: There is no query {quote(wanted)}. {advice}")


# Runs


def load_runs(paths: Sequence[str], tests: Sequence[str], golden: str = "") -> list[tuple[str, Run]]:
    """Load the runs in some files, each with a name for messages.

    Of JSON reports with several tests `tests` says which: one test for all the files, or one for each; without, the only one of
    a `golden` set. Raises RunError and CommandError.
    """
    if len(tests) not in (0, 1, len(paths)):
        text = f"--test is given {plural(len(tests), 'time')} for {plural(len(paths), 'run')}. Give it once, or once for each run, in their order."
        raise CommandError(text)
    runs = []
    for number, path in enumerate(paths):
        test = tests[number % len(tests)] if tests else _test_of(golden, path)
        with readable_file(path) as file:
            is_json = path == STANDARD and read_bytes(file).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
            run = Run.load(file.rename(f"{file}.json") if is_json else file, test=test, shown=path)
        runs.append((path if len(tests) < 2 else f"{path} ({test})", run))
    return runs


def _test_of(golden: str, path: str) -> str | None:
    """Return the only test of a golden set in a JSON report; None where there is none, or several, or another file."""
    same = [str(test.get("nodeid")) for test in _tests(path) if test["golden_set"] == Path(golden).as_posix()]
    return same[0] if len(same) == 1 else None


def _tests(path: str) -> list[dict[str, Any]]:
    """Return the tests in a JSON report; none of any other file, which is a run alone, or is refused as one."""
    with suppress(IRMetricsError, ValueError, KeyError, TypeError, RecursionError):
        tests = json.loads(read_bytes(Path(path)))["tests"]
        return [test for test in tests if isinstance(test["golden_set"], str)]
    return []


class Baseline(NamedTuple):
    """The file of one baseline, and the folder of the test that it belongs to."""

    path: Path
    folder: Path

    @property
    def test(self) -> str:
        """The id of its test, as far as the file's name tells it."""
        name = BaselineName.of(self.path)
        return f"{(self.folder / name.module.name).as_posix()}.py::{name.function}{name.ids}"

    def golden_file(self, run: Run) -> Path | None:
        """Return the file of the golden set that the baseline's run names; None where it names none, or that is gone."""
        path = Path(os.path.normpath(self.folder / (run.golden_set or "")))
        return path if run.golden_set is not None and os.path.lexists(path) else None


def baselines_from_here(directory: str) -> list[Baseline]:
    """Return the baselines in folders of a name in the current folder and below; hidden folders and environments are left out."""
    return sorted(map(Baseline._make, find_baselines(Path(), directory, (".*", "node_modules"))))


def baselines_of_golden_set(file: str, directory: str) -> Iterator[tuple[str, Run]]:
    """Yield the baselines of a golden set from the current folder down, each with a name for messages.

    One whose golden set is gone goes by its own name, which `git mv` gave it where that was renamed.
    """
    parts = {*parameter_id(Path(file), Path(file).parent).split("-")}
    for baseline in baselines_from_here(directory):
        try:
            run = Run.load(baseline.path)
            golden_file = baseline.golden_file(run)
            same = golden_file is not None and os.path.realpath(golden_file) == os.path.realpath(file)
            if same or (golden_file is None and parts <= BaselineName.of(baseline.path).parts):
                yield baseline.path.as_posix(), run
        except ValueError as error:  # a RunError, or a name of a golden set that no file has
            print_note(str(error))


def about_documents(paths: Iterable[str]) -> tuple[dict[str, str], dict[tuple[str, str], dict[str, str]]]:
    """Return the titles and texts of documents that the JSON reports among some files of runs hold.

    Titles are by document id. Texts are by the query's folded text (or else its id) and the document's id, and then by the query's
    id: it may have another one today.
    """
    titles: dict[str, str] = {}
    texts: dict[tuple[str, str], dict[str, str]] = {}
    for path in paths:
        with suppress(KeyError, TypeError, AttributeError):  # it was damaged, and has none
            for test in _tests(path):
                titles.update((doc_id, str(title)) for doc_id, title in test["titles"].items())
                for query in test["queries"]:
                    asked = folded(str(query.get("text") or query["query_id"]))
                    for doc_id, text in query.get("texts", {}).items():
                        texts.setdefault((asked, doc_id), {})[query["query_id"]] = str(text)
    return titles, texts


def scorable_metrics(metrics: Iterable[Metric], golden: GoldenSet) -> tuple[Metric, ...]:
    """Return the metrics, each once, that stored runs can be scored with: no latency, `no_answer` only with such queries."""
    kinds = {"ranking", "overlap", *("no_answer" for query in golden.queries.values() if query.no_answer)}
    return tuple(metric for metric in read_metrics(metrics) if metric.kind in kinds)
