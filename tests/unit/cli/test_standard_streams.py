"""Commands that read standard input and write standard output, where a file is called ``-``."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.reports import json as json_report
from pytest_irmetrics.reports import markdown
from pytest_irmetrics.run import Run
from tests.unit.cli.console import run_script, usage_error
from tests.unit.reports.samples import broken, failing, passing

YAML = """\
# for people
queries:
  - id: refund
    query: refund policy
    relevant: {doc-9: 3, doc-4: 1}
  - id: hours
    query: opening hours
    relevant: doc-1
"""
TREC_RUN = "refund Q0 doc-4 1 2 x\nrefund Q0 doc-7 2 1 x\nhours Q0 doc-1 1 1 x\n"


class Piped(io.TextIOWrapper):
    """Standard input that holds some bytes."""

    def __init__(self, data):
        super().__init__(io.BytesIO(data.encode() if isinstance(data, str) else data), encoding="utf-8")


@pytest.fixture
def run(tmp_path, monkeypatch, capsysbinary):
    """Run a command with something on standard input; return standard output, as bytes, and the lines on standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    Path("faq.yaml").write_text(YAML)
    Path("bm25.run").write_text(TREC_RUN)

    def run(*arguments, stdin="", status=0):
        monkeypatch.setattr("sys.stdin", Piped(stdin))
        assert cli.main(arguments) == status
        out, err = capsysbinary.readouterr()
        return out, err.decode().splitlines()

    return run


class TestCheck:
    def test_reads_yaml(self, run):
        out, err = run("check", "-", stdin=YAML)
        assert out == b"-: 2 queries, 0 tags, relevance level 1, no thresholds\n"
        assert err == []

    def test_reads_packed_yaml(self, run):
        out, _ = run("check", "-", stdin=gzip.compress(YAML.encode()))
        assert out.startswith(b"-: 2 queries, ")

    def test_names_line_and_column_of_what_is_wrong(self, run):
        out, _ = run("check", "-", "faq.yaml", stdin="queries:\n  - query: x\n    relevent: y\n", status=1)
        assert out.startswith(b"-:3:5: ")
        assert b"\nfaq.yaml: 2 queries" in out

    @pytest.mark.parametrize(
        ("form", "text"),
        [
            ("jsonl", '{"query": "a", "relevant": ["d"]}\n{"query": "b", "relevant": ["d"]}\n'),
            ("csv", "query,docid,rating\na,d,1\nb,d,1\n"),
            ("tsv", "query\tdocid\trating\na, or b\td\t1\nb\td\t1\n"),
            ("trec", "a 0 d 1\nb 0 d 1\n"),
        ],
    )
    def test_reads_what_from_says(self, run, form, text):
        out, _ = run("check", "-", "--from", form, stdin=text)
        assert out.startswith(b"-: 2 queries, ")

    def test_from_says_it_also_of_a_file(self, run):
        Path("qrels.robust04.txt").write_text("a 0 d 1\n")
        out, _ = run("check", "qrels.robust04.txt", "--from", "trec")
        assert out.startswith(b"qrels.robust04.txt: 1 query, ")

    def test_json_names_it(self, run):
        out, _ = run("check", "--json", "-", stdin=YAML)
        assert {(query["file"], query["line"]) for query in json.loads(out)} == {("-", 3), ("-", 6)}

    def test_standard_input_that_is_closed(self, monkeypatch, capsysbinary):
        closed = Piped("")
        closed.close()
        monkeypatch.setattr("sys.stdin", closed)
        assert cli.main(["check", "-"]) == 1
        assert capsysbinary.readouterr().err.startswith(b"-: Standard input cannot be read: ")
        monkeypatch.setattr("sys.stdin", None)
        assert cli.main(["check", "-"]) == 1
        assert capsysbinary.readouterr().out.startswith(b"-:1:1: ")

    def test_standard_input_of_more_than_a_gigabyte(self, monkeypatch, capsysbinary):
        class Endless:
            buffer = SimpleNamespace(read=range)  # as many bytes as are asked for, in no memory

        monkeypatch.setattr("sys.stdin", Endless())
        assert cli.main(["check", "-"]) == 1
        assert capsysbinary.readouterr().err == b"-: Standard input is larger than 1 GB. Split it.\n"


class TestShowAndDiff:
    def test_show_reads_the_golden_set_or_the_run(self, run):
        of_files, _ = run("show", "faq.yaml", "refund", "--run", "bm25.run")
        out, _ = run("show", "-", "refund", "--run", "bm25.run", stdin=YAML)
        assert out.replace(b"-:3:", b"faq.yaml:3:") == of_files
        out, _ = run("show", "faq.yaml", "refund", "--run", "-", stdin=TREC_RUN)
        assert b"doc-7" in out

    def test_diff_reads_either_run_and_the_golden_set(self, run):
        Path("after.json").write_text(Run({"refund": ["doc-9"], "hours": ["doc-1"]}).dumps())
        of_files, _ = run("diff", "bm25.run", "after.json", "--golden", "faq.yaml")
        for name, arguments in {
            "bm25.run": ("-", "after.json", "--golden", "faq.yaml"),
            "after.json": ("bm25.run", "-", "--golden", "faq.yaml"),
            "faq.yaml": ("bm25.run", "after.json", "--golden", "-"),
        }.items():
            out, _ = run("diff", *arguments, stdin=Path(name).read_text())
            assert out.decode().replace(" -:", f" {name}:").replace("\n-:", f"\n{name}:") == of_files.decode()

    def test_a_run_that_is_named_twice_is_read_once(self, run):
        out, _ = run("diff", "-", "-", "--golden", "faq.yaml", stdin=TREC_RUN)
        assert b"No query moved." in out


class TestLabel:
    LIST = "id,query,docid,rating\nrefund,refund policy,doc-7,2\n"

    def test_edits_a_golden_set_on_its_way(self, run):
        out, err = run("label", "-", "--judge", "refund", "doc-7", "2", stdin=YAML)
        assert out.decode() == YAML.replace("doc-4: 1}", "doc-4: 1, doc-7: 2}")
        assert err == ["-:5: refund: doc-7 2", "-: 1 judgment appended."]

    def test_writes_the_golden_set_that_has_nothing_new(self, run):
        out, err = run("label", "-", "--judge", "refund", "doc-9", "3", stdin=YAML)
        assert out.decode() == YAML
        assert err == ["-: 0 judgments appended, 1 there already."]

    def test_edits_by_passage_on_its_way(self, run):
        out, _ = run("label", "-", "--passage", "hours", "handbook", "thirty days", "1", stdin=YAML)
        assert b"# for people" in out
        assert b"thirty days" in out

    def test_reads_the_list_of_judgments(self, run):
        out, _ = run("label", "faq.yaml", "--from", "-", stdin=self.LIST)
        assert b"1 judgment appended" in out
        assert GoldenSet.load("faq.yaml").queries["refund"].judgments["doc-7"] == 2

    def test_names_the_line_of_a_list_that_is_wrong(self, run):
        _, err = run("label", "faq.yaml", "--from", "-", stdin=self.LIST.replace(",2", ",x"), status=1)
        assert err[0].startswith("-:2: ")

    def test_writes_the_list_of_what_to_judge(self, run):
        out, err = run("label", "faq.yaml", "--run", "-", "--out", "-", stdin=TREC_RUN)
        assert out.decode("utf-8-sig").splitlines()[1].startswith("refund,refund policy,doc-7,,2,")
        assert any(line.startswith("-: 1 document to judge. ") for line in err)


class TestConvert:
    def test_reads_and_writes_a_golden_set(self, run):
        out, err = run("convert", "-", "-", "--from", "yaml", "--to", "jsonl", stdin=YAML)
        assert [json.loads(line)["id"] for line in out.splitlines()] == ["refund", "hours"]
        assert err == [
            "note: Comments and keys that begin with x- are for people, and are not carried over.",
            "-: 2 queries, 3 judgments",
        ]

    @pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "quepid"])
    def test_each_format_is_read_back(self, run, form):
        there, _ = run("convert", "faq.yaml", "-", "--to", form)
        run("convert", "-", "back.yaml", "--from", form, stdin=there)
        back, before = GoldenSet.load("back.yaml"), GoldenSet.load("faq.yaml")
        assert back.name == "back"
        by_text = {query.text: query.judgments for query in before.queries.values()}
        assert {query.text: query.judgments for query in back.queries.values()} == by_text

    def test_qrels_go_without_their_texts(self, run):
        out, err = run("convert", "faq.yaml", "-", "--to", "trec")
        assert out == b"refund 0 doc-9 3\nrefund 0 doc-4 1\nhours 0 doc-1 1\n"
        assert (
            "note: Standard output holds the judgments alone: the texts, of NAME.topics.tsv, are left out."
            in err
        )
        assert not Path("-").exists()
        assert not Path("-.topics.tsv").exists()

    def test_a_folder_cannot_be_standard_output(self, run):
        out, err = run("convert", "faq.yaml", "-", "--to", "beir", status=1)
        assert out == b""
        assert err == ["-: A BEIR folder is several files, and standard output is one. Name a folder."]

    def test_runs_go_both_ways(self, run):
        out, _ = run("convert", "-", "-", "--from", "run", "--to", "json", stdin=TREC_RUN)
        assert Run.loads(out.decode())["refund"] == ("doc-4", "doc-7")
        back, _ = run("convert", "-", "-", "--from", "run", "--to", "run", stdin=out)
        assert back.split()[:4] == [b"hours", b"Q0", b"doc-1", b"1"]

    def test_json_names_the_form_of_a_run_also_for_a_file(self, run):
        run("convert", "bm25.run", "bm25.txt", "--to", "json")
        assert Path("bm25.txt").read_text().startswith("{")

    def test_what_no_name_says_must_be_said(self, run):
        _, err = run("convert", "-", "x.yaml", stdin=YAML, status=1)
        assert err[0].startswith("-: Standard input does not say what it is. Say it: --from yaml, ")
        _, err = run("convert", "faq.yaml", "-", status=1)
        assert err[0] == (
            "-: Standard output does not say what to write. Say it: --to yaml, jsonl, csv, tsv, trec or quepid."
        )
        _, err = run("convert", "bm25.run", "-", status=1)
        assert err[0] == "-: Standard output does not say what to write. Say it: --to run or json."
        _, err = run("convert", "faq.yaml", "x.json", "--to", "json", status=1)
        assert "A run holds rankings and a golden set judgments" in err[0]


class TestReport:
    REPORT = json_report.render(broken([failing(), passing()]))

    @pytest.mark.parametrize("where", [(), ("-o", "-")])
    def test_reads_a_report_and_prints_markdown(self, run, where):
        out, _ = run("report", "-", *where, stdin=self.REPORT)
        assert out.decode() == markdown.render(broken([failing(), passing()]))

    def test_prints_the_form_that_is_named(self, run):
        out, err = run("report", "-", "-o", "html:-", "-o", "x.md", stdin=self.REPORT)
        assert out.startswith(b"<!doctype html>")
        assert err == ["x.md: written"]
        out, _ = run("report", "-", "-o", "json:-", stdin=self.REPORT)
        assert out.decode() == self.REPORT

    def test_names_it_where_it_is_damaged(self, run):
        _, err = run("report", "-", stdin="{}", status=1)
        assert err[0].startswith("-:1: is not a report. ")


def test_a_report_in_another_form_is_a_usage_error(capsys):
    assert "the format pdf is unknown" in usage_error(capsys, "report", "x.json", "-o", "pdf:-")


def test_a_pipe_between_two_processes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("faq.yaml").write_text(YAML, encoding="utf-8")
    done = run_script("convert", "faq.yaml", "-", "--to", "csv", encoding="ascii")
    assert done.stdout.splitlines()[0] == b"id,query,docid,rating"


class TestScore:
    def test_reads_the_run_or_the_golden_set(self, run):
        plain, _ = run("score", "faq.yaml", "bm25.run", "--metrics", "mrr")
        assert b"mrr     2  1.0000" in plain
        out, err = run("score", "faq.yaml", "-", "--metrics", "mrr", stdin=TREC_RUN)
        assert (out, err) == (plain.replace(b"bm25.run", b"-"), [])
        out, _ = run("score", "-", "bm25.run", "--metrics", "mrr", stdin=YAML)
        assert out == plain.replace(b"faq.yaml", b"-")
        qrels = "refund 0 doc-4 1\nhours 0 doc-1 1\n"
        out, _ = run("score", "-", "bm25.run", "--from", "trec", "--metrics", "mrr", stdin=qrels)
        assert b"mrr     2  1.0000" in out

    def test_cannot_read_both(self, run):
        _, err = run("score", "-", "-", stdin=YAML, status=1)
        assert err == [
            "Standard input cannot be both the golden set and the run. Name a file for one of them."
        ]
