"""Command `init`: what it writes passes, and fails once the search is broken."""

from __future__ import annotations

import shlex

from tests.cli.console import run
from tests.warm_python import pytest_words


def test_the_printed_commands_pass_and_fail_once_the_search_is_broken(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    done = run("init", "--dir", "my tests")
    commands = [line.partition(": ")[2] for line in done.out.splitlines() if " pytest " in line]
    assert len(commands) == 3
    for command in commands:
        pytester.run(*pytest_words(), *shlex.split(command)[1:]).assert_outcomes(passed=1)
    conftest = pytester.path / "my tests" / "conftest.py"
    text = conftest.read_text(encoding="utf-8")
    assert "my_search(query, size=k)" in text
    conftest.write_text(
        text.replace("my_search(query, size=k)", "my_search(query, size=k)[2:]"), encoding="utf-8"
    )
    broken = pytester.run(*pytest_words(), *shlex.split(commands[-1])[1:])
    broken.assert_outcomes(failed=1)


def test_no_file_is_written_over_and_no_link_followed_and_none_left_half(tmp_path, monkeypatch):
    (tmp_path / "conftest.py").write_text("# mine")
    (tmp_path / "test_search.py").symlink_to(tmp_path / "nowhere")
    done = run("init", "--dir", str(tmp_path))
    assert done.status == 1
    assert "conftest.py: exists, and is left as it is\n" in done.out
    assert "test_search.py: exists, and is left as it is\n" in done.out
    assert "First put your search into conftest.py, as the fixture `retriever`, and your queries" in done.out
    assert (tmp_path / "conftest.py").read_text() == "# mine"
    (tmp_path / "golden/faq.yaml").unlink()
    monkeypatch.setattr("os.fsync", lambda _: (tmp_path / "nowhere").lstat())  # an OSError, as of a full disk
    assert "golden/faq.yaml: cannot be written: " in run("init", "--dir", str(tmp_path)).err
    assert not [*(tmp_path / "golden").iterdir(), *tmp_path.glob("nowhere")]
