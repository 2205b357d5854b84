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

import json
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.cli import shared
from pytest_irmetrics.metrics import FAMILIES
from pytest_irmetrics.thresholds import WORDS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_irmetrics.thresholds import Word

ARGUMENTS = ()
_KEYS = Path(__file__).with_name("golden.schema.json")
"""The schema but for thresholds, which follow from the tables of metrics and words; what it accepts, ``check`` may still refuse."""
_NUMBER = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


def run(_options: argparse.Namespace) -> int:
    """Print the schema."""
    schema = json.loads(_KEYS.read_text(encoding="utf-8"))
    of_query = [name for name, word in WORDS.items() if word.for_query]
    schema["$defs"] |= _thresholds("thresholds", [*WORDS]) | _thresholds("query_thresholds", of_query)
    shared.print_line(json.dumps(schema, indent=2))
    return shared.OK


def _thresholds(name: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the definition of a mapping of metrics to limits by these words, and of the limits that it refers to, by name."""
    definitions: dict[str, Any] = {f"{name}_own": _limits(words, -inf, inf)}
    properties: dict[str, Any] = {}
    for family in FAMILIES.values():
        of_family = [word for word in words if word == "max" or family.kind != "latency"]
        if of_family:
            limits = f"{name}_{family.lower:g}_to_{family.upper:g}"
            definitions[limits] = _limits(of_family, family.lower, family.upper)
            about = {"description": family.definition.partition("\n")[0], "$ref": f"#/$defs/{limits}"}
            names = [family.name, f"{family.name}@10"] if family.kind == "ranking" else [family.name]
            properties |= dict.fromkeys(names, about)
    definitions[name] = {
        "type": "object",
        "properties": properties,
        "patternProperties": {"^x-": {}},
        "additionalProperties": {"$ref": f"#/$defs/{name}_own"},
    }
    return definitions


def _limits(words: Sequence[str], lower: float, upper: float) -> dict[str, Any]:
    """Return the schema of the limits on a metric of this range: a number, which is `min`, or a mapping of words."""
    limits = {
        name: {"description": f"Fails where {WORDS[name].fails_when}.", "anyOf": _choices(name, lower, upper)}
        for name in words
    }
    by_word = {
        "type": "object",
        "properties": limits,
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
        "minProperties": 1,
    }
    return {"anyOf": [*(_choices("min", lower, upper) if "min" in words else ()), by_word]}


def _choices(name: str, lower: float, upper: float) -> list[dict[str, Any]]:
    """Return what may be written for the limit of a word, on a metric of this range."""
    word: Word = WORDS[name]
    number: dict[str, Any] = {
        "score": {"type": "number", "minimum": lower, "maximum": upper},
        "change": {"type": "number", "minimum": 0, "maximum": upper - lower},
        "count": {"type": "integer", "minimum": 0},
        "level": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    }[word.range]
    number = {key: bound for key, bound in number.items() if key == "type" or isfinite(bound)}
    choices = [number, {"const": "off"}, {"type": "string", "pattern": f"^{_NUMBER}$"}]
    if "%" in word.example:
        choices.append({"type": "string", "pattern": f"^{_NUMBER} *%$"})
    return [*choices, {"const": "auto"}] if "auto" in word.example else choices
