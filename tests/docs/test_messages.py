"""docs/messages.md quotes what really is printed: each situation is brought about, and its words are looked for. So are the notes of docs/noise.md."""

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
"""What brings a situation about, and returns pytest's options → the words of the page that are printed then."""


def situation(*quotes):
    def of(function):
        SITUATIONS[function] = quotes
        return function

    return of


@situation("below the threshold: at least")
def below_a_threshold(faq):
    faq.gate('ir_threshold("mrr", 0.95)')
    faq.search(refund=["billing-11", "billing-12", "billing-2"], hours=["about-11", "about-1"])
    return []


@situation("fell by", "from the baseline")
def a_document_moved(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12", "billing-13", "billing-2", "about-11", "billing-7"])
    return ["--ir-baseline"]


@situation("1 judgment of 1 query changed since the baseline was stored")
def labels_edited(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12", "billing-2", "billing-7"])
    faq.questions(refund=("refund policy", {"billing-2": 3, "billing-7": 2, "billing-12": 1}, "billing"))
    return ["--ir-baseline"]


@situation("Under the judgments that were stored with the baseline")
def labels_that_hide_a_drop(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12", "billing-2", "billing-7"])
    faq.questions(refund=("refund policy", {"billing-11": 3, "billing-12": 3, "billing-2": 1}, "billing"))
    return ["--ir-baseline"]


@situation("Under the weights that were stored with the baseline")
def a_weight_that_hides_a_drop(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12", "billing-2", "billing-7"])
    faq.project.write("golden/faq.yaml", golden(refund=["weight: 0.1"]))
    return ["--ir-baseline"]


@situation("is marked xfail", "has the words of the baseline and another id")
def queries_taken_out_of_the_gate(faq):
    faq.store()
    faq.search(refund=["billing-11", "billing-12"], phone=["about-11"])
    renamed = {"hotline" if query_id == "phone" else query_id: q for query_id, q in QUESTIONS.items()}
    faq.project.write("golden/faq.yaml", golden(renamed, refund=["xfail: TICKET-7"]))
    return ["--ir-baseline"]


@situation("a document that is forbidden")
def a_forbidden_document(faq):
    faq.project.write("golden/faq.yaml", golden(refund=["forbidden: [billing-99]"]))
    faq.store()
    faq.search(refund=["billing-2", "billing-99", "billing-7"])
    return ["--ir-baseline"]


@situation("new since the baseline", "reworded", "not in the golden set any more")
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


@situation("no answer has more than 1 result")
def the_index_returns_fewer(faq):
    faq.store()
    faq.search(**{query_id: good(query_id)[:1] for query_id in QUESTIONS})
    return ["--ir-baseline"]


@situation("are new and unjudged")
def unjudged_documents_push_in(faq):
    faq.gate('ir_threshold("ndcg@3", max_drop=0.01)')
    faq.project.write("pytest.ini", "[pytest]\nir_depth = 3\nir_metrics =\n    mrr\n    ndcg@3\n")
    faq.store()
    faq.search(
        **{i: [f"about-{20 + n}", good(i)[0], f"about-{40 + n}"] for n, i in enumerate(list(QUESTIONS)[:8])}
    )
    return ["--ir-baseline"]


@situation("what differs from run to run")
def noise(faq):
    turns = {"a": good("refund"), "b": ["about-21", *good("refund")[:9]]}
    faq.gate('ir_threshold("mrr", max_drop=0.01)')
    faq.search(refund={"0": good("refund"), "1": good("refund"), "2": good("refund"), "3": turns["b"]})
    faq.store("--ir-repeat=4")
    faq.search(refund=turns)
    return ["--ir-repeat=4", "--ir-baseline"]


@situation("that judged the baseline when it was stored")
def limits_that_hold_less(faq):
    faq.store()
    faq.gate('ir_threshold("ndcg@10", min=0.70, max_drop=0.01)')
    return ["--ir-baseline"]


@situation("The mean hides that")
def a_slice_that_the_mean_hides(faq):
    faq.gate('ir_threshold("ndcg@10", max_drop=0.01)')
    orders = [i for i, (_, _, tag) in QUESTIONS.items() if tag in ("billing", "shipping")]
    faq.questions(**{i: (*QUESTIONS[i][:2], "orders") for i in orders})
    low = ["about-11", "about-12", "about-13", "about-21"]
    faq.search(**{i: [*low, *good(i)] for i in QUESTIONS if i not in orders})
    faq.store()
    faq.search(**{i: ["about-21", *good(i)] for i in orders})
    return ["--ir-baseline"]


@situation("could not be retrieved")
def the_retriever_raises(faq):
    faq.search(refund=["raise"], invoice=["raise"], vat=["raise"])
    return []


@situation("occurs in the golden set; this is about ids")
def ids_of_another_kind(faq):
    faq.search(
        **{query_id: [f"support/{doc_id}.html" for doc_id in good(query_id)] for query_id in QUESTIONS}
    )
    return []


@situation("There is no baseline for this test")
def no_baseline(_):
    return ["--ir-baseline"]


@situation("belongs to no item of this test")
def a_renamed_golden_set(faq):
    faq.store()
    (faq.project.path / "golden/faq.yaml").rename(faq.project.path / "golden/questions.yaml")
    return ["--ir-baseline"]


@situation("belongs to no test any more")
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


@pytest.mark.parametrize("bring_about", SITUATIONS, ids=lambda function: function.__name__)
def test_what_the_page_quotes_is_printed(project, bring_about):
    printed = " ".join(shown(project.run(*bring_about(Faq(project)))).split())
    for quote in SITUATIONS[bring_about]:
        assert quote in printed


def test_the_page_quotes_nothing_else():
    cells = re.findall(r'^\| (".*?") \| ', PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    quoted = {quote for cell in cells for quote in re.findall(r'"([^"]+)"', cell)}
    assert quoted == {quote for quotes in SITUATIONS.values() for quote in quotes} | {"ACCEPTED"}


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
