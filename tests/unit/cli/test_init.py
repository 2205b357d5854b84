"""Command `init`: the files that it writes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

# In-process runs forget what they import; what is loaded here is loaded once for all of them.
import pytest_irmetrics.golden.yaml
import pytest_irmetrics.plugin.fixture
import pytest_irmetrics.plugin.recorder
import pytest_irmetrics.plugin.session  # noqa: F401 - see above
from pytest_irmetrics import cli

TEMPLATES = Path(cli.__file__).with_name("init_files")
FILES = ["golden/faq.yaml", "conftest.py", "test_search.py"]


@pytest.fixture(autouse=True)
def folder(pytester):
    return pytester.path  # which is the current folder too


def init(capsys, *arguments, status=0):
    assert cli.main(["init", *arguments]) == status
    out, err = capsys.readouterr()
    assert err == ""
    return out


def run_pytest(pytester, command):
    """Run a command that was printed, without the developer's other plugins."""
    name, *arguments = shlex.split(command)
    assert name == "pytest"
    return pytester.runpytest("-p", "no:cacheprovider", "-p", "no:asyncio", "-W", "error", *arguments)


def test_the_printed_commands_pass(capsys, pytester):
    where = Path("a folder/tests")
    out = init(capsys, "--dir", str(where))
    assert out.splitlines()[:3] == [f"{(where / name).as_posix()}: written" for name in FILES]
    commands = [line.split("#")[0].strip() for line in out.splitlines() if line.startswith("  pytest")]
    assert len(commands) == 3
    for command in commands:
        done = run_pytest(pytester, command)
        assert done.ret == 0
        assert "golden/faq.yaml: passes, 4 queries; ndcg@10 0.9322, mrr 1.0000" in done.stdout.str()
        notes = [line for line in done.outlines if "note:" in line]
        assert all("on 3 queries is 0.03 of one query" in note for note in notes)  # it is a set to begin with
        assert len(notes) == ("--ir-baseline" in command.split())
    assert (where / "ir_baselines" / "test_search" / "test_search_quality[faq].json").exists()


def test_the_test_fails_once_the_search_is_broken(capsys, pytester):
    assert [line for line in init(capsys).splitlines() if line.startswith("  pytest")] == [
        "  pytest                       # hold the search against the thresholds",
        "  pytest --ir-baseline-update  # store what it finds today, to be committed",
        "  pytest --ir-baseline         # fail where a change finds less",
    ]
    conftest = Path("conftest.py")
    conftest.write_text(conftest.read_text().replace("reverse=True", "reverse=False"))
    done = run_pytest(pytester, "pytest")
    assert done.ret == 1
    assert "mrr is " in done.stdout.str()
    assert re.search(r"golden/faq\.yaml:\d+: reset", done.stdout.str())


def test_check_accepts_the_golden_set(capsys):
    init(capsys)
    assert cli.main(["check", "golden/faq.yaml"]) == 0
    assert capsys.readouterr().out == (
        "golden/faq.yaml: 4 queries (1 no_answer), 1 tag, relevance level 1, no thresholds\n"
    )


@pytest.mark.parametrize("kept", FILES)
def test_never_overwrites_a_file(capsys, folder, kept):
    path = folder / kept
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    out = init(capsys, status=1)
    assert path.read_text() == "mine"
    assert f"{kept}: exists, and is left as it is\n" in out
    assert out.count(": written") == 2
    assert ("lambda query, k: my_search(query, size=k)" in out) == (kept == "conftest.py")


def test_prints_the_retriever_fixture_only_where_it_is_missing(capsys, folder):
    (folder / "conftest.py").write_text("def retriever(): ...")
    assert "needs a fixture" not in init(capsys, status=1)


def test_writes_its_templates_as_they_are(capsys):
    init(capsys)
    for name in FILES:
        (template,) = TEMPLATES.glob(f"{Path(name).name}*")
        assert Path(name).read_bytes() == template.read_bytes()


def test_writes_the_same_every_time(capsys):
    init(capsys, "--dir", "one")
    init(capsys, "--dir", "two")
    for name in FILES:
        data = (Path("one") / name).read_bytes()
        assert data == (Path("two") / name).read_bytes()
        assert data.isascii()
        assert b"\r" not in data
        assert data.endswith(b"\n")
    assert "two/conftest.py: exists" in init(capsys, "--dir", "two", status=1)


def test_follows_no_dangling_link(capsys, folder):
    for name in ("conftest.py", "test_search.py"):
        (folder / name).symlink_to(folder / "elsewhere.py")
    assert "needs a fixture that hands over your search" in init(capsys, status=1)
    assert not (folder / "elsewhere.py").exists()


def test_a_conftest_that_cannot_be_read_may_need_the_fixture(capsys, folder):
    (folder / "conftest.py").mkdir()
    assert "needs a fixture that hands over your search" in init(capsys, status=1)


@pytest.mark.parametrize("name", ["golden", "file"])
def test_reports_what_cannot_be_written(capsys, folder, name):
    (folder / name).write_text("")
    assert cli.main(["init", *(["--dir", "file"] if name == "file" else [])]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"\S+: cannot be written: [\w ]+\. Name another folder: --dir DIR\.\n", err)


def test_control_characters_are_escaped(capsys):
    out = init(capsys, "--dir", "a\x1b[31m\n::error::x")
    assert all(line.isprintable() for line in out.splitlines())
    assert not any(word.startswith("::") for word in out.split())
