"""Command `show`: one query with its rankings."""

from __future__ import annotations

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.run import Answer, Run
from tests.unit.cli.console import HOSTILE, assert_escaped, run_script, usage_error

GOLDEN = """\
relevance_level: 2
thresholds: {recall@5: 0.5, recall@100: off, latency_p95: {max: 100}}
queries:
- id: refund
  query: refund policy
  relevant: {d1: 1, d2: 3, d3: 0}
  forbidden: [bad]
  tags: [billing, money]
  weight: 2.5
  params: {lang: "no", n: 5}
  thresholds: {mrr: {min: 0.5, max_drop: 5%}}
  note: for people
- {query: opening hours, relevant: {d9: 2}}
- {id: nothing, query: asdf, no_answer: true}
- {id: bad, query: hard one, relevant: {d4: 2}, xfail: TICKET-7}
"""
JUDGMENTS = {"d1": 1, "d2": 3, "d3": 0}


def answer(*ranking, text="refund policy", params=None, judgments=JUDGMENTS, repeats=()):
    params = {"lang": "no", "n": 5} if params is None else params
    return Answer((ranking, *repeats), text, params, judgments, 1.0)


def store(folder, name="test_search/test_it[faq]", golden_set="golden/faq.yaml", **answers):
    path = folder / "ir_baselines" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    answers = answers or {"refund": answer("x", "d2", "bad", "d3")}
    Run.of(answers, depth=4, golden_set=golden_set, relevance_level=2).save(path)
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "tests" / "golden").mkdir(parents=True)
    (project / "tests" / "golden" / "faq.yaml").write_text(GOLDEN)
    monkeypatch.chdir(project / "tests")
    monkeypatch.setenv("COLUMNS", "100")
    return project / "tests"


def shown(capsys, *arguments, status=0):
    assert cli.main(["show", *arguments]) == status
    return capsys.readouterr()


class TestQuery:
    def test_cuts_what_does_not_fit_the_terminal(self, capsys, folder):
        (folder / "long.yaml").write_text(f"queries:\n- {{id: q, query: w, relevant: [{'d' * 200}]}}\n")
        out, _ = shown(capsys, "long.yaml", "q")
        assert " " * 17 + "1  " + "d" * 79 + "…" in out.splitlines()

    def test_prints_all_keys_of_the_query(self, capsys, folder):
        store(folder)
        out, err = shown(capsys, "golden/faq.yaml", "refund")
        assert out.splitlines() == [
            "golden/faq.yaml:4: refund",
            "  query      refund policy",
            '  params     {"lang": "no", "n": 5}',
            "  tags       billing, money",
            "  weight     2.5",
            "  gated      mrr min 0.5; mrr max_drop 5%",
            "  note       for people",
            "  forbidden  bad",
            "  judged     3 documents, relevant from grade 2",
            "             grade  document",
            "                 3  d2",
            "                 1  d1",
            "                 0  d3",
            "",
            "ir_baselines/test_search/test_it[faq].json: refund",
            "  mrr 0.5000; map 0.5000; ndcg@3 0.5213",
            "  rank      grade  document",
            "     1   unjudged  x",
            "     2          3  d2",
            "     3  forbidden  bad",
            "     4          0  d3",
            "     -          1  d1",
            "  bad is forbidden and stands at rank 3.",
            "  Not among the 4 results: d1 (grade 1).",
            "  note: the run holds 4 results a query, too few for ndcg@10, precision@10, recall@10, recall@5,",
            "    recall@100.",
        ]
        assert err == ""

    def test_prints_no_answer_and_xfail(self, capsys, folder):
        store(
            folder,
            nothing=answer("x", text="asdf", params={}, judgments={}),
            bad=answer("d4", text="hard one", params={}, judgments={"d4": 2}),
        )
        out, _ = shown(capsys, "golden/faq.yaml", "nothing")
        assert "  judged     no_answer: the right answer is an empty one\n" in out
        assert "no_answer 0.0000" in out
        assert "Marked no_answer" not in out  # said above
        out, _ = shown(capsys, "golden/faq.yaml", "bad")
        assert "  xfail      TICKET-7\n" in out
        assert "mrr 1.0000" in out

    def test_suggests_a_similar_query(self, capsys):
        for wanted, meant in (
            ("refnd", "Did you mean 'refund'?"),
            ("hard one", "Did you mean 'bad'?"),
            ("hours", "Did you mean 'opening hours'?"),
            ("zzz", "`pytest-irmetrics check --json golden/faq.yaml` lists the ids of its 4 queries."),
            ("", "lists the ids of its 4 queries."),
        ):
            out, err = shown(capsys, "golden/faq.yaml", wanted, status=1)
            assert out == ""
            assert err.startswith(f"golden/faq.yaml:1: There is no query {wanted!r}. ")
            assert err.endswith(f"{meant}\n")

    def test_the_suggested_command_is_quoted_for_a_shell(self, capsys, folder):
        (folder / "a b.yaml").write_text(GOLDEN)
        _, err = shown(capsys, "a b.yaml", "zzz", status=1)
        assert "`pytest-irmetrics check --json 'a b.yaml'` lists" in err

    def test_an_invalid_golden_set_is_reported_as_by_check(self, capsys, folder):
        (folder / "broken.yaml").write_text("queries:\n- {query: a, relevent: b}\n")
        out, err = shown(capsys, "broken.yaml", "a", status=1)
        assert out == ""
        assert err.startswith("broken.yaml:2:14: 'relevent' is no key of a query. ")
        _, err = shown(capsys, "missing.yaml", "a", status=1)
        assert err == "missing.yaml:1:1: There is no such file. Check the path.\n"


class TestRuns:
    def test_finds_every_baseline_of_the_golden_set_up_to_the_projects_folder(self, capsys, folder):
        store(folder, "test_search/test_other[faq]")
        store(folder, "test_search/test_another[help]", "golden/help.yaml")
        store(folder.parent, "test_top/test_it[faq]", "tests/golden/faq.yaml")
        store(folder.parent.parent, "test_outside/test_it[faq]", "project/tests/golden/faq.yaml")
        out, err = shown(capsys, "golden/faq.yaml", "refund")
        found = [line for line in out.splitlines() if line.endswith(".json: refund")]
        assert found == [
            "ir_baselines/test_search/test_other[faq].json: refund",
            "../ir_baselines/test_top/test_it[faq].json: refund",
        ]
        assert err == ""

    def test_an_unreadable_baseline_is_a_note(self, capsys, folder):
        store(folder)
        store(folder, "test_search/test_broken[faq]").write_text("{")
        strange = '{"format": "pytest-irmetrics run", "version": 1, "golden_set": "a/%s", "queries": []}'
        for number, name in enumerate(("\\u0000", "\\ud800")):
            store(folder, f"test_search/test_strange{number}").write_text(strange % name)
        out, err = shown(capsys, "golden/faq.yaml", "refund")
        assert "test_it[faq].json: refund" in out
        assert err.startswith(
            "note: ir_baselines/test_search/test_broken[faq].json:1: the file was cut short. "
        )
        assert len(err.splitlines()) == 1

    def test_without_a_baseline_says_how_to_store_one(self, capsys):
        out, _ = shown(capsys, "golden/faq.yaml", "refund")
        assert out.endswith("Store one (pytest\n--ir-baseline-update), or name a run (--run RUN).\n")

    def test_option_baseline_dir(self, capsys, folder):
        store(folder)
        (folder / "ir_baselines").rename(folder / "snapshots")
        out, _ = shown(capsys, "golden/faq.yaml", "refund", "--baseline-dir", "snapshots")
        assert "snapshots/test_search/test_it[faq].json: refund" in out
        for wrong in ("", ".", "../x", "/x"):
            with pytest.raises(SystemExit) as caught:
                cli.main(["show", "golden/faq.yaml", "refund", "--baseline-dir", wrong])
            assert caught.value.code == 2
            assert "is no folder beside the tests" in capsys.readouterr().err

    def test_option_run_replaces_the_baselines(self, capsys, folder):
        store(folder)
        (folder / "bm25.run").write_text("refund Q0 d2 1 2 x\nrefund Q0 d1 2 1 x\n")
        out, _ = shown(
            capsys, "golden/faq.yaml", "refund", "--run", "bm25.run", "--metrics", "P@2, mrr(rel=3)"
        )
        assert "ir_baselines" not in out
        assert out.splitlines()[-5:] == [
            "bm25.run: refund",
            "  precision@2 0.5000; mrr(rel=3) 1.0000",
            "  rank  grade  document",
            "     1      3  d2",
            "     2      1  d1",
        ]
        out, _ = shown(capsys, "golden/faq.yaml", "opening hours", "--run", "bm25.run")
        assert out.endswith("bm25.run: has no answer to this query\n")
        _, err = shown(capsys, "golden/faq.yaml", "refund", "--run", "missing.run", status=1)
        assert err.startswith("missing.run: cannot be read: ")

    def test_notes_that_the_query_was_reworded_or_relabelled_since(self, capsys, folder):
        store(
            folder,
            refund=answer("d2", text="refunds", params={"n": 1}, judgments={"d2": 3}, repeats=[("d1", "d2")]),
        )
        out, _ = shown(capsys, "golden/faq.yaml", "refund", "--metrics", "mrr")
        assert "  mrr 0.7500\n" in out
        assert "note: this answered another text or other params: 'refunds' with {\"n\": 1}." in out
        assert "note: this was asked 2 times; scores are averages, and the first ranking is shown." in out
        store(folder, refund=answer("d2", judgments={"d2": 3}))
        out, _ = shown(capsys, "golden/faq.yaml", "refund")
        assert "note: 2 judgments changed since this was stored; the scores are under today's." in out

    def test_metrics_that_cannot_be_scored_are_usage_errors(self, capsys):
        for metrics, told in (
            ("ndccg@5", "unknown metric 'ndccg@5'. Did you mean ndcg@5?"),
            ("latency_p50", "cannot be read off a stored run"),
            (" ,", "there is no metric in it"),
        ):
            assert told in usage_error(capsys, "show", "golden/faq.yaml", "refund", "--metrics", metrics)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_control_characters_are_escaped_in_any_encoding(folder, encoding):
    quoted = '"caf\\u00e9 \\u65e5 \\e[31m\\r\\n::error::x ##vso[task] \\u202e\\x9b\\x7f"'
    (folder / "golden" / "faq.yaml").write_text(
        f"queries:\n- {{query: {quoted}, relevant: [{quoted}], note: {quoted}, tags: [{quoted}], params: {{{quoted}: {quoted}}}}}\n"
    )
    store(folder, **{HOSTILE: Answer(((HOSTILE, "b"),), "other" + HOSTILE, {"a": HOSTILE}, {}, 1.0)})
    done = run_script("show", "golden/faq.yaml", HOSTILE, encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert_escaped(done.stdout.decode(encoding))
