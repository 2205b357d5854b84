"""The console script: usage errors, help, version and exit statuses."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.base import version
from pytest_irmetrics.cli.main import _COMMANDS
from pytest_irmetrics.golden import GoldenSet
from tests.unit.cli.console import usage_error

COMMANDS = [module.__name__.rpartition(".")[2] for module in _COMMANDS]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.yml").write_text("queries:\n- {query: a, relevant: b}\n")
    return tmp_path


def test_prints_the_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"pytest-irmetrics {metadata.version('pytest-irmetrics')}\n"


def test_the_version_is_unknown_where_the_package_is_not_installed(capsys, monkeypatch):
    def not_installed(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(version, "version", not_installed)
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == "pytest-irmetrics unknown\n"


def test_a_wrong_command_line_exits_with_2(capsys):
    assert "a command is missing: init, check, " in usage_error(capsys)
    assert "required: FILE" in usage_error(capsys, "check")
    assert "invalid choice: 'chek'" in usage_error(capsys, "chek")


@pytest.mark.parametrize(
    ("command", "arguments"),
    [("check", ["one.yml", "--jsn"]), ("init", ["--jsn"]), ("baselines list", ["--jsn"]), ("", ["--jsn"])],
)
def test_an_unknown_argument_is_told_with_the_usage_of_its_command(capsys, command, arguments):
    err = usage_error(capsys, *command.split(), *arguments)
    script = f"pytest-irmetrics {command}".rstrip()
    assert err.startswith(f"usage: {script} [-h] ")
    assert err.endswith(f"{script}: error: unrecognized arguments: --jsn\n")


def test_usage_errors_escape_control_characters(capsys):
    err = usage_error(capsys, "check", "one.yml", "--x\x1b[31m\n::error::y\u202e\udc80")
    assert all(line.isprintable() for line in err.splitlines())
    assert "\\x1b[31m" in err


def test_an_interrupt_exits_with_130(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(GoldenSet, "load", interrupt)
    assert cli.main(["check", "one.yml"]) == 130


def test_a_closed_pipe_ends_without_a_traceback(folder):
    (folder / "many.yaml").write_text("queries:\n" + "- {query: a, relevant: b}\n" * 3000)
    with subprocess.Popen(
        [sys.executable, "-m", "pytest_irmetrics.cli", "check", "many.yaml", "many.yaml"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [["check", "one.yml"], ["--version"], ["schema"]])
def test_a_full_disk_is_told_without_a_traceback(arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pytest_irmetrics.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert re.fullmatch(r"Standard output cannot be written: [\w ]+\.\n", done.stderr)


def test_prints_to_a_stream_without_an_encoding(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    assert cli.main(["check", "one.yml"]) == 0
    assert "1 query" in stream.getvalue()
