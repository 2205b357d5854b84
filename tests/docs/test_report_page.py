"""docs/report.md: its commands write what it says, and its pictures are there and small."""

from __future__ import annotations

import re
import shutil
import sys

import pytest

from tests.pages import DOCS, ROOT, Project, use

PAGE = DOCS / "report.md"


@pytest.mark.skipif(sys.platform == "win32", reason="the page's commands are for a POSIX shell")
def test_the_commands_of_the_page_write_the_same_report_twice(tmp_path):
    pytest.importorskip("jinja2")
    project = Project(tmp_path)
    shutil.copytree(ROOT / "example_project", project.folder, dirs_exist_ok=True)
    assert len(use(PAGE, project)) == 2
    report, again = (
        (project.folder / name).read_text(encoding="utf-8") for name in ("report.html", "again.html")
    )
    assert "1 golden set passes" in report
    assert report == again


def test_the_pictures_of_the_page_are_there_and_small():
    pictures = re.findall(r"!\[[^\]]+\]\((.+?)#only-(light|dark)\)", PAGE.read_text(encoding="utf-8"))
    assert [scheme for _, scheme in pictures] == ["light", "dark"]
    for name, _ in pictures:
        assert 10_000 < (DOCS / name).stat().st_size < 150_000
