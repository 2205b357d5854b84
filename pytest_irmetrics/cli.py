"""The console script ``pytest-irmetrics``: each command is a function that adds its parser, and one that runs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, TextIO

from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from pytest_irmetrics.reports.text import escape_terminal, plural, to_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.thresholds import Threshold

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - it has no public name

__all__ = ["main"]

OK, FAILED = 0, 1  # argparse itself exits with 2 where the command line has no meaning


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status: 0; 1 for what it found wrong; 2 for a wrong command line."""
    parser = argparse.ArgumentParser(
        prog="pytest-irmetrics",
        description="Golden query sets, runs and baselines of pytest-irmetrics, outside of a test run.",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in _COMMANDS:
        add(commands)
    options = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        status = run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # or the interpreter complains as it exits
        return FAILED
    except KeyboardInterrupt:
        return 130  # as shells count an interrupt
    return status


def _add_check(commands: Commands) -> None:
    parser = commands.add_parser(
        "check",
        help="say what is wrong with golden sets, and where",
        description=(
            "Read golden sets and print one line for each: what it holds or, as FILE:LINE:COLUMN, everything that "
            "is wrong with it and what to do. Exits with 1 if anything is wrong."
        ),
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a golden set, .yaml or .yml")
    parser.add_argument(
        "--json",
        action="store_true",
        help=(
            "print what was read as one JSON list, a query a line, each with its file; if anything is wrong, only "
            "that is printed, on standard error"
        ),
    )
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME",
        help="a metric of your own that thresholds may name (repeatable)",
    )
    parser.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    good: list[tuple[str, GoldenSet]] = []
    status = OK
    for file in options.files:
        try:
            golden = GoldenSet.load(file, custom_metrics=options.metric, shown=file)
        except GoldenSetError as error:
            status = FAILED
            for problem in error.problems:
                _print(str(problem), sys.stderr if options.json else sys.stdout)
        else:
            good.append((file, golden))
            if not options.json:
                _print(_summary(file, golden))
    if options.json and status == OK:
        lines = [_json_line(file, query) for file, golden in good for query in golden.queries.values()]
        print("[", ",\n".join(lines), "]", sep="\n")  # noqa: T201 - a command prints, and this is ASCII
    return status


_COMMANDS = (_add_check,)


def _print(line: str, stream: TextIO | None = None) -> None:
    """Print one line on any terminal, whatever a file put into it."""
    stream = sys.stdout if stream is None else stream
    print(to_stream(escape_terminal(line), stream.encoding), file=stream)


def _summary(file: str, golden: GoldenSet) -> str:
    names = dict.fromkeys(
        threshold.metric.name if threshold.tag is None else f"{threshold.metric.name} for {threshold.tag}"
        for threshold in golden.thresholds
        if any(limit is not None for limit in threshold.limits.values())  # and not all of them `off`
    )
    held = f"thresholds on {', '.join(names)}" if names else "no thresholds"
    queries = plural(len(golden.queries), "query", "queries")
    return f"{file}: {queries}, {plural(len(golden.tags), 'tag')}, relevance level {golden.relevance_level}, {held}"


def _json_line(file: str, query: Query) -> str:
    """Write one query as JSON in ASCII, in which no terminal and no CI log finds anything to obey."""
    record: dict[str, object] = {"id": query.id, "query": query.text, "relevant": query.judgments}
    others: dict[str, object] = {
        "forbidden": query.forbidden,
        "tags": query.tags,
        "weight": None if query.weight == 1 else query.weight,
        "params": query.params,
        "thresholds": {threshold.metric.name: _words(threshold) for threshold in query.thresholds},
        "no_answer": query.no_answer,
        "xfail": query.xfail,
        "note": query.note,
    }
    record |= {key: value for key, value in others.items() if value}
    record |= {"file": file, "line": query.line}
    text = json.dumps(record)
    return text.replace("\x7f", "\\u007f").replace("##", "#\\u0023").replace("::", ":\\u003a")


def _words(threshold: Threshold) -> dict[str, object]:
    words: dict[str, object] = {}
    for word, limit in threshold.limits.items():
        words[word] = "off" if limit is None else str(limit) if limit.percent else limit.value
    return words


if __name__ == "__main__":
    sys.exit(main())
