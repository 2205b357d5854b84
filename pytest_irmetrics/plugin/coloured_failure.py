"""Print the message of a failed gate in colour where pytest's terminal has colours, and in one line with ``--tb=line``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_irmetrics.reports.failure import failure_lines

if TYPE_CHECKING:
    import pytest

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.item_report import ItemReport


def style_failure(
    report: pytest.TestReport, item_report: ItemReport, screen: Screen, *, details: bool, one_line: bool
) -> None:
    """Let pytest print a failure's own lines in colour; its text, which JUnit and other plugins read, stays as it is.

    pytest prints a failure by its `toterminal`. Where the text is not that of the gates alone, nothing is changed. With
    ``one_line`` nothing is printed but the line that pytest itself prints of each failure then.
    """
    longrepr = report.longrepr
    print_plainly = getattr(longrepr, "toterminal", None)
    if print_plainly is None:
        return
    lines = failure_lines(item_report, screen, details=details)
    # pytest 8.0 colours the text too where the environment asks for colours.
    text = re.sub(r"\x1b\[[\d;]*m", "", str(longrepr))
    if text.strip("\n") != "\n".join(line.text for line in lines).strip("\n"):
        return

    def toterminal(writer: pytest.TerminalWriter) -> None:  # type: ignore[name-defined]
        if one_line:
            return
        if not writer.hasmarkup:
            print_plainly(writer)
            return
        for line in lines:
            writer.line(line.text, **line.style.markup)

    longrepr.toterminal = toterminal  # type: ignore[union-attr, method-assign]
