"""The blocks of a page of documentation, put to use: files are written, commands are run, outputs are compared.

A block stands for a file where its first line says so (```python conftest.py, or ```python title="conftest.py"). A diff with
a title edits that file. In a block of console each command follows a `$ `, and what it prints follows the command.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from tests.expected import RENEWING
from tests.warm_python import python_words

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

WALKED_PAGES = {
    "index.md": 4,
    "tutorial.md": 14,
    "golden-sets.md": 7,
    "retriever.md": 2,
    "labelling.md": 8,
    "passages.md": 4,
    "experiments.md": 2,
    "statistics.md": 1,
    "formats.md": 7,
    "outside-python.md": 3,
    "reports.md": 2,
    "coming-from.md": 1,
    "reference/golden-set.md": 1,
}
"""Pages whose commands are run from top to bottom, and how many each has at least."""

SET_UP = {"reports.md": ["pytest-irmetrics init", "pytest --ir-baseline-update"]}
"""What is done before the commands of a page."""

_BLOCK = re.compile(
    r"^(?:<!-- (?P<remark>[^>]*) -->\n\n?)?"
    r"^(?P<fence>```+)(?P<kind>[\w-]*)(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_SESSION = re.compile(
    r"^=+ test session starts =+\n(?:.*\n)*?(?:collecting \.\.\. )?(?=collected )", re.MULTILINE
)
_SUMMARY = re.compile(r"^=+ short test summary info =+\n(?:(?!=).*\n)*", re.MULTILINE)
_DURATION = re.compile(r"^=+ (?P<outcome>.*) in [\d.]+s =+$", re.MULTILINE)
_QUIET_DURATION = re.compile(r"(?<= in )[\d.]+s$", re.MULTILINE)
_COMMIT = re.compile(r"\([0-9a-f]{9}\)")
_MACHINE = ("CI", "BUILD_NUMBER", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "PYTEST_ADDOPTS")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it stands for, its text and where that begins, and the remark above it."""

    kind: str
    file: str | None
    text: str
    start: int
    remark: str

    @property
    def not_run(self) -> bool:
        """Whether the page says why this block is run by nothing: `<!-- not run: REASON -->`."""
        return self.remark.startswith("not run: ")

    @property
    def outputs_left_out(self) -> bool:
        """Whether the page shows the commands alone. Then each has to end well."""
        return self.remark == "outputs left out"


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a page, from top to bottom."""
    found = []
    for match in _BLOCK.finditer(path.read_text(encoding="utf-8")):
        info = match["info"].strip()
        title = re.search(r'title="([^"]+)"', info)
        file = title[1] if title else (info or None)
        found.append(Block(match["kind"], file, match["text"], match.start("text"), match["remark"] or ""))
    return found


def made_parts(text: str) -> dict[str, str]:
    """Name → what stands between `<!-- made: NAME -->` and `<!-- end -->`."""
    return dict(re.findall(r"^<!-- made: ([^\n]*) -->\n(.*?)^<!-- end -->$", text, re.MULTILINE | re.DOTALL))


def commands(text: str) -> list[tuple[str, str]]:
    """Each command of a block of console, and what it prints."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def without_the_machine(printed: str) -> str:
    """An output without what differs from machine to machine: pytest's header, its short summary, times and commits."""
    printed = _COMMIT.sub("(1c9e2ab47)", _SUMMARY.sub("", _SESSION.sub("", printed)))
    printed = _QUIET_DURATION.sub("0.10s", printed)
    return _DURATION.sub(lambda match: f" {match['outcome']} in 0.10s ".center(len(match[0]), "="), printed)


class Project:
    """A user's folder and shell of 80 columns, in which both scripts are those of this package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self.scripts = folder / "bin"
        self.scripts.mkdir()
        self.script("python", "")
        self.script("pytest-irmetrics", "-m pytest_irmetrics.cli")
        self.script("pytest", "-m pytest -p no:cacheprovider -p pytest_irmetrics.plugin")
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in _MACHINE and not name.startswith(("GIT", "IRMETRICS_"))
        }
        self.environment = {
            **kept,
            "PATH": f"{self.scripts}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "80",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUTF8": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
        }

    def script(self, name: str, words: str) -> None:
        """Put a command into the path: Python with these words."""
        path = self.scripts / name
        python = shlex.join(python_words() if words.startswith("-") else [sys.executable])
        path.write_text(f'#!/bin/sh\nexec {python} {words} "$@"\n', encoding="utf-8")
        path.chmod(0o755)

    def write(self, name: str, text: str) -> None:
        """Write a file below the folder, and the folders above it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, name: str, diff: str) -> None:
        """Edit a file as a diff of one place shows it."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        old = "".join(f"{line[1:]}\n" for line in diff.splitlines() if line[0] in " -")
        new = "".join(f"{line[1:]}\n" for line in diff.splitlines() if line[0] in " +")
        assert text.count(old) == 1, f"{old!r} is not once in {name}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, command: str, *, must_pass: bool = False) -> str:
        """Run a command in the folder, as a shell does, and return what it prints."""
        done = subprocess.run(
            command,
            shell=True,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert not (must_pass and done.returncode), f"$ {command}\n{done.stdout}"
        return done.stdout


def is_shown(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed, whole or without what differs from machine to machine; `...` is anything."""
    checker = doctest.OutputChecker()
    return any(
        checker.check_output(shown, text, doctest.ELLIPSIS)
        for text in (printed, without_the_machine(printed))
    )


def use(path: Path, project: Project) -> list[tuple[str, str, str]]:
    """Do what a page says from top to bottom: each command, what the page shows, and what was printed."""
    page = path.read_text(encoding="utf-8")
    done, after, end = [], "", 0
    for block in blocks(path):
        if block.not_run:
            continue
        if block.kind == "console":
            alone = block.outputs_left_out
            now = [
                (command, "...\n" if alone else shown, project.run(command, must_pass=alone))
                for command, shown in commands(block.text)
            ]
            if RENEWING and not alone:
                now = [(command, _renewed(shown, printed), printed) for command, shown, printed in now]
                after += page[end : block.start] + "".join(
                    f"$ {command}\n{shown}" for command, shown, _ in now
                )
                end = block.start + len(block.text)
            done += now
        elif block.kind == "diff" and block.file:
            project.edit(block.file, block.text)
        elif block.file:
            project.write(block.file, block.text)
    if RENEWING:
        path.write_text(after + page[end:], encoding="utf-8")
    return done


def _renewed(shown: str, printed: str) -> str:
    """What a page shall show from now on: what is printed, and where it leaves lines out, the printed lines most like its own."""
    if is_shown(shown, printed):
        return shown
    printed = without_the_machine(printed)
    if "..." not in shown:
        return printed
    lines = printed.splitlines()
    kept = (
        [line] if "..." in line or line in lines else get_close_matches(line, lines, 1) or [line]
        for line in shown.splitlines()
    )
    return "".join(f"{line}\n" for (line,) in kept)
