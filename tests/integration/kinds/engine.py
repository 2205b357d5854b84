"""A real engine over the example project's corpus (SQLite FTS5, BM25) whose parts can be changed one by one, or broken."""

from __future__ import annotations

import re
import sqlite3
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[3]


@lru_cache(maxsize=1)
def rules():
    """The rules that the example project searches, without those that ruff removed."""
    sys.path.insert(0, str(ROOT / "example_project"))
    try:
        import search
    finally:
        sys.path.pop(0)
    return tuple(rule for rule in search.load_rules() if not rule.removed), search.STOP_WORDS


@dataclass(frozen=True)
class Engine:
    """How an index is built and asked; `replace(engine, weights=(1, 1, 1))` is another engine."""

    tokenizer: str = "porter unicode61"
    weights: tuple = (10.0, 5.0, 1.0)
    columns: tuple = ("name", "message", "explanation")
    """The columns that are filled."""
    explanation_length: int = 10**6
    keep: object = None
    """Which rules are indexed: a function of a rule and its place."""
    operator: str = " OR "
    order: str = "score, id"
    words: object = None
    """What becomes of the words of a query: a function of a list."""
    stop_words: bool = True
    lower: bool = True
    prefixes: bool = False
    bonus: object = None
    """What is taken from a rule's score: a function of the rule."""

    def search(self, query, size, *, linter=None, offset=0):
        return list(_found(self, query, size, linter, offset))

    def found(self, query, size, linter, offset):
        words = re.findall(r"[^\W_]+", query.lower() if self.lower else query)
        if self.stop_words:
            words = [word for word in words if word.lower() not in rules()[1]]
        words = words if self.words is None else self.words(words)
        if not words:
            return []
        match = self.operator.join(f'"{word}"' + "*" * self.prefixes for word in words)
        found = index_of(self).execute(
            f"SELECT id FROM (SELECT id, rowid AS place, bm25(rules, 0, 0, ?, ?, ?) - bonus AS score FROM rules WHERE rules MATCH ? "
            f"AND linter = coalesce(?, linter)) ORDER BY {self.order} LIMIT ? OFFSET ?",
            (*self.weights, match, linter, size, offset),
        )
        return [code for (code,) in found]

    def but(self, **changes):
        return replace(self, **changes)


@lru_cache(maxsize=10_000)
def _found(engine, query, size, linter, offset):
    return engine.found(
        query, size, linter, offset
    )  # the engine before a change is asked the same for each change


@lru_cache(maxsize=64)
def index_of(engine):
    index = sqlite3.connect(":memory:")
    index.execute(
        "CREATE VIRTUAL TABLE rules USING fts5(id UNINDEXED, linter UNINDEXED, name, message, explanation, bonus UNINDEXED, "
        f"tokenize = '{engine.tokenizer}')"
    )
    for place, rule in enumerate(rules()[0]):
        if engine.keep is not None and not engine.keep(rule, place):
            continue
        texts = {
            "name": f"{rule.code} {rule.name}",
            "message": rule.message,
            "explanation": rule.explanation[: engine.explanation_length],
        }
        fields = [texts[column] if column in engine.columns else "" for column in texts]
        bonus = 0.0 if engine.bonus is None else engine.bonus(rule)
        index.execute("INSERT INTO rules VALUES (?, ?, ?, ?, ?, ?)", (rule.code, rule.linter, *fields, bonus))
    return index
