"""What can be wrong with a stored run of any form, and the words for it."""

from __future__ import annotations

import re

from pytest_irmetrics.base.errors import IRMetricsError

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

CURE = "Restore the file from version control, or store it anew (a baseline: `pytest --ir-baseline-update`)."
CONFLICT = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)


class RunError(IRMetricsError, ValueError):
    """A run that cannot be read or written; reads ``path:line: what is wrong. What to do.``."""


class NoTestsError(RunError):
    """A run of which a test is asked for, and that is no report of tests."""


def decode(data: bytes, where: str) -> str:
    """Decode UTF-8. Raises RunError with the line of what is none."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RunError(f"{where}:{line}: is not UTF-8. {CURE}") from None
