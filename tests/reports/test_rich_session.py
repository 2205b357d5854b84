"""One session with all that reports can be about, as each format shows it, whole; `make expected` writes the files anew."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from tests.expected import assert_as_expected

from .rich_session import own_lines


def without_time(text):
    """Replace what differs from run to run, from machine to machine and from version to version."""
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?( UTC|[+ -]*\d\d:\d\d)?", "2026-03-01 09:30", text)
    text = re.sub(r"took \d+\.\d s|\"seconds\": [\d.]+", "took 1.5 s", text)
    return re.sub(r"(python|pytest|pytest-irmetrics)(\": \"| )\d[\w.+]*", r"\1\g<2>1.0", text)


# The default's lines are held by tests/reports/test_failures.py and by pages of docs/, queries that raise too; `words` is as `stems`.
@pytest.mark.parametrize(
    ("option", "part"),
    [
        ("-q", lambda shown: shown[shown.index("retrieval quality: ") :]),
        (
            "-v",
            lambda shown: re.sub(
                r"(?s)--- test_down.*?(?=--- retr)|golden/help.yaml \[words.*?(?=golden/d)", "", shown
            ),
        ),
        (
            "-vv",
            lambda shown: shown.partition("then those of other limits:\n")[2].partition("\n\n")[0] + "\n",
        ),
    ],
)
def test_the_terminal(rich, option, part):
    assert_as_expected(f"reports/terminal{option}.txt", part(own_lines(rich.pytest("--ir-baseline", option))))


def test_the_annotations_of_a_job_on_github(rich):
    lines = [line for line in rich.output.splitlines() if line.startswith("::")]
    assert_as_expected("reports/annotations.txt", "\n".join([*lines, ""]))


def test_the_properties_in_junit_s_file(rich):
    (case,) = ET.parse(rich.folder / "junit.xml").iterfind(".//testcase[@name='test_shop[shop]']")
    lines = [f"{one.get('name')} {one.get('value')}\n" for one in case.iter("property")]
    assert_as_expected("reports/junit.txt", "".join(lines))


def test_markdown(rich):
    assert_as_expected("reports/report.md", (rich.folder / "r.md").read_text(encoding="utf-8"))


def test_html_but_for_its_style_and_script(rich):
    page = (rich.folder / "r.html").read_text(encoding="utf-8")
    page = re.sub(r"(?s)<(style|script)>.*?</\1>|sha256-[^']*", "", page)
    assert_as_expected("reports/report.html", without_time(page))


def test_json(rich):
    """Of the test that has all fields, with two of its queries: the others have nothing else, but for an error."""
    text = without_time((rich.folder / "r.json").read_text(encoding="utf-8"))
    header, *tests = re.split(r"(?m)^(?=\"nodeid\")", text)
    assert len(tests) == 5
    (shop,) = (test for test in tests if "::test_shop" in test.partition("\n")[0])
    shop = re.sub(r"(?m)^\{\"(query_)?id\": \"(?!refund|new\")[^\n]*\n", "", shop)
    assert_as_expected("reports/report.json", header + shop)
    assert '"error": "raised KeyError: \'id\' (conftest.py:11).", "status": "", "took": null' in text
    assert text.count('"run": null') == 1


def test_the_same_session_gives_the_same_reports(rich):
    before = {name: (rich.folder / name).read_bytes() for name in ("r.html", "r.md", "r.json")}
    rich.pytest(
        "--ir-baseline",
        *(f"--ir-report=again.{suffix}" for suffix in ("html", "md", "json")),
        GITHUB_SHA="0" * 40,
    )
    for name, old in before.items():
        new = (rich.folder / name.replace("r.", "again.")).read_text(encoding="utf-8")
        assert without_time(new).replace("again.", "r.") == without_time(old.decode()), name
        assert str(rich.folder) not in new


def test_every_output_names_the_same_query_first(rich):
    (worst,) = re.findall(r"Here: (\w+), mrr", rich.output)
    assert f"--ir-baseline --ir-query {worst}\n" in rich.output
    markdown = (rich.folder / "r.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\*\*`(.*?)`\*\*:", markdown.partition("### `golden/shop.yaml`")[2])[0] == worst
