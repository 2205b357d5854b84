"""Properties of a test in JUnit's file (``--junitxml``): its scores, and what this branch accepts.

pytest-xdist carries them to the controller, and a rerun replaces those of the attempt before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics.reports.texts import row_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_irmetrics.reports.item_report import ScoreRow

_ACCEPTED = "irmetrics_accepted"
_DIGITS = 6

_names_key = pytest.StashKey[set[str]]()
"""The names of the properties that a test was given here."""


def set_scores(node: pytest.Item, rows: Iterable[ScoreRow]) -> None:
    """Give a test each of its means, as ``ir.ndcg@10``, and where it is compared also ``….baseline`` and ``….delta``.

    The mean is over all of today's queries; what is compared is over those that both runs have.
    """
    found: dict[str, object] = {}
    for row in rows:
        name = f"ir.{row_name(row)}"
        parts = {name: row.full, f"{name}.baseline": row.baseline, f"{name}.delta": row.delta}
        found |= {key: round(value, _DIGITS) + 0.0 for key, value in parts.items() if value is not None}
    _add(node, found)


def set_accepted(node: pytest.Item, told: str) -> None:
    """Give a test the sentences on the falls that this branch accepts."""
    _add(node, {_ACCEPTED: told})


def forget_properties(node: pytest.Item) -> None:
    """Take from a test what an attempt before this one gave it: a rerun measures anew."""
    names = node.stash.get(_names_key, set())
    node.user_properties[:] = [one for one in node.user_properties if one[0] not in names]
    node.stash[_names_key] = set()


def _add(node: pytest.Item, properties: Mapping[str, object]) -> None:
    node.stash.setdefault(_names_key, set()).update(properties)
    node.user_properties += properties.items()
