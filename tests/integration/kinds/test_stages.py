"""A real search of two stages, broken in known ways: a failure says at which stage relevant documents were lost."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from pytest_irmetrics import Run
from tests.integration.kinds.golden_sets import graded
from tests.integration.kinds.judging import reported
from tests.integration.kinds.pipeline import Pipeline

TEST = """
import json
import pytest
from pytest_irmetrics import Run, staged

@pytest.mark.ir_threshold("recall@10", max_drop=0.0)
@pytest.mark.ir_threshold("ndcg@10", max_drop=0.0)
@pytest.mark.parametrize("case", range({count}))
def test_stages(irmetrics, case):
    answers = json.load(open(f"{{case}}.json"))
    search = lambda query, k: staged(answers[query][0], **answers[query][1])
    irmetrics.check(golden="golden.yaml", retriever=search, against=Run.load("before.json"))
"""


def without_security(codes):
    return [code for code in codes if code.rstrip("0123456789") != "S"]


def one_of_each_linter(codes):
    return list({code.rstrip("0123456789"): code for code in reversed(codes)}.values())[::-1]


def every_other(codes):
    return [code for code in codes if sum(map(ord, code)) % 2]


def lower_case(codes):
    return [code.lower() for code in codes]


BREAKS = {
    # What one leg alone brought to the top is still found by the other, and stands lower among the candidates.
    "the leg of words is lost": ({"words": lambda _: []}, "candidates", "bm25"),
    "the ids of a leg are spelt otherwise": ({"dense": lower_case}, "candidates", "dense"),
    "the leg of words is cut": ({"words": lambda codes: codes[:2]}, "candidates", None),
    "another model": ({"grams": 1}, "candidates", None),
    "a filter before the search": ({"keep": without_security}, None, None),
    "a part of the corpus is not indexed": ({"keep": every_other}, None, None),
    "one leg outweighs the other": ({"weights": (0.001, 1.0), "pool": 20}, "bm25", None),
    "the fused list is cut": ({"pool": 5}, "bm25", None),
    "near duplicates are dropped where the legs are fused": ({"fused": one_of_each_linter}, "bm25", None),
    "a narrow window of the reranker": ({"window": 6}, "candidates", None),
    "the reranker is backwards": ({"backwards": True}, "candidates", None),
    "a filter after the reranker": ({"final": without_security}, "candidates", None),
    "the answer is cut": ({"final": lambda codes: codes[:3]}, "candidates", None),
}
"""Name → what is changed, the stage that still has most of what is lost (None: none has), and the stage without anything relevant."""
HARMLESS = {
    "nothing": {},
    "a deeper pool": {"fused": lambda codes: [*codes, "E999"]},
    "the same documents in another order": {"final": lambda codes: codes[:10][::-1]},
}
"""What loses nothing, though scores may fall."""


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """By name of a change its test in the JSON report, and what the search gave: all changes in one run of pytest."""
    folder = tmp_path_factory.mktemp("stages")
    queries = [query for query in graded() if not query["params"]]
    changes = {**{name: change for name, (change, *_) in BREAKS.items()}, **HARMLESS}
    given = {}
    for place, (name, change) in enumerate(changes.items()):
        search = Pipeline().but(**change).search
        given[name] = {query["id"]: search(query["query"], 10) for query in queries}
        texts = {query["query"]: given[name][query["id"]] for query in queries}
        (folder / f"{place}.json").write_text(json.dumps(texts), encoding="utf-8")
    Run({query_id: ranking for query_id, (ranking, _) in given["nothing"].items()}).save(
        folder / "before.json"
    )
    lines = [f"- {json.dumps({key: value for key, value in query.items() if value})}\n" for query in queries]
    (folder / "golden.yaml").write_text(f"queries:\n{''.join(lines)}", encoding="utf-8")
    (folder / "test_stages.py").write_text(TEST.format(count=len(changes)), encoding="utf-8")
    tests = reported(folder, len(changes))
    return {name: (test, given[name], given["nothing"]) for name, test in zip(changes, tests, strict=True)}


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_lost_is_said_at_the_stage_that_still_has_it(judged, name):
    test, now, before = judged[name]
    _, most, empty = BREAKS[name]
    lost = Counter()
    for query in graded():
        if query["id"] not in now:
            continue
        ranking, stages = now[query["id"]]
        gone = {doc for doc, grade in query["relevant"].items() if grade} & {*before[query["id"]][0]} - {
            *ranking
        }
        lost.update(next((stage for stage, codes in stages.items() if doc in codes), None) for doc in gone)
    assert lost.most_common(1)[0][0] == most
    (said,) = (one for one in test["kind_sentences"] if one.startswith("By stage: "))
    assert f"of {lost.total()} relevant document" in said
    where = {
        "candidates": "among the candidates",
        "bm25": "in bm25",
        "dense": "in dense",
        None: "in no stage",
    }
    for stage, words in where.items():
        assert re.findall(rf"(\d+) (?:is |are )?(?:still )?{words}", said) == [
            str(n) for n in [lost[stage]] if n
        ]
    assert re.findall(r"Nothing relevant is in (\w+) for any query", said) == [empty] * (empty is not None)


@pytest.mark.parametrize("name", BREAKS)
def test_each_document_that_is_lost_is_said_with_its_ranks(judged, name):
    test, now, _ = judged[name]
    for query in test["queries"]:
        _, stages = now[query["query_id"]]
        assert query["stages"] == {
            stage: {code: rank for rank, code in enumerate(codes, 1) if code in query["judgments"]}
            for stage, codes in stages.items()
        }


@pytest.mark.parametrize("name", HARMLESS)
def test_where_nothing_is_lost_nothing_is_said_of_stages(judged, name):
    test, _, _ = judged[name]
    assert not any(
        "stage" in said for said in (*test["kind_sentences"], *(note["text"] for note in test["notes"]))
    )
