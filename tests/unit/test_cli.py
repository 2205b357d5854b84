from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from importlib import metadata

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.golden import GoldenSet

GOOD = """\
relevance_level: 2
thresholds: {ndcg@10: 0.7, mrr: {min: 0.5}, P@5: off}
slices: {billing: {ndcg@10: 0.5}}
queries:
- {query: a, relevant: {d1: 2, d2: 0}, tags: [billing, money]}
- id: b
  query: text of b
  relevant: {d: 2.5}
  forbidden: [x]
  weight: 3
  params: {n: 1, t: "1"}
  thresholds: {mrr: {min: 0.5, max_drop: 5%}, P@5: {max_drop: 0.1, min: off}}
  xfail: TICKET-1
  note: for people
- {query: c, no_answer: true}
"""
ONE = "queries:\n- {query: a, relevant: b}\n"
BAD = "queries:\n- {query: a, relevent: b}\n- {query: c, relevant: d, weight: 0}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("good.yaml", GOOD), ("one.yml", ONE), ("bad.yaml", BAD)):
        (tmp_path / name).write_text(text)
    return tmp_path


def usage_error(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    return capsys.readouterr().err


def script(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "pytest_irmetrics.cli", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=30,
        check=False,
    )


class TestCheck:
    def test_says_what_a_good_file_holds(self, capsys):
        assert cli.main(["check", "good.yaml", "one.yml"]) == 0
        out, err = capsys.readouterr()
        assert out.splitlines() == [
            "good.yaml: 3 queries, 2 tags, relevance level 2, thresholds on ndcg@10, mrr, ndcg@10 for billing",
            "one.yml: 1 query, 0 tags, relevance level 1, no thresholds",
        ]
        assert err == ""

    def test_says_what_is_wrong_and_where(self, capsys):
        assert cli.main(["check", "one.yml", "bad.yaml", "missing.yaml", "."]) == 1
        out, err = capsys.readouterr()
        assert [line.split(". ")[0] for line in out.splitlines()] == [
            "one.yml: 1 query, 0 tags, relevance level 1, no thresholds",
            "bad.yaml:2:14: 'relevent' is no key of a query",
            "bad.yaml:3:35: `weight` is '0'",
            "missing.yaml:1:1: There is no such file",
            ".:1:1: This is a folder",
        ]
        assert err == ""

    def test_names_the_file_as_it_was_given(self, capsys, folder):
        assert cli.main(["check", f"{folder}/./bad.yaml"]) == 1
        assert capsys.readouterr().out.startswith(f"{folder}/./bad.yaml:2:14: ")

    def test_knows_the_metrics_that_it_is_told(self, capsys, folder):
        (folder / "own.yaml").write_text("thresholds: {freshness@5: {min: -3}, Reach: 2}\n" + ONE)
        assert cli.main(["check", "own.yaml"]) == 1
        assert "Unknown metric 'freshness@5'" in capsys.readouterr().out
        assert cli.main(["check", "--metric", "freshness", "own.yaml", "--metric=reach"]) == 0
        assert "thresholds on freshness@5, reach" in capsys.readouterr().out

    def test_a_metric_of_ones_own_is_none_of_the_built_in_ones(self, capsys):
        for name in ("ndcg", "P@5", "own@5", ""):
            assert "is no name of a metric of your own" in usage_error(
                capsys, "check", "--metric", name, "one.yml"
            )

    def test_notes_what_is_only_doubtful_and_does_not_fail_for_it(self, capsys, folder):
        (folder / "twice.yaml").write_text(f"{ONE}- {{query: A, relevant: b}}\n")
        assert cli.main(["check", "twice.yaml"]) == 0
        summary, note = capsys.readouterr().out.splitlines()
        assert summary == "twice.yaml: 2 queries, 0 tags, relevance level 1, no thresholds"
        assert note.startswith(
            "twice.yaml:3: note: 'A' is 'a' on line 2 but for case and punctuation. It counts twice"
        )
        assert cli.main(["check", "--json", "twice.yaml"]) == 0
        out, err = capsys.readouterr()
        assert [query["id"] for query in json.loads(out)] == ["a", "A"]
        assert err == ""

    def test_prints_json(self, capsys):
        assert cli.main(["check", "--json", "good.yaml", "one.yml"]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert json.loads(out) == [
            {
                "id": "a",
                "query": "a",
                "relevant": {"d1": 2, "d2": 0},
                "tags": ["billing", "money"],
                "file": "good.yaml",
                "line": 5,
            },
            {
                "id": "b",
                "query": "text of b",
                "relevant": {"d": 2.5},
                "forbidden": ["x"],
                "weight": 3.0,
                "params": {"n": 1, "t": "1"},
                "thresholds": {
                    "mrr": {"min": 0.5, "max_drop": "5%"},
                    "precision@5": {"max_drop": 0.1, "min": "off"},
                },
                "xfail": "TICKET-1",
                "note": "for people",
                "file": "good.yaml",
                "line": 6,
            },
            {"id": "c", "query": "c", "relevant": {}, "no_answer": True, "file": "good.yaml", "line": 15},
            {"id": "a", "query": "a", "relevant": {"b": 1}, "file": "one.yml", "line": 2},
        ]
        assert len(out.splitlines()) == 4 + 2

    def test_prints_passages_as_a_golden_set_has_them(self, capsys, tmp_path):
        relevant = ["faq", {"doc": "handbook", "text": "thirty  days", "grade": 2}]
        text = json.dumps({"queries": [{"query": "a", "relevant": relevant}]})
        (tmp_path / "passages.yaml").write_text(text)
        assert cli.main(["check", "--json", str(tmp_path / "passages.yaml")]) == 0
        (read,) = json.loads(capsys.readouterr().out)
        assert read["relevant"] == relevant

    def test_prints_no_json_of_half_the_files(self, capsys):
        assert cli.main(["check", "--json", "good.yaml", "bad.yaml"]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("bad.yaml:2:14: ")

    def test_it_says_its_version(self, capsys):
        assert cli.main(["--version"]) == 0
        assert capsys.readouterr().out == f"pytest-irmetrics {metadata.version('pytest-irmetrics')}\n"

    def test_wrong_use_is_told_from_wrong_files(self, capsys):
        assert "a command is missing: init, check, " in usage_error(capsys)
        assert "required: FILE" in usage_error(capsys, "check")
        assert "invalid choice: 'chek'" in usage_error(capsys, "chek")
        assert "unrecognized arguments: --jsn" in usage_error(capsys, "check", "one.yml", "--jsn")

    def test_repeats_nothing_that_a_terminal_would_obey(self, capsys):
        err = usage_error(capsys, "check", "one.yml", "--x\x1b[31m\n::error::y\u202e\udc80")
        assert all(line.isprintable() for line in err.splitlines())
        assert "\\x1b[31m" in err

    @pytest.mark.parametrize(
        "command",
        [
            "",
            "init",
            "check",
            "show",
            "diff",
            "label",
            "report",
            "baselines",
            "baselines list",
            "baselines prune",
            "schema",
        ],
    )
    def test_help_says_what_it_does_with_examples(self, capsys, command, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit) as caught:
            cli.main([*command.split(), "--help"])
        assert caught.value.code == 0
        out = capsys.readouterr().out
        assert out.isascii()
        if command:
            examples = out.partition("\nexamples:\n")[2].splitlines()
            assert any(f"pytest-irmetrics {command}" in line for line in examples)
            # zsh, macOS's own, takes brackets for a pattern; and its sed another -i than Linux's.
            assert not any("[" in word for line in examples for word in re.sub(r"'[^']*'", "", line).split())
            assert not any("sed -i" in line for line in examples)
        else:
            listed = re.findall(r"^    (\w+)", out, re.MULTILINE)
            assert listed == [
                "init",
                "check",
                "show",
                "diff",
                "label",
                "convert",
                "report",
                "baselines",
                "schema",
            ]

    def test_an_interrupt_has_its_own_status(self, monkeypatch):
        def interrupt(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(GoldenSet, "load", interrupt)
        assert cli.main(["check", "one.yml"]) == 130


HOSTILE = '"caf\\u00e9 \\e[31m \\r\\n::error::x ##vso[task] \\u202e\\x9b\\x7f\\ud7ff\\uE000"'


class TestHostileText:
    @pytest.fixture(autouse=True)
    def files(self, folder):
        (folder / "hostile.yaml").write_text(
            f"queries:\n- {{query: {HOSTILE}, relevant: {{{HOSTILE}: 1}}}}\n"
        )
        twice = f"queries:\n- {{query: {HOSTILE}, relevant: a}}\n- {{query: {HOSTILE}, {HOSTILE}: a}}\n"
        (folder / "twice.yaml").write_text(
            twice + f"slices: {{{HOSTILE}: {{{HOSTILE}: 1, mrr: {HOSTILE}}}}}\n"
        )

    @pytest.mark.parametrize(
        "arguments", [["twice.yaml"], ["--json", "twice.yaml"], ["--json", "hostile.yaml"]]
    )
    def test_is_inert(self, capsys, arguments):
        cli.main(["check", *arguments])
        text = "".join(capsys.readouterr())
        assert all(line.isprintable() for line in text.splitlines())
        assert not any(word.startswith("::") for word in text.split())
        assert "##vso[" not in text
        assert "caf" in text

    def test_comes_back_from_json(self, capsys):
        assert cli.main(["check", "--json", "hostile.yaml"]) == 0
        out = capsys.readouterr().out
        (read,) = json.loads(out)
        text = "caf\xe9 \x1b[31m \r\n::error::x ##vso[task] \u202e\x9b\x7f\ud7ff\ue000"
        assert (read["id"], list(read["relevant"])) == (text, [text])
        assert out.isascii()

    @pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
    def test_prints_on_any_terminal(self, encoding, folder):
        (folder / "names.yaml").write_text(
            "queries:\n- {query: “日本” é …, relevant: a, é日: 1}\n", encoding="utf-8"
        )
        done = script("check", "names.yaml", "twice.yaml", "good.yaml", PYTHONIOENCODING=encoding)
        assert done.returncode == 1
        assert done.stderr == b""
        assert "no key of a query" in done.stdout.decode(encoding)

    def test_file_names_too(self, capsys):
        assert cli.main(["check", "\udce9\x1b[31m\n::error::x.yaml"]) == 1
        (line,) = capsys.readouterr().out.splitlines()
        assert line.isprintable()
        assert line.endswith(":1:1: There is no such file. Check the path.")


class TestPipe:
    def test_a_reader_that_leaves_is_no_traceback(self, folder):
        (folder / "many.yaml").write_text("queries:\n" + "- {query: a, relevant: b}\n" * 3000)
        with subprocess.Popen(
            [sys.executable, "-m", "pytest_irmetrics.cli", "check", "many.yaml", "many.yaml"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(30) == 1

    def test_a_stream_without_an_encoding(self, monkeypatch):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stdout", stream)
        assert cli.main(["check", "one.yml"]) == 0
        assert "1 query" in stream.getvalue()
