"""Say how two runs differ in what they were made with, by the fixture `ir_provenance`."""

from __future__ import annotations

from pytest_irmetrics.base.wording import cut, listed, printable
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.run.answer import Provenance

_LONGEST = 80
"""Characters of a value in a message; a hash has up to 64."""


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
