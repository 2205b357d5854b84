"""A corpus that is cut into chunks: ruff's documentation as one handbook for each linter, searched with SQLite."""

from __future__ import annotations

import functools
import importlib.util
import re
import sqlite3
import sys
from pathlib import Path

import yaml

from pytest_irmetrics import GoldenSet

EXAMPLE = Path(__file__).parents[2] / "example_project"


@functools.cache
def _example():
    spec = importlib.util.spec_from_file_location("example_search", EXAMPLE / "search.py")
    module = sys.modules["example_search"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def rules():
    """Every rule, with its linter and its explanation."""
    return _example().load_rules()


@functools.cache
def handbooks():
    """Linter → what is to be read about its rules, in one text."""
    texts = {}
    for rule in rules():
        texts.setdefault(rule.linter, []).append(f"{rule.name}\n{rule.message}\n\n{rule.explanation}")
    return {linter: "\n\n".join(parts) for linter, parts in texts.items()}


def write_golden_set(path):
    """Judge by passage what the example project judges by rule: what the rule does, as its linter's handbook says it."""
    by_code = {rule.code: rule for rule in rules()}
    queries = []
    for query in GoldenSet.load(EXAMPLE / "golden" / "rules.yaml").queries.values():
        grades = {}
        for code, grade in query.judgments.items():
            rule = by_code[code]
            text = re.search(r"## What it does\n(.+?)(?:\n\n|\Z)", rule.explanation, re.DOTALL)[1]
            grades[rule.linter, text] = max(grade, grades.get((rule.linter, text), 0))
        if grades:
            passages = [{"doc": doc, "text": text, "grade": grade} for (doc, text), grade in grades.items()]
            queries.append({"id": query.id, "query": query.text, "relevant": passages})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        yaml.safe_dump({"queries": queries}, allow_unicode=True, sort_keys=False), encoding="utf-8"
    )


def cut(text, size, overlap):
    """Cut a text into chunks of so many words, of which each shares the first with the one before."""
    words = text.split()
    starts = range(0, max(len(words) - overlap, 1), size - overlap)
    return [" ".join(words[start : start + size]) for start in starts]


class Handbooks:
    """Full-text search over chunks; `broken` says in what way it does badly."""

    def __init__(self, size, overlap, broken=None):
        self.broken = broken
        self.index = sqlite3.connect(":memory:", check_same_thread=False)
        self.index.row_factory = sqlite3.Row
        self.index.execute("CREATE VIRTUAL TABLE chunks USING fts5(doc_id UNINDEXED, text, tokenize=porter)")
        rows = [(linter, chunk) for linter, text in handbooks().items() for chunk in cut(text, size, overlap)]
        self.index.executemany(
            "INSERT INTO chunks VALUES (?, ?)", rows[::2] if broken == "half of the index" else rows
        )

    def search(self, query, k):
        words = re.findall(r"\w+", query.lower())
        words = [word for word in words if word not in _example().STOP_WORDS] or words
        order = "rowid" if self.broken == "no ranking" else "rank"
        return self.index.execute(
            f"SELECT rowid AS id, doc_id, text FROM chunks WHERE chunks MATCH ? ORDER BY {order} LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), k),
        ).fetchall()

    def close(self):
        self.index.close()
