"""What ``--ir-selftest`` found, as the lines of the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.layout import display_width, shorten, table
from pytest_irmetrics.base.numbers import TOLERANCE, signed_text
from pytest_irmetrics.base.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.reports.item_report import Degradation, ItemReport
    from pytest_irmetrics.reports.terminal import Screen

_LONGEST_NAME = 36
_SLICES = 8
"""How many slices that are caught the table has at most; with more it has those that are missed."""


def lines(record: ItemReport, screen: Screen, *, everything: bool = False) -> list[str]:
    """Return a line for each degradation, what they come to, and advice; with ``everything`` a paragraph each."""
    tried = record.selftest or []
    if not tried:
        return screen.wrapped("Nothing could be made worse: the stored run finds no relevant document.")
    if everything:
        told = [line for degradation in tried for line in _paragraph(degradation, screen)]
    else:
        told = _table(_shown(tried), screen)
        hidden = len(tried) - len(_shown(tried))
        if hidden:
            told.append(screen.cut(f"{plural(hidden, 'more slice')} lost: caught (-v shows them)"))
    told += screen.wrapped(conclusion(tried), hanging="  ")
    for sentence in record.advice:
        told += screen.wrapped(sentence, hanging="  ")
    return told


def conclusion(tried: Sequence[Degradation]) -> str:
    """Say in one sentence how many were caught, and name the others."""
    missed = [degradation.name for degradation in tried if not degradation.caught_by]
    if not missed:
        return f"caught all {len(tried)}"
    return f"caught {len(tried) - len(missed)} of {len(tried)}; missed: {', '.join(missed)}"


def _shown(tried: Sequence[Degradation]) -> list[Degradation]:
    slices = [degradation for degradation in tried if degradation.tag is not None and degradation.caught_by]
    if len(slices) <= _SLICES:
        return list(tried)
    return [degradation for degradation in tried if degradation not in slices]


def _table(tried: Sequence[Degradation], screen: Screen) -> list[str]:
    names = [
        shorten(screen.line(degradation.name), _LONGEST_NAME, ascii_only=screen.ascii_only, middle=True)
        for degradation in tried
    ]
    metrics = [_most_telling(degradation) for degradation in tried]
    moved = [
        "no metric moves"
        if metric is None
        else screen.line(f"{metric} {signed_text(degradation.deltas[metric], digits=3)}")
        for metric, degradation in zip(metrics, tried, strict=True)
    ]

    def verdicts(room: int) -> list[str]:
        pairs = zip(tried, metrics, strict=True)
        return [_verdict(degradation, metric, screen, room) for degradation, metric in pairs]

    room = screen.width - _widest(names) - _widest(moved) - 4
    if room < _widest(verdicts(0)):
        room = screen.width - 2  # a second line for each
    cells = [list(row) for row in zip(names, moved, verdicts(room), strict=True)]
    return table(cells, "<<<", screen.width, ascii_only=screen.ascii_only, whole=(0, 1, 2))


def _widest(texts: Sequence[str]) -> int:
    return max(map(display_width, texts), default=0)


def _most_telling(degradation: Degradation) -> str | None:
    """Choose the gated metric that fell most; where none fell, any other."""
    fell = {name: delta for name, delta in degradation.deltas.items() if delta < -TOLERANCE}
    gated = [name for name in degradation.gated if name in fell]
    return min(gated or fell, key=lambda name: fell[name], default=None)


def _verdict(degradation: Degradation, metric: str | None, screen: Screen, room: int) -> str:
    """Name as many of the gates that catch it as fit, those on ``metric`` first, or else count them."""
    if not degradation.caught_by:
        return "MISSED"
    labels = [screen.line(label) for label in degradation.caught_by]
    labels.sort(key=lambda label: not label.startswith(f"{metric} "))
    for named in range(len(labels), 0, -1):
        rest = len(labels) - named
        text = f"caught by {', '.join(labels[:named])}{f' +{rest}' if rest else ''}"
        if display_width(text) <= room:
            return text
    return f"caught by {labels[0]}" if len(labels) == 1 else f"caught by {len(labels)} gates"


def _paragraph(degradation: Degradation, screen: Screen) -> list[str]:
    caught = f"caught by {', '.join(degradation.caught_by)}" if degradation.caught_by else "MISSED"
    moved = [
        f"{name} {signed_text(delta)}" for name, delta in degradation.deltas.items() if abs(delta) > TOLERANCE
    ]
    return [
        *screen.wrapped(f"{degradation.name}: {caught}", hanging="  "),
        *screen.wrapped(degradation.what, "  "),
        *screen.wrapped(", ".join(moved) if moved else "no metric moves", "  "),
    ]
