"""What a failure says of its queries, its slices and its counts is so."""

from __future__ import annotations

import json
import re

from pytest_irmetrics import cli
from tests.plugin.conftest import printed


def write_queries(project, queries):
    project.write("golden/faq.yaml", json.dumps({"queries": queries}))


def two_metrics_that_fall_for_other_queries(project):
    """Thirty queries: recall falls most for the first 25, mrr for the last five and a little for all."""
    numbers = range(30)
    write_queries(
        project, [{"query": f"question {n}", "relevant": [f"a{n}", f"b{n}", f"c{n}"]} for n in numbers]
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.1)', 'ir_threshold("recall@10", 0.1)'])
    project.answers({f"question {n}": [f"a{n}", f"b{n}", f"c{n}"] for n in numbers})
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    answers = {f"question {n}": ["x", f"a{n}"] for n in range(25)}
    answers |= {f"question {n}": ["x", "y", "z", f"a{n}", f"b{n}"] for n in range(25, 30)}
    project.answers(answers)


def block_of(result, query_id):
    """Return the lines about one query in a failure message."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if line.endswith(f": {query_id}"))
    rest = [*lines[start + 1 :], ""]
    return " ".join(rest[: rest.index("")])


def test_a_query_shows_its_score_in_every_metric_that_failed_for_it(project):
    """Of thirty queries that explain both failures each gate's report names twenty first."""
    two_metrics_that_fall_for_other_queries(project)
    result = project.run("--ir-baseline", "--ir-report=report.md")
    result.assert_outcomes(failed=1)
    for query_id in ("question 25", "question 0"):
        block = block_of(result, query_id)
        assert "mrr 1.0000 → " in block, block
        assert "recall@10 1.0000 → " in block, block
    report = (project.path / "report.md").read_text(encoding="utf-8")
    explained = re.findall(r"golden/faq.yaml:\d+`?, .*", report)
    assert explained
    assert all("mrr" in line and "recall@10" in line for line in explained), explained


def test_a_query_shows_the_metric_whose_mean_is_too_low_beside_the_one_that_fell(project):
    two_metrics_that_fall_for_other_queries(project)
    project.test(
        [
            'ir_golden("golden/*.yaml")',
            'ir_threshold("mrr", max_drop=0.01)',
            'ir_threshold("recall@10", 0.9, max_drop="off")',
        ]
    )
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    block = block_of(result, "question 25")
    assert "mrr 1.0000 → 0.2500; recall@10 1.0000 → 0.6667" in block


# Counts ----------------------------------------------------------------------------------------------------


def queries_of_three_kinds(project):
    """28 queries: 26 that have an answer, one that has none, and one that is known to be bad."""
    queries = [{"query": f"question {n}", "relevant": f"a{n}"} for n in range(26)]
    queries += [
        {"query": "asdf", "no_answer": True},
        {"query": "hard", "relevant": "a-hard", "xfail": "TICKET-7"},
    ]
    write_queries(project, queries)
    answers = {f"question {n}": [f"a{n}"] for n in range(26)} | {"hard": ["a-hard"], "asdf": []}
    project.answers(answers)
    return answers


def test_the_counts_of_the_run_and_of_the_table_say_what_they_count(project):
    queries_of_three_kinds(project)
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'])
    result = project.run("-v", "-v")
    result.assert_outcomes(passed=1)
    text = printed(result)
    assert "golden/faq.yaml: passes, 27 queries (and 1 xfail); mrr 1.0000" in text
    assert (
        "n: 26 queries have an answer; 1 is marked no_answer, and in no_answer alone; 1 is marked xfail, and in no mean."
        in text
    )
    project.answers({})
    text = printed(project.run("-v"))
    assert "golden/faq.yaml: 27 queries (and 1 xfail), judged@10" in text


def test_a_set_of_one_kind_of_query_says_no_more_than_its_count(project):
    text = printed(project.run("-v"))
    assert "faq.yaml: passes, 3 queries; mrr" in text
    assert "n: " not in text


def diff(*arguments):
    assert cli.main(["diff", *arguments]) == 0


def a_known_bad_query_that_is_mended(project, monkeypatch, capsys):
    """Store two baselines between which the xfail query alone moved; return their paths."""
    answers = queries_of_three_kinds(project)
    project.answers({**answers, "hard": []})
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    before = project.path / "before.json"
    before.write_bytes(project.baseline.read_bytes())
    project.answers(answers)
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    return "before.json", str(project.baseline.relative_to(project.path))


def test_diff_leaves_out_the_queries_that_the_gate_leaves_out(project, monkeypatch, capsys):
    before, now = a_known_bad_query_that_is_mended(project, monkeypatch, capsys)
    diff(before, now)
    out = capsys.readouterr().out
    assert re.search(r"ndcg@10 +1\.0000 +1\.0000 +0\.0000 +26 ", out), out
    assert "note: 1 query marked xfail in golden/faq.yaml, and in no mean: hard." in out


def test_diff_says_where_it_cannot_know_which_queries_the_gate_left_out(project, monkeypatch, capsys):
    before, now = a_known_bad_query_that_is_mended(project, monkeypatch, capsys)
    diff(now, before)  # the run after is away from its golden set, and the other one leads to it
    assert "marked xfail in golden/faq.yaml" in capsys.readouterr().out
    (project.path / "golden/faq.yaml").rename(project.path / "elsewhere.yaml")
    diff(now, before)
    out = " ".join(capsys.readouterr().out.split())
    assert "note: before.json was stored with mrr 1.0000, and all of its queries have 0.9630." in out
    assert "(--golden FILE)" in out
    diff(now, before, "--json")
    assert '"notes": ["before.json was stored with mrr 1.0000, ' in capsys.readouterr().out
    diff(now, before, "--golden", "elsewhere.yaml")
    out = capsys.readouterr().out
    assert "was stored with" not in out
    assert "note: 1 query marked xfail, and in no mean: hard." in out


def test_check_says_which_of_its_queries_are_in_no_mean(project, monkeypatch, capsys):
    queries_of_three_kinds(project)
    monkeypatch.chdir(project.path)
    assert cli.main(["check", "golden/faq.yaml"]) == 0
    assert "golden/faq.yaml: 28 queries (1 no_answer, 1 xfail), 0 tags" in capsys.readouterr().out
