"""Say how often a change that makes nothing worse would fail a ``max_drop``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import MIN_CHANGED
from pytest_irmetrics.comparison.significance import HARMLESS_IN, drop_for_chance, share_falling_beyond

if TYPE_CHECKING:
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.gates import Verdict
    from pytest_irmetrics.thresholds import Gates


def chance_of(comparison: Comparison, gates: Gates, leading: Verdict) -> str | None:
    """Say that a failed ``max_drop`` of a mean may be chance; None where it is none, or too few queries changed to tell.

    A harmless change is taken to be one that moves as many queries as far as the change at hand, each as likely up as
    down: the two runs, swapped at random query by query.
    """
    if leading.word != "max_drop" or leading.single or leading.as_stored:
        return None
    if leading.metric is None or leading.limit is None:
        return None
    change = comparison.change(leading.metric, leading.tag)
    if change.changed < MIN_CHANGED or change.p_value is None or change.p_value < 1 / HARMLESS_IN:
        return None
    gate = gates.of(leading.metric, leading.tag)["max_drop"]
    if gate.limit.auto:  # which has counted with chance
        return None
    noise = comparison.run_noise(leading.metric, leading.tag)
    margin = noise.margin if noise is not None else 0.0
    differences = list(change.weighted_differences.values())
    share = share_falling_beyond(differences, leading.limit + margin)
    if share <= 1 / HARMLESS_IN:
        return None
    of = 10 if share >= 0.15 else 100
    tagged = f" tagged {gate.tag}" if gate.tag is not None else ""
    return (
        f"This may be chance: with {plural(change.n, 'query', 'queries')}{tagged} about {round(share * of)} in {of} harmless "
        f"changes of this size fail max_drop {gate.limit} of {gate.metric.name}, and 1 in {HARMLESS_IN} fails {drop_for_chance(differences, margin):g}."
    )
