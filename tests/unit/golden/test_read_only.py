"""What is in a golden set cannot be changed: tests, metrics and hooks share it, and a baseline stores it."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import pytest

from pytest_irmetrics import GoldenSet, Query
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.read_only import ReadOnlyError

FILE = """
queries:
- {query: a, relevant: {b: 2, c: 0}, tags: [x], params: {lang: en, filters: [{year: 1999}]}}
- {query: d, relevant: e}
"""


@pytest.fixture
def golden(load_yaml):
    return load_yaml(FILE)


ATTEMPTS = {
    "take a judgment away": lambda golden: golden.queries["a"].judgments.pop("b"),
    "judge a document": lambda golden: golden.queries["a"].judgments.update(z=1),
    "grade a document": lambda golden: golden.queries["a"].judgments.__setitem__("b", 1),
    "delete a judgment": lambda golden: golden.queries["a"].judgments.__delitem__("b"),
    "judge one that was not": lambda golden: golden.queries["a"].judgments.setdefault("z", 1),
    "merge judgments": lambda golden: golden.queries["a"].judgments.__ior__({"z": 1}),
    "clear the judgments": lambda golden: golden.queries["a"].judgments.clear(),
    "take any judgment": lambda golden: golden.queries["a"].judgments.popitem(),
    "exchange the judgments": lambda golden: setattr(golden.queries["a"], "judgments", {}),
    "exchange the tags": lambda golden: setattr(golden.queries["a"], "tags", ()),
    "weigh less": lambda golden: setattr(golden.queries["a"], "weight", 0.001),
    "exclude a query": lambda golden: setattr(golden.queries["a"], "xfail", "later"),
    "delete an attribute": lambda golden: delattr(golden.queries["a"], "weight"),
    "change params": lambda golden: golden.queries["a"].params.update(lang="de"),
    "add params where there are none": lambda golden: golden.queries["d"].params.update(lang="de"),
    "change a list in params": lambda golden: golden.queries["a"].params["filters"].append(1),
    "sort a list in params": lambda golden: golden.queries["a"].params["filters"].sort(),
    "change a mapping in params": lambda golden: golden.queries["a"].params["filters"][0].update(year=2000),
    "take a query away": lambda golden: golden.queries.pop("a"),
    "exchange a query": lambda golden: golden.queries.__setitem__("a", Query("a", "a", {"z": 1})),
    "exchange the queries": lambda golden: setattr(golden, "queries", {}),
    "exchange the relevance level": lambda golden: setattr(golden, "relevance_level", 3),
    "exchange the thresholds": lambda golden: setattr(golden, "thresholds", ()),
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_an_attempt_to_change_it_is_an_error(golden, attempt):
    with pytest.raises(ReadOnlyError, match=r"is read-only.*Change a copy"):
        attempt(golden)
    assert issubclass(ReadOnlyError, (TypeError, IRMetricsError))
    assert golden.queries["a"].judgments == {"b": 2, "c": 0}
    assert golden.queries["a"].params == {"lang": "en", "filters": [{"year": 1999}]}
    assert golden.queries["d"].params == {}
    assert list(golden.queries) == ["a", "d"]


def test_judgments_given_in_python_stay_changeable_and_change_nothing():
    given = {"q": {"d": 1}}
    golden = GoldenSet.from_judgments(given)
    given["q"]["d"] = 3
    assert golden.queries["q"].judgments == {"d": 1}


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_copies_can_be_changed(golden, duplicate):
    query = golden.queries["a"]
    judgments, params, filters = map(duplicate, (query.judgments, query.params, query.params["filters"]))
    judgments["z"] = 1
    params["lang"] = "de"
    filters.append(1)
    other = duplicate(query)
    assert other == query
    other.weight = 2.0
    assert query.weight == 1.0
    assert query.params == {"lang": "en", "filters": [{"year": 1999}]}


def test_a_query_reads_compares_and_is_replaced_like_any_other(golden):
    query = golden.queries["d"]
    plain = Query("d", "d", {"e": 1}, line=4, column=3)
    assert isinstance(query, Query)
    assert query == plain
    assert plain == query
    assert query != replace(plain, weight=2.0)
    assert query != "d"
    assert repr(query) == repr(plain)
    assert replace(query, weight=2.0) == replace(plain, weight=2.0)
    assert json.dumps(golden.queries["a"].params) == '{"lang": "en", "filters": [{"year": 1999}]}'
