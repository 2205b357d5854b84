"""What a failure says of unjudged documents: the commands to judge both runs', and where one run's alone were judged."""

from __future__ import annotations

import json
import shlex

import pytest

from pytest_irmetrics import cli
from tests.plugin.conftest import printed

QUERIES = 12
GATED = 'ir_threshold("ndcg@10", max_drop=0.01)'


def before(n):
    return [f"a{n}", *(f"b{n}-{i}" for i in range(9))]


def now(n):
    return [*(f"t{n}-{i}" for i in range(3)), *before(n)[:7]]


@pytest.fixture
def fallen(project, monkeypatch):
    """Twelve queries with one judgment each; three new documents stand above each answer of the baseline."""
    queries = [f"  - {{query: question {n}, relevant: {{a{n}: 1}}}}\n" for n in range(QUERIES)]
    project.write("golden/faq.yaml", "queries:\n" + "".join(queries))
    project.test(['ir_golden("golden/*.yaml")', GATED])
    project.answers({f"question {n}": before(n) for n in range(QUERIES)})
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    project.answers({f"question {n}": now(n) for n in range(QUERIES)})
    monkeypatch.chdir(project.path)
    return project


def commands(result):
    """The commands to judge documents, as they are printed."""
    found = [line for line in result.outlines if line.startswith("To judge both:")]
    assert len(found) <= 1
    return [command.strip() for line in found for command in line.removeprefix("To judge both:").split("; ")]


def test_a_failure_prints_commands_that_list_both_runs_documents(fallen, capsys):
    result = fallen.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert (
        "Missing judgments? 36 of 120 results are new and unjudged. If 33% of them are as good as their query's best "
        "(and none of the 36 gone), ndcg@10 did not fall." in printed(result)
    )
    assert commands(result) == commands(fallen.run("-v", "--ir-baseline"))
    write, label = commands(result)
    assert write == "pytest 'test_search.py::test_search_quality[faq]' --ir-report=json:run.json"
    assert label == "pytest-irmetrics label golden/faq.yaml --run run.json"
    fallen.run(*shlex.split(write)[1:]).assert_outcomes(passed=1)
    capsys.readouterr()
    assert cli.main([*shlex.split(label)[1:], "--limit", "all", "--json"]) == 0
    listed = [(one["docid"], one["ranks"]) for one in json.loads(capsys.readouterr().out)]
    assert ("t0-0", [None, 1]) in listed
    assert ("b0-8", [10, None]) in listed
    assert listed[0][0].startswith("t")


def test_a_report_that_is_written_anyway_is_the_run_to_judge(fallen):
    result = fallen.run("--ir-baseline", "--ir-report=json:out/now.json")
    assert commands(result) == ["pytest-irmetrics label golden/faq.yaml --run out/now.json"]
    assert cli.main([*shlex.split(commands(result)[0])[1:]]) == 0


def test_another_baseline_of_the_golden_set_is_not_pooled(fallen):
    """Of two retrievers each failure names its own baseline, and the metric that fell."""
    stored = fallen.path / "ir_baselines/test_search/test_search_quality[faq].json"
    stored.with_name("test_other[faq].json").write_bytes(stored.read_bytes())
    fallen.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'])
    assert commands(fallen.run("-v", "--ir-baseline"))[1] == (
        "pytest-irmetrics label golden/faq.yaml --run 'ir_baselines/test_search/test_search_quality[faq].json' "
        "--run run.json --by mrr"
    )


def judge(documents):
    """Append judgments of documents of each query, given as grades by name."""
    options = [
        option
        for n in range(QUERIES)
        for doc_id, grade in documents(n).items()
        for option in ("--judge", f"question {n}", doc_id, str(grade))
    ]
    assert cli.main(["label", "golden/faq.yaml", *options]) == 0


def test_where_todays_documents_alone_were_judged_that_is_said_in_place_of_a_comparison(fallen):
    judge(lambda n: {f"t{n}-{i}": 1 for i in range(3)})
    result = fallen.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    text = printed(result)
    assert "Under the judgments that were stored with the baseline, ndcg@10 fell by" in text
    assert (
        "The new judgments are of one side: 36 of the documents that today's run alone returns were judged since the "
        "baseline was stored, and none of the 36 that the baseline alone does. That favours today's run, so today's "
        "judgments do not tell which is better. Judge both." in text
    )
    assert "accept today's run" not in text
    assert "by today's" not in text
    assert (
        commands(fallen.run("-v", "--ir-baseline"))[1]
        == "pytest-irmetrics label golden/faq.yaml --run run.json"
    )


def test_where_both_runs_documents_were_judged_the_fall_is_told_by_both_judgments(fallen):
    judge(lambda n: {f"t{n}-{i}": 1 for i in range(3)} | {f"b{n}-{i}": 0 for i in range(6, 9)})
    result = fallen.run("--ir-baseline")
    text = printed(result)
    assert "of one side" not in text
    assert "By the stored judgments −0.5693 (fails), by today's +" in text
    assert "accept today's run, or undo the change of the search" in text
    assert commands(result) == []


def test_a_retriever_that_stands_in_for_the_baseline_has_no_file_to_judge(fallen):
    fallen.write(
        "test_search.py",
        """
        import pytest

        @pytest.mark.ir_golden("golden/*.yaml")
        def test_search_quality(irmetrics):
            irmetrics.check(against=lambda query, k: [f"a{query.split()[1]}"] + [f"b{query.split()[1]}-{i}" for i in range(9)])
        """,
    )
    result = fallen.run()
    result.assert_outcomes(failed=1)
    assert "new and unjudged" in printed(result)
    assert commands(result) == []
