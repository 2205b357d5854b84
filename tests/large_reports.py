"""Sessions of any size for the HTML report: their sentences, means and rankings fit together, and every run gives the same."""

from __future__ import annotations

import math
import random

from pytest_irmetrics.reports import SessionReport
from pytest_irmetrics.reports.item_report import Curve, ItemReport, QueryReport, ScoreRow, VerdictReport
from pytest_irmetrics.reports.session_report import RunInfo

METRICS = ("mrr", "ndcg@10", "recall@10")
WORDS = [
    "how",
    "do",
    "I",
    "change",
    "my",
    "invoice",
    "address",
    "refund",
    "policy",
    "for",
    "annual",
    "plans",
    "reset",
    "password",
    "on",
    "phone",
    "delete",
    "account",
    "and",
    "keep",
    "data",
    "export",
    "all",
    "orders",
    "as",
    "file",
    "two",
    "factor",
    "codes",
    "lost",
    "cancel",
    "before",
    "trial",
    "ends",
    "shipping",
    "to",
    "islands",
    "gift",
    "card",
    "balance",
]
TAGS = ("billing", "login", "shipping", "orders", "privacy", "gift cards")
INFO = RunInfo(
    "2026-11-22T12:00:00+00:00",
    12.34,
    "0123456789abcdef0123456789abcdef01234567",
    {"python": "3.13.1", "pytest": "9.0.1", "pytest-irmetrics": "0.1.0"},
)


def large_session(tests=1, queries=115, changed=0.1, failing=4):
    """Return a session of so many golden sets; the share ``changed`` of queries moved, and one set in ``failing`` fails."""
    rng = random.Random(7)
    items = [_item(number, queries, changed, fails=number % failing == 0, rng=rng) for number in range(tests)]
    return SessionReport(items, int(any(item.outcome == "failed" for item in items)), info=INFO)


def _item(number, count, changed, *, fails, rng):
    name = "faq" if not number else f"{TAGS[number % len(TAGS)].replace(' ', '-')}-{number:03}"
    queries = [_query(place, name, rng.random() < changed, fails, rng) for place in range(count)]
    ordered = sorted(queries, key=lambda query: query.scores["mrr"] - query.scores_before["mrr"])
    worse = [query.query_id for query in ordered if query.scores["mrr"] < query.scores_before["mrr"]]
    rows = [_row(metric, queries) for metric in METRICS]
    lost = sum(len(set(query.judgments) - set(query.now)) for query in queries)
    failed = next((row for row in rows if row.verdict == "FAILS"), None)
    nodeid = f"tests/test_search.py::test_search_quality[{name}]"
    return ItemReport(
        nodeid=nodeid,
        golden_set=f"golden/{name}.yaml",
        outcome="failed" if failed else "passed",
        rows=rows,
        leading_metric=failed.metric if failed else "mrr",
        gates=_gates(rows, worse),
        explained_by=len(worse),
        slices=[_slice(tag, queries[place :: len(TAGS)]) for place, tag in enumerate(TAGS)],
        titles={
            doc_id: " ".join(rng.choices(WORDS, k=5)).capitalize()
            for query in ordered[:50]
            for doc_id in (*query.now, *query.before)
        },
        curves=[
            Curve(metric, [k * a for k in range(1, 11)], [k * a * 1.1 for k in range(1, 11)])
            for metric, a in (("recall", 0.07), ("precision", 0.03))
        ],
        kind="lost" if failed else None,
        kind_sentences=[
            f"Documents are no longer found: {lost} relevant documents dropped out of the first 10."
        ]
        if failed
        else [],
        notes=["No query got the 10 results that were asked for; the longest answer has 9."],
        hints=["A fall of 0.02 and more is found in 8 of 10 cases."],
        against="the baseline",
        look=f"pytest '{nodeid}' --ir-baseline",
        judge=[f"pytest-irmetrics label golden/{name}.yaml --run report.json --by mrr"] if failed else [],
        accept=f"pytest '{nodeid}' --ir-baseline-update",
        depth=10,
        query_count=count,
        queries=queries,
    )


def _query(place, name, moved, fails, rng):
    before = [f"{name}-{rng.randrange(10**6):06}" for _ in range(10)]
    relevant = {before[rng.randrange(4)]: 3.0, before[4 + rng.randrange(6)]: 1.0}
    now = list(before)
    if moved:
        now = [*before[1 if fails else 0 :], *(f"{name}-new-{rng.randrange(10**4):04}" for _ in range(2))][:9]
        one, other = rng.randrange(4, 9), rng.randrange(4, 9)
        now[one], now[other] = now[other], now[one]
    return QueryReport(
        query_id=f"{name}-{place + 1}",
        text=" ".join(rng.choices(WORDS, k=6)),
        where=f"golden/{name}.yaml:{4 + 4 * place}",
        judgments=relevant,
        forbidden=[],
        now=now,
        before=before,
        scores=_scores(now, relevant),
        scores_before=_scores(before, relevant),
    )


def _scores(ranking, relevant):
    ranks = [ranking.index(doc_id) + 1 for doc_id in relevant if doc_id in ranking]
    return {
        "mrr": 1 / min(ranks) if ranks else 0.0,
        "ndcg@10": sum(relevant[ranking[rank - 1]] / math.log2(rank + 1) for rank in ranks)
        / (3 + 1 / math.log2(3)),
        "recall@10": len(ranks) / len(relevant),
    }


def _changes(metric, queries):
    changes = [query.scores[metric] - query.scores_before[metric] for query in queries]
    moved = [change for change in changes if abs(change) > 1e-9]
    return changes, moved, sum(change < 0 for change in moved)


def _mean(metric, queries, side):
    return math.fsum(getattr(query, side)[metric] for query in queries) / len(queries)


def _row(metric, queries):
    now, before = _mean(metric, queries, "scores"), _mean(metric, queries, "scores_before")
    _, moved, worse = _changes(metric, queries)
    gated = metric != "recall@10"
    failed = gated and before - now > 0.01
    return ScoreRow(
        metric,
        None,
        len(queries),
        now,
        now,
        before,
        now - before,
        "≥0.3 drop≤0.01" if gated else "",
        ("FAILS" if failed else "passes") if gated else "",
        bounds=[0.3] if gated else [],
        allowed=0.01 if gated else None,
        changed=len(moved),
        worse=worse,
    )


def _slice(tag, queries):
    changes, moved, worse = _changes("mrr", queries)
    if not queries:
        return ScoreRow("mrr", tag, 0, None, None, None, None, "", "")
    delta = math.fsum(changes) / len(changes)
    half = 2.6 * math.sqrt(math.fsum((change - delta) ** 2 for change in changes)) / len(changes)
    now, before = _mean("mrr", queries, "scores"), _mean("mrr", queries, "scores_before")
    interval = (delta - half, delta + half) if len(moved) >= 5 else None
    return ScoreRow(
        "mrr", tag, len(queries), now, now, before, delta, "", "", interval, changed=len(moved), worse=worse
    )


def _gates(rows, worse):
    gates = []
    for row in rows:
        if row.verdict == "FAILS":
            text = f"{row.metric} fell by {-row.delta:.4f} from the baseline to {row.now:.4f}; at most 0.0100 is allowed."
            detail = f"{row.n:,} queries: {row.worse:,} worse, {row.changed - row.worse:,} better, {row.n - row.changed:,} same."
            gates.append(
                VerdictReport(
                    "failed",
                    text,
                    "max_drop",
                    row.metric,
                    None,
                    "the setting ir_max_drop",
                    worse[:20],
                    [detail],
                    shares=[1 / len(worse) for _ in worse[:20]],
                    more=max(0, len(worse) - 20),
                )
            )
        if row.gate:
            held = f"{row.metric} is {row.now:.4f}; at least 0.3 is required."
            gates.append(
                VerdictReport("passed", held, "min", row.metric, None, "the mark of test_search_quality")
            )
    return sorted(gates, key=lambda gate: gate.state)
