"""Command `score`: the gates of a stored run, alone and against another, and its exit status."""

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
BEFORE = {"refund": ["d1", "a", "d2"], "hours": ["h1"], "hard": ["x1"], "empty": []}
WORSE = {**BEFORE, "refund": ["a", "b", "d1"]}
A_LITTLE = {**BEFORE, "refund": ["d1", "a", "b", "d2"]}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("faq.yaml").write_text(GOLDEN)
    save("before.json", BEFORE)
    # A run has no line of an empty answer, and may answer more than is judged.
    found = {**BEFORE, **{f"z{n}": ["d1"] for n in range(9)}}
    lines = [f"{i} Q0 {doc} 1 {-rank} x\n" for i, docs in found.items() for rank, doc in enumerate(docs)]
    Path("before.run").write_text("".join(lines))


def save(name, answers, texts=(), **header):
    queries = [
        {"id": query_id, **({"text": texts[query_id]} if query_id in texts else {}), "rankings": [ranking]}
        for query_id, ranking in sorted(answers.items())
    ]
    document = {"format": "pytest-irmetrics run", "version": 1, **header, "queries": queries}
    Path(name).write_text(json.dumps(document))


def score(*arguments, status=0):
    done = run("score", "faq.yaml", "now.json", *arguments)
    assert done.status == status, done.out + done.err
    return " ".join((done.out + done.err).split())


@pytest.mark.parametrize(
    ("thresholds", "now", "options", "status", "told"),
    [
        ("mrr: 0.9", BEFORE, [], 0, "passes"),
        ("mrr: 0.9", WORSE, [], 1, "mrr is 0.5556, 0.3444 below the threshold"),
        ("mrr: {max_drop: 0.01}", WORSE, [], 0, "mrr: max_drop 0.01 is not checked without --against."),
        ("mrr: {max_drop: 0.01}", WORSE, ["--against", "before.json"], 1, "mrr fell by 0.4444 from before.json to 0.5556"),
        ("mrr: {max_drop: 0.01, significance: 0.05}", WORSE, [], 0, "mrr 2 0.5556 drop≤0.01 p<0.05 not checked"),
        ("mrr: {max_drop: 0.5}", WORSE, ["--against", "before.json"], 0, "drop≤0.5 passes"),
        ("mrr: {max_drop: off}", WORSE, ["--against", "before.json"], 1, "ndcg@10 fell by"),
        ("mrr: 0", WORSE, ["--against", "before.json"], 1, "mrr fell by 0.4444"),
        ("", WORSE, ["--against", "before.json"], 1, "ndcg@10 fell by"),
        ("", A_LITTLE, ["--against", "before.json"], 0, "which may be chance: undecided"),
        ("", A_LITTLE, ["--against", "before.json", "--metrics", "mrr"], 0, "mrr 1.0000"),
        ("mrr: {max_drop: 0.5}, hit@1: {max_drop: 0.5}", A_LITTLE, ["--against", "before.json", "--metrics", "mrr", "--json"], 0, 'no fall below rank 3 is seen."} ]'),
        ("", BEFORE, ["--against", "before.json"], 0, "drop≤auto passes"),
        ("recall@10: {max_lost: 0}", {**BEFORE, "hours": ["x"]}, ["--against", "before.json"], 1, "1 of 2 queries fell to 0 by recall@10"),
        ("no_answer: {max_drop: 0}", {**BEFORE, "empty": ["x"]}, ["--against", "before.run"], 1, "no_answer fell by 1.0000 from before.run"),
        ("overlap@3: 0.9", WORSE, ["--against", "before.json"], 1, "overlap@3 0.8333 (−0.1667)"),
        ("fresh: 1", WORSE, ["--against", "before.json", "--metric", "fresh"], 1, "--run before.json --metric fresh"),
        ("", {**BEFORE, "empty": ["x"]}, [], 1, "1 query marked `no_answer` got an answer"),
        ("", {**BEFORE, "hard": []}, ["--against", "before.json"], 0, "1 xfail"),
        ("", {"other": ["d1"]}, [], 1, "now.json: answers no query of faq.yaml. Check that both call the queries the same."),
        ("", {**BEFORE, "refund": ["D1"], "hours": ["H1"]}, ["--metrics", "mrr"], 1, "id"),
        ("", WORSE, ["--query", "refund"], 0, "3 3 d1"),
        ("latency_p95: {max: 9}", BEFORE, [], 0, "A stored run does not tell latency_p95: not checked."),
    ],
)  # fmt: skip
def test_the_golden_set_s_thresholds_and_the_default_drop_decide(thresholds, now, options, status, told):
    Path("faq.yaml").write_text(f"thresholds: {{{thresholds}}}\n{GOLDEN}" if thresholds else GOLDEN)
    save("now.json", now)
    assert told in score(*options, status=status)


@pytest.mark.parametrize("metrics", [",", " ", "mrr,latency_p95"])
def test_metrics_are_of_a_stored_run_and_at_least_one(metrics):
    save("now.json", WORSE)
    told = f"argument --metrics: {metrics!r} is no list of metrics that a stored run tells. Write for example ndcg@10,mrr."
    assert " ".join(told.split()) in score("--metrics", metrics, status=2)


def test_a_run_that_is_compared_with_itself_is_refused():
    save("now.json", WORSE)
    told = "now.json: is compared with itself, so nothing can fall. Give the run before as --against."
    assert told in score("--against", "now.json", status=1)
    assert told == score("--against", "./now.json", status=1)


def test_a_run_that_is_too_shallow_for_a_threshold_is_refused_and_for_a_usual_metric_noted():
    save("now.json", BEFORE, depth=3)
    assert "A run holds too few results a query for ndcg@10, precision@10, recall@10." in score()
    save("now.json", BEFORE, depth=10)
    save("before.json", BEFORE, depth=3)
    assert "A run holds too few results a query for ndcg@10" in score("--against", "before.json")
    save("now.json", BEFORE, depth=3)
    Path("faq.yaml").write_text(f"thresholds: {{recall@5: 0.1}}\n{GOLDEN}")
    told = "now.json holds 3. Store more of them, or gate on a cut-off that it reaches."
    assert told in score(status=1)


def test_queries_that_the_run_does_not_have_are_said_but_for_those_known_to_be_bad():
    save("now.json", {"refund": ["d1"]})
    assert "hours" in (said := score())
    assert "hard" not in said
    save("before.json", {"refund": ["d1"], "empty": []})
    assert "before.json has no answer to 1 query: hours." in score("--against", "before.json")
    save("before.json", BEFORE, golden_set="faq.yaml", means={"mrr": 0.1})
    assert "before.json was edited after it was stored" in score("--against", "before.json", status=1)


def test_a_set_in_which_nothing_is_judged_is_held_to_no_default_and_a_gate_over_no_query_fails():
    Path("faq.yaml").write_text("queries: [{id: refund, query: refund policy, relevant: []}]")
    save("now.json", {"refund": ["d1"]})
    assert "nothing gated, 1 query" in score("--against", "before.json")
    Path("faq.yaml").write_text("thresholds: {no_answer: 1}\nqueries: [{id: refund, relevant: d1}]")
    assert "A gate over no query: no_answer" in score(status=1)


def test_a_run_that_is_deeper_than_a_test_would_ask_for_is_noted():
    save("now.json", {**BEFORE, "hours": [*(f"x{rank}" for rank in range(11)), "h1"]})
    told = "mrr, map are over up to 12 results a query; a test asks for 10, unless the setting ir_depth says otherwise."
    assert told in score()
    assert "mrr is over up to 12 results a query;" in score("--metrics", "mrr")
    assert "a test asks for" not in score("--metrics", "mrr@5")
    save("now.json", {**BEFORE, "hours": [*(f"x{rank}" for rank in range(9)), "h1"]})
    assert "a test asks for" not in score()


def test_answers_to_other_words_are_told_and_too_few_paired_fail():
    save("now.json", BEFORE, texts={"refund": "refunds"})
    assert "Of the run, 1 query is asked with another text or other params: refund." in score()
    save("before.json", {"hours": ["h1"]}, texts={"hours": "closing hours"})
    assert "before.json answers only 1 in these words" in score("--against", "before.json", status=1)


def test_json_is_a_report_that_the_command_report_reads():
    save("now.json", WORSE)
    done = run("score", "faq.yaml", "now.json", "--against", "before.json", "--json")
    (test,) = json.loads(done.out)["tests"]
    assert (done.status, test["outcome"], test["against"]) == (1, "failed", "before.json")
    assert json.loads(done.out)["exit_status"] == 1
    score("--against", "before.json", "--json", "--query", "hours", status=1)
    assert {query["query_id"] for query in test["queries"]} == set(BEFORE)
    Path("now.json").write_bytes(done.data)
    assert "mrr 0.5556" in score("--metrics", "mrr")
    page = run("report", "-", "-o", "html:-", stdin=done.data)
    assert (page.status, page.out[:15]) == (0, "<!doctype html>")


@pytest.mark.parametrize("one", ["faq.yaml", "before.json", "now.json"])
def test_each_file_may_be_standard_input(one, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    save("now.json", WORSE)
    words = ["score", "faq.yaml", "now.json", "--against", "before.json"]
    piped = run(*("-" if word == one else word for word in words), stdin=Path(one).read_bytes()).out
    for text in ("from -", "-:", "since -"):
        piped = piped.replace(text, text.replace("-", one))
    begun = b"\xef\xbb\xbf \r\n\t" + Path("now.json").read_bytes()
    assert run("score", "faq.yaml", "-", stdin=begun).out == run("score", "faq.yaml", "now.json").out
    printed = run(*words).out.splitlines()
    judge = [
        line for line in printed if line.startswith("To judge both: ")
    ]  # standard input cannot be read again
    assert [*filter(None, piped.splitlines())] == [line for line in printed if line and line not in judge]


def test_a_query_with_another_id_is_compared_with_the_answer_to_its_words():
    save("before.json", {"was": ["d1", "d2"], "hours": ["h1"]}, {"was": "Refund policy"})
    save("now.json", {**BEFORE, "refund": ["x"]})
    said = score("--against", "before.json", status=1)
    assert "1 query has another id than in before.json: was → refund." in said
    assert "1 query worse by" in said
