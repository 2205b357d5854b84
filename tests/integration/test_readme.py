"""What README.md shows of the example project is what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.integration.test_example_project import run

README = Path(__file__).parents[2] / "README.md"
SHOWN = re.findall(r"^```text\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("shown", "arguments", "environment", "status"),
    [
        (SHOWN[0], ["--ir-baseline", "-v"], {"RULES_TOKENIZER": "unicode61"}, 1),
        (SHOWN[1], ["--ir-selftest"], {}, 0),
    ],
    ids=["failure", "selftest"],
)
def test_an_example_prints_what_the_readme_shows(shown, arguments, environment, status):
    ended, output = run(*arguments, **environment, COLUMNS="80")
    assert ended == status
    assert f"\n{shown}" in output
