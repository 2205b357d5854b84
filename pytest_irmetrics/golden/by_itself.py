"""What can be doubted in a golden set by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.golden.doubt import Doubt
from pytest_irmetrics.golden.lint import leaks, near_duplicates
from pytest_irmetrics.golden.pointless_limits import pointless_limits

if TYPE_CHECKING:
    from pytest_irmetrics.golden import GoldenSet

_MOST = 10
"""How many doubts of one kind are told; what there are more of is counted."""


def doubts(golden: GoldenSet) -> list[Doubt]:
    """Return what can be doubted in a golden set by itself, the most telling first."""
    found = []
    for kind in (pointless_limits(golden), near_duplicates(golden), leaks(golden)):
        some = list(kind)
        found += some[:_MOST]
        if len(some) > _MOST:
            found.append(Doubt(some[_MOST].where, f"{len(some) - _MOST} more of this kind begin here."))
    return found
