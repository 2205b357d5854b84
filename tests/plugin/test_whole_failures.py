"""Failures of many kinds, whole, on screens of three widths, in colour and without, held against tests/expected/failures.

`make expected` writes the files anew; what the example project prints is held by tests/integration/test_example_output.py.
"""

from __future__ import annotations

import re

import pytest

from pytest_irmetrics.base.layout import display_width
from tests.expected import assert_as_expected
from tests.git_repository import commit, git, isolate_git, needs_git, new_repository
from tests.plugin.test_docs_messages import QUESTIONS, Faq, golden, good

LOW = ["about-11", "about-12", "about-13", "about-21"]


def queries_that_raise(faq):
    faq.search(refund=["raise"], invoice=["raise"], vat=["raise"])
    return []


def ids_that_are_unknown(faq):
    faq.search(
        **{query_id: [f"support/{doc_id}.html" for doc_id in good(query_id)] for query_id in QUESTIONS}
    )
    return []


def judgments_edited_too(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12", "billing-2", "billing-7"])
    faq.questions(refund=("refund policy", {"billing-11": 3, "billing-12": 3, "billing-2": 1}, "billing"))
    return ["--ir-baseline"]


def a_threshold_alone(faq):
    faq.gate('ir_threshold("mrr", 0.95)', 'ir_threshold("ndcg@10", 0.97)')
    faq.search(refund=["billing-11", "billing-12", "billing-2"], hours=["about-11", "about-1"])
    return []


def documents_that_must_not_come(faq):
    questions = {**QUESTIONS, "nonsense": ("asdf qwerty", {}, "about")}
    text = golden(questions, refund=["forbidden: [billing-99]"], nonsense=["no_answer: true"])
    faq.project.write("golden/faq.yaml", text.replace("    relevant: {}\n", ""))
    faq.answers(**{"asdf qwerty": []})
    faq.store()
    faq.search(refund=["billing-2", "billing-99", "billing-7"])
    faq.answers(**{"asdf qwerty": ["about-1", "about-3"]})
    return ["--ir-baseline"]


def many_queries_lost(faq):
    faq.gate('ir_threshold("ndcg@10", min=0.80, max_drop=0.01, max_lost=0)', 'ir_threshold("recall@10", 0.9)')
    faq.store()
    faq.search(**{query_id: [] for query_id in [*QUESTIONS][:7]})
    return ["--ir-baseline"]


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


def a_fall_that_the_branch_accepts(faq):
    faq.gate('ir_threshold("mrr", 0.2)')
    new_repository(faq.project.path)
    faq.store()
    commit(faq.project.path, "store the baseline")
    git(faq.project.path, "checkout", "-q", "-b", "feature")
    faq.search(refund=["billing-11", "billing-12", "billing-2"], hours=["about-11", "about-1"])
    faq.store()
    commit(faq.project.path, "Tidy up")
    return ["--ir-since=main", "-o", "ir_accept=fail"]


KINDS = {
    kind.__name__: kind
    for kind in (
        queries_that_raise,
        ids_that_are_unknown,
        judgments_edited_too,
        a_threshold_alone,
        documents_that_must_not_come,
        many_queries_lost,
        slices_that_fall,
        a_fall_that_the_branch_accepts,
    )
}
COMMANDS = ("To look closer: ", "To judge both: ", "To accept it: ")


_HEADING = r"(?m)^(?:\x1b\[[0-9;]*m)*{0} {1} {0}(?:\x1b\[[0-9;]*m)*\n"


def own_lines(output):
    """Return the failure's message and what the summary says, without pytest's own headings."""
    _, rest = re.split(_HEADING.format("_{3,}", r"[^\n]+"), output, maxsplit=1)
    failure, rest = re.split(_HEADING.format("={3,}", "retrieval quality"), rest, maxsplit=1)
    summary = re.split(_HEADING.format("={3,}", "short test summary info"), rest, maxsplit=1)[0]
    return re.sub(r"\b[0-9a-f]{9}\b", "012345678", f"{failure}--- retrieval quality\n{summary}")


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@needs_git
@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_is_as_expected(project, monkeypatch, kind):
    isolate_git(monkeypatch)
    options = KINDS[kind](Faq(project))
    for width in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = own_lines(project.run("--color=no", *options).stdout.str())
        assert_as_expected(f"failures/{kind}-{width}.txt", shown)
        coloured = own_lines(project.run("--color=yes", *options).stdout.str())
        assert_as_expected(f"failures/{kind}-{width}-colour.txt", coloured)
        assert plain(coloured) == shown
        check_lines(shown, width)


def check_lines(shown, width):
    """Hold what is true of each failure: no line is wider than the screen but a command, and no number is cut."""
    failure = shown.partition("--- retrieval quality")[0].rstrip("\n").split("\n")
    if width >= 80:
        assert len(failure) <= 30, failure
    for line in shown.splitlines():
        assert display_width(line) <= width or line.startswith(COMMANDS), line
        assert not re.search(r"\d…|[≥≤]$", line), line
