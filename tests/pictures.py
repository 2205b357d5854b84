"""Draw the README's picture of a red build, from what the example project prints."""

from __future__ import annotations

import io
import re

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.example.test_project import run

COLUMNS = 80
COMMAND = "pytest --ir-baseline"
ALT = "A failure of pytest: what fell, what kind of change it is, the gates, the queries with their documents, the commands"

# Background, foreground, and pytest's colours in the order of the terminal's: on each background 4.5 to 1 or better.
THEMES = {
    "light": TerminalTheme(
        (255, 255, 255),
        (31, 35, 40),
        [
            (31, 35, 40),
            (179, 29, 40),
            (17, 99, 41),
            (125, 78, 0),
            (5, 80, 174),
            (111, 66, 193),
            (15, 98, 116),
            (89, 99, 110),
        ],
    ),
    "dark": TerminalTheme(
        (13, 17, 23),
        (230, 237, 243),
        [
            (110, 118, 129),
            (255, 123, 114),
            (86, 211, 100),
            (227, 179, 65),
            (121, 192, 255),
            (210, 168, 255),
            (86, 212, 221),
            (177, 186, 196),
        ],
    ),
}

# As rich has it, without its window and its font, which a browser would fetch from another site.
SVG = """\
<svg role="img" viewBox="-{char_height} -{char_height} WIDTH HEIGHT" xmlns="http://www.w3.org/2000/svg">
<title>TITLE</title>
<style>
.{unique_id}-matrix {{ font: {char_height}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="BACKGROUND" x="-{char_height}" y="-{char_height}" width="100%" height="100%" rx="8"/>
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</svg>
"""


def failure() -> str:
    """Return what a red build of the example project prints between pytest's own lines, with its colours."""
    colours = {"RULES_TOKENIZER": "unicode61", "COLUMNS": str(COLUMNS), "NO_COLOR": ""}
    _, output = run("test_search.py", "--ir-baseline", "--color=yes", **colours)
    plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in output.splitlines()]
    first = next(number for number, line in enumerate(plain) if line.startswith("____")) + 1
    last = next(number for number, line in enumerate(plain) if line.startswith("====") and number > first)
    return "\n".join(output.splitlines()[first:last]).strip("\n")


def draw(theme: str) -> str:
    """Return the SVG of a red build in the colours of a theme."""
    lines = Text.from_ansi(f"$ {COMMAND}\n{failure()}").split()
    # A terminal breaks what is longer than a line wherever that is.
    lines = [part for line in lines for part in line.divide(range(COLUMNS, len(line), COLUMNS))]
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text("\n").join(lines), soft_wrap=True)
    filled = {
        "TITLE": ALT,
        "BACKGROUND": THEMES[theme].background_color.hex,
        "WIDTH": f"{COLUMNS * 12.2 + 40:.0f}",  # as wide and high as rich sets a letter, and a margin
        "HEIGHT": f"{len(lines) * 24.4 + 40:.0f}",
    }
    form = re.sub("|".join(filled), lambda name: filled[name[0]], SVG)
    return console.export_svg(theme=THEMES[theme], code_format=form, unique_id="red")
