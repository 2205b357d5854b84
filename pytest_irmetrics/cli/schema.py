# This docstring is the --help: `make expected` renews the pages.
"""Print the JSON Schema of golden sets.

Print a JSON Schema (draft 2020-12) of the golden set's YAML, with which an
editor completes, explains and checks its keys. Store it beside a golden set, and
name it in the set's first line, as below; editors that have the YAML language
server (VS Code, Neovim, Emacs and others) and those of JetBrains read it. It
does not know everything: pytest-irmetrics check has the last word.

examples:
  pytest-irmetrics schema > golden/golden.schema.json
  head -1 golden/faq.yaml
  # yaml-language-server: $schema=golden.schema.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_irmetrics.base.numbers import NUMBER
from pytest_irmetrics.cli import shared
from pytest_irmetrics.metrics import FAMILIES
from pytest_irmetrics.thresholds import QUERY_WORDS, WORDS

ARGUMENTS = ()
_KEYS = Path(__file__).with_name("golden.schema.json")
"""The schema but for thresholds, which follow from the tables of metrics and words; what it accepts, ``check`` may still refuse."""


def run(_options: argparse.Namespace) -> int:
    """Print the schema."""
    schema = json.loads(_KEYS.read_text(encoding="utf-8"))
    schema["$defs"] |= _thresholds("thresholds", [*WORDS]) | _thresholds("query_thresholds", QUERY_WORDS)
    shared.print_line(json.dumps(schema, indent=2))
    return shared.OK


def _thresholds(name: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the definition of a mapping of metrics to limits by these words, and of such limits: a number or a mapping."""
    of_query = words is QUERY_WORDS
    limits = {word: _limit(word, of_query=of_query) for word in words}
    by_word = {**_mapping(limits, additional=False), "minProperties": 1}
    own = {"$ref": f"#/$defs/{name}_of_metric"}
    properties: dict[str, Any] = {}
    for family in FAMILIES.values():
        if not of_query or family.kind != "latency":
            about = {"description": family.definition.partition("\n")[0], **own}
            properties[family.name] = about
            if family.kind in ("ranking", "overlap"):
                properties[f"{family.name}@10"] = about
    return {
        name: _mapping(properties, additional=own),
        f"{name}_of_metric": {"anyOf": [_limit("min", of_query=of_query), by_word]},
    }


def _mapping(properties: dict[str, Any], additional: Any) -> dict[str, Any]:
    """Return what a mapping may hold: these keys, those for people, and such additional ones."""
    keys = {"properties": properties, "patternProperties": {"^x-": {}}, "additionalProperties": additional}
    return {"type": "object", **keys}


def _limit(name: str, *, of_query: bool) -> dict[str, Any]:
    """Return the schema of a word's limit, on a mean or on single queries; in which range, the metric says."""
    word, number = WORDS[name], f"(?:{NUMBER.pattern})"
    texts = ["off", number, *([f"{number}%"] if "%" in word.example else [])]
    texts += ["auto"] if "auto" in word.example and not of_query else []
    shapes = [{"type": "number"}, {"type": "string", "pattern": f"^(?:{'|'.join(texts)})$"}]
    return {"description": f"Fails where {word.fails_when}.", "anyOf": shapes}
