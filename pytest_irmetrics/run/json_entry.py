"""One query of a run in JSON: a line, read and written."""

from __future__ import annotations

import operator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.ids import first_repeat
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.run.answer import in_memory_once, make_answer
from pytest_irmetrics.run.json_text import (
    check_keys,
    encode,
    encode_or_refuse,
    encode_sorted,
    is_number,
    plain_number,
    refuse,
    safe,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn

    from pytest_irmetrics.run.answer import Answer, Answers

_KEYS = ("id", "text", "params", "judgments", "weight", "tags", "passages", "rankings")
_KEY_SET = frozenset(_KEYS)
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def entry_line(query_id: str, answer: Answer) -> str:
    """Write a query. Raises RunError for what JSON cannot hold."""
    head: dict[str, object] = {"id": query_id}
    if answer.text is not None:
        head["text"] = answer.text
    line = encode(head)[:-1]
    wrong = f"query {quote(query_id)}"
    if answer.params:
        line += f', "params": {encode_or_refuse(answer.params, f"{wrong}: params", encode_sorted)}'
    if answer.judgments is not None:
        grades = {doc: plain_number(answer.judgments[doc]) for doc in sorted(answer.judgments)}
        line += f', "judgments": {encode_or_refuse(grades, f"{wrong}: judgments")}'
    if answer.weight is not None:
        line += f', "weight": {encode_or_refuse(float(answer.weight), f"{wrong}: weight")}'
    if answer.tags:
        line += f', "tags": {encode(answer.tags)}'
    if answer.passages:
        line += f', "passages": {encode_sorted(dict(answer.passages))}'
    return safe(f'{line}, "rankings": {encode(answer.rankings)}}}')


def read_entry(entry: object, known: Answers = _NOTHING) -> tuple[str, Answer]:
    """Read a query, in the rankings and ids that are `known` of it where they are the same. Raises FlawError."""
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        refuse("a query is not an object with the text `id`")
    query_id = entry["id"]
    name = f"query {quote(query_id)}"

    def bad(what: str) -> NoReturn:
        refuse(f"{name}: {what}")

    if not _KEY_SET.issuperset(entry):
        check_keys(entry, _KEYS, bad)
    text, params, judgments = entry.get("text"), entry.get("params", {}), entry.get("judgments")
    weight, tags, rankings = entry.get("weight"), entry.get("tags", []), entry.get("rankings")
    if text is not None and not isinstance(text, str):
        bad("`text` is not text")
    if not isinstance(params, dict):
        bad("`params` is not an object")
    if judgments is not None and not (
        isinstance(judgments, dict) and all(map(is_number, judgments.values()))
    ):
        bad("`judgments` is not an object of numbers")
    if weight is not None and not (is_number(weight) and weight > 0):
        bad("`weight` is not a number above 0")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        bad("`tags` is not a list of texts")
    passages = _read_passages(entry.get("passages", {}), bad)
    if not isinstance(rankings, list) or not rankings:
        bad("`rankings` is not a list of one ranking or more")
    same = known[query_id].rankings if query_id in known else ()
    answer = make_answer(
        tuple([_read_ranking(ranking, same, bad) for ranking in rankings]),
        text,
        params,
        judgments,
        None if weight is None else float(weight),
        tuple(tags),
        passages,
    )
    return query_id, answer


def _read_passages(found: object, bad: Callable[[str], NoReturn]) -> dict[str, tuple[str, str]]:
    if not isinstance(found, dict):
        bad("`passages` is not an object")
    for passage in found.values():
        if not isinstance(passage, list) or list(map(type, passage)) != [str, str]:
            bad("`passages` does not lead to lists of two texts, document and passage")
    return {key: (document, text) for key, (document, text) in found.items()}


def _read_ranking(
    ranking: object, known: Sequence[tuple[str, ...]], bad: Callable[[str], NoReturn]
) -> tuple[str, ...]:
    if not isinstance(ranking, list) or operator.countOf(map(type, ranking), str) != len(ranking):
        bad("a ranking is not a list of ids")
    unique = set(ranking)
    if len(unique) != len(ranking):
        repeated = first_repeat(ranking)
        bad(f"a ranking is wrong: {quote(repeated[0]) if repeated else 'an id'} is in it twice")
    if "" in unique:
        bad("a ranking is wrong: an id in it is empty")
    return in_memory_once(tuple(ranking), known)
