"""The command ``baselines``: list stored baselines, delete those that belong to nothing, move them."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.base.wording import plural, printable
from pytest_irmetrics.cli import move_baselines
from pytest_irmetrics.cli.command_line import (
    FAILED,
    OK,
    CommandError,
    add_baseline_dir_option,
    add_command,
    add_quiet_option,
    print_escaped,
    print_json_list,
    print_line,
    shown_path,
    stdout_screen,
)
from pytest_irmetrics.cli.find_baselines import baselines_below, exists
from pytest_irmetrics.run import RunError
from pytest_irmetrics.run.baseline import baseline_path, baselines_without_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.cli.command_line import Commands, Parser
    from pytest_irmetrics.cli.find_baselines import StoredBaseline
    from pytest_irmetrics.run import Run


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "baselines",
        _list,
        short="list, prune or move stored baselines",
        description="What pytest --ir-baseline-update stored below a folder.",
        examples="""
pytest-irmetrics baselines list
pytest-irmetrics baselines prune tests --yes
pytest-irmetrics baselines move golden/faq.yaml golden/questions.yaml
""",
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    lister = add_command(
        actions,
        "list",
        _list,
        short="print every baseline with its test, golden set and means",
        description=(
            "Print every baseline with its test, its golden set, how many queries it holds to which depth, and the "
            "means as they were when it was stored. Exits with 1 if one of them cannot be read."
        ),
        examples="""
pytest-irmetrics baselines list
pytest-irmetrics baselines list tests/search
pytest-irmetrics baselines list --json | jq -r '.[].test'
""",
    )
    pruner = add_command(
        actions,
        "prune",
        _prune,
        short="delete the baselines whose test file or golden set is gone",
        description=(
            "Print the baselines whose test file or golden set is gone, and with --yes delete them. Exits with 1 if "
            "there are any that it did not delete. A test that is gone from a file that is still there is known to "
            "pytest alone: pytest --ir-baseline names its baseline."
        ),
        examples="""
pytest-irmetrics baselines prune
pytest-irmetrics baselines prune tests --yes
""",
    )
    move_baselines.add(actions)
    pruner.add_argument("--yes", action="store_true", help="delete them; without it, they are only printed")
    add_quiet_option(pruner, "what was deleted, nor that there was nothing to delete")
    lister.add_argument("--json", action="store_true", help="print them as one JSON list, a baseline a line")
    for action in (lister, pruner):
        _add_arguments(action)


def _add_arguments(parser: Parser) -> None:
    """Add the arguments that both actions have."""
    parser.add_argument(
        "folder",
        nargs="?",
        default=".",
        metavar="DIR",
        help="look in this folder and below it (default: here)",
    )
    add_baseline_dir_option(parser)


def _find_baselines(options: argparse.Namespace) -> list[StoredBaseline]:
    """Return the baselines below the folder that is named. Raises CommandError if it is none."""
    top = Path(options.folder)
    if not os.path.isdir(top):  # noqa: PTH112 - Path.is_dir raises for a name that no file has
        what = "is not a folder" if exists(top) else "is not there"
        raise CommandError(f"{printable(options.folder)}: {what}. Name a folder that tests are in or below.")
    return list(baselines_below(top, options.baseline_dir))


def _none_found(options: argparse.Namespace) -> str:
    """Return the message that there is no baseline below the folder."""
    return f"There is no folder {options.baseline_dir} with a baseline in {options.folder} or below it."


def _list(options: argparse.Namespace) -> int:
    if options.json:
        return _list_json(options)
    status = OK
    screen = stdout_screen()
    found = _find_baselines(options)
    if not found:
        print_escaped(_none_found(options))
    for number, stored in enumerate(found):
        if number:
            print_line("")
        print_escaped(shown_path(stored.path))
        try:
            run = stored.read()
        except RunError as error:
            status = FAILED
            sys.stdout.flush()
            print_escaped(str(error), sys.stderr)
            continue
        for label, text in _describe(stored, run):
            for line in screen.wrapped(f"{label:<10}  {text}", "  ", " " * 14):
                print_line(line)
    return status


def _list_json(options: argparse.Namespace) -> int:
    status, records = OK, []
    found = _find_baselines(options)
    if not found:
        print_escaped(_none_found(options), sys.stderr)
    for stored in found:
        try:
            run = stored.read()
        except RunError as error:
            status = FAILED
            print_escaped(str(error), sys.stderr)
            continue
        golden_file = stored.golden_file(run)
        records.append(
            {
                "file": shown_path(stored.path),
                "test": _test_name(stored),
                "golden_set": run.golden_set if golden_file is None else shown_path(golden_file),
                "query_count": len(run),
                "depth": run.depth,
                "means": dict(run.means or {}),
            }
        )
    print_json_list(records)
    return status


def _describe(stored: StoredBaseline, run: Run) -> Iterator[tuple[str, str]]:
    """Yield a label and a text for each thing that is listed of a baseline."""
    yield "test", _test_name(stored)
    golden_file = stored.golden_file(run)
    if golden_file is not None:
        gone = "" if exists(golden_file) else " is gone"
        yield "golden set", f"{shown_path(golden_file)}{gone}"
    elif run.golden_set is not None:
        yield "golden set", f"{run.golden_set}, made in Python"
    parts = [plural(len(run), "query", "queries")]
    if run.depth is not None:
        parts.append(f"depth {run.depth}")
    repeats = max((len(answer.rankings) for answer in run.answers.values()), default=1)
    if repeats > 1:
        parts.append(f"asked {repeats} times")
    yield "holds", ", ".join(parts)
    if run.means:
        yield "means", ", ".join(f"{metric} {score_text(mean)}" for metric, mean in run.means.items())


def _test_name(stored: StoredBaseline) -> str:
    """Return the name of a baseline's test as pytest prints it.

    A name that no file can have stands in the file's name with `_` and a hash.
    """
    name, bracket, ids = stored.path.stem.partition("[")
    test = f"{name.replace('.', '::')}{bracket}{ids}"
    # The name of the folder may be hashed, too, so the test file is the one whose baselines would go there.
    for file in sorted(stored.folder.glob("*.py")):
        if baseline_path(file, "", ".").parent.name == stored.path.parent.name:
            return f"{shown_path(file)}::{test}"
    return f"{test}, in a file that is gone: {shown_path(stored.folder / stored.path.parent.name)}.py"


def _prune(options: argparse.Namespace) -> int:
    found = _find_baselines(options)
    deletable, status = _find_deletable(found, options.baseline_dir)
    for stored, reason in deletable:
        where = shown_path(stored.path)
        if not options.yes:
            print_escaped(f"{where}: {reason}, and would be deleted")
            continue
        try:
            _delete(stored)
        except OSError as error:
            status = FAILED
            print_escaped(
                f"{printable(where)}: cannot be deleted: {error.strerror or error}. Mend that.", sys.stderr
            )
        else:
            if not options.quiet:
                print_escaped(f"{where}: {reason}; deleted")
    if not options.quiet:
        if not found:
            print_escaped(_none_found(options))
        elif deletable and not options.yes:
            print_escaped(f"{plural(len(deletable), 'baseline')} would be deleted. To delete, add --yes.")
        elif not deletable and status == OK:
            print_escaped(
                f"Nothing to delete: of {plural(len(found), 'baseline')}, no test file or golden set is gone."
            )
    return FAILED if deletable and not options.yes else status


def _find_deletable(
    found: Sequence[StoredBaseline], directory: str
) -> tuple[list[tuple[StoredBaseline, str]], int]:
    """Return the baselines that belong to nothing, each with the reason, and the exit status: FAILED if one cannot be read."""
    status = OK
    deletable = []
    without_test: dict[Path, set[Path]] = {}
    for stored in found:
        try:
            golden_file = stored.golden_file(stored.read())
        except RunError as error:  # perhaps it is no baseline at all, so it is kept
            status = FAILED
            print_escaped(str(error), sys.stderr)
            continue
        if stored.folder not in without_test:
            without_test[stored.folder] = set(baselines_without_file(stored.folder, directory))
        if stored.path in without_test[stored.folder]:
            deletable.append((stored, "its test file is gone"))
        elif golden_file is not None and not exists(golden_file):
            deletable.append((stored, f"its golden set {shown_path(golden_file)} is gone"))
    return deletable, status


def _delete(stored: StoredBaseline) -> None:
    """Delete a baseline, and the folders that this leaves empty."""
    stored.path.unlink()
    with contextlib.suppress(OSError):  # something else is in them
        stored.path.parent.rmdir()
        stored.path.parents[1].rmdir()
