"""Failures of many kinds, whole, held against tests/expected/failures; `make expected` writes the files anew.

What the example project prints is on pages of docs/, and held by tests/example/test_readme.py.
"""

from __future__ import annotations

import re

import pytest

from tests.expected import assert_as_expected
from tests.support_site import QUESTIONS, Faq, good

from .rich_session import own_lines

ERRORS = """
import pytest

@pytest.fixture
def retriever():
    asked = []

    def search(query, k):
        asked.append(query)
        place = len(asked)
        if place in (2, 3, 4, 5):
            raise KeyError(place // 2)
        kinds = ["['account-4']", "42", "56", "[{'name': query}]", "None", "1 / 0", "{query}", "float(query)"]
        return eval(kinds[max(0, place - 5)])

    return search
"""
LOW = ["about-11", "about-12", "about-13", "about-21"]


def errors_of_many_kinds(faq):
    faq.project.write("conftest.py", ERRORS)
    return []


def slices_that_fall(faq):
    faq.gate(
        'ir_threshold("ndcg@10", max_drop=0.05)',
        'ir_threshold("recall@10", max_drop="5%", tag="billing")',
        'ir_threshold("mrr", 0.8, max_drop=0.02, tag="shipping")',
        'ir_threshold("ndcg@10", 0.8, max_drop=0.02, tag="billing")',
    )
    faq.store()
    worse = [i for i, (_, _, tag) in QUESTIONS.items() if tag in ("billing", "shipping")]
    faq.search(**{i: [*LOW, *good(i)][:5] for i in worse})
    return ["--ir-baseline"]


@pytest.mark.parametrize(("kind", "width"), [(errors_of_many_kinds, 80), (slices_that_fall, 60)])
def test_a_failure_is_as_expected(project, monkeypatch, kind, width):
    monkeypatch.setenv("COLUMNS", str(width))
    output = project.run(*kind(Faq(project)), "--color=no", "--ir-report=r.md").stdout.str()
    shown = own_lines(output.replace("report r.md: written\n", ""))
    failure = shown.partition("--- retrieval quality")[0]
    assert_as_expected(f"failures/{kind.__name__}-{width}.txt", failure)
    # What stands for that which -v shows is nowhere where that is shown.
    assert "(-v " not in (project.path / "r.md").read_text(encoding="utf-8")
    assert failure.count("\n") <= (30 if width == 80 else 37)


def test_what_was_slow_is_shown_without_its_ranking(worse):
    worse.test(['ir_golden("golden/*.yaml")', 'ir_threshold("latency_p95", max=0.0001)'])
    text = worse.run("--ir-report=r.md", "--ir-report=r.json", "-v").stdout.str()
    assert re.search(r"latency_p95 is [\d.]+( ms)?, [\d.]+( ms)? above the threshold", text)
    assert len(re.findall(r"(?m)^  took [\d.]+ ms$", text)) == 3
    markdown = (worse.path / "r.md").read_text(encoding="utf-8")
    assert markdown.count(", took ") == 3
    assert "| rank |" not in markdown
    assert "(it was at rank" not in text


@pytest.mark.parametrize(("options", "coloured"), [(["--color=no"], False), (["--color=yes"], True)])
def test_the_summary_has_colours_where_pytests_own_lines_have(worse, options, coloured):
    output = worse.run("--ir-baseline", *options).stdout.str()
    assert ("\x1b[31m\x1b[1mgolden/faq.yaml: FAILS" in output) is coloured
    assert ("\x1b" in output) is coloured


def test_under_q_one_line_has_the_colour_of_the_worst_verdict(worse):
    for limit, colour in (("", "31"), (", significance=0.05", "33"), (" * 50", "32")):
        worse.test(['ir_golden("golden/*.yaml")', f'ir_threshold("mrr", max_drop=0.01{limit})'])
        output = worse.run("--ir-baseline", "-q", "--color=yes").stdout.str()
        assert f"\x1b[{colour}mretrieval quality: 1 " in output


@pytest.mark.parametrize("style", ["auto", "short", "long", "native", "line"])
def test_a_traceback_style_changes_nothing_as_there_is_no_traceback(worse, style):
    lines = worse.run("--ir-baseline", f"--tb={style}").outlines
    said = next(line for line in lines if line.startswith("mrr fell by 0.2222 from the baseline to 0.6111; "))
    assert (sum(f"test_search.py:6: Failed: {said}" in line for line in lines) == 1) == (style == "line")
    assert "Traceback" not in "".join(lines)


def test_without_tracebacks_the_verdict_is_in_the_summaries(worse):
    result = worse.run("--ir-baseline", "--tb=no")
    result.stdout.fnmatch_lines(
        ["golden/faq.yaml: FAILS, 3 queries; mrr 0.6111 (−0.2222)*", "FAILED test_search.py*"]
    )


@pytest.mark.parametrize("options", [["-p", "no:terminal"], ["--no-summary"], ["-qq"], ["-rA"]], ids=str)
def test_the_exit_status_is_the_same_however_little_is_shown(worse, options):
    assert worse.run("--ir-baseline", *options).ret == 1
    worse.run("--ir-baseline-update")
    assert worse.run("--ir-baseline", *options).ret == 0
