"""Command `diff`: two runs compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.run import Answer, Run
from tests.unit.cli.console import HOSTILE, assert_escaped, run_script, usage_error

GOLDEN = """\
queries:
- {id: refund, query: refund policy, relevant: {d1: 3, d2: 1}, forbidden: [bad], weight: 2}
- {id: hours, query: opening hours, relevant: [h1]}
- {id: hard, query: hard one, relevant: [x1], xfail: TICKET-7}
- {id: empty, query: asdf, no_answer: true}
"""
BEFORE = {
    "refund": Answer((("d1", "a", "d2"),), "refund policy", {}, {"d1": 3, "d2": 1}, 2.0),
    "hours": Answer((("h1", "h2"),), "opening hours", {}, {"h1": 1}, 1.0),
    "hard": Answer((("x2",),), "hard one", {}, {"x1": 1}, 1.0),
    "empty": Answer(((),), "asdf", {}, {}, 1.0),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "faq.yaml").write_text(GOLDEN)
    save(tmp_path / "a.json", BEFORE)
    return tmp_path


def save(path, answers, *changes, depth=10, level=1):
    run = Run.of({**answers, **dict(changes)}, depth=depth, golden_set="faq.yaml", relevance_level=level)
    run.save(path)


def now(query_id, *ranking, **changes):
    return query_id, replace(BEFORE[query_id], rankings=(ranking,), **changes)


def diff(capsys, *arguments, status=0):
    assert cli.main(["diff", *arguments]) == status
    return capsys.readouterr()


def cells(out):
    """The table's rows by metric."""
    rows = out.split("\n\n")[1].partition("\nnote: ")[0].splitlines()[1:]
    return {row.split()[0]: row.split()[1:] for row in rows}


def test_a_run_that_has_texts_says_that_an_answer_was_empty(capsys, folder):
    fewer = {**BEFORE, "hours": replace(BEFORE["hours"], text=None)}
    del fewer["refund"]
    save(folder / "b.json", fewer)
    out, _ = diff(capsys, "a.json", "b.json", "--metrics", "mrr")
    assert "1 query only in a.json: refund." in out


class TestTable:
    def test_names_metrics_whole_on_a_narrow_terminal(self, capsys, folder, monkeypatch):
        monkeypatch.setenv("COLUMNS", "66")
        save(folder / "b.json", BEFORE, now("refund", "a", "b", "d1"))
        name = "rbp(p=0.812345678912)@3"
        assert name in diff(capsys, "a.json", "b.json", "--metrics", name).out.split("\n\n")[1]

    def test_prints_means_counts_and_moved_queries(self, capsys, folder):
        save(folder / "b.json", BEFORE, now("refund", "a", "b", "d1"), now("empty", "z"))
        out, err = diff(capsys, "a.json", "b.json", "--metrics", "ndcg@3,mrr", "--metrics", "no_answer")
        assert err == ""
        assert out.splitlines() == [
            "baseline  a.json: 4 queries",
            "now       b.json: 4 queries",
            "",
            "metric     baseline     now    delta  n  worse  better  same",
            "ndcg@3       0.7320  0.4566  −0.2754  3      1       0     2",
            "mrr          0.7500  0.4167  −0.3333  3      1       0     2",
            "no_answer    1.0000  0.0000  −1.0000  1      1       0     0",
            "",
            "Mostly documents ranked lower: of those returned on both sides 1 fell and 0 rose (−0.2066 of",
            "ndcg@10); 1 relevant document dropped out of the first 10 and 0 came in.",
            "",
            "1 query moved ndcg@3:",
            "",
            "refund",
            "  refund policy",
            "  ndcg@3 0.9639 → 0.4131; mrr 1.0000 → 0.3333",
            "  was  now     grade  document",
            "    1    3         3  d1",
            "    3    -         1  d2",
            "    2    1  unjudged  a",
            "    -    2  unjudged  b",
        ]

    def test_a_golden_set_judges_runs_without_judgments(self, capsys, folder):
        (folder / "a.run").write_text("refund Q0 d2 1 2 x\nrefund Q0 bad 2 1 x\nhours Q0 h1 1 1 x\n")
        (folder / "b.run").write_text("refund Q0 d1 1 2 x\nhours Q0 h1 1 1 x\nhard Q0 x1 1 1 x\n")
        out, _ = diff(capsys, "a.run", "b.run", "--golden", "faq.yaml", "--metrics", "ndcg@10")
        assert cells(out) == {"ndcg@10": ["0.5169", "0.8842", "+0.3672", "2", "0", "1", "1"]}
        notes, _, moved = out.partition("note: ")[2].partition("\n\n")
        assert notes.splitlines() == [
            "1 query only in b.run (a TREC run does not say that an answer was empty): hard.",
            "note: 1 query of the golden set in neither run: empty.",
        ]
        assert moved.splitlines()[2:] == [
            "faq.yaml:2: refund",
            "  refund policy",
            "  ndcg@10 0.2754 → 0.8262",
            "  was  now      grade  document",
            "    1    -          1  d2",
            "    -    1          3  d1",
            "    2    -  forbidden  bad",
        ]

    def test_runs_without_judgments_need_a_golden_set(self, capsys, folder):
        (folder / "a.run").write_text("refund Q0 d2 1 2 x\n")
        out, err = diff(capsys, "a.run", "a.run", status=1)
        assert out == ""
        assert err == "a.run:1: Neither run has judgments to score it by. Name a golden set: --golden FILE.\n"

    def test_judgments_of_one_run_serve_both(self, capsys, folder):
        (folder / "b.run").write_text("refund Q0 d1 1 2 x\nnew Q0 d1 1 2 x\n")
        for pair in (("a.json", "b.run"), ("b.run", "a.json")):
            out, _ = diff(capsys, *pair, "--metrics", "mrr")
            assert cells(out)["mrr"][:4] == ["1.0000", "1.0000", "0.0000", "1"]
            assert "No query moved.\n" in out
            assert "note: 1 query only in b.run: new." in out
            assert "note: 3 queries only in a.json (a TREC run" in out

    def test_orders_queries_by_their_effect_on_the_mean(self, capsys, folder):
        save(folder / "b.json", BEFORE, now("refund", "a"), now("hours"), now("hard", "x1"))
        out, _ = diff(capsys, "a.json", "b.json", "--metrics", "mrr")
        shown = [line for line in out.splitlines() if line in BEFORE]
        assert shown == ["refund", "hard", "hours"]  # by twice −1, 1 and −1: ties go by id
        out, _ = diff(capsys, "a.json", "b.json", "--metrics", "mrr", "--queries", "1")
        assert "Of 3 queries that moved mrr, the 1 that moved it most (--queries N):" in out
        assert [line for line in out.splitlines() if line in BEFORE] == ["refund"]
        assert diff(capsys, "a.json", "b.json", "--metrics", "mrr", "--queries", "9" * 9)
        out, _ = diff(capsys, "a.json", "b.json", "--metrics", "mrr", "--queries", "0")
        assert "queries that moved" not in out
        assert out.splitlines()[-1].endswith("dropped out of the first 10 and 1 came in.")

    def test_orders_queries_by_ndcg_by_default(self, capsys, folder):
        save(folder / "b.json", BEFORE, now("refund", "d1", "d2", "a"))
        assert "1 query moved ndcg@10:" in diff(capsys, "a.json", "b.json")[0]
        save(folder / "c.json", BEFORE, now("refund", "a", "d1", "d2"))
        assert "1 query moved ndcg@10:" in diff(capsys, "a.json", "c.json", "--metrics", "mrr,ndcg@10")[0]
        assert "1 query moved mrr:" in diff(capsys, "a.json", "c.json", "--metrics", "mrr,map")[0]
        out, _ = diff(capsys, "a.json", "b.json", "--metrics", "mrr,map")  # mrr did not move
        assert "1 query moved map:" in out

    def test_names_two_documents_that_overtook_a_fallen_one(self, capsys, folder):
        save(folder / "b.json", BEFORE, now("hours", "x", "y", "z", "h1"))
        out, _ = diff(capsys, "a.json", "b.json", "--metrics", "mrr")
        assert [line.split()[-1] for line in out.splitlines()[-3:]] == ["h1", "x", "y"]

    def test_cuts_an_id_that_does_not_fit_the_terminal(self, capsys, folder):
        grades = {"r" * 200: 1, "s" * 200: 1}
        save(folder / "a.json", {"q": Answer((tuple(grades),), "q", {}, grades, 1.0)})
        save(folder / "b.json", {"q": Answer(((),), "q", {}, grades, 1.0)})
        out, _ = diff(capsys, "a.json", "b.json", "--metrics", "recall@10")
        assert max(map(len, out.splitlines())) == 100
        assert out.endswith("s…\n")

    def test_cuts_a_long_list_of_documents(self, capsys, folder):
        grades = {f"r{n}": 1 for n in range(30)}
        save(folder / "a.json", {"q": Answer((tuple(grades),), "q", {}, grades, 1.0)}, depth=30)
        save(folder / "b.json", {"q": Answer(((),), "q", {}, grades, 1.0)}, depth=30)
        out, _ = diff(capsys, "a.json", "b.json", "--metrics", "recall@30")
        assert out.endswith("   10    -      1  r9\n  and 20 more documents\n")


class TestNotes:
    def test_reworded_queries_and_changed_judgments(self, capsys, folder):
        save(
            folder / "b.json",
            BEFORE,
            now("refund", "d1", text="refunds"),
            now("hours", "h1", judgments={"h1": 2, "h2": 1}),
        )
        out, _ = diff(capsys, "a.json", "b.json", "--metrics", "mrr")
        assert (
            "note: 1 query asked in other words, with other params or for other passages, and not compared: refund."
            in out.replace("\n  ", " ")
        )
        assert (
            "note: 2 judgments changed since a.json was stored; both sides are scored under the later ones. In: hours."
            in out.replace("\n  ", " ")
        )
        for pair in (("a.json", "b.json"), ("b.json", "a.json")):  # the golden set's words are a.json's
            out, _ = diff(capsys, *pair, "--golden", "faq.yaml", "--metrics", "mrr")
            assert "not compared: refund." in out.replace("\n  ", " ")
            assert "note: 1 query marked xfail, and in no mean: hard." in out
            assert cells(out)["mrr"][3] == "1"

    def test_changed_weights_and_relevance_level(self, capsys, folder):
        save(folder / "b.json", BEFORE, now("refund", "d1", "a", "d2", weight=5.0), level=2)
        out = " ".join(diff(capsys, "a.json", "b.json").out.split())
        assert (
            "note: The weights of 1 query changed since a.json was stored; both means have the later ones: refund."
            in out
        )
        assert "note: The relevance level is 2, and was 1 when a.json was stored" in out

    def test_different_depths(self, capsys, folder):
        save(folder / "b.json", BEFORE, now("refund", "a", "b"), depth=2)
        out, _ = diff(capsys, "a.json", "b.json", "--metrics", "recall@2,recall@3,recall")
        assert list(cells(out)) == ["recall@2", "recall"]
        assert "note: The depths differ, 10 and 2; both are cut at 2." in out
        assert "Nothing is known beyond 2 results, so these are left out: recall@3." in out.replace(
            "\n  ", " "
        )
        assert "d2" not in out  # beyond the cut on one side, so that it cannot have moved

    def test_runs_without_a_common_query(self, capsys, folder):
        save(folder / "b.json", {"other": BEFORE["hours"]})
        out, _ = diff(capsys, "a.json", "b.json")
        assert "There is nothing to compare.\n" in out
        assert "No query moved" not in out

    def test_queries_without_judgments(self, capsys, folder):
        for name in ("a.json", "b.json"):
            save(folder / name, BEFORE, now("hours", "h1", judgments=None))
        out, _ = diff(capsys, "a.json", "b.json")
        assert "note: 1 query of both without judgments: hours." in out

    def test_repeats_are_averaged(self, capsys, folder):
        save(folder / "b.json", BEFORE, ("hours", replace(BEFORE["hours"], rankings=(("h1",), ("h2",)))))
        out, _ = diff(capsys, "a.json", "b.json", "--metrics", "mrr")
        assert "  mrr 1.0000 → 0.5000" in out


class TestErrors:
    def test_of_a_corpus_that_cannot_be_read_nothing_is_printed_before_the_error(self, capsys, folder):
        save(folder / "b.json", BEFORE, now("refund", "a", "d1"))
        out, err = diff(capsys, "a.json", "b.json", "--corpus", "missing.jsonl", status=1)
        assert (out, err.startswith("missing.jsonl: cannot be read: ")) == ("", True)

    def test_an_unreadable_run(self, capsys, folder):
        (folder / "cut.json").write_text("{")
        for pair in (("a.json", "cut.json"), ("cut.json", "a.json")):
            out, err = diff(capsys, *pair, status=1)
            assert (out, err.startswith("cut.json:1: the file was cut short. ")) == ("", True)
        assert "missing.run: cannot be read" in diff(capsys, "missing.run", "a.json", status=1)[1]
        assert (
            "faq.yml:1:1: There is no such file"
            in diff(capsys, "a.json", "a.json", "--golden", "faq.yml", status=1)[1]
        )

    @pytest.mark.parametrize("weight", [1e-320, 1e300])
    def test_a_weight_out_of_range(self, capsys, folder, weight):
        save(folder / "b.json", BEFORE, now("hours", "h1", weight=weight))
        _, err = diff(capsys, "a.json", "b.json", status=1)
        assert err.startswith("b.json:10: query 'hours': `weight` is not a number above 0")

    def test_a_grade_out_of_range(self, capsys, folder):
        save(folder / "b.json", BEFORE, now("hours", "h1", judgments={"h1": 10**400}))
        _, err = diff(capsys, "a.json", "b.json", status=1)
        assert "`judgments` is not an object of numbers up to 1000" in err

    def test_usage_errors(self, capsys):
        for arguments, told in (
            (["a.json"], "required: B"),
            (["a.json", "a.json", "--queries", "-1"], "'-1' is no count"),
            (["a.json", "a.json", "--queries", "9" * 10], "is no count"),
            (["a.json", "a.json", "--queries", "9" * 5000], "is no count"),
            (["a.json", "a.json", "--queries", "\u0663"], "is no count"),
            (["a.json", "a.json", "--metrics", "latency_p95"], "cannot be read off a stored run"),
        ):
            assert told in usage_error(capsys, "diff", *arguments)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_control_characters_are_escaped_in_any_encoding(folder, encoding):
    before = Answer(((HOSTILE, "b"),), "x" + HOSTILE, {}, {HOSTILE: 1}, 1.0)
    save(folder / "a.json", {HOSTILE: before, "y" + HOSTILE: before})
    save(folder / "b.json", {HOSTILE: replace(before, rankings=(("b", HOSTILE),))})
    done = run_script("diff", "a.json", "b.json", encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert_escaped(done.stdout.decode(encoding))


class TestOrder:
    IDS = ("u7", "u3", "u1", "u6", "u4", "u2", "u5")

    def test_queries_of_a_note_are_sorted(self, capsys, folder):
        for name, only in (("a", ("w5", "w3", "w1", "w4", "w2", "w6")), ("b", ())):
            text = "".join(f"{query_id} Q0 h1 1 1 x\n" for query_id in ("hours", *self.IDS, *only))
            (folder / f"{name}.run").write_text(text)
        out = " ".join(diff(capsys, "a.run", "b.run", "--golden", "faq.yaml")[0].split())
        assert "7 queries of both without judgments: u1, u2, u3, u4, u5, u6, u7." in out
        assert ": w1, w2, w3, w4, w5, w6." in out

    def test_queries_in_other_words_are_sorted(self, capsys, folder):
        golden = [f"- {{id: {query_id}, query: {query_id}, relevant: d}}\n" for query_id in self.IDS]
        (folder / "many.yaml").write_text("queries:\n" + "".join(golden))
        save(folder / "a.json", {query_id: Answer((("d",),), query_id, {}) for query_id in self.IDS})
        save(folder / "b.json", {query_id: Answer((("d",),), "other", {}) for query_id in self.IDS})
        out = " ".join(diff(capsys, "a.json", "b.json", "--golden", "many.yaml")[0].split())
        assert "not compared: u1, u2, u3, u4, u5, u6, u7." in out
