"""Write golden sets to files, and read them or what is wrong with them."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from tests.reached import reached

FUZZ = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""For tests that read arbitrary bytes."""


def write(name: str, text: str | bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def load(name: str, text: str | bytes) -> GoldenSet:
    return GoldenSet.load(write(name, text))


def problems(name: str, text: str | bytes | None = None) -> list[str]:
    if text is not None:
        write(name, text)
    with pytest.raises(GoldenSetError) as caught:
        GoldenSet.load(name)
    return [str(problem) for problem in caught.value.problems]


@st.composite
def damaged(draw: st.DrawFn, seeds: list[bytes], tokens: str) -> bytes:
    """The content of a file, of which up to two short parts are cut out, doubled or replaced by some of these characters."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(data)))
        part = data[start : start + draw(st.integers(0, 5))]
        new = draw(st.text(tokens, max_size=3).map(str.encode) | st.binary(max_size=2) | st.just(part + part))
        data = data[:start] + new + data[start + len(part) :]
    return data


def survives(name: str) -> None:
    """A file is read, or refused in words with a place; a test that is marked with `often` counts those that are read."""
    found = None
    try:
        golden = GoldenSet.load(name)
    except GoldenSetError as error:
        found = error.problems
    else:
        assert golden.queries
    reached(found is None)
    assert found is None or all(problem.line and problem.column and problem.message for problem in found)


def judgments(golden: GoldenSet) -> dict[str, dict[str, float]]:
    return {query_id: dict(query.judgments) for query_id, query in golden.queries.items()}


def texts(golden: GoldenSet) -> dict[str, str | None]:
    return {query_id: query.text for query_id, query in golden.queries.items()}


def jsonl(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def json_values(max_leaves: int) -> st.SearchStrategy[object]:
    """Any JSON value with keys that are not empty."""
    plain = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text()
    )
    return st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4),
        max_leaves=max_leaves,
    )


FULL = """\
version: 1
name: faq
relevance_level: 2
x-owner: search team
thresholds:
  ndcg@10: 0.70
  P@5: {min: 0.5, max_drop: 5%, max_lost: 3, x-why: the last release}
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


def one_query(text: str) -> str:
    """A golden set of one query, of lines that follow `query: a`."""
    return "queries:\n- query: a\n" + textwrap.indent(textwrap.dedent(text).strip(), "  ") + "\n"


def start_alike(found: list[str], expected: list[str]) -> None:
    """Assert that there are as many problems as expected, each with its expected start."""
    assert len(found) == len(expected), found
    for problem, start in zip(found, expected, strict=True):
        assert problem.startswith(start), problem
