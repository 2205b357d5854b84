"""A run with one of everything, and its JSON."""

from __future__ import annotations

from pytest_irmetrics.run import Answer, Run

ANSWER = Answer(
    rankings=(("d1", "d2"), ("d2",)),
    text="how do I reset my password",
    params={"lang": "no", "max": 500},
    judgments={"d1": 2, "d9": 0},
    weight=2.0,
    tags=("billing",),
)
RUN = Run.of(
    {"refund": ANSWER, "faq": Answer(((),), text="none")},
    depth=10,
    golden_set="golden/faq.yaml",
    relevance_level=1,
    means={"mrr": 0.5},
)
STORED = RUN.dumps()
