"""Commands `show` and `diff`: stored runs by query, and side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.console import run

GOLDEN = """\
queries:
- {id: refund, query: refund policy, relevant: {d1: 3, d2: 1}, weight: 2, tags: [money]}
- {id: hours, query: opening hours, relevant: [h1]}
- {id: hard, query: hard one, relevant: [x1], xfail: TICKET-7}
- {id: empty, query: asdf, no_answer: true}
"""


def answer(query_id, *rankings, text=None, judgments=None, **more):
    known = {"text": text, "judgments": judgments, **more}
    return {
        "id": query_id,
        **{key: value for key, value in known.items() if value is not None},
        "rankings": rankings,
    }


REFUND, HOURS = (
    {"text": "refund policy", "judgments": {"d1": 3, "d2": 1}},
    {"text": "opening hours", "judgments": {"h1": 1}},
)
BEFORE = [answer("hours", ["h1"], **HOURS), answer("refund", ["d1", "a", "d2"], **REFUND)]


def save(name, *answers, **header):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    queries = sorted(answers, key=lambda one: one["id"])
    Path(name).write_text(
        json.dumps({"format": "pytest-irmetrics run", "version": 1, **header, "queries": queries})
    )


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("faq.yaml").write_text(GOLDEN)
    save("a.json", *BEFORE)


def printed(*arguments, status=0):
    done = run(*arguments)
    assert done.status == status, done.err
    return " ".join((done.out + done.err).split())


@pytest.mark.parametrize(
    ("now", "header", "options", "told"),
    [
        ([BEFORE[0], answer("refund", ["a", "b", "d1"], **REFUND)], {}, [], "1 query moved mrr: refund"),
        ([BEFORE[0]], {}, [], "1 query only in a.json: refund."),
        ([BEFORE[0], answer("refund", ["d1"], text="refunds", judgments={"d1": 3})], {}, [], ", and not compared: refund."),
        ([BEFORE[0], answer("refund", ["d1", "a", "d2"], text="refund policy", judgments={"d1": 1})], {}, [], "refund"),
        ([BEFORE[0], answer("refund", ["a", "d1"], ["d1", "a"], **REFUND)], {}, [], "mrr 1.0000 → 0.7500"),
        (BEFORE, {"depth": 2}, ["--metrics", "recall@3,mrr"], "recall@3"),
        ([answer("other", ["d1"], judgments={"d1": 1})], {}, [], "There is nothing to compare."),
        (BEFORE, {}, ["--golden", "faq.yaml"], "2 queries of the golden set in neither run: hard, empty."),
        (BEFORE, {}, ["--queries", "0"], "0"),
    ],
)  # fmt: skip
def test_diff_tells_what_moved_and_what_cannot_be_compared(now, header, options, told):
    save("b.json", *now, **header)
    assert told in printed("diff", "a.json", "b.json", "--metrics", "mrr", *options)


def test_diff_orders_queries_by_what_they_did_to_the_mean_and_shows_as_many_as_wanted():
    many = [answer(f"q{n}", ["d"], judgments={"d": 1}, weight=float(n)) for n in range(1, 9)]
    save("a.json", *many)
    save("b.json", *(one | {"rankings": [["x", "d"]]} for one in many))
    arguments = ["diff", "a.json", "b.json", "--metrics", "mrr"]
    shown = [line for line in run(*arguments).out.splitlines() if line.startswith("q")]
    assert shown == ["q8", "q7", "q6", "q5", "q4"]
    assert len(json.loads(run(*arguments, "--json").out)["queries"]) == 8
    assert len(json.loads(run(*arguments, "--json", "--queries", "2").out)["queries"]) == 2


def test_show_tells_of_a_query_all_that_it_has_and_what_changed_since_it_was_asked():
    save("b.json", answer("refund", ["x", "d1"], text="refunds", judgments={"d1": 1}), depth=2)
    out = printed("show", "faq.yaml", "refund", "--run", "b.json")
    for part in (
        "faq.yaml:2: refund",
        "tags money",
        "weight 2",
        "note: the run holds 2 results a query",
        "refunds",
    ):
        assert part in out
    assert "no_answer: the right answer is an empty one" in printed(
        "show", "faq.yaml", "empty", "--run", "a.json"
    )
    assert "xfail TICKET-7" in printed("show", "faq.yaml", "hard", "--run", "a.json")
    assert "Store one (pytest --ir-baseline-update)" in printed("show", "faq.yaml", "hours")
