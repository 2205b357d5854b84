"""Texts that would be markup, commands or control characters somewhere: harmless in every output, and shown in each."""

from __future__ import annotations

import json
import re
import unicodedata
import xml.etree.ElementTree as ET

import pytest

from pytest_irmetrics.cli import main
from tests.pages import DOCS

from .html_page import Page
from .rich_session import run_pytest

HOSTILE = [
    "<script>document.title = 'pwned'</script>",
    '"><img src=x onerror="document.title=1">',
    "' onmouseover='document.title=1' x='",
    "javascript:document.title=1",
    "</style></script></title></textarea><h1>pwned</h1>",
    "<!-- -->]]>&lt;b&gt;&amp;",
    "{{ 7 * 7 }}{% raw %}",
    "![x](http://example.invalid/x.png) [y](javascript:alert(1))",
    "| a | b | `c` ``d`` \\| ",
    "@everyone #1 GH-2 https://example.invalid :smile: $x$",
    "::error file=x::pwned ##[error]pwned ##vso[task.complete]",
    "\u202egnp.exe\u2066 \u200b \x1b[31m \x85 \u2028",
    "=cmd|' /C calc'!A0",
    "<details open><summary>pwned",
    "* not a list",
]
COMMAND = "::error file=pwned.py::pwned"

CONFTEST = f"""
import pytest

HOSTILE = {HOSTILE!r}

@pytest.fixture(params=[{COMMAND!r}])
def retriever(request):
    def search(query, k):
        number = HOSTILE.index(query[2:])
        if query.startswith("2 "):
            raise ValueError("\\n".join([query, {COMMAND!r}]))
        return [*(HOSTILE[(number + shift) % len(HOSTILE)] for shift in range(3)), "\\ud800"]
    return search

@pytest.fixture
def ir_doc_title():
    return lambda doc_id: f"{{doc_id}} {{doc_id}}"
"""
TESTS = """
import pytest

@pytest.mark.ir_golden("golden/*.yaml")
@pytest.mark.ir_threshold("mrr", 0.99, max_drop=0.1)
@pytest.mark.ir_threshold("mrr", min_each=0.9)
def test_it(irmetrics):
    irmetrics.check(against=lambda query, k: ["none of these"])

def test_other():
    pass
"""


def golden(number):
    """Write a golden set with each text as text, id, tag, document, and reason; YAML 1.1 reads JSON's strings."""
    lines = ["queries:"]
    for place, text in enumerate(HOSTILE):
        others = [HOSTILE[(place + shift) % len(HOSTILE)] for shift in (1, 2, 4)]
        query = {
            "id": text,
            "query": f"{number} {text}",
            "relevant": {others[0]: 1, others[1]: 2},
            "forbidden": [others[2]],
            "tags": [text],
            "note": text,
        }
        if place == 5:
            query["xfail"] = text
        lines.append(f"  - {json.dumps(query)}")
    return "\n".join([*lines, ""])


SUFFIXES = ("html", "md", "json")


def test_no_format_is_left_out(capsys):
    with pytest.raises(SystemExit):
        main(["report", "r.json", "-o", "r.docx"])
    said = capsys.readouterr().err
    rows = re.findall(r"^\| `\.(\w+)` \|", (DOCS / "reports.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*re.findall(r"(\w+):PATH", said)} == {*SUFFIXES} == {*rows}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A session over golden sets of hostile texts with every output; returns its folder, and what it printed by verbosity."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "golden").mkdir()
    (folder / "golden" / "<b>`x`|.yaml").write_text(golden(1), encoding="utf-8")
    (folder / "golden" / "errors &amp;.yaml").write_text(golden(2), encoding="utf-8")
    (folder / "golden" / "unread.yaml").write_text(
        golden(1).replace('"tags"', f"{json.dumps(COMMAND)}"), encoding="utf-8"
    )
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    files = [f"--ir-report=r.{suffix}" for suffix in SUFFIXES]
    printed = {option: run_pytest(folder, option, GITHUB_ACTIONS="true") for option in ("-q", "-v")}
    printed["-vv"] = run_pytest(folder, "-vv", "--junitxml=junit.xml", *files, GITHUB_ACTIONS="true")
    return folder, printed


def test_a_terminal_gets_no_control_character_and_a_log_no_command_but_ours(session):
    for option, output in session[1].items():
        unseen = {
            c for c in output if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") and c != "\n"
        }
        assert not unseen, option
        commands = [line for line in output.splitlines() if line.lstrip().startswith(("::", "##["))]
        assert len(commands) == 10, option  # as many as GitHub shows
        for line in commands:
            assert re.match(
                r"::error (file=golden/[^,:]*,(line=\d+,(col=\d+,)?)?)?title=Search quality%3A [^,:]*::", line
            ), line
    full = " ".join(session[1]["-vv"].replace("\\", "").split())
    for text in HOSTILE:
        assert " ".join(text.replace("\\", "").split()[:2]).split("\u202e")[0] in full, text


def test_a_page_has_no_element_attribute_or_address_of_a_text(session):
    page = Page((session[0] / "r.html").read_text(encoding="utf-8"))
    for tag in ("script", "style", "h1"):
        assert len(page.all(tag)) == 1
    assert not page.all("img") + page.all("iframe") + page.all("textarea") + page.all("form")
    assert not [n for _, named in page.elements for n in named if re.match("on|(src|action|style)$", n)]
    page.assert_every_link_leads_somewhere()
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069\u200b\u2028\x1b\x85]", page.text)
    for text in HOSTILE:
        if text.isprintable():
            assert " ".join(text.split()) in page.text, text
    assert "\\u202egnp.exe\\u2066" in page.text


def test_markdown_has_no_markup_of_a_text(session):
    text = (session[0] / "r.md").read_text(encoding="utf-8")
    text.encode("utf-8")
    outside = re.sub(r"(?<![`\\])(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", text)
    ours = {"<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"}
    assert set(re.findall(r"(?<!\\)<[^>\n]*>?", outside)) <= ours
    assert text.count("<details>") == text.count("</details>")
    assert not re.search(r"(?<!\\)!?\[[^\]]*(?<!\\)\]\(", outside)
    assert not re.search(r"(?m)^\s*(::|##\[|\* )", text)
    assert not re.search(r"(?<![\w\\])@\w|https?://e|(?<!\\)\$x", outside)
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069\u200b\u2028\x1b\x85]", text)
    rows = [len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("|")]
    tables = re.findall(r"(?m)(?:^\|.*\n)+", text)
    assert rows
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1, table


def test_json_and_junit_hold_the_texts_themselves(session):
    report = json.loads((session[0] / "r.json").read_text(encoding="utf-8"))
    (test,) = [test for test in report["tests"] if test["outcome"] == "failed"]
    assert sorted(query["query_id"] for query in test["queries"]) == sorted(HOSTILE)
    assert set(test["queries"][0]["now"]) <= {*HOSTILE, "\ud800"}
    ET.parse(session[0] / "junit.xml")
