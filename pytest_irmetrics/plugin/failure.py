"""Fail a test with nothing but a message, and have pytest print it: in colour, or as one line where it repeats it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics.base.escape import escape_terminal

if TYPE_CHECKING:
    from typing import NoReturn

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.item_report import ItemReport

_FOLDER = Path(__file__).parent

_HEADLINE = "irmetrics_headline"
"""The attribute of a failure of ours that holds the first line of its message."""


def fail(message: str, headline: str = "") -> NoReturn:
    """Fail the test with nothing but a message: a traceback through our code helps no user.

    ``headline`` is what stands for it where one line is wanted: its first line, unless that is part of a wrapped sentence.
    """
    __tracebackhide__ = True
    message = "\n".join(map(escape_terminal, message.split("\n")))  # a file's name may be a log command
    failed = pytest.fail.Exception(message, pytrace=False)
    setattr(failed, _HEADLINE, escape_terminal(headline) or message.partition("\n")[0])
    raise failed from None


def shorten_repeated_message(item: pytest.Item, report: pytest.TestReport, raised: BaseException) -> None:
    """Leave only a failure's first line to what repeats it: the short summary where CI is set, JUnit's `message`.

    A failure that no line of the test raised is placed at the test, which ``--tb=line`` and annotations of CI show; and
    with ``--tb=line`` nothing of it is printed but the line that pytest itself prints of each failure then.
    """
    headline = getattr(raised, _HEADLINE, None)
    crash = getattr(report.longrepr, "reprcrash", None)
    if headline is not None and crash is not None:
        crash.message = f"Failed: {headline}"
        if Path(crash.path).parent == _FOLDER:
            crash.path, crash.lineno = str(item.path), (item.location[1] or 0) + 1


def style_failure(
    report: pytest.TestReport, item_report: ItemReport, screen: Screen, *, details: bool, one_line: bool
) -> None:
    """Let pytest print a failure's own lines in colour; its text, which JUnit and other plugins read, stays as it is.

    pytest prints a failure by its `toterminal`. Where the text is not that of the gates alone, nothing is changed. With
    ``one_line`` nothing is printed but the line that pytest itself prints of each failure then.
    """
    from pytest_irmetrics.reports.failure import failure_lines  # noqa: PLC0415 - a test that passes does without it

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
