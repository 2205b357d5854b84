"""The action ``baselines move``: carry baselines over where a golden set was renamed or split."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.paths import parameter_id, relative_path
from pytest_irmetrics.base.wording import listed, plural, printable
from pytest_irmetrics.cli.command_line import (
    OK,
    CommandError,
    add_baseline_dir_option,
    add_command,
    add_metric_option,
    add_quiet_option,
    print_escaped,
    shown_path,
)
from pytest_irmetrics.cli.find_baselines import baselines_of_project, is_same_file
from pytest_irmetrics.comparison.stored_means import means_as_stored
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.baseline import ids_in_name, path_with_ids, write_baseline

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.cli.find_baselines import StoredBaseline

_MAX_NAMED = 3
"""Ids that a note names."""


def add(actions: Commands) -> None:
    """Add the action to the command ``baselines``."""
    parser = add_command(
        actions,
        "move",
        _move,
        short="carry baselines over where a golden set was renamed or split",
        description=(
            "Let the baselines of the golden set OLD be those of NEW, whatever tests and parameters they are of: their files "
            "get the name of NEW's test items, and name NEW as their golden set. With several NEW, OLD was split, and each "
            "gets the answers to the queries that it holds. OLD may be gone already, and a baseline that was moved by hand is "
            "mended. Either all of them are moved or none."
        ),
        examples="""
pytest-irmetrics baselines move golden/faq.yaml golden/questions.yaml
pytest-irmetrics baselines move golden/faq.yaml golden/faq.jsonl
pytest-irmetrics baselines move golden/faq.yaml golden/billing.yaml golden/account.yaml
""",
    )
    parser.add_argument("old", metavar="OLD", help="the path that the golden set had")
    parser.add_argument("new", nargs="+", metavar="NEW", help="the golden set, or those, that it has become")
    add_baseline_dir_option(parser)
    add_quiet_option(parser, "which files were moved")
    add_metric_option(parser)


@dataclass(frozen=True, slots=True)
class _Move:
    """A baseline file to write in place of another."""

    source: Path
    target: Path
    text: str


def _move(options: argparse.Namespace) -> int:
    old = Path(options.old)
    new = [GoldenSet.load(path, custom_metrics=options.metric, shown=path) for path in options.new]
    found = [
        (stored, stored.read())
        for stored in baselines_of_project(old, options.baseline_dir)
        if is_same_file(stored.golden_file_named(), old)
    ]
    if not found:
        raise CommandError(
            f"{printable(options.old)}: No baseline in a folder {options.baseline_dir} of this project is of this golden set. "
            "`pytest-irmetrics baselines list` names the golden set of each."
        )
    moves = [move for stored, run in found for move in _moves(stored, run, old, new)]
    _require_free(moves, {stored.path for stored, _ in found})
    for move in moves:
        write_baseline(move.target, move.text, shown=shown_path(move.target))
    kept = {os.path.realpath(move.target) for move in moves}
    for stored, _ in found:
        if os.path.realpath(stored.path) not in kept:
            stored.path.unlink()
    for move in moves if not options.quiet else ():
        where = shown_path(move.target)
        print_escaped(where if move.target == move.source else f"{shown_path(move.source)} → {where}")
    if not options.quiet:
        print_escaped(f"{plural(len(moves), 'baseline')} moved to {listed(options.new)}.")
    _print_left_out(found, new)
    return OK


def _moves(stored: StoredBaseline, run: Run, old: Path, new: Sequence[GoldenSet]) -> Iterator[_Move]:
    """Yield the files that a baseline becomes. Raises CommandError where their names cannot be told."""
    for golden in new:
        assert golden.path is not None  # noqa: S101 - it was loaded
        part = run if len(new) == 1 else _answers_to(golden, run)
        moved = Run.of(
            part.answers,
            run.depth,
            relative_path(os.path.abspath(golden.path), os.path.abspath(stored.folder)),  # noqa: PTH100 - links stay
            run.relevance_level,
            part.means,
        )
        if not part.answers:
            continue
        target = _target(stored, old, golden.path)
        if target is None:
            raise CommandError(
                f"{shown_path(stored.path)}: How this file is to be called for {printable(str(golden.path))} cannot be told from its "
                "name. Store that test's baseline anew (`pytest --ir-baseline-update`), and delete this one."
            )
        yield _Move(stored.path, target, moved.dumps())


def _answers_to(golden: GoldenSet, run: Run) -> Run:
    """Return the part of a run that answers a golden set's queries, with the means of that part."""
    answers = {query_id: answer for query_id, answer in run.answers.items() if query_id in golden.queries}
    part = Run.of(answers, run.depth, None, run.relevance_level, run.means)
    return Run.of(answers, run.depth, None, run.relevance_level, means_as_stored(part))


def _target(stored: StoredBaseline, old: Path, new: Path) -> Path | None:
    """Return the path of a baseline for a golden set that was called `old`, and is `new` now."""
    before, now = Path(os.path.abspath(old)), Path(os.path.abspath(new))  # noqa: PTH100 - links stay
    ids = ids_in_name(stored.path)
    # How much of the path is in the id depends on the mark's pattern, which only pytest knows: as much as is in the file's name.
    for fixed in before.parents[::-1]:
        here = (
            now
            if now.is_relative_to(fixed)
            else fixed.joinpath(*now.parts[len(fixed.parts) - len(before.parts) :])
        )
        old_id, new_id = (_as_in_test_id(parameter_id(path, fixed)) for path in (before, here))
        if ids is None:
            if path_with_ids(stored.path, f"[{old_id}]") == stored.path:
                return path_with_ids(stored.path, f"[{new_id}]")
            if path_with_ids(stored.path, f"[{new_id}]") == stored.path:
                return stored.path
            continue
        for known in (old_id, new_id):
            places = list(re.finditer(rf"(?<=[\[-]){re.escape(known)}(?=[\]-])", ids))
            if places:
                start, end = places[0].span()
                return (
                    path_with_ids(stored.path, f"{ids[:start]}{new_id}{ids[end:]}")
                    if len(places) == 1
                    else None
                )
    return stored.path if ids is not None else None  # the test names its golden set itself: check(golden=...)


def _as_in_test_id(text: str) -> str:
    """Return an id as pytest has it in a test's name, in ASCII."""
    return text.encode("unicode_escape").decode("ascii")


def _require_free(moves: Sequence[_Move], sources: set[Path]) -> None:
    """Raise CommandError where a baseline would take the place of another."""
    targets = [move.target for move in moves]
    for move in moves:
        if (os.path.lexists(move.target) and move.target not in sources) or targets.count(move.target) > 1:
            raise CommandError(
                f"{shown_path(move.target)}: is there already, and {shown_path(move.source)} would take its place. Delete the one "
                "that is not to be kept."
            )


def _print_left_out(found: Sequence[tuple[StoredBaseline, Run]], new: Sequence[GoldenSet]) -> None:
    """Print which stored queries no golden set holds any more."""
    held = {query_id for golden in new for query_id in golden.queries}
    left = dict.fromkeys(query_id for _, run in found for query_id in run.answers if query_id not in held)
    if left:
        what = plural(len(left), "stored query is", "stored queries are")
        print_escaped(
            f"note: {what} in no golden set that was named: {listed(list(left), _MAX_NAMED)}.", sys.stderr
        )
