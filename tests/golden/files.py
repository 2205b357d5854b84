"""Write golden sets to files in the working directory, and say what was read of them: for tests here and tests/faults/test_golden_sets.py."""

from __future__ import annotations

import re
from contextlib import redirect_stdout, suppress
from dataclasses import fields
from io import StringIO
from pathlib import Path

from pytest_irmetrics import GoldenSet, Query
from pytest_irmetrics.cli import main

FIELDS = [field.name for field in fields(Query) if field.name not in ("id", "line", "column")]

FULL = """\
version: 1
name: the faq
relevance_level: 2
x-owner: search team
thresholds:
  ndcg@10: 0.70
  P@5: {min: 0.5, max_drop: 5%, max_lost: 3, x-why: [the, last, release]}
slices:
  billing:
    recall@10: 0.90
queries:
  - query: how do I reset my password
    relevant: {doc-12: 2}
  - id: refund
    query: refund policy
    relevant: {doc-9: 3, doc-4: 1, doc-7: 0, doc-5: 2.5}
    forbidden: [doc-99, doc-7]
    tags: [billing, money]
    weight: 2.0
    params: {lang: "no", max_price: 500}
    thresholds: {mrr: {min: 1.0, max_drop: off}}
    note: anything, for people
    x-ticket: {any: [thing]}
  - query: asdf qwerty
    no_answer: true
  - query: known to be bad
    relevant: {doc-3: 2}
    xfail: TICKET-7
"""
"""A YAML golden set with every key."""


def write(name: str, text: str | bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def load(name: str, text: str | bytes) -> GoldenSet:
    return GoldenSet.load(path=write(name, text))


def limits(thresholds) -> dict[str, dict[str, str]]:
    """Limits as a person writes them, by metric and tag."""
    return {
        f"{t.metric} {t.tag or ''}".strip(): {word: str(limit or "off") for word, limit in t.limits.items()}
        for t in thresholds
    }


def said(query: Query) -> dict[str, object]:
    """What is said of a query, besides its id: its fields that are not as by default."""
    plain = Query(query.id, query.id, {})
    found = {name: getattr(query, name) for name in FIELDS if getattr(query, name) != getattr(plain, name)}
    if query.thresholds:
        found["thresholds"] = limits(query.thresholds)
    if query.passages:
        found["passages"] = [tuple(passage) for passage in query.passages]
    return found


def content(golden: GoldenSet) -> dict[str, dict[str, object]]:
    return {query_id: said(query) for query_id, query in golden.queries.items()}


def judgments(golden: GoldenSet) -> dict[str, dict[str, float]]:
    return {query_id: dict(query.judgments) for query_id, query in golden.queries.items()}


def cli(capsys, *arguments: str, status: int = 0) -> tuple[list[str], list[str]]:
    """Run a command; return the lines that it prints on standard output and on standard error."""
    assert main(list(arguments)) == status
    out, err = capsys.readouterr()
    return out.splitlines(), err.splitlines()


def forms() -> list[str]:
    """The formats that `convert` writes, but for runs, and for lists of queries: test_unjudged.py."""
    with redirect_stdout(StringIO()) as printed, suppress(SystemExit):
        main(["convert", "--help"])
    choices = re.search(r"--to \{([\w,]+)\}", printed.getvalue())[1]
    return [form for form in choices.split(",") if form not in ("run", "json", "txt")]


def target_of(form: str) -> str:
    """A name that says a format."""
    return {"trec": "out.qrels", "beir": "beir/"}.get(form, f"out.{form}")
