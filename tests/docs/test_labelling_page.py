"""docs/labelling.md shows a session of `label --interactive` as a terminal does. `make expected` writes it anew."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

from tests.cli.console import run
from tests.expected import RENEWING
from tests.pages import DOCS

PAGE = DOCS / "labelling.md"
TITLES = {
    "doc-9": "Refund policy: how do I get my money back",
    "doc-12": "How do I reset my password",
    "doc-13": "How do I close my account",
    "doc-40": "How do I change my password",
}
ASKED = {"reset": "how do I reset my password", "refund": "refund policy", "opening hours": "opening hours"}
FOUND = {
    "reset": ["doc-12", "doc-40", "doc-9", "doc-13", "doc-14"],
    "refund": ["doc-9"],
    "opening hours": ["doc-1"],
}


class Typed(io.StringIO):
    """Standard input of a terminal, which shows what is typed."""

    def readline(self, *_):
        line = super().readline()
        sys.stdout.write(line)
        return line


def test_the_page_shows_a_session_of_judging_one_by_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "92")
    run("init")
    answers = [{"id": key, "text": text, "rankings": [FOUND[key]]} for key, text in sorted(ASKED.items())]
    Path("run.json").write_text(
        json.dumps({"format": "pytest-irmetrics run", "version": 1, "queries": answers})
    )
    rows = [{"docid": doc_id, "title": title} for doc_id, title in TITLES.items()]
    Path("titles.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    out = run(
        *("label", "golden/faq.yaml", "-i", "--run", "run.json", "--corpus", "titles.jsonl"),
        stdin=Typed("0\nq\n"),
    ).out
    page = PAGE.read_text(encoding="utf-8")
    shown = re.search(r"<!-- label --interactive -->\n```text\n(.*?)```", page, re.DOTALL)
    if RENEWING:
        PAGE.write_text(page[: shown.start(1)] + out + page[shown.end(1) :], encoding="utf-8")
    else:
        assert shown[1] == out
