"""README.md as the package index shows it: the build makes its links and pictures absolute (`pyproject.toml`)."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache

import pytest

from tests.docs.test_site import anchors
from tests.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WEB = re.compile(
    r"https://(?P<host>github\.com|raw\.githubusercontent\.com)/OWNER/pytest-irmetrics(?:/blob)?/v(?P<version>[\d.]+)/(?P<path>[^#]*)#?(?P<anchor>.*)"
)
"""An address on the forge, as the placeholder of the account stands in it."""


@cache
def rendered():
    """The page's HTML, as the index makes it of the text that the build puts into the metadata."""
    pytest.importorskip("hatch_fancy_pypi_readme")
    renderer = pytest.importorskip("readme_renderer.markdown")
    command = [sys.executable, "-m", "hatch_fancy_pypi_readme", "pyproject.toml"]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, encoding="utf-8").stdout
    return renderer.render(text)


def addresses(attribute):
    return re.findall(rf' {attribute}="([^"]*)"', rendered())


def test_every_link_leads_to_a_file_and_a_heading_of_this_version():
    found = [link for link in addresses("href") if not link.startswith("#")]
    assert len(found) > 20
    for link in found:
        at = WEB.fullmatch(link)
        assert at, f"{link}: another address, which no test follows"
        assert at["host"] == "github.com"
        assert (ROOT / at["path"]).is_file(), link
        assert not at["anchor"] or at["anchor"] in anchors(at["path"]), link


def test_every_picture_is_one_of_this_version():
    found = [WEB.fullmatch(link) for link in addresses("src")]
    assert len(found) > 0
    assert all(at and at["host"].startswith("raw.") and (ROOT / at["path"]).is_file() for at in found), (
        addresses("src")
    )


def test_it_begins_with_how_to_install_it():
    first = re.search(r"<pre[^>]*>(.*?)</pre>", rendered(), re.DOTALL)[1]
    assert re.sub(r"<[^>]*>", "", first).splitlines()[0] == "$ pip install pytest-irmetrics"


def test_the_account_is_to_be_written_in_two_files():
    """CONTRIBUTING.md names them: a release replaces OWNER there."""
    holding = {
        path.relative_to(ROOT).as_posix()
        for path in (*ROOT.glob("*.*"), *ROOT.glob("[dp]*/**/*.*"), *(ROOT / ".github").rglob("*.yml"))
        if path.is_file() and b"OWNER/" in path.read_bytes()
    }
    assert holding == {"pyproject.toml", "docs/ci.md"}
    assert all("OWNER" in address for address in PROJECT["urls"].values())
