"""Build the JSON Schema of the JSON report, and the page about it, from the dataclasses that the report is made of.

What a field means is said once, in its docstring. `make expected` writes both files; a field without a docstring is an error.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import types
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pytest_irmetrics.reports import json as json_report
from pytest_irmetrics.reports.item_report import ItemReport
from pytest_irmetrics.reports.session_report import RunInfo, WhyUnused
from pytest_irmetrics.reports.since_report import SinceReport

TITLE = "JSON report of pytest-irmetrics"

WORDS = {
    ("test", "outcome"): ("passed", "failed", "error"),
    ("test", "test_outcome"): ("passed", "failed", "skipped", "xfailed", "xpassed", None),
    ("score_row", "verdict"): ("passes", "FAILS", "not checked", ""),
    ("verdict", "state"): ("passed", "failed", "not checked"),
    ("since", "state"): ("unchanged", "changed", "accepted", "new", "unreadable"),
    ("mean_since", "accepted"): ("baseline", "limits", ""),
    ("mean_since", "fell_by"): ("today", "then", "stored", ""),
    ("query_since", "how"): ("dropped", "excluded", "reworded", "included", "added"),
}
"""(Object, field) → all values that it can have."""

TEXTS = {
    (
        "test",
        "outcome",
    ): "`passed`, `failed`, or `error` (a query has no ranking, so no mean was computed): the gates alone.",
    ("test", "since"): "With `--ir-since`: what this branch accepts since it left another; else null.",
    ("test", "curves"): "Recall and precision over the cut-offs.",
    ("test", "queries"): "All queries that were asked.",
}
"""(Object, field) → what it means in the file, where its docstring is about more than that."""

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}

NAMES = {"ItemReport": "test", "VerdictReport": "verdict", "QueryReport": "query", "SinceReport": "since"}
"""Dataclass → what the page and the schema call it, where that is not its own name in snake case."""

SAID = {"type": "string"}


def name_of(kind: type) -> str:
    own = "".join(f"_{char.lower()}" if char.isupper() else char for char in kind.__name__).strip("_")
    return NAMES.get(kind.__name__, own)


def described(kind: type) -> dict[str, str]:
    """Field → its docstring on one line. Raises KeyError in use for a field that has none."""
    body = ast.parse(inspect.cleandoc(inspect.getsource(kind))).body[0].body
    found = {}
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            found[field.target.id] = plain(ast.literal_eval(text.value))
    return found


def plain(text: str) -> str:
    """Return a docstring on one line, in JSON's words."""
    return re.sub(r"\bNone\b", "null", " ".join(text.replace("``", "`").split()))


class Schema:
    """Collects the definition of each dataclass that is met."""

    def __init__(self) -> None:
        self.defs: dict[str, Any] = {}

    def of(self, hint: Any) -> dict[str, Any]:
        """Return the schema of a type."""
        origin, arguments = get_origin(hint), get_args(hint)
        if hint in PLAIN:
            return {"type": PLAIN[hint]}
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, types.UnionType):
            parts = [self.of(one) for one in arguments]
            kinds = [part["type"] for part in parts if set(part) == {"type"}]
            return {"type": kinds} if len(kinds) == len(parts) else {"anyOf": parts}
        if origin is list:
            return {"type": "array", "items": self.of(arguments[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if origin is tuple:
            parts = [self.of(one) for one in arguments]
            return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}
        assert is_dataclass(hint), hint
        name = name_of(hint)
        if name not in self.defs:
            self.defs[name] = {}  # holds its place in the order
            self.defs[name] = self.object_of(hint)
        return {"$ref": f"#/$defs/{name}"}

    def object_of(self, kind: type) -> dict[str, Any]:
        hints, texts, name = get_type_hints(kind), described(kind), name_of(kind)
        properties = {}
        for field in fields(kind):
            hint = hints[field.name]
            if kind is ItemReport and field.name in (*json_report.LEFT_OUT, "run"):
                continue
            if kind is ItemReport and field.name == "since":
                hint = SinceReport | None
            shape = {"enum": list(WORDS[name, field.name])} if (name, field.name) in WORDS else self.of(hint)
            text = TEXTS.get((name, field.name)) or texts[field.name]
            properties[field.name] = {"description": text, **shape}
            if kind is ItemReport and field.name == "outcome":
                properties["test_outcome"] = {
                    "description": "pytest's outcome of the whole test, whose body may assert more; null where it is not known.",
                    "enum": list(WORDS["test", "test_outcome"]),
                }
        if kind is ItemReport:
            properties["run"] = {
                "description": "Today's rankings; null where a query could not be retrieved.",
                "anyOf": [{"$ref": "#/$defs/run"}, {"type": "null"}],
            }
        return closed(plain(kind.__doc__ or ""), properties)


def closed(description: str, properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object with these keys and no others."""
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def told(description: str) -> dict[str, Any]:
    return {
        "description": description,
        "type": "array",
        "items": closed(
            "A test and a text.",
            {
                "nodeid": {"description": "The test's id, as pytest has it.", **SAID},
                "text": {"description": "What is told of it.", **SAID},
            },
        ),
    }


def run_defs() -> dict[str, Any]:
    """The objects of a stored run, which are written without dataclasses."""
    grades = {"type": "object", "additionalProperties": {"type": "number"}}
    answer = {
        "id": {"description": "The query's id.", **SAID},
        "text": {"description": "What was searched for; without it the golden set has ids alone.", **SAID},
        "params": {"description": "The query's keyword arguments for the retriever.", "type": "object"},
        "judgments": {"description": "Document id → grade.", **grades},
        "weight": {"description": "The query's weight in every mean.", "type": "number"},
        "tags": {"description": "The query's tags.", "type": "array", "items": SAID},
        "xfail": {"description": "Whether the query is marked `xfail`, and in no mean.", "type": "boolean"},
        "passages": {
            "description": "Of the ids in `rankings` those that stand for passages: id → document and text.",
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "prefixItems": [SAID, SAID],
                "items": False,
                "minItems": 2,
            },
        },
        "rankings": {
            "description": "A list of document ids, best first, for each time that the query was asked.",
            "type": "array",
            "minItems": 1,
            "items": {"type": "array", "items": SAID},
        },
    }
    run = {
        "format": {"description": "What this object is.", "const": "pytest-irmetrics run"},
        "version": {"description": "The version of this format.", "const": 1},
        "golden_set": {"description": "The golden set's path, relative to the test file's folder.", **SAID},
        "depth": {"description": "How many results were asked for.", "type": "integer"},
        "relevance_level": {
            "description": "The lowest grade that counts as relevant in binary metrics.",
            "type": "number",
        },
        "means": {
            "description": "Metric → mean, as it was computed then.",
            "type": "object",
            "additionalProperties": {"type": "number"},
        },
        "queries": {
            "description": "The queries that were asked, by id.",
            "type": "array",
            "items": {"$ref": "#/$defs/answer"},
        },
    }
    stored = ("text", "params", "judgments", "weight", "tags", "xfail", "passages")
    return {
        "run": closed(
            "A test's run, as a baseline stores it; `Run.load` reads it out of the report.",
            run,
            ("golden_set", "depth", "relevance_level", "means"),
        ),
        "answer": closed("One query of a run, with what came back.", answer, stored),
    }


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the report."""
    found = Schema()
    tests, info = found.of(ItemReport), found.of(RunInfo)
    properties = {
        "format": {"description": "What this file is.", "const": json_report.FORMAT},
        "version": {"description": "The version of this format.", "const": json_report.VERSION},
        "accepted": told("With `--ir-since`: each fall that this branch accepts, in words."),
        "exit_status": {
            "description": "The exit status of pytest, up to when the report was written.",
            "type": "integer",
        },
        "run_info": {"description": "When and on what the session ran.", **info},
        "headline": {"description": "How many golden sets fail: `1 of 3 golden sets fails`.", **SAID},
        "gone_since": {
            "description": "With `--ir-since`: the baselines that were there and are gone, with their tests.",
            "type": "array",
            "items": SAID,
        },
        "unused_baselines": {
            "description": "Path of a stored baseline → why no test of the session used it: its test or test file is gone; the "
            "test does not use the fixture `irmetrics`; pytest did not collect the file; a hook took the test out of the run; it was skipped.",
            "type": "object",
            "additionalProperties": found.of(WhyUnused),
        },
        "unmeasured": told("The tests that failed before anything was measured, with their messages."),
        "tests": {"description": "The tests that measured, by id.", "type": "array", "items": tests},
    }
    whole = closed("What `pytest --ir-report=json:PATH` writes.", properties, ("run_info",))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": TITLE,
        **whole,
        "$defs": {**found.defs, **run_defs()},
    }


def schema_text() -> str:
    return json.dumps(schema(), indent=2) + "\n"


def page_text() -> str:
    """Return the part of the page that lists each object's fields."""
    whole = schema()
    parts = [_section("The file", whole)]
    parts += [_section(f"`{name}`", definition) for name, definition in whole["$defs"].items()]
    return "\n".join(parts)


def _section(title: str, definition: dict[str, Any]) -> str:
    rows = [
        f"| `{name}` | {_type_text(one)}{'' if name in definition['required'] else ', may be absent'} | {_cell(one['description'])} |"
        for name, one in definition["properties"].items()
    ]
    lines = [
        f"## {title}",
        "",
        definition["description"],
        "",
        "| field | type | meaning |",
        "|---|---|---|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _type_text(one: dict[str, Any], *, many: bool = False) -> str:
    """Word a schema's type for a reader: `list of text`, `test or null`."""
    if "$ref" in one:
        name = one["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "const" in one:
        return f"`{one['const']}`" if isinstance(one["const"], str) else str(one["const"])
    if "enum" in one:
        return ", ".join(
            "null" if word is None else f"`{word}`" if word else "empty text" for word in one["enum"]
        )
    if "anyOf" in one:
        return " or ".join(_type_text(part) for part in one["anyOf"])
    kinds = one["type"] if isinstance(one["type"], list) else [one["type"]]
    return " or ".join(_plain_text(kind, one, many=many) for kind in kinds)


def _plain_text(kind: str, one: dict[str, Any], *, many: bool) -> str:
    if kind == "array":
        if "prefixItems" in one:
            return f"list of {len(one['prefixItems'])} {_type_text(one['prefixItems'][0], many=True)}"
        return f"list of {_type_text(one['items'], many=True)}"
    if kind == "object":
        if "properties" in one:
            return " and ".join(f"`{name}`" for name in one["properties"])
        values = one.get("additionalProperties")
        return f"object of {_type_text(values, many=True)}" if values else "object"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    word = words.get(kind, kind)
    return f"{word}s" if many and word.endswith("number") else word
