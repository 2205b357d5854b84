"""Command `check`: what is printed about golden sets."""

from __future__ import annotations

import json

import pytest

from pytest_irmetrics import cli
from tests.unit.cli.console import assert_escaped, run_script, usage_error

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


def test_prints_one_line_for_a_valid_file(capsys):
    assert cli.main(["check", "good.yaml", "one.yml"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "good.yaml: 3 queries (1 no_answer, 1 xfail), 2 tags, relevance level 2, thresholds on ndcg@10, mrr, ndcg@10 for billing",
        "one.yml: 1 query, 0 tags, relevance level 1, no thresholds",
    ]
    assert err == ""


def test_prints_every_problem_with_its_place(capsys):
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


def test_names_the_file_as_it_was_given(capsys, folder):
    assert cli.main(["check", f"{folder}/./bad.yaml"]) == 1
    assert capsys.readouterr().out.startswith(f"{folder}/./bad.yaml:2:14: ")


def test_option_metric_declares_custom_metrics(capsys, folder):
    (folder / "own.yaml").write_text("thresholds: {freshness@5: {min: -3}, Reach: 2}\n" + ONE)
    assert cli.main(["check", "own.yaml"]) == 1
    assert "Unknown metric 'freshness@5'" in capsys.readouterr().out
    assert cli.main(["check", "--metric", "freshness", "own.yaml", "--metric=reach"]) == 0
    assert "thresholds on freshness@5, reach" in capsys.readouterr().out


def test_option_metric_refuses_built_in_names(capsys):
    for name in ("ndcg", "P@5", "own@5", ""):
        assert "is no name of a metric of your own" in usage_error(
            capsys, "check", "--metric", name, "one.yml"
        )


def test_lint_warnings_are_printed_and_do_not_fail(capsys, folder):
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


def test_prints_json(capsys):
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


def test_prints_passages_as_json(capsys, tmp_path):
    relevant = ["faq", {"doc": "handbook", "text": "thirty  days", "grade": 2}]
    text = json.dumps({"queries": [{"query": "a", "relevant": relevant}]})
    (tmp_path / "passages.yaml").write_text(text)
    assert cli.main(["check", "--json", str(tmp_path / "passages.yaml")]) == 0
    (read,) = json.loads(capsys.readouterr().out)
    assert read["relevant"] == relevant


def test_prints_no_json_if_a_file_is_invalid(capsys):
    assert cli.main(["check", "--json", "good.yaml", "bad.yaml"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("bad.yaml:2:14: ")


HOSTILE_YAML = '"caf\\u00e9 \\e[31m \\r\\n::error::x ##vso[task] \\u202e\\x9b\\x7f\\ud7ff\\uE000"'


class TestHostileText:
    @pytest.fixture(autouse=True)
    def files(self, folder):
        (folder / "hostile.yaml").write_text(
            f"queries:\n- {{query: {HOSTILE_YAML}, relevant: {{{HOSTILE_YAML}: 1}}}}\n"
        )
        twice = f"queries:\n- {{query: {HOSTILE_YAML}, relevant: a}}\n- {{query: {HOSTILE_YAML}, {HOSTILE_YAML}: a}}\n"
        (folder / "twice.yaml").write_text(
            twice + f"slices: {{{HOSTILE_YAML}: {{{HOSTILE_YAML}: 1, mrr: {HOSTILE_YAML}}}}}\n"
        )

    @pytest.mark.parametrize(
        "arguments", [["twice.yaml"], ["--json", "twice.yaml"], ["--json", "hostile.yaml"]]
    )
    def test_control_characters_are_escaped(self, capsys, arguments):
        cli.main(["check", *arguments])
        text = "".join(capsys.readouterr())
        assert_escaped(text)
        assert "caf" in text

    def test_json_holds_the_original_text(self, capsys):
        assert cli.main(["check", "--json", "hostile.yaml"]) == 0
        out = capsys.readouterr().out
        (read,) = json.loads(out)
        text = "caf\xe9 \x1b[31m \r\n::error::x ##vso[task] \u202e\x9b\x7f\ud7ff\ue000"
        assert (read["id"], list(read["relevant"])) == (text, [text])
        assert out.isascii()

    @pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
    def test_prints_in_any_encoding(self, encoding, folder):
        (folder / "names.yaml").write_text(
            "queries:\n- {query: “日本” é …, relevant: a, é日: 1}\n", encoding="utf-8"
        )
        done = run_script("check", "names.yaml", "twice.yaml", "good.yaml", encoding=encoding)
        assert done.returncode == 1
        assert done.stderr == b""
        assert "no key of a query" in done.stdout.decode(encoding)

    def test_control_characters_in_file_names_are_escaped(self, capsys):
        assert cli.main(["check", "\udce9\x1b[31m\n::error::x.yaml"]) == 1
        (line,) = capsys.readouterr().out.splitlines()
        assert line.isprintable()
        assert line.endswith(":1:1: There is no such file. Check the path.")


def test_a_threshold_of_which_one_word_is_off_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "thresholds:\n  mrr: {min: off, max_drop: 0.1}\n  map: {min: off, max_drop: off}\n"
    (tmp_path / "faq.yaml").write_text(text + "queries: [{query: a, relevant: d}]\n")
    assert cli.main(["check", "faq.yaml"]) == 0
    assert "thresholds on mrr\n" in capsys.readouterr().out
