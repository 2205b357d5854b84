"""What README.md and pages of docs/ show of the example project is what it prints."""

from __future__ import annotations

import functools
from xml.etree import ElementTree as ET

import pytest

from tests.example.test_project import EXAMPLE, run
from tests.expected import RENEWING
from tests.pages import DOCS, blocks
from tests.pictures import draw


@functools.cache
def failure():
    """What the example fails with where its words are not cut to their stem."""
    _, output = run("test_search.py", "--ir-baseline", COLUMNS="80", RULES_TOKENIZER="unicode61")
    return output.partition("[rules] __")[2].partition("\n")[2].partition("====")[0]


def selftest():
    # Without what this repository has of the baseline from before.
    _, output = run(
        "test_search.py", "--ir-selftest", COLUMNS="80", GIT_CEILING_DIRECTORIES=str(EXAMPLE.parent)
    )
    return output[output.index("golden/rules.yaml: baseline") :].partition("====")[0]


@pytest.mark.parametrize(
    ("page", "remark", "printed"),
    [
        (DOCS / "reading-a-failure.md", "the example's failure", failure),
        (DOCS / "thresholds.md", "selftest", selftest),
    ],
)
def test_the_example_prints_what_the_page_shows(page, remark, printed):
    """After a change of words, `make expected` writes it anew. What the page says about it is for a person to read again."""
    (block,) = (block for block in blocks(page) if block.remark == remark)
    now = printed()
    if RENEWING:
        text = page.read_text(encoding="utf-8")
        page.write_text(text[: block.start] + now + text[block.start + len(block.text) :], encoding="utf-8")
    else:
        assert block.text == now


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_shows_what_the_example_prints(theme):
    path = DOCS / "pictures" / f"red-build-{theme}.svg"
    if RENEWING:
        path.write_text(draw(theme), encoding="utf-8")
    picture = ET.fromstring(path.read_text(encoding="utf-8"))
    rows = {}
    for text in picture.iterfind(".//{*}g/{*}text"):
        rows.setdefault(float(text.get("y")), []).append(text)
    shown = "".join(
        "".join(part.text for part in sorted(row, key=lambda part: float(part.get("x"))))
        for _, row in sorted(rows.items())
    )
    assert without_spaces(shown) == without_spaces(f"$ pytest --ir-baseline{failure()}")


def without_spaces(text):
    return "".join(text.split())
