"""What a run was made with, by the fixture `ir_provenance`: read what it gives, and say how two runs differ in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, SupportsIndex

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.numbers import as_whole_number
from pytest_irmetrics.base.wording import cut, listed, printable
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.retrieval.answers import describe, number_of
from pytest_irmetrics.run.answer import Provenance

_LONGEST = 80
"""Characters of a value in a message; a hash has up to 64."""


class ProvenanceError(IRMetricsError, ValueError):
    """What `ir_provenance` gives is no mapping of names to text or numbers."""


def read_provenance(given: Any) -> Provenance | None:
    """Return what the fixture `ir_provenance` gave as plain values; None where it says nothing. Raises ProvenanceError."""
    if not isinstance(given, Mapping):
        raise ProvenanceError(
            f"The fixture ir_provenance gave {describe(given)}. Give a mapping of names to text or numbers: "
            '{"model": "minilm", "docs": 973}.'
        )
    found: dict[str, str | float] = {}
    for name, value in given.items():
        number = number_of(value)
        if not isinstance(name, str) or not name:
            raise ProvenanceError(
                f"The fixture ir_provenance has the name {describe(name)}. A name is a text that is not empty."
            )
        if isinstance(value, str):
            found[str.__str__(name)] = str.__str__(value)
        elif number is not None and math.isfinite(number):
            whole = isinstance(value, SupportsIndex)
            found[str.__str__(name)] = int(value) if whole else as_whole_number(number)
        else:
            raise ProvenanceError(
                f"The fixture ir_provenance gave {describe(value)} for {name!r}, which is neither a text nor a finite number. "
                "Write it as text, or leave it out."
            )
    return found or None


def provenance_difference(comparison: Comparison) -> str:
    """Say with what today's run was made that the other was not, and with what both.

    It reads `model minilm → bge-small; docs 973, as before.` Empty where nothing differs, or one of the two does not say.
    """
    now, before = comparison.now.run.provenance, comparison.baseline.run.provenance
    if not now or not before or now == before:
        return ""
    names = sorted({**before, **now})
    same = [name for name in names if before.get(name) == now.get(name)]
    differing = [f"{_text(i)} {_value(before, i)} → {_value(now, i)}" for i in names if i not in same]
    kept = f"; {listed(same, word=lambda i: f'{_text(i)} {_value(now, i)}')}, as before" if same else ""
    said = f"{listed(differing)}{kept}."
    advice = "No answer differs: leave what changes in every run, such as a time, out of ir_provenance."
    return f"{said} {advice}" if comparison.is_unchanged else said


def _value(provenance: Provenance, name: str) -> str:
    return _text(str(provenance[name])) if name in provenance else "(not given)"


def _text(text: str) -> str:
    return cut(printable(text), _LONGEST)
