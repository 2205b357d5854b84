"""The golden set and the search of a small support site, which tests make worse in ways of their own."""

from __future__ import annotations

import json

QUESTIONS = {
    "reset": ("how do I reset my password", {"account-4": 3, "account-9": 1}, "account"),
    "refund": ("refund policy", {"billing-2": 3, "billing-7": 2}, "billing"),
    "invoice": ("where is my invoice", {"billing-5": 3}, "billing"),
    "vat": ("add a VAT number", {"billing-8": 3, "billing-5": 1}, "billing"),
    "card": ("my card was declined", {"billing-1": 3}, "billing"),
    "hours": ("opening hours", {"about-1": 3}, "about"),
    "phone": ("phone number of support", {"about-3": 3, "about-1": 1}, "about"),
    "ship": ("shipping to Norway", {"shipping-6": 3}, "shipping"),
    "track": ("track my parcel", {"shipping-2": 3, "shipping-3": 2}, "shipping"),
    "late": ("parcel is late", {"shipping-3": 3, "shipping-2": 1}, "shipping"),
    "delete": ("delete my account", {"account-7": 3}, "account"),
    "name": ("change the name on my account", {"account-2": 3, "account-7": 0}, "account"),
}
FILLERS = [
    f"{topic}-{number}" for topic in ("account", "shipping", "about", "billing") for number in (11, 12, 13)
]

CONFTEST = """
import itertools, json, pathlib, pytest

@pytest.fixture(scope="session")
def retriever():
    answers = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
    asked = itertools.count()

    def search(query, k):
        answer = answers[query]
        if "raise" in answer:
            raise ConnectionError("connection refused: localhost:9200")
        if isinstance(answer, dict):  # other answers by turns
            turns = list(answer.values())
            return turns[next(asked) % len(turns)][:k]
        return answer[:k]

    return search
"""


def golden(questions=QUESTIONS, **more):
    """Write the golden set, with more lines for some of its queries."""
    lines = ["queries:"]
    for query_id, (text, judgments, tag) in questions.items():
        judged = ", ".join(f"{doc_id}: {grade}" for doc_id, grade in judgments.items())
        lines += [
            f"  - id: {query_id}",
            f"    query: {text}",
            f"    relevant: {{{judged}}}",
            f"    tags: [{tag}]",
            *(f"    {line}" for line in more.get(query_id, ())),
        ]
    return "\n".join([*lines, ""])


def good(query_id):
    """The relevant documents first, best first, then ten in all."""
    judgments = QUESTIONS[query_id][1]
    return [*(doc_id for doc_id, grade in judgments.items() if grade), *FILLERS][:10]


class Faq:
    """A small support site whose search is gated and whose baseline is stored."""

    def __init__(self, project):
        self.project = project
        project.write("conftest.py", CONFTEST)
        project.write("golden/faq.yaml", golden())
        self.search()
        self.gate('ir_threshold("ndcg@10", min=0.80, max_drop=0.01)')

    def gate(self, *marks):
        self.project.test(['ir_golden("golden/*.yaml")', *marks])

    def search(self, **changed):
        answers = {
            text: changed.get(query_id, good(query_id)) for query_id, (text, _, _) in QUESTIONS.items()
        }
        self.project.answers(answers)

    def store(self, *options):
        self.project.run("--ir-baseline-update", *options).assert_outcomes(passed=1)

    def questions(self, **changed):
        """Edit the golden set; None removes a query."""
        edited = {**QUESTIONS, **changed}
        self.project.write("golden/faq.yaml", golden({i: q for i, q in edited.items() if q is not None}))

    def answers(self, **more):
        path = self.project.path / "answers.json"
        self.project.answers({**json.loads(path.read_text(encoding="utf-8")), **more})
