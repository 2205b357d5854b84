"""The pages of docs/ as a site: each is in the navigation, links lead somewhere, and no block of code is run by nothing."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from tests.pages import DOCS, ROOT, WALKED_PAGES, blocks

SITE = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
PROJECT_PAGES = ["README.md", "CONTRIBUTING.md", "example_project/README.md"]
FENCED = re.compile(r"^(```+).*?^\1$|`[^`\n]+`|<!--.*?-->", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]\[]*(?:\[[^\]]*\][^\]\[]*)*\]\(([^)\s]+)\)")

CODE = {"console", "python", "yaml", "toml", "ini", "sh"}


@cache
def sources_of_tests():
    return "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("test_*.py")
        if path != Path(__file__)
    )


@cache
def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def links(name):
    return LINK.findall(FENCED.sub("", page(name)))


@cache
def anchors(name):
    """The anchors of a page's headings, as Python-Markdown makes them."""
    found = []
    for title in re.findall(
        r"^#+ (.+)$", re.sub(r"^(```+).*?^\1$", "", page(name), flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    ):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
        anchor = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())
        found.append(anchor if anchor not in found else f"{anchor}_{found.count(anchor)}")
    return found


@cache
def configuration():
    return yaml.safe_load(page("mkdocs.yml"))


def navigated(nav):
    """The pages of a navigation, in its order."""
    for entry in nav:
        target = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(target, list):
            yield from navigated(target)
        else:
            yield target


def titled(nav):
    """The title that the navigation gives each page."""
    for entry in nav:
        if isinstance(entry, dict):
            (title, target), *_ = entry.items()
            yield from titled(target) if isinstance(target, list) else [(title, target)]


def test_each_page_is_in_the_navigation_once():
    assert sorted(navigated(configuration()["nav"])) == SITE


NAMES = [f"docs/{name}" for name in SITE] + PROJECT_PAGES


@pytest.mark.parametrize("name", NAMES)
def test_links_between_pages_lead_to_a_page_and_a_heading(name):
    for link in links(name):
        if urlsplit(link).scheme:
            continue
        target, _, anchor = link.partition("#")
        path = ((ROOT / name).parent / target).resolve() if target else ROOT / name
        assert path.exists(), f"{name}: {link} leads to no file"
        assert not name.startswith("docs/") or path.is_relative_to(DOCS), f"{name}: {link} leaves the site"
        if anchor:
            assert anchor in anchors(path.relative_to(ROOT).as_posix()), f"{name}: {link} leads to no heading"


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_is_there_and_small(name):
    found = re.findall(
        r"!\[[^\]]+\]\(([^)#]+)(?:#only-(?:light|dark))?\)|src(?:set)?=\"([^\"]+)\"", page(name)
    )
    for picture in map("".join, found):
        assert 5_000 < ((ROOT / name).parent / picture).stat().st_size < 150_000


def test_every_page_is_two_clicks_from_the_home_page():
    reached = {"docs/index.md"}
    for _ in range(2):
        for name in sorted(reached):
            for link in links(name):
                target = link.partition("#")[0]
                if target.endswith(".md") and not urlsplit(link).scheme:
                    reached.add(((ROOT / name).parent / target).resolve().relative_to(ROOT).as_posix())
    assert reached >= {f"docs/{name}" for name in SITE}


def test_each_way_in_is_one_click_from_the_home_page():
    ways = {
        "a Python function": "retriever.md",
        "an HTTP endpoint": "retriever.md#an-http-endpoint",
        "a RAG framework": "frameworks.md",
        "a TREC run": "outside-python.md",
        "queries without judgments": "golden-sets.md#without-judgments",
    }
    assert {way: link for way, link in ways.items() if link not in links("docs/index.md")} == {}


@pytest.mark.parametrize("name", SITE)
def test_every_block_of_code_is_run_or_says_why_not(name):
    found = [block for block in blocks(DOCS / name) if block.kind in CODE]
    for path in re.findall(r"\btests/[\w/.]+\.py", " ".join(block.remark for block in found)):
        assert (ROOT / path).is_file(), f"docs/{name}: {path} is gone"
    code = [block for block in found if not block.not_run]
    if name in WALKED_PAGES:
        idle = [block.text for block in code if block.kind != "console" and not block.file]
        assert not idle, "is written to no file: give it a title, or write <!-- not run: REASON --> above it"
    elif code:
        assert f"docs/{name}" in sources_of_tests(), (
            f"no test reads docs/{name}, which has blocks of code: add it to WALKED_PAGES of tests/pages.py"
        )


def test_every_stylesheet_is_on_the_site():
    assert configuration()["extra_css"] == sorted(
        path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.css")
    )


@pytest.mark.parametrize(("title", "name"), [*titled(configuration()["nav"])][1:])
def test_a_page_has_in_the_navigation_the_title_that_it_has(title, name):
    assert title.lower() in page(f"docs/{name}").partition("\n")[0].lower()
