"""Standard streams: closed, full, interrupted, of another encoding, and hostile texts on them."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from pytest_irmetrics import cli
from tests.cli.console import HOSTILE, assert_harmless, run
from tests.expected import FOLDER

SCRIPT = [sys.executable, "-m", "pytest_irmetrics.cli"]
REPORT = '{"format": "pytest-irmetrics report", "version": 1, "exit_status": 0, "unmeasured": {}, "unused_baselines": [], "gone_since": [], "baselines_passed_over": 0, "tests": []}'


def test_the_version_is_that_of_the_distribution():
    assert run("--version").out == f"pytest-irmetrics {metadata.version('pytest-irmetrics')}\n"
    assert [run(*words).status for words in (["--vers"], ["check", "--js", "none.yaml"])] == [2, 2]


def test_a_stream_without_an_encoding_gets_ascii(monkeypatch):
    monkeypatch.setattr("sys.stdout", io.StringIO())
    cli.main(["check", "é.yaml"])
    assert sys.stdout.getvalue().startswith(r"\xe9.yaml")


def test_a_closed_pipe_ends_without_a_traceback(tmp_path):
    (tmp_path / "many.yaml").write_text("queries:\n" + "- {query: a, relevant: b}\n" * 3000)
    command = [*SCRIPT, "check", "many.yaml", "many.yaml"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
FULL = "Standard output cannot be written: No space left on device. Check the path and the disk.\n"
SET = "<<E\nqueries: [{query: a, relevant: b}]\nE"


@pytest.mark.skipif(sys.platform == "win32", reason="of a POSIX shell")
@pytest.mark.parametrize(
    ("streams", "command", "status", "begins", "told"),
    [
        (">&-", "schema", 0, "", ""),
        (">&- <&-", "check -", 1, "", ""),
        ("<&-", "check -", 1, "-:1:1: The file is empty.", ""),
        (f"2>&1 <<E\n{REPORT}\nE", "report - -o - -o /dev/null/a.md", 1, "## Retrieval quality", ""),
        pytest.param(">/dev/full", "schema", 1, "", FULL, marks=full),
        pytest.param(f">/dev/full {SET}", "check -", 1, "", FULL, marks=full),
    ],
)
def test_streams_that_are_closed_full_and_one_for_both(streams, command, status, begins, told):
    """A closed one is an empty one; a full one is told without a traceback; two in one keep their order."""
    line = ["sh", "-c", f'PYTHONUNBUFFERED= "$@" {streams}', "sh", *SCRIPT, *command.split()]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (status, told)
    assert done.stdout.startswith(begins)


def test_a_system_that_has_no_room_is_told_without_a_traceback(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    done = run("check", "-", stdin="queries: []")
    assert done.status == 1
    assert done.err.endswith(": cannot be used: No such file or directory. Check the path and the disk.\n")


class Input:
    """Standard input that gives, or raises, this."""

    def __init__(self, given):
        self.buffer = self
        self.given = given

    def read(self, size):
        if isinstance(self.given, BaseException):
            raise self.given
        return (
            range(size) if self.given is None else self.given
        )  # as many bytes as are asked for, in no memory


@pytest.mark.parametrize(
    ("given", "status", "told"),
    [
        (gzip.compress(b"queries:\n- {query: a, relevant: b}\n"), 0, "-: 1 query"),
        (OSError("not readable"), 1, "-: Standard input cannot be read. Name a file."),
        (None, 1, "-: Standard input is larger than 1 GB. Split it."),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=["packed", "closed", "too large", "interrupted"],
)
def test_standard_input_may_be_packed_closed_too_large_interrupted(given, status, told, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", Input(given))
    assert cli.main(["check", "-"]) == status
    assert "".join(capsys.readouterr()).startswith(told)


HOSTILE_SET = json.dumps(
    {
        "queries": [
            {"id": f"1{HOSTILE}", "query": f"text {HOSTILE}", "relevant": [f"d {HOSTILE}"], "tags": [HOSTILE], "note": HOSTILE},
            {"id": "2", "query": f"text {HOSTILE}!", "relevant": ["d2"], "params": {HOSTILE: HOSTILE}},
        ]
    }
)  # fmt: skip
HOSTILE_RUN = json.dumps(
    {
        "format": "pytest-irmetrics run",
        "version": 1,
        "golden_set": "h.yaml",
        "queries": [
            {"id": f"1{HOSTILE}", "text": f"text {HOSTILE}", "rankings": [[f"x {HOSTILE}", f"d {HOSTILE}"]]},
            {"id": f"3{HOSTILE}", "rankings": [["d2"]]},
        ],
    }
)
NAMED = {*re.findall(r"^    (\w+)(?:  |$)", run("--help").out, re.MULTILINE)}
COMMANDS = [
    *([name, "h.yaml"] for name in sorted(NAMED)),
    ["check", "--json", "h.yaml"],
    ["check", HOSTILE.replace("\r\n", "") + ".yaml"],
    ["score", "h.yaml", "h.json"],
    ["score", "h.yaml", "h.json", "--json"],
    ["score", "h.yaml", "h.json", "--query", f"1{HOSTILE}"],
    ["score", "h.yaml", "h.json", "--query", HOSTILE],
    ["score", "h.yaml", "h.json", "--against", "none.run"],
    ["label", "h.yaml", "--run", "h.json", "--corpus", "corpus.jsonl"],
    ["label", "h.yaml", "--run", "h.json", "-i"],
    ["label", "h.yaml", "--judge", f"1{HOSTILE}", HOSTILE, "x"],
    ["label", "h.yaml", "--judge", f"1{HOSTILE}", f"d {HOSTILE}", "0"],
    ["label", "h.yaml", "--from", "list.csv"],
    ["convert", "h.yaml", "h.qrels"],
    ["convert", "h.json", "h.run"],
    ["report", "h.json"],
    ["init", "--dir", HOSTILE.replace("\r\n", "")],
]


def test_each_command_has_a_transcript():
    elsewhere = {"history", "schema"}  # test_history.py, test_schema.py
    assert {file.stem for file in (FOLDER / "cli").glob("*.txt")} - {"usage"} | elsewhere == NAMED


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda command: " ".join(command)[:24].encode("unicode_escape").decode()
)
def test_hostile_texts_are_harmless_in_any_encoding(command, encoding, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "h.yaml": HOSTILE_SET,
        "h.json": HOSTILE_RUN,
        "none.run": "2 Q0 d2 1 1 x\n",
        "corpus.jsonl": json.dumps({"docid": f"x {HOSTILE}", "title": HOSTILE, "text": HOSTILE}),
        "list.csv": f'id,docid,rating\n"{HOSTILE}",x,1\n',
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8", newline="")
    done = run(*command, encoding=encoding)
    printed = done.data.decode(encoding) + done.err
    assert printed.strip()
    assert_harmless(printed)
    if "--json" in command:
        json.loads(done.data)


@pytest.mark.parametrize(
    "words",
    [
        "label faq.yaml --corpus",
        "label faq.yaml --run",
        "score faq.yaml now.run --test",
        "score faq.yaml now.run --against",
        "history --since",
        "check",
        "report r.json -o",
    ],
)
def test_an_empty_value_is_refused_and_not_passed_over(words):
    done = run(*words.split(), "")
    assert done.status == 2
    assert "is empty" in done.err
