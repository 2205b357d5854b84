"""Say how often a change that makes nothing worse would fail a ``max_drop``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import MIN_CHANGED, significance

if TYPE_CHECKING:
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.gates import Verdict
    from pytest_irmetrics.thresholds import Gates

_ONCE_IN = 20
"""A fall that harmless changes show as often, or more often, may be chance."""

_SLACK = 1e-3
"""Of the last digit that is shown: by so much a limit is rounded down, since it was found to a millionth only."""


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
    if change.changed < MIN_CHANGED or change.p_value is None or change.p_value < 1 / _ONCE_IN:
        return None
    noise = comparison.run_noise(leading.metric, leading.tag)
    margin = noise.margin if noise is not None else 0.0
    differences = list(change.weighted_differences.values())
    share = significance.share_falling_beyond(differences, leading.limit + margin)
    if share <= 1 / _ONCE_IN:
        return None
    gate = gates.of(leading.metric, leading.tag)["max_drop"]
    enough = max(significance.drop_exceeded_by(differences, 1 / _ONCE_IN) - margin, 0.0)
    of = 10 if share >= 0.15 else 100
    tagged = f" tagged {gate.tag}" if gate.tag is not None else ""
    return (
        f"This may be chance: with {plural(change.n, 'query', 'queries')}{tagged} about {round(share * of)} in {of} harmless "
        f"changes of this size fail max_drop {gate.limit} of {gate.metric.name}, and 1 in {_ONCE_IN} fails {_rounded_up(enough):g}."
    )


def _rounded_up(drop: float) -> float:
    """Round a limit up to two significant digits, so that what holds for it holds for the one that is shown."""
    if not drop:
        return 0.0
    places = 1 - math.floor(math.log10(drop))
    return round(math.ceil(drop * 10.0**places - _SLACK) / 10.0**places, places)
