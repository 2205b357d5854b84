"""What scripts ask of commands: `--json`, `--quiet`, and a sentence where there was nothing to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_irmetrics import cli
from tests.unit.cli.test_label import FILE, folder, store  # noqa: F401 - a fixture that all use

BASELINE = "ir_baselines/test_search/test_it[faq].json"


@pytest.fixture
def ir(capsys):
    """Run a command; return what it prints on standard output."""

    def ir(*arguments, status=0, err=""):
        assert cli.main(arguments) == status
        printed = capsys.readouterr()
        assert err in printed.err if err else printed.err == ""
        return printed.out

    return ir


@pytest.fixture
def other(folder):  # noqa: F811 - the fixture
    """A run beside the baseline, in which one document moved."""
    path = store(folder, {"refund": ["d1", "u1"], "opening hours": ["d9", "0123"], "nothing": []}, "other")
    return str(path.rename(folder / "other.json").relative_to(folder))


class TestJson:
    def test_diff_gives_metrics_and_all_that_moved(self, ir, other):
        found = json.loads(ir("diff", BASELINE, other, "--golden", FILE, "--metrics", "mrr", "--json"))
        assert found == {
            "baseline": BASELINE,
            "now": "other.json",
            "metrics": [
                {
                    "metric": "mrr",
                    "baseline": 0.75,
                    "now": 1.0,
                    "delta": 0.25,
                    "n": 2,
                    "worse": [],
                    "better": ["refund"],
                }
            ],
            "queries": [
                {
                    "id": "refund",
                    "query": "refund policy",
                    "scores": {"mrr": [0.5, 1.0]},
                    "documents": [{"docid": "d1", "was": 2, "now": 1, "grade": 1}],
                }
            ],
            "notes": [],
        }

    def test_diff_of_the_same_moves_nothing(self, ir):
        found = json.loads(ir("diff", BASELINE, BASELINE, "--golden", FILE, "--json"))
        assert found["queries"] == []
        assert {metric["delta"] for metric in found["metrics"]} == {0.0}

    def test_diff_of_reports_goes_test_by_test(self, ir, other):
        def report(name, *runs):
            tests = [{"nodeid": key, "run": json.loads(Path(path).read_text())} for key, path in runs]
            Path(name).write_text(json.dumps({"format": "pytest-irmetrics report", "tests": tests}))

        report("a.json", ("t::one", BASELINE), ("t::two", BASELINE), ("t::gone", BASELINE))
        report("b.json", ("t::one", other), ("t::two", BASELINE), ("t::new", BASELINE))
        found = json.loads(ir("diff", "a.json", "b.json", "--golden", FILE, "--json"))
        assert [(test["test"], len(test["queries"])) for test in found["tests"]] == [
            ("t::one", 1),
            ("t::two", 0),
        ]
        assert (found["only_in_baseline"], found["only_in_now"]) == (["t::gone"], ["t::new"])

    def test_show_says_where_nothing_is_known(self, ir):
        Path("one.run").write_text("other Q0 d1 1 1 x\n")
        found = json.loads(ir("show", FILE, "refund", "--json", "--run", "one.run"))
        assert found["runs"] == [{"run": "one.run", "scores": {}, "ranking": None}]
        Path(BASELINE).unlink()
        assert json.loads(ir("show", FILE, "refund", "--json"))["runs"] == []

    def test_baselines_are_listed(self, ir):
        (found,) = json.loads(ir("baselines", "list", "--json"))
        assert found["file"] == BASELINE
        assert found["test"].startswith("test_it[faq]")
        assert (found["golden_set"], found["query_count"], found["depth"]) == (FILE, 3, 10)
        Path(BASELINE).write_text("{")
        assert json.loads(ir("baselines", "list", "--json", status=1, err=BASELINE)) == []

    def test_without_baselines_the_list_is_empty(self, ir):
        Path("empty").mkdir()
        out = ir(
            "baselines",
            "list",
            "empty",
            "--json",
            err="There is no folder ir_baselines with a baseline in empty",
        )
        assert json.loads(out) == []


class TestQuiet:
    def test_check_prints_what_is_wrong_alone(self, ir):
        Path("doubtful.yaml").write_text(
            "queries:\n  - {query: Refunds?, relevant: [d1]}\n  - {query: refunds, relevant: [d1]}\n"
        )
        assert "note: " in ir("check", FILE, "doubtful.yaml")
        assert ir("check", "--quiet", FILE, "doubtful.yaml") == ""
        Path("wrong.yaml").write_text("queries: 3\n")
        assert ir("check", "--quiet", FILE, "wrong.yaml", status=1).startswith("wrong.yaml:1:10: ")

    def test_a_report_that_was_written_is_not_named(self, ir):
        from pytest_irmetrics.reports import json as json_report
        from tests.unit.reports.samples import broken, passing

        Path("run.json").write_text(json_report.render(broken([passing()])), encoding="utf-8")
        assert ir("report", "run.json", "-o", "r.md") == "r.md: written\n"
        assert ir("report", "run.json", "-o", "r.md", "--quiet") == ""

    def test_what_is_to_be_deleted_is_still_listed(self, ir):
        Path(FILE).rename("golden/other.yaml")
        Path("test_search.py").touch()
        out = ir("baselines", "prune", "--quiet", status=1)
        assert out == f"{BASELINE}: its golden set {FILE} is gone, and would be deleted\n"
        assert ir("baselines", "prune", "--quiet", "--yes") == ""
        assert not Path(BASELINE).exists()


class TestNothingToDo:
    def test_prune_says_that_nothing_is_gone(self, ir):
        Path("test_search.py").touch()
        assert (
            ir("baselines", "prune")
            == "Nothing to delete: of 1 baseline, no test file or golden set is gone.\n"
        )

    def test_convert_leaves_what_is_the_same_as_it_is(self, ir):
        assert ir("convert", FILE, "faq.jsonl", err="Comments") == "faq.jsonl: 3 queries, 2 judgments\n"
        before = Path("faq.jsonl").stat()
        assert ir("convert", FILE, "faq.jsonl", err="Comments") == (
            "faq.jsonl: 3 queries, 2 judgments; it was like this already, and nothing was written\n"
        )
        after = Path("faq.jsonl").stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
        Path("faq.jsonl").write_text(Path("faq.jsonl").read_text() + "\n")
        ir("convert", FILE, "faq.jsonl", status=1, err="faq.jsonl: It is there already.")
        assert ir("convert", BASELINE, "copy.json.gz") == "copy.json.gz: 3 queries\n"
        assert "was like this already" in ir("convert", BASELINE, "copy.json.gz")

    def test_convert_of_several_files_writes_all_where_one_differs(self, ir):
        Path("bare.yaml").write_text("queries:\n  - {id: a, query: b, relevant: [d]}\n")
        ir("convert", "bare.yaml", "bare.qrels")
        assert "was like this already" in ir("convert", "bare.yaml", "bare.qrels")
        Path("bare.topics.tsv").unlink()
        ir("convert", "bare.yaml", "bare.qrels", status=1, err="bare.qrels: It is there already.")
        assert "already" not in ir("convert", "bare.yaml", "bare.qrels", "--force")
        assert Path("bare.topics.tsv").exists()

    def test_diff_of_the_same_says_that_nothing_moved(self, ir):
        assert ir("diff", BASELINE, BASELINE, "--golden", FILE).endswith("\nNo query moved.\n")

    def test_history_without_a_baseline_says_how_to_get_one(self, ir):
        Path(BASELINE).unlink()
        ir("history", status=1, err="There is no folder ir_baselines with baselines from here on down.")

    def test_label_of_a_judged_set_says_so_in_every_form(self, ir, folder):  # noqa: F811 - the fixture
        store(folder, {"refund": ["d1"], "opening hours": ["d9"], "nothing": []})
        assert json.loads(ir("label", FILE, "--json")) == []
        assert ir("label", FILE, "-o", "list.csv") == "list.csv: 0 documents to judge.\n"
