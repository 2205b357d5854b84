"""``schema``: the golden set's YAML as a JSON Schema, for editors. What it lets pass, `check` may still refuse."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.cli.screen import OK, add_command, show
from pytest_irmetrics.golden.query import MAX_GRADE, MAX_WEIGHT
from pytest_irmetrics.metrics import FAMILIES
from pytest_irmetrics.thresholds import QUERY_WORDS, WORDS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterable

    from pytest_irmetrics.cli.screen import Commands

    Schema = dict[str, Any]

_NUMBER = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"

_WORDS = {
    "min": "Fails when the mean is below this; of a query's own threshold, when its score is.",
    "max": "Fails when the mean is above this.",
    "max_drop": "Fails when it fell further than this from the baseline: 0.01, or 5% of the baseline.",
    "min_each": "Fails when any query scores below this.",
    "max_lost": "Fails when more queries than this went from above 0 to 0 against the baseline.",
    "significance": "Narrows max_drop: it fails only if the fall is also significant at this level.",
}


def add(commands: Commands) -> None:
    """Add the command."""
    add_command(
        commands,
        "schema",
        _schema,
        short="print a JSON Schema of golden sets, for editors",
        description=(
            "Print a JSON Schema (draft 2020-12) of the golden set's YAML, with which an editor completes, explains "
            "and checks its keys. Store it beside a golden set, and name it in "
            "the set's first line, as below; editors that have the YAML "
            "language server (VS Code, Neovim, Emacs and others) and those of JetBrains read it. It does not know "
            "everything: pytest-irmetrics check has the last word."
        ),
        examples="""
pytest-irmetrics schema > golden/golden.schema.json
head -1 golden/faq.yaml
# yaml-language-server: $schema=golden.schema.json
""",
    )


def _schema(_: argparse.Namespace) -> int:
    show(json.dumps(schema(), indent=2))
    return OK


def schema() -> Schema:
    """Return the schema as data."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Golden set of pytest-irmetrics",
        "description": "Queries, which documents should come back for each, and what must hold.",
        **_mapping(
            {
                "version": {"description": "The version of this format.", "enum": [1, "1"]},
                "name": _text("A name for people; the file's path is what identifies the set."),
                "relevance_level": {
                    "description": "The lowest grade that counts as relevant in binary metrics.",
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "maximum": MAX_GRADE,
                    "default": 1,
                },
                "thresholds": _ref("thresholds", "What must hold over all queries: a limit by metric."),
                "slices": {
                    "description": "What must hold over the queries that carry a tag: thresholds by tag.",
                    "type": "object",
                    "additionalProperties": _ref("thresholds"),
                },
                "queries": {"type": "array", "minItems": 1, "items": _ref("query")},
            },
            required=["queries"],
        ),
        "$defs": {
            "query": _query(),
            "text": {"type": ["string", "number", "boolean"], "pattern": r"\S"},
            "names": {
                "anyOf": [
                    _ref("text"),
                    {"type": "array", "items": _ref("text"), "uniqueItems": True},
                ]
            },
            "grade": {"type": "number", "minimum": 0, "maximum": MAX_GRADE},
            "passage": _passage(),
            "thresholds": _thresholds("limits"),
            "query_thresholds": _thresholds("query_limits"),
            **_all_limits(),
        },
    }


def _query() -> Schema:
    without_answer = {"required": ["no_answer"], "properties": {"no_answer": {"const": True}}}
    return {
        **_mapping(
            {
                "id": _text("Unique in the file; without it the text is the id."),
                "query": _text("What to search for."),
                "relevant": {
                    "description": "Which documents should come back: one id, a list of ids (grade 1 each) and "
                    "passages, or grades by id; 0 is judged and not relevant.",
                    "anyOf": [
                        _ref("text"),
                        {
                            "type": "array",
                            "items": {"anyOf": [_ref("text"), _ref("passage")]},
                            "uniqueItems": True,
                            "minItems": 1,
                        },
                        {"type": "object", "additionalProperties": _ref("grade"), "minProperties": 1},
                    ],
                },
                "forbidden": _ref("names", "Documents that must not be among the results."),
                "tags": _ref("names", "Slices that this query belongs to."),
                "weight": {
                    "description": "How much it counts in every mean.",
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "maximum": MAX_WEIGHT,
                    "default": 1,
                },
                "params": {"description": "Keyword arguments for the retriever.", "type": "object"},
                "thresholds": _ref("query_thresholds", "What must hold for this query alone."),
                "no_answer": {
                    "description": "Whether the right answer is an empty result; then there is no `relevant`.",
                    "type": "boolean",
                },
                "xfail": {
                    "description": "Why it is known to be bad, such as a ticket. It is shown, in no mean and no gate.",
                    "type": ["string", "number"],
                    "pattern": r"\S",
                },
                "note": {"description": "Anything, for people."},
            }
        ),
        "allOf": [
            {"anyOf": [{"required": ["query"]}, {"required": ["id"]}]},
            {"anyOf": [{"required": ["relevant"]}, without_answer]},
            {"if": without_answer, "then": {"properties": {"relevant": False}}},
        ],
    }


def _passage() -> Schema:
    return {
        "description": "A text of a document: whichever returned chunk of the document holds it is relevant.",
        **_mapping(
            {
                "doc": _text("The document's id."),
                "text": _text(
                    "The text to find, as in the document; white space and Unicode forms may differ."
                ),
                "grade": {**_ref("grade"), "default": 1},
            },
            required=["doc", "text"],
        ),
    }


def _thresholds(limits: str) -> Schema:
    """Describe limits by metric. Those that are built in are offered; others may be one's own."""
    offered: Schema = {}
    for family in FAMILIES.values():
        if family.kind == "latency" and limits == "query_limits":
            continue  # its one word, max, is about many queries
        kind = "_of_latency" if family.kind == "latency" else ""
        offered[family.name] = _ref(f"{limits}{kind}", family.about.strip().partition("\n")[0])
        if family.kind == "ranking":
            offered[f"{family.name}@10"] = offered[family.name]
    return {
        "type": "object",
        "properties": offered,
        "patternProperties": {"^x-": {}},
        "additionalProperties": _ref(f"{limits}_of_own"),
    }


def _all_limits() -> Schema:
    """Describe the limits of every kind of metric, for a set and for a query, by name."""
    scores = [family for family in FAMILIES.values() if family.kind != "latency"]
    lower, upper = min(family.lower for family in scores), max(family.upper for family in scores)
    score = {"type": "number", "minimum": lower, "maximum": upper}
    number = {"type": "number"}
    described = {}
    for name, words in (("limits", WORDS), ("query_limits", QUERY_WORDS)):
        described[name] = _limits(words, score, {"type": "number", "minimum": 0, "maximum": upper - lower})
        described[f"{name}_of_own"] = _limits(words, number, {"type": "number", "minimum": 0})
    of_latency = _limits(["max"], {"type": "number", "minimum": 0}, number)
    described["limits_of_latency"] = of_latency["anyOf"][
        -1
    ]  # a number alone is `min`, which a latency has not
    return described


def _limits(words: Iterable[str], scale: Schema, drop: Schema) -> Schema:
    """Describe the limits of one metric: a number, which is `min`, or a mapping of words."""
    numbers: dict[str, list[Schema]] = {
        "max_drop": [drop, {"type": "string", "pattern": f"^{_NUMBER} *%$"}],
        "max_lost": [{"type": "integer", "minimum": 0}],
        "significance": [{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}],
    }
    also: list[Schema] = [{"const": "off"}, {"type": "string", "pattern": f"^{_NUMBER}$"}]
    mapping = _mapping(
        {word: {"description": _WORDS[word], "anyOf": [*numbers.get(word, [scale]), *also]} for word in words}
    )
    return {"anyOf": [scale, *also, {**mapping, "minProperties": 1}]}


def _mapping(properties: Schema, required: Collection[str] = ()) -> Schema:
    """Describe a mapping of known keys; those that begin with x- are for people."""
    return {
        "type": "object",
        "properties": properties,
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
        **({"required": list(required)} if required else {}),
    }


def _ref(name: str, description: str | None = None) -> Schema:
    about = {} if description is None else {"description": description}
    return {**about, "$ref": f"#/$defs/{name}"}


def _text(description: str) -> Schema:
    """Describe text: exactly as it is written, also where YAML takes it for a number or a boolean."""
    return _ref("text", description)
