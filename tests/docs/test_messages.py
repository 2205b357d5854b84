"""docs/messages.md, and the notes of docs/noise.md, show what really is printed: each situation is brought about anew and compared, word for word.

After a change of words, `make expected` writes the page's blocks anew.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.expected import RENEWING
from tests.pages import DOCS, blocks
from tests.support_site import QUESTIONS, Faq, golden, good

PAGE = DOCS / "messages.md"
NOISE_PAGE = DOCS / "noise.md"

SITUATIONS = {}


def situation(function):
    SITUATIONS[function.__name__] = function
    return function


@situation
def below_a_threshold(faq):
    faq.gate('ir_threshold("mrr", 0.95)')
    faq.search(refund=["billing-11", "billing-12", "billing-2"], hours=["about-11", "about-1"])
    return []


@situation
def a_document_moved(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12", "billing-13", "billing-2", "about-11", "billing-7"])
    return ["--ir-baseline"]


@situation
def labels_edited(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12", "billing-2", "billing-7"])
    faq.questions(refund=("refund policy", {"billing-2": 3, "billing-7": 2, "billing-12": 1}, "billing"))
    return ["--ir-baseline"]


@situation
def labels_that_hide_a_drop(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12", "billing-2", "billing-7"])
    faq.questions(refund=("refund policy", {"billing-11": 3, "billing-12": 3, "billing-2": 1}, "billing"))
    return ["--ir-baseline"]


@situation
def a_weight_that_hides_a_drop(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12", "billing-2", "billing-7"])
    faq.project.write("golden/faq.yaml", golden(refund=["weight: 0.1"]))
    return ["--ir-baseline"]


@situation
def queries_taken_out_of_the_gate(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12"], phone=["about-11"])
    renamed = {"hotline" if query_id == "phone" else query_id: q for query_id, q in QUESTIONS.items()}
    faq.project.write("golden/faq.yaml", golden(renamed, refund=["xfail: TICKET-7"]))
    return ["--ir-baseline"]


@situation
def a_forbidden_document(faq):
    faq.project.write("golden/faq.yaml", golden(refund=["forbidden: [billing-99]"]))
    faq.store()
    faq.search(refund=["billing-2", "billing-99", "billing-7"])
    return ["--ir-baseline"]


@situation
def queries_edited(faq):
    faq.store()
    faq.questions(
        hours=None,
        phone=("support hotline", *QUESTIONS["phone"][1:]),
        coupon=("redeem a coupon", {"billing-9": 3}, "billing"),
    )
    faq.answers(**{"support hotline": good("phone"), "redeem a coupon": ["billing-9"]})
    text = json.loads((faq.project.path / "answers.json").read_text(encoding="utf-8"))
    text["where is my invoice"] = ["billing-11", "billing-12", "billing-5"]
    faq.project.answers(text)
    return ["--ir-baseline"]


@situation
def the_index_returns_fewer(faq):
    faq.store()
    faq.search(**{query_id: good(query_id)[:1] for query_id in QUESTIONS})
    return ["--ir-baseline"]


@situation
def unjudged_documents_push_in(faq):
    faq.gate('ir_threshold("ndcg@3", max_drop=0.01)')
    faq.project.write("pytest.ini", "[pytest]\nir_depth = 3\nir_metrics =\n    mrr\n    ndcg@3\n")
    faq.store()
    faq.search(
        **{i: [f"about-{20 + n}", good(i)[0], f"about-{40 + n}"] for n, i in enumerate(list(QUESTIONS)[:8])}
    )
    return ["--ir-baseline"]


@situation
def noise(faq):
    turns = {"a": good("refund"), "b": ["about-21", *good("refund")[:9]]}
    faq.gate('ir_threshold("mrr", max_drop=0.01)')
    faq.search(refund={"0": good("refund"), "1": good("refund"), "2": good("refund"), "3": turns["b"]})
    faq.store("--ir-repeat=4")
    faq.search(refund=turns)
    return ["--ir-repeat=4", "--ir-baseline"]


@situation
def a_slice_that_the_mean_hides(faq):
    faq.gate('ir_threshold("ndcg@10", max_drop=0.01)')
    orders = [i for i, (_, _, tag) in QUESTIONS.items() if tag in ("billing", "shipping")]
    faq.questions(**{i: (*QUESTIONS[i][:2], "orders") for i in orders})
    low = ["about-11", "about-12", "about-13", "about-21"]
    faq.search(**{i: [*low, *good(i)] for i in QUESTIONS if i not in orders})
    faq.store()
    faq.search(**{i: ["about-21", *good(i)] for i in orders})
    return ["--ir-baseline"]


@situation
def the_retriever_raises(faq):
    faq.search(refund=["raise"], invoice=["raise"], vat=["raise"])
    return []


@situation
def ids_of_another_kind(faq):
    faq.search(
        **{query_id: [f"support/{doc_id}.html" for doc_id in good(query_id)] for query_id in QUESTIONS}
    )
    return []


@situation
def no_baseline(_):
    return ["--ir-baseline"]


@situation
def a_renamed_test(faq):
    faq.store()
    faq.project.test(
        ['ir_golden("golden/*.yaml")', 'ir_threshold("ndcg@10", min=0.80, max_drop=0.01)'], name="test_faq"
    )
    return ["--ir-baseline"]


@situation
def a_renamed_golden_set(faq):
    faq.store()
    (faq.project.path / "golden/faq.yaml").rename(faq.project.path / "golden/questions.yaml")
    return ["--ir-baseline"]


@situation
def a_deleted_test_file(faq):
    faq.store()
    (faq.project.path / "test_search.py").rename(faq.project.path / "search.py.old")
    faq.project.write("pytest.ini", "[pytest]\nir_baseline = true\n")
    return []


def shown(result):
    """The failures' texts, or of a passing run what it says of retrieval quality."""
    text = result.stdout.str()
    found = re.findall(r"^_{3,} [^\n]* _{3,}\n(.*?)(?=^(?:_{3,}|={3,}) )", text, re.DOTALL | re.MULTILINE)
    if found:
        return "\n\n".join(part.rstrip() for part in found)
    return re.search(r"^=+ retrieval quality =+\n(.*?)^=+ ", text, re.DOTALL | re.MULTILINE)[1].strip()


def block(page, name):
    return re.search(rf"(<!-- {name} -->\n+```text\n)(.*?)(\n```)", page, re.DOTALL)


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_page_shows_what_is_printed(project, name):
    options = SITUATIONS[name](Faq(project))
    printed = shown(project.run(*options))
    page = PAGE.read_text(encoding="utf-8")
    documented = block(page, name)
    assert documented, f"{PAGE.name} has no block for {name}: <!-- {name} -->, then ```text"
    if RENEWING:
        PAGE.write_text(page[: documented.start(2)] + printed + page[documented.end(2) :], encoding="utf-8")
        return
    assert documented[2] == printed


def test_the_page_shows_nothing_else():
    assert set(re.findall(r"<!-- (\w+) -->", PAGE.read_text(encoding="utf-8"))) == set(SITUATIONS)


INDEX = """
from itertools import count

_built = count()


class Index:
    def __init__(self):
        self.number = next(_built)

    def search(self, query, k):
        return [f"doc-{query}", f"build-{self.number}"][:k]


build_index = Index
"""


def test_each_pass_over_the_queries_meets_another_build(project):
    (code,) = (block.text for block in blocks(NOISE_PAGE) if block.kind == "python")
    project.write("conftest.py", INDEX + code)
    project.write(
        "golden/faq.yaml",
        "queries: [{query: a, relevant: doc-a}, {query: b, relevant: {doc-b: 1, build-9: 1}}]\n",
    )
    project.run("--ir-repeat=10", "--ir-baseline-update").assert_outcomes(passed=1)
    (baseline,) = (project.path / "ir_baselines").rglob("*.json")
    text = baseline.read_text(encoding="utf-8")
    assert [text.count(f'"build-{number}"') for number in range(10)] == [2] * 9 + [
        3
    ]  # once more as a judgment


def test_the_notes_are_printed_as_the_page_shows_them(project):
    printed = shown(project.run("-v", *noise(Faq(project))))
    about_noise = re.findall(
        r"^  (?:note: A fall fails|note: (?:mrr moved|max_drop)).*\n(?:    .*\n?)*", printed, re.MULTILINE
    )
    notes = "".join(f"{note.rstrip()}\n" for note in about_noise)
    (block,) = (block for block in blocks(NOISE_PAGE) if block.remark == "notes on run noise")
    if RENEWING:
        NOISE_PAGE.write_text(
            NOISE_PAGE.read_text(encoding="utf-8").replace(f"```text\n{block.text}", f"```text\n{notes}"),
            encoding="utf-8",
        )
    else:
        assert notes == block.text
