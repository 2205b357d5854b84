"""Fail a test with nothing but a message, of which pytest repeats the first line alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics.base.escape import escape_terminal

if TYPE_CHECKING:
    from typing import NoReturn


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

    A failure that no line of the test raised is placed at the test, which ``--tb=line`` and annotations of CI show.
    """
    headline = getattr(raised, _HEADLINE, None)
    crash = getattr(report.longrepr, "reprcrash", None)
    if headline is not None and crash is not None:
        crash.message = f"Failed: {headline}"
        if Path(crash.path).parent == _FOLDER:
            crash.path, crash.lineno = str(item.path), (item.location[1] or 0) + 1
