"""Sentences on slices: which of them the mean hides, and in which of them a fall is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import score_text, signed_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import main_slice, slices_that_fell

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.metrics import Metric

_MAX_NAMED = 5
"""How many slices have a sentence, those that cost the mean most."""

_MIN_DROP = 0.01
"""The least drop of a slice's mean that is named, and from which on the whole set's hides nothing: the default `max_drop`."""

_MIN_RATIO = 2
"""How many times the whole set's drop a slice's must be, to be named beside it."""

_UNMOVED = 0.2
"""How far the other queries may have fallen, as a share of the slice's fall, for the mean to hide that."""

_ALL = 0.995
"""From which share on all of a fall is in a slice."""


def hidden_slices(comparison: Comparison, metric: Metric, gated: Collection[str] = ()) -> Iterator[str]:
    """Name the slices that fell while the whole set's mean did not, or far less.

    Those in ``gated`` have a gate of their own and are left out. Each is judged with all others together: a change that harms nothing has a sentence on any slice in at most 5 of 100 runs.
    """
    whole = comparison.change(metric)
    fell = [
        fall
        for fall in slices_that_fell(comparison, metric)
        if fall.tag not in gated and -fall.change.delta >= max(_MIN_DROP, _MIN_RATIO * -whole.delta)
    ]
    for fall in sorted(fell, key=lambda fall: fall.change.delta * fall.change.n)[:_MAX_NAMED]:
        change, drop = fall.change, score_text(-fall.change.delta)
        hidden = whole.delta > -_MIN_DROP and fall.others > _UNMOVED * change.delta
        lead = (
            f"The mean hides that {metric.name} fell by {drop}"
            if hidden
            else f"{metric.name} fell by {score_text(-whole.delta)}, and by {drop}"
        )
        counts = f"{len(change.worse)} of {plural(change.n, 'query', 'queries')} worse, {len(change.better)} better"
        yield f"{lead} in `{fall.tag}` ({counts}); the others moved by {signed_text(fall.others)}."


def on_main_slice(comparison: Comparison, metric: Metric) -> str | None:
    """Say how much of the fall of a mean is in one slice, where most of it is, beyond what chance gives any slice."""
    fall = main_slice(comparison, metric)
    if fall is None:
        return None
    part, share = ("Most", f" ({fall.share * 100:.0f} %)") if fall.share < _ALL else ("All", "")
    return (
        f"{part} of the fall of {metric.name}{share} is in `{fall.tag}`, {fall.change.n:,} of "
        f"{plural(comparison.change(metric).n, 'query', 'queries')}."
    )
