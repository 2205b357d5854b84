"""Command `label`: the list of documents to judge, and appended judgments."""

from __future__ import annotations

import csv
import io
import json
import os
import stat

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.run import Answer, Run
from tests.unit.cli.console import usage_error

GOLDEN = """\
# by hand
queries:
  - id: refund
    query: refund policy
    relevant: [d1]        # the page
    forbidden: [bad]
  - {query: opening hours, relevant: {d9: 2}}
  - {id: nothing, query: asdf, no_answer: true}
"""
RUN = {"refund": ["u1", "d1", "u2"], "opening hours": ["d9", "0123"], "nothing": []}
TEXTS = {"refund": "refund policy", "opening hours": "opening hours", "nothing": "asdf"}
FILE = "golden/faq.yaml"


def store(folder, rankings, name="test_it[faq]"):
    path = folder / "ir_baselines" / "test_search" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    answers = {query: Answer((tuple(ranking),), TEXTS[query]) for query, ranking in rankings.items()}
    Run.of(answers, depth=10, golden_set=FILE, relevance_level=1).save(path)
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "golden").mkdir()
    (tmp_path / FILE).write_text(GOLDEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    store(tmp_path, RUN)
    return tmp_path


def label(capsys, *arguments, status=0, file=FILE):
    assert cli.main(["label", file, *arguments]) == status
    return capsys.readouterr()


class TestList:
    def test_option_limit_cuts_the_list(self, capsys):
        out, _ = label(capsys, "--limit", "1")
        lead = out.partition("  influence")[0].replace("\n", " ")
        assert lead.endswith("are not judged. The 1 on which it hangs most (--limit 3 shows more): ")
        assert out.count("refund policy") == 1
        assert label(capsys, "--limit", "all")[0].count("\n") == 7

    def test_option_query_selects_queries(self, capsys):
        out, _ = label(capsys, "--query", "refund", "--by", "mrr")
        assert (
            out.splitlines()[0]
            == "golden/faq.yaml: 1 returned document of refund that mrr looks at is not judged."
        )
        assert "u1" in out
        assert (
            "There is no query 'refnd'. Did you mean 'refund'?"
            in label(capsys, "--query", "refnd", status=1).err
        )

    def test_a_fully_judged_set_has_an_empty_list(self, capsys, folder):
        store(folder, {"refund": ["d1"], "opening hours": ["d9"], "nothing": []})
        out, _ = label(capsys)
        assert out == "golden/faq.yaml: 0 of the 2 returned documents that ndcg@10 looks at are not judged.\n"

    def test_two_runs_are_pooled_in_place_of_the_baselines(self, capsys, folder):
        (folder / "one.run").write_text("refund Q0 a 1 3 x\nrefund Q0 b 2 2 x\n")
        (folder / "two.run").write_text("refund Q0 b 1 3 x\nopening\\u0020hours Q0 c 2 2 x\n")
        out, err = label(capsys, "--run", "one.run", "--run", "two.run")
        assert out.splitlines()[1:6] == [
            "  rank 1: in one.run",
            "  rank 2: in two.run",
            "  influence  rank 1  rank 2  document  query",
            "     0.3066       1       -  a         refund: refund policy",
            "     0.3066       2       1  b         refund: refund policy",
        ]
        assert (
            err.count("note: one.run: 1 query was not asked, or in other words, and left out: opening hours")
            == 1
        )

    def test_one_run_is_pooled_with_the_baselines(self, capsys):
        Run({"refund": ["n1", "d1"], "opening hours": ["d9"], "nothing": []}).save("now.json")
        out, err = label(capsys, "--run", "now.json")
        assert out.splitlines()[:8] == [
            "golden/faq.yaml: 4 of the 6 returned documents that ndcg@10 looks at are not judged.",
            "  rank 1: in ir_baselines/test_search/test_it[faq].json",
            "  rank 2: in now.json",
            "  influence  rank 1  rank 2  document  query",
            "     0.3066       -       1  n1        refund: refund policy",
            "     0.3066       1       -  u1        refund: refund policy",
            "     0.1934       2       -  0123      opening hours",
            "     0.1533       3       -  u2        refund: refund policy",
        ]
        assert err == ""

    def test_a_baseline_that_is_named_is_not_pooled_with_itself(self, capsys):
        assert label(capsys, "--run", "ir_baselines/test_search/test_it[faq].json").out == label(capsys).out

    def test_a_run_with_none_to_pool_it_with_is_noted(self, capsys, folder):
        (folder / "ir_baselines/test_search/test_it[faq].json").rename(folder / "now.json")
        out, err = label(capsys, "--run", "now.json")
        assert "3 of the 5 returned documents" in out
        assert err == (
            "note: golden/faq.yaml: No other run is at hand to pool with now.json. Name the one that it is compared with, "
            "too (--run): judging one run's documents alone favours that run.\n"
        )

    def test_prints_json(self, capsys):
        listed = json.loads(label(capsys, "--json", "--limit", "1").out)
        assert listed == [
            {
                "id": "refund",
                "query": "refund policy",
                "docid": "u1",
                "influence": pytest.approx(0.3066, abs=1e-4),
                "ranks": [1],
                "file": FILE,
                "line": 3,
            }
        ]

    def test_without_a_run_exits_with_1(self, capsys, folder):
        (folder / "ir_baselines" / "test_search" / "test_it[faq].json").unlink()
        _, err = label(capsys, status=1)
        assert err == (
            "golden/faq.yaml: No baseline of this golden set is in a folder ir_baselines of this project. Store one "
            "(pytest --ir-baseline-update), or name a run (--run RUN).\n"
        )

    @pytest.mark.parametrize("repository", [True, False])
    @pytest.mark.parametrize("file", [FILE, "{}/golden/faq.yaml"])
    def test_finds_the_baselines_of_tests_beside_the_golden_sets(self, capsys, folder, repository, file):
        (folder / "ir_baselines").rename(folder / "elsewhere")
        if not repository:
            (folder / ".git").rmdir()
        for test_folder, golden_set in (
            ("tests/search", "../../golden/faq.yaml"),
            ("other", "golden/faq.yaml"),
        ):
            path = store(folder / test_folder, RUN)
            text = path.read_text().replace(f'"{FILE}"', f'"{golden_set}"')
            path.write_text(text)
        (folder / "other/ir_baselines/test_search/damaged.json").write_text("{")
        out, err = label(capsys, file=file.format(folder))
        assert "3 of the 5 returned documents" in " ".join(out.split())
        assert err.startswith("note: other/ir_baselines/test_search/damaged.json:1: the file was cut short.")
        assert cli.main(["show", FILE, "refund"]) == 0
        assert "tests/search/ir_baselines/test_search/test_it[faq].json" in capsys.readouterr().out

    def test_control_characters_are_escaped(self, capsys, folder):
        store(folder, {"refund": ["\x1b[31mred", "##[error]x"], "opening hours": [], "nothing": []})
        for arguments in ((), ("--json",)):
            out, _ = label(capsys, *arguments)
            assert "\x1b" not in out
            assert "##[" not in out


class TestCsv:
    def test_is_written_and_read_back(self, capsys, folder):
        out, _ = label(capsys, "--out", "todo.csv")
        assert out == (
            "todo.csv: 3 documents to judge. Fill in the column rating, and then: pytest-irmetrics label golden/faq.yaml "
            "--from todo.csv\n"
        )
        data = (folder / "todo.csv").read_bytes()
        assert data.startswith(b"\xef\xbb\xbfid,query,docid,rating,rank,influence\r\n")
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
        assert [(row["id"], row["docid"], row["rating"], row["rank"]) for row in rows] == [
            ("refund", "u1", "", "1"),
            ("opening hours", "0123", "", "2"),
            ("refund", "u2", "", "3"),
        ]
        filled = data.replace(b"u1,,", b"u1,0,").replace(b"0123,,", b"0123, 2.5 ,")
        (folder / "todo.csv").write_bytes(filled)
        out, err = label(capsys, "--from", "todo.csv")
        assert out.splitlines() == [
            "golden/faq.yaml:5: refund: u1 0",
            "golden/faq.yaml:7: opening hours: 0123 2.5",
            "golden/faq.yaml: 2 judgments appended.",
        ]
        assert err == ""
        assert (folder / FILE).read_text() == GOLDEN.replace("[d1]", "{d1: 1, u1: 0}").replace(
            "{d9: 2}", '{d9: 2, "0123": 2.5}'
        )
        out, _ = label(capsys, "--from", "todo.csv")
        assert out == "golden/faq.yaml: 0 judgments appended, 2 there already.\n"

    @pytest.mark.parametrize("separator", ",;\t")
    def test_reads_any_separator(self, capsys, folder, separator):
        rows = ["Query,DocID ,Rating", "refund policy,u1,3", "", "opening hours,0123,"]
        (folder / "todo.csv").write_text("\n".join(rows).replace(",", separator))
        assert "1 judgment appended" in label(capsys, "--from", "todo.csv").out
        assert "relevant: {d1: 1, u1: 3}        # the page" in (folder / FILE).read_text()

    def test_formulas_are_guarded(self, capsys, folder):
        ids = ["=1+1", "-wtIMTCHWuI", "@d", " -x", "-5"]
        text = GOLDEN.replace("id: refund", "id: +refund").replace("query: refund policy", "query: =SUM(A1)")
        (folder / FILE).write_text(text)
        Run({"+refund": ids}).save("a.run.json")
        (folder / "ir_baselines/test_search/test_it[faq].json").unlink()
        label(capsys, "--run", "a.run.json", "--out", "todo.csv")
        rows = list(csv.reader(io.StringIO((folder / "todo.csv").read_text("utf-8-sig"))))[1:]
        assert [row[:3] for row in rows] == [
            [" +refund", " =SUM(A1)", shown] for shown in (" =1+1", " -wtIMTCHWuI", " @d", "  -x", "-5")
        ]
        with (folder / "todo.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["id", "query", "docid", "rating"], *([*row[:3], 0] for row in rows)])
        out, err = label(capsys, "--from", "todo.csv", "--run", "a.run.json")
        assert "5 judgments appended" in out
        assert err == ""
        assert dict(GoldenSet.load(FILE).queries["+refund"].judgments) == {"d1": 1} | dict.fromkeys(ids, 0)

    def test_a_text_of_two_queries_is_ambiguous(self, capsys, folder):
        (folder / FILE).write_text(GOLDEN + "  - {id: other, query: refund policy, relevant: [d1]}\n")
        (folder / "todo.csv").write_text("query,docid,rating\nrefund policy,u1,1\n")
        _, err = label(capsys, "--from", "todo.csv", status=1)
        assert err == (
            "todo.csv:2: 2 queries of the golden set ask 'refund policy'. Keep the column id as it was written.\n"
        )

    @pytest.mark.parametrize("header", ["id,query,docid,rating", "x,query,docid,rating", "id,x,docid,rating"])
    def test_a_text_of_several_lines_is_found_with_other_line_ends(self, capsys, folder, header):
        (folder / FILE).write_text('queries:\n  - {query: "a\\nb", relevant: [d1]}\n')
        (folder / "todo.csv").write_bytes(f'{header}\r\n"a\r\nb","a\r\nb",d2,1\r\n'.encode())
        assert "1 judgment appended" in label(capsys, "--from", "todo.csv").out

    def test_never_overwrites_a_file(self, capsys, folder):
        (folder / "todo.csv").write_text("mine")
        assert (
            "todo.csv: is there already, perhaps with ratings"
            in label(capsys, "--out", "todo.csv", status=1).err
        )
        assert (folder / "todo.csv").read_text() == "mine"
        assert "Give it a name that ends in .csv" in label(capsys, "--out", "todo.txt", status=1).err

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("id,docid\nrefund,u1\n", "todo.csv:1: There is no column rating."),
            ("docid,rating\nu1,1\n", "todo.csv:1: There is no column id."),
            ("", "todo.csv:1: There is no column docid."),
            ("id,docid,rating\nx,u1,1\n", "todo.csv:2: There is no query 'x' in the golden set."),
            ("id,docid,rating\nrefund,u1,good\n", "todo.csv:2: 'good' is no grade."),
            ("id,docid,rating\nrefund,u1,1001\n", "todo.csv:2: '1001' is no grade."),
            ("id,docid,rating\nrefund,,1\n", "todo.csv:2: There is no docid."),
            (
                "id,docid,rating\nrefund,d1,2\n",
                "todo.csv:2: 'refund' grades 'd1' 1 already (golden/faq.yaml:5)",
            ),
            ("id,docid,rating\nrefund,u,2\nrefund,u,1\n", "todo.csv:3: 'refund' grades 'u' 2 already"),
            (
                "id,docid,rating\nrefund,bad,1\n",
                "todo.csv:2: 'bad' is forbidden for 'refund' (golden/faq.yaml:6)",
            ),
            (
                "id,docid,rating\nnothing,u,1\n",
                "todo.csv:2: 'nothing' is a `no_answer` query (golden/faq.yaml:8)",
            ),
            ("id,docid,rating\n" + "x" * 200_000, "todo.csv:1: This is not CSV: field larger"),
            ("id,docid,rating\nrefund,\xff,1\n", "todo.csv:1: This is not UTF-8."),
        ],
    )
    def test_an_invalid_file_changes_nothing(self, capsys, folder, text, words):
        (folder / "todo.csv").write_bytes(text.encode("latin-1"))
        assert words in label(capsys, "--from", "todo.csv", status=1).err
        assert (folder / FILE).read_text() == GOLDEN

    def test_reports_all_problems_at_once(self, capsys, folder):
        (folder / "todo.csv").write_text("id,docid,rating\nrefund,u1,1\nx,u1,y\nrefund,,1\n")
        _, err = label(capsys, "--from", "todo.csv", status=1)
        assert [line.split(": ")[0] for line in err.splitlines()] == [
            "todo.csv:3",
            "todo.csv:3",
            "todo.csv:4",
        ]
        assert (folder / FILE).read_text() == GOLDEN

    def test_a_missing_file(self, capsys):
        assert "none.csv: cannot be read: No such file" in label(capsys, "--from", "none.csv", status=1).err


class TestJudging:
    def test_appends_judgments_of_the_command_line(self, capsys, folder):
        out, err = label(capsys, "--judge", "refund", "u1", "1", "--judge", "opening hours", "0123", "0")
        assert out.splitlines()[-1] == "golden/faq.yaml: 2 judgments appended."
        assert err == ""
        assert (folder / FILE).read_text() == GOLDEN.replace("[d1]", "[d1, u1]").replace(
            "{d9: 2}", '{d9: 2, "0123": 0}'
        )

    def test_notes_an_id_that_no_run_returned(self, capsys):
        _, err = label(capsys, "--judge", "refund", "u-1", "1")
        assert (
            err
            == "note: No run returned u-1, for any query. Check that the ids are spelt as the index spells them.\n"
        )

    def test_ids_that_look_like_options(self, capsys, folder):
        (folder / FILE).write_text(GOLDEN.replace("id: refund", "id: -refund"))
        label(capsys, "--judge", "-refund", "-wtIMTCHWuI", "1", "--judge", "opening hours", "--run", "0")
        assert "relevant: [d1, -wtIMTCHWuI]" in (folder / FILE).read_text().replace('"', "")
        assert "--run" in GoldenSet.load(FILE).queries["opening hours"].judgments
        assert "expected 3 arguments" in usage_error(
            capsys, "label", FILE, "--judge", "refund", "-x", "--limit", "3"
        )

    def test_takes_an_id_as_the_list_prints_it(self, capsys, folder):
        store(folder, {"refund": ["one\nline", "a\\tb", "a\tb"], "opening hours": [], "nothing": []})
        out, _ = label(capsys)
        assert r" one\nline " in out
        out, err = label(capsys, "--judge", "refund", r"one\nline", "1", "--judge", "refund", r"a\tb", "0")
        assert err == ""
        assert dict(GoldenSet.load(FILE).queries["refund"].judgments) == {"d1": 1, "one\nline": 1, "a\\tb": 0}
        assert "1 there already" in label(capsys, "--judge", "refund", r"one\nline", "1")[0]

    def test_needs_no_run(self, capsys, folder):
        (folder / "ir_baselines" / "test_search" / "test_it[faq].json").unlink()
        assert label(capsys, "--judge", "refund", "u-1", "1").err == ""

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (("x", "u", "1"), "There is no query 'x'."),
            (("refund", "u", "good"), "--judge refund u good: 'good' is no grade."),
            (("refund", "", "1"), "The document's id is empty"),
            (("refund", "d1", "0"), "--judge refund d1 0: 'refund' grades 'd1' 1 already"),
        ],
    )
    def test_refuses_invalid_judgments(self, capsys, folder, given, words):
        assert words in label(capsys, "--judge", *given, status=1).err
        assert (folder / FILE).read_text() == GOLDEN

    def test_reports_what_cannot_be_appended_to(self, capsys, folder):
        text = GOLDEN.replace("relevant: [d1]", "relevant: &r [d1]") + "  - {query: b, relevant: *r}\n"
        (folder / FILE).write_text(text)
        assert (
            "golden/faq.yaml:9:26: `relevant` is shared"
            in label(capsys, "--judge", "b", "u", "1", status=1).err
        )
        assert (folder / FILE).read_text() == text

    def test_only_yaml_is_appended_to(self, capsys, monkeypatch):
        golden = GoldenSet.load(FILE)
        monkeypatch.setattr(GoldenSet, "load", lambda *_, **__: golden)
        _, err = label(capsys, "--judge", "refund", "u", "1", status=1, file="golden/faq.qrels")
        assert err.startswith("golden/faq.qrels: Judgments are appended to YAML alone.")

    @pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
    def test_keeps_the_mode_and_refuses_a_read_only_file(self, capsys, folder):
        path = folder / FILE
        path.chmod(0o640)
        label(capsys, "--judge", "refund", "u1", "1")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o440)
        before = path.read_text()
        assert "is read-only" in label(capsys, "--judge", "refund", "u2", "1", status=1).err
        assert path.read_text() == before

    def test_option_metric_declares_custom_metrics(self, capsys, folder):
        (folder / FILE).write_text("thresholds: {freshness: 0.5}\n" + GOLDEN)
        assert "Unknown metric 'freshness'" in label(capsys, status=1).err
        assert "u1" in label(capsys, "--metric", "freshness").out
