"""Command `check --tolerance`: which `max_drop` fits a golden set, from the change between two of its runs."""

from __future__ import annotations

import json

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.run import Answer, Run
from tests.unit.cli.console import HOSTILE, assert_escaped

QUERIES = 40


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    tagged = [
        f"- {{id: q{n}, query: text {n}, relevant: d, tags: [{'odd' if n % 2 else 'even'}]}}\n"
        for n in range(QUERIES)
    ]
    head = (
        "thresholds: {ndcg@10: {max_drop: 0.05}, mrr: 0.5}\nslices: {odd: {mrr: {max_drop: 0.1}}}\nqueries:\n"
    )
    (tmp_path / "faq.yaml").write_text(head + "".join(tagged))
    (tmp_path / "ir_baselines" / "test_search").mkdir(parents=True)
    return tmp_path


def save(path, rank, golden_set="faq.yaml"):
    """Store a run that finds the document of query n at the rank that `rank(n)` says."""
    answers = {
        f"q{n}": Answer(
            ((*(f"x{place}" for place in range(1, rank(n))), "d"),), text=f"text {n}", judgments={"d": 1}
        )
        for n in range(QUERIES)
    }
    Run.of(answers, depth=10, golden_set=golden_set).save(path)


def check(capsys, *arguments, status=0):
    assert cli.main(["check", "--tolerance", *arguments]) == status
    return capsys.readouterr()


def test_a_run_is_compared_with_the_stored_baseline(capsys):
    save("ir_baselines/test_search/faq.json", lambda _: 1)
    save("run.json", lambda n: 2 if n % 4 == 0 else 1)
    out, err = check(capsys, "faq.yaml", "--run", "run.json")
    assert err == ""
    assert out.splitlines() == [
        "golden  faq.yaml",
        "change  ir_baselines/test_search/faq.json → run.json",
        "",
        "metric         n  changed  max_drop  fails  once in 20  queries needed",
        # Ten queries change by a half: 6 down and 4 up fall by 1/40, and 8 down and 2 up by 3/40, which is
        # widened a little because ten changed queries are few.
        "mrr           40       10     0.01*   38 %       0.078    900 to 3,000",
        "map           40       10     0.01*   38 %       0.078    900 to 3,000",
        "ndcg@3        40       10     0.01*   38 %       0.058    500 to 2,000",
        "ndcg@10       40       10      0.05    5 %       0.058        20 to 70",
        "precision@10  40        0     0.01*      -           -",
        "recall@10     40        0     0.01*      -           -",
        "mrr [odd]     20        0       0.1      -           -",
        "",
        "A harmless change moves as many queries as far as this one, each as likely up as down. fails: how",
        "many of them fall by more than max_drop. once in 20: the least max_drop that no more of them exceed.",
        "queries needed: with how many the max_drop shown fails so often; it takes 10 changed queries to say.",
        "* faq.yaml sets none: the default of ir_max_drop. What marks and settings say is not known here.",
    ]


def test_json_has_the_numbers(capsys):
    save("a.json", lambda _: 1)
    save("b.json", lambda n: 2 if n < 12 else 1)
    out, _ = check(capsys, "faq.yaml", "--run", "a.json", "--run", "b.json", "--json")
    rows = json.loads(out)
    assert [(row["metric"], row["tag"]) for row in rows][-1] == ("mrr", "odd")
    (own,) = [row for row in rows if row["metric"] == "ndcg@10"]
    assert own["file"] == "faq.yaml"
    assert (own["before"], own["now"]) == ("a.json", "b.json")
    assert (own["queries"], own["changed"], own["max_drop"], own["from_golden_set"]) == (40, 12, 0.05, True)


def test_without_a_run_the_baselines_are_compared_with_each_other(capsys):
    save("ir_baselines/test_search/bm25.json", lambda _: 1)
    save("ir_baselines/test_search/dense.json", lambda n: 2 if n % 3 == 0 else 1)
    out, _ = check(capsys, "faq.yaml")
    assert "change  ir_baselines/test_search/bm25.json → ir_baselines/test_search/dense.json" in out


def test_without_a_change_it_says_what_one_query_can_do_and_how_to_measure_more(capsys):
    save("ir_baselines/test_search/faq.json", lambda _: 1)
    out, _ = check(capsys, "faq.yaml")
    lines = out.splitlines()
    assert lines[2:6] == [
        "metric         n  max_drop  one wrong first  one lost",
        "mrr           40     0.01*               40        40",
        "map           40     0.01*               40        40",
        "ndcg@3        40     0.01*                0        40",
    ]
    assert lines[-1] == "  pytest-irmetrics check --tolerance faq.yaml --run run.json"
    rows = json.loads(check(capsys, "faq.yaml", "--json")[0])
    assert rows[0]["failing_by_one_wrong_first"] == 40


def test_a_run_without_a_baseline_to_compare_it_with_is_an_error(capsys):
    save("run.json", lambda _: 1)
    _, err = check(capsys, "faq.yaml", "--run", "run.json", status=1)
    assert "No baseline of this golden set" in err


def test_a_run_without_tolerance_is_an_error(capsys):
    assert cli.main(["check", "faq.yaml", "--run", "run.json"]) == 1
    assert "--run and --test are for --tolerance" in capsys.readouterr().err


def test_a_golden_set_with_mistakes_is_told_and_not_measured(capsys, folder):
    (folder / "faq.yaml").write_text("queries: [{query: a, relevent: d}]\n")
    out, _ = check(capsys, "faq.yaml", status=1)
    assert "did you mean" in out.lower()
    assert "max_drop" not in out


def test_hostile_names_are_inert(capsys, folder):
    tag = json.dumps(HOSTILE)
    (folder / "faq.yaml").write_text(
        f"slices: {{{tag}: {{mrr: {{max_drop: 0.1}}}}}}\nqueries: [{{query: a, relevant: d, tags: [{tag}]}}]\n"
    )
    out, _ = check(capsys, "faq.yaml")
    assert_escaped(out)
