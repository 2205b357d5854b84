"""What README.md and pages of docs/ show of the example project is what it prints."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.expected import RENEWING
from tests.integration.test_example_project import printed

DOCS = Path(__file__).parents[2] / "docs"
SELFTEST = DOCS / "thresholds.md"


def test_the_example_prints_what_the_page_on_the_selftest_shows():
    page = SELFTEST.read_text(encoding="utf-8")
    (shown,) = re.findall(r"^<!-- selftest -->\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    output = printed("selftest")
    if RENEWING:
        lines, now = shown.splitlines(), output.splitlines()
        now = "\n".join(now[now.index(lines[0]) : now.index(lines[-1]) + 1]) + "\n"
        SELFTEST.write_text(page.replace(shown, now), encoding="utf-8")
        shown = now
    assert f"\n{shown}" in output


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_shows_what_the_example_prints(theme):
    """Its file is written by `make pictures`, with a library that the tests do not need."""
    picture = ET.fromstring((DOCS / "pictures" / f"red-build-{theme}.svg").read_text(encoding="utf-8"))
    rows = {}
    for text in picture.iterfind(".//{*}g/{*}text"):
        rows.setdefault(float(text.get("y")), []).append(text)
    shown = "".join(
        "".join(part.text for part in sorted(row, key=lambda part: float(part.get("x"))))
        for _, row in sorted(rows.items())
    )
    failure = printed("red").partition("[rules] __")[2].partition("\n")[2].partition("\n====")[0]
    assert without_spaces(shown) == without_spaces(f"$ pytest --ir-baseline{failure}")


def without_spaces(text):
    return "".join(text.split())
