"""What README.md and docs/labelling.md show of the example project is what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_irmetrics import cli
from tests.expected import RENEWING
from tests.integration.test_example_project import EXAMPLE, run

LABELLING = Path(__file__).parents[2] / "docs" / "labelling.md"
README = Path(__file__).parents[2] / "README.md"
SHOWN = re.findall(r"^```text\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("shown", "arguments", "environment", "status"),
    [
        (SHOWN[0], ["--ir-baseline"], {"RULES_TOKENIZER": "unicode61"}, 1),
        (SHOWN[1], ["--ir-selftest"], {}, 0),
    ],
    ids=["failure", "selftest"],
)
def test_an_example_prints_what_the_readme_shows(shown, arguments, environment, status):
    ended, output = run(*arguments, **environment, COLUMNS="80")
    assert ended == status
    if RENEWING:
        shown = renewed(shown, output)
    assert f"\n{shown}" in output


def renewed(shown, output):
    """Write what is printed now into the README, between the first and the last line that it shows."""
    lines, printed = shown.splitlines(), output.splitlines()
    now = "\n".join(printed[printed.index(lines[0]) : printed.index(lines[-1]) + 1]) + "\n"
    readme = README.read_text(encoding="utf-8")
    README.write_text(readme.replace(f"```text\n{shown}```", f"```text\n{now}```"), encoding="utf-8")
    return now


def test_the_tolerances_of_the_example_are_those_that_the_page_shows(tmp_path, monkeypatch, capsys):
    path = tmp_path / "run.json"
    run(f"--ir-report=json:{path}", RULES_TOKENIZER="unicode61")
    monkeypatch.chdir(EXAMPLE)
    assert cli.main(["check", "--tolerance", "golden/rules.yaml", "--run", str(path)]) == 0
    printed = re.sub(r"(?m)^(change .* → ).*$", r"\1run.json", capsys.readouterr().out)
    (shown,) = re.findall(
        r"^```text\n(golden .*?)^```$", LABELLING.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert printed.startswith(f"{shown}\nA harmless change")
