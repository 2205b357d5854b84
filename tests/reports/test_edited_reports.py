"""What Markdown and the page have of a session: the rows of edited_reports.yaml, written by `pytest-irmetrics report`."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
import yaml

from pytest_irmetrics.cli import main

from .html_page import Page

TEXT = Path(__file__).with_name("edited_reports.yaml").read_text(encoding="utf-8")
DATA = yaml.safe_load(re.sub(r"x\*(\d+)", lambda found: "x" * int(found[1]), TEXT))


def edited(row):
    """Return a report, of one test or of `tests`, with what a row says of it; each part of a test has what the row leaves out of `parts`."""
    tests = []
    for one in row.get("tests", [row.get("test", {})]):
        test = {**DATA["test"], **one}
        for key, part in DATA["parts"].items():
            if isinstance(test[key], list):
                test[key] = [{**part, **some} for some in test[key]]
            elif test[key] is not None:
                test[key] = {**part, **test[key]}
        tests.append(test)
    return {**DATA["session"], **row.get("of", {}), "tests": tests}


def first_text(row):
    """What a row is found by in the file."""
    said = (
        row[name] for name in ("md", "html", "raw", "page", "not_md", "not_html", "not_raw") if name in row
    )
    return next(said)[0]


@pytest.mark.parametrize("row", DATA["rows"], ids=first_text)
def test_a_report_says_of_a_session(row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_text(json.dumps(edited(row)), encoding="utf-8")
    outputs = [word for name in ("r.md", "r.html") for word in ("-o", name)]
    if "room" in row:  # what is left of a step's summary, in bytes
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "r.md")
        Path("r.md").write_bytes(b"\n" * (2**20 - row["room"]))
    assert main(["report", "r.json", *outputs]) == 0
    raw, page = (Path(f"r.{suffix}").read_text(encoding="utf-8") for suffix in ("md", "html"))
    raw = raw.replace("&#8203;", "")
    markdown = html.unescape(re.sub(r"[\\`*]", "", raw))
    outputs = {"raw": raw, "page": page, "md": " ".join(markdown.split()), "html": Page(page).text}
    for name in ("raw", "page", "md", "html"):
        place = 0
        for text in row.get(name, []):  # in this order
            place = outputs[name].find(text, place)
            assert place >= 0, f"{text!r} is not in {name}, or not there: {outputs[name]}"
        for text in row.get(f"not_{name}", []):
            assert text not in outputs[name]
