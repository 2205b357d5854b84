"""What the example project prints in the terminal, whole, when it passes, fails and is self-tested."""

from __future__ import annotations

import re

import pytest

from tests.expected import assert_as_expected
from tests.integration.test_example_project import run

SITUATIONS = {
    "green": (["--ir-baseline"], {}, 0),
    "red": (["--ir-baseline"], {"RULES_TOKENIZER": "unicode61"}, 1),
    "red-q": (["--ir-baseline", "-q"], {"RULES_TOKENIZER": "unicode61"}, 1),
    "red-v": (["--ir-baseline", "-v"], {"RULES_TOKENIZER": "unicode61"}, 1),
    "selftest": (["--ir-selftest"], {}, 0),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_terminal_shows_what_is_expected(situation):
    options, environment, status = SITUATIONS[situation]
    ended, output = run(*options, **environment, COLUMNS="80")
    assert ended == status
    assert_as_expected(f"example/{situation}.txt", without_the_session(output))


def without_the_session(output):
    """Drop pytest's header, which names this machine and its plugins, and its own time."""
    output = output[max(output.find("collect"), 0) :]
    return re.sub(r"(?m)^(=*)( ?\d+ .* in )\d+\.\d+s(?: \([\d:]+\))?( ?)=*$", _without_time, output)


def _without_time(last):
    """Return pytest's last line with a time of its usual length: the signs around it depend on that."""
    text = f"{last[2]}0.00s{last[3]}"
    return text.center(80, "=") if last[1] else text
