"""Commands `show`, `diff` and `baselines`: stored runs by query, side by side, and as files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_irmetrics import Run
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


def stored():
    return {
        path.as_posix().removeprefix("tests/ir_baselines/"): Run.load(path).golden_set
        for path in Path().glob("tests/ir_baselines/*/*.json")
    }


def store(ids, golden_set="golden/faq.yaml"):
    save(
        f"tests/ir_baselines/test_search/test_it{ids}.json",
        *BEFORE,
        golden_set=golden_set,
        depth=10,
        means={"mrr": 1.0},
    )


@pytest.mark.parametrize(
    ("old", "before", "new", "after"),
    [
        ("golden/faq.yaml", "[faq-bm25]", "golden/questions.yaml", "[questions-bm25]"),
        ("golden/faq.yaml", "[dense-faq]", "golden/faq.jsonl", "[dense-faq]"),
        ("golden/shop/faq.yaml", "[shop-faq]", "golden/store/faq.yaml", "[store-faq]"),
        ("golden/shop/faq.yaml", "[faq]", "golden/shop/sub/q.yaml", "[sub-q]"),
        ("golden/faq.yaml", "[faq]", "other/q.yaml", "[q]"),
        ("golden/faq.yaml", "", "golden/questions.yaml", ""),
    ],
)
def test_a_baseline_moves_with_its_golden_set(old, before, new, after):
    store(before, old)
    Path("tests", new).parent.mkdir(exist_ok=True, parents=True)
    Path("tests", new).write_text('{"query": "a", "relevant": ["d1"]}\n' if new.endswith("jsonl") else GOLDEN)
    printed("baselines", "move", f"tests/{old}", f"tests/{new}")
    assert stored() == {f"test_search/test_it{after}.json": new}


def test_a_split_golden_set_gives_each_part_its_answers_and_no_baseline_is_replaced():
    store("[faq]")
    Path("tests/golden").mkdir()
    for name, query in (("one", "refund"), ("two", "hours")):
        Path(f"tests/golden/{name}.yaml").write_text(
            f"queries: [{{id: {query}, query: {query}, relevant: [d1]}}]\n"
        )
    store("[two]", "golden/other.yaml")
    move = ["baselines", "move", "tests/golden/faq.yaml", "tests/golden/one.yaml", "tests/golden/two.yaml"]
    assert "is there already" in printed(*move, status=1)
    assert len(stored()) == 2
    Path("tests/ir_baselines/test_search/test_it[two].json").unlink()
    printed(*move)
    one, two = (Run.load(f"tests/ir_baselines/test_search/test_it[{name}].json") for name in ("one", "two"))
    assert (list(one), list(two), one.means) == (["refund"], ["hours"], {"mrr": 1.0})


def test_prune_deletes_what_belongs_to_nothing_and_keeps_what_it_cannot_read():
    store("[faq]")
    Path("tests/golden").mkdir()
    Path("tests/golden/faq.yaml").write_text(GOLDEN)
    assert "its test file is gone, and would be deleted" in printed("baselines", "prune", status=1)
    Path("tests/test_search.py").write_text("")
    assert "Nothing to delete" in printed("baselines", "prune")
    Path("tests/ir_baselines/test_search/broken.json").write_text("{")
    Path("tests/golden/faq.yaml").unlink()
    out = printed("baselines", "prune", "tests", "--yes", status=1)
    assert "its golden set tests/golden/faq.yaml is gone; deleted" in out
    assert "broken.json" in out
    assert [path.name for path in Path("tests").rglob("*.json")] == ["broken.json"]
    assert "cut short" in printed("baselines", "list", status=1)
    assert json.loads(run("baselines", "list", "--json").out) == []
