"""Write golden sets to files, and read them or what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from pytest_irmetrics.golden import GoldenSet, GoldenSetError

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


def survives(name: str) -> None:
    """A file is read, or refused in words with a place."""
    found = None
    try:
        golden = GoldenSet.load(name)
    except GoldenSetError as error:
        found = error.problems
    else:
        assert golden.queries
    assert found is None or all(problem.line and problem.column and problem.message for problem in found)


def judgments(golden: GoldenSet) -> dict[str, dict[str, float]]:
    return {query_id: dict(query.judgments) for query_id, query in golden.queries.items()}


def texts(golden: GoldenSet) -> dict[str, str | None]:
    return {query_id: query.text for query_id, query in golden.queries.items()}


def jsonl(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)
