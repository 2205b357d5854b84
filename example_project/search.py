"""Search over the documentation of the ruff linter's rules: SQLite's full-text index, ranked by BM25.

The corpus is what the installed ruff prints about its own rules, so nothing has to be downloaded, and
every machine that has this version of ruff searches the same texts. A document's id is a rule's code.

    python search.py unused imports

Three environment variables change the engine, to see what such a change does to the quality of the search:

RULES_TOKENIZER   how text becomes words: porter (the default), unicode61 or trigram
RULES_WEIGHTS     what a match counts for in a rule's name, its message and its explanation: 10,5,1
RULES_WITHOUT     rules that are left out of the index, by the letters of their code: S or S,ASYNC
"""

import json
import math
import os
import re
import sqlite3
import subprocess
import sys
from importlib import metadata
from typing import NamedTuple

RUFF_VERSION = "0.17.5"
TOKENIZERS = {"porter": "porter unicode61", "unicode61": "unicode61", "trigram": "trigram"}
WEIGHTS = (10.0, 5.0, 1.0)
COMMON_WORDS = """
    a an and are as at be but by can do does for from how i if in into is it my not of on or should so that
    the there this to use used using vs was what when where which why with without
"""
STOP_WORDS = frozenset(COMMON_WORDS.split())


class SearchError(Exception):
    """The engine cannot be built as it was asked for."""


class Rule(NamedTuple):
    code: str
    name: str
    message: str
    explanation: str
    linter: str
    removed: bool


def load_rules():
    """Every rule that has a code, as the installed ruff documents it."""
    advice = f"The golden set was judged on ruff {RUFF_VERSION}: pip install ruff=={RUFF_VERSION}"
    try:
        version = metadata.version("ruff")
    except metadata.PackageNotFoundError:
        raise SearchError(f"ruff is not installed. {advice}") from None
    if version != RUFF_VERSION:
        raise SearchError(f"ruff {version} has other rules and other texts. {advice}")
    command = [sys.executable, "-m", "ruff", "rule", "--all", "--output-format", "json"]
    printed = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    if printed.returncode != 0:
        raise SearchError(f"`{' '.join(command[1:])}` failed: {printed.stderr.strip()}")
    return [
        Rule(
            code=rule["code"],
            name=rule["name"],
            message=rule["summary"],
            # Without the code examples: half of them import something, which is not what their rule is about.
            explanation=re.sub(r"```.*?```", "", rule["explanation"], flags=re.DOTALL),
            linter=rule["linter"],
            removed="Removed" in rule["status"],
        )
        for rule in json.loads(printed.stdout)
        if rule["code"]
    ]


def words_of(text):
    return [word for word in re.findall(r"[^\W_]+", text.lower()) if word not in STOP_WORDS]


def stems(text):
    return {word[:5] for word in words_of(text)}


class RuleSearch:
    """A search engine in memory: built once, asked often."""

    def __init__(self, rules, *, tokenizer="porter", weights=WEIGHTS):
        self.codes = frozenset(rule.code for rule in rules)
        self.names = {rule.code: rule.name for rule in rules}
        self.stems = {rule.code: stems(f"{rule.name} {rule.message}") for rule in rules}
        self.weights = weights
        self.index = sqlite3.connect(":memory:")
        try:
            self.index.execute(
                "CREATE VIRTUAL TABLE rules USING fts5(id UNINDEXED, linter UNINDEXED, removed UNINDEXED, "
                f"name, message, explanation, tokenize = '{TOKENIZERS[tokenizer]}')"
            )
        except sqlite3.OperationalError as error:
            raise SearchError(
                f"This Python's SQLite ({sqlite3.sqlite_version}) cannot make the index: {error}. "
                "It takes an SQLite that has FTS5, and 3.34 or later for the tokenizer trigram."
            ) from error
        self.index.executemany(
            "INSERT INTO rules VALUES (?, ?, ?, ?, ?, ?)",
            # The code is part of the name, so that a search for E711 finds its rule.
            [(r.code, r.linter, r.removed, f"{r.code} {r.name}", r.message, r.explanation) for r in rules],
        )

    def search(self, query, size, *, linter=None):
        """The codes of at most `size` rules, best first; with `linter`, of the rules of that linter only."""
        words = words_of(query)
        if not words:
            return []
        # A word in quotes is never an operator of the query language.
        match = " OR ".join(f'"{word}"' for word in words)
        found = self.index.execute(
            # A removed rule can no longer be turned on, so it helps nobody to find it. Rules with the same
            # score are ordered by code, so that every machine gives the same answer.
            "SELECT id FROM rules WHERE rules MATCH ? AND NOT removed AND linter = coalesce(?, linter) "
            "ORDER BY bm25(rules, 0, 0, 0, ?, ?, ?), id LIMIT ?",
            (match, linter, *self.weights, size),
        )
        return [code for (code,) in found]

    def rerank(self, query, candidates):
        """Rules that were found, those first whose name and message have most words of the query; else as they were."""
        asked = stems(query)
        return sorted(candidates, key=lambda code: -len(asked & self.stems[code]))

    def close(self):
        self.index.close()


def from_environment():
    """The engine that the environment variables describe."""
    tokenizer = os.environ.get("RULES_TOKENIZER") or "porter"
    if tokenizer not in TOKENIZERS:
        raise SearchError(f"RULES_TOKENIZER={tokenizer} is not one of {', '.join(TOKENIZERS)}.")
    weights = read_weights(os.environ.get("RULES_WEIGHTS"))
    rules = load_rules()
    for prefix in filter(None, os.environ.get("RULES_WITHOUT", "").split(",")):
        kept = [rule for rule in rules if rule.code.rstrip("0123456789") != prefix]
        if len(kept) == len(rules):
            raise SearchError(
                f"RULES_WITHOUT={prefix}: no rule's code begins so. S, ASYNC and UP are such letters."
            )
        rules = kept
    return RuleSearch(rules, tokenizer=tokenizer, weights=weights)


def read_weights(text):
    if not text:
        return WEIGHTS
    try:
        weights = tuple(float(number) for number in text.split(","))
    except ValueError:
        weights = ()
    readable = len(weights) == len(WEIGHTS) and all(0 <= weight < math.inf for weight in weights)
    if not readable or not any(weights):
        raise SearchError(
            f"RULES_WEIGHTS={text} is not three numbers from 0, not all 0, for name, message and explanation: 10,5,1."
        )
    return weights


if __name__ == "__main__":
    try:
        for code in from_environment().search(" ".join(sys.argv[1:]), 10):
            print(code)  # noqa: T201 - printing is what the command is for
    except SearchError as problem:
        sys.exit(str(problem))
