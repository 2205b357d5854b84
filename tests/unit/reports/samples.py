"""Reports of test items, for the tests of the report formats."""

from __future__ import annotations

from pytest_irmetrics.reports import SessionReport
from pytest_irmetrics.reports.item_report import Degradation, ItemReport, QueryReport, ScoreRow, VerdictReport
from pytest_irmetrics.reports.session_report import RunInfo
from pytest_irmetrics.reports.since_report import SinceReport
from pytest_irmetrics.run import Answer, Run

NODE = "tests/test_search.py::test_quality[faq]"

INFO = RunInfo("2026-03-01T09:30:00+01:00", 1.5, "0123456789abcdef", {"python": "3.13.1"}, "services/faq")
"""When and on what a session ran: in a folder of its repository."""

HOSTILE = [
    "<script>document.title = 'pwned'</script>",
    '"><img src=x onerror="document.title=\'pwned\'">',
    "' onmouseover='document.title=1' x='",
    "javascript:document.title='pwned'",
    "</style></script></title></textarea><h1>pwned</h1>",
    "<!-- -->]]>&lt;b&gt;&amp;",
    "{{ 7 * 7 }}{% raw %}",
    "![x](http://example.invalid/x.png) [y](javascript:alert(1))",
    "| a | b | `c` ``d`` \\| ",
    "@everyone #1 GH-2 https://example.invalid www.example.invalid :smile: $x$",
    "::error::pwned ##[error]pwned ##vso[task.complete]",
    "\u202egnp.exe\u2066 \u200b \x1b[31m \x00 \r\n \u2028",
    "\ud800 lone \udfff",
    "=cmd|' /C calc'!A0",
    "<details open><summary>pwned",
    " * not a list",
    "",
]


def query(query_id="refund", now=("d2", "d1"), before=("d1", "d2"), **changes):
    """A query whose only relevant document fell from rank 1 to 2, unless told otherwise."""
    compared = before is not None
    values = {
        "query_id": query_id,
        "text": f"what of {query_id}",
        "where": "golden/faq.yaml:12",
        "judgments": {"d1": 3.0, "d3": 1.0},
        "forbidden": [],
        "now": list(now),
        "before": list(before) if compared else None,
        "scores": {"mrr": 0.5, "ndcg@10": 0.6},
        "scores_before": {"mrr": 1.0, "ndcg@10": 0.9} if compared else {},
    }
    return QueryReport(**{**values, **changes})


def row(metric="mrr", now=0.5, baseline=1.0, verdict="FAILS", **changes):
    values = {
        "metric": metric,
        "tag": None,
        "n": 1,
        "full": now,
        "now": now,
        "baseline": baseline,
        "delta": None if baseline is None else now - baseline,
        "gate": "drop ≤ 0.01",
        "verdict": verdict,
    }
    return ScoreRow(**{**values, **changes})


def gate(state="failed", metric="mrr", queries=("refund",), **changes):
    values = {
        "state": state,
        "text": f"{metric} fell by 0.5000 from the baseline to 0.5000; at most 0.0100 is allowed.",
        "word": "max_drop",
        "metric": metric,
        "tag": None,
        "origin": "the setting ir_max_drop",
        "queries": list(queries),
        "details": ["1 query: 1 worse, 0 better, 0 same."],
        "shares": [1.0 for _ in queries],
    }
    return VerdictReport(**{**values, **changes})


def sliced(**changes):
    """A golden set of which one tag fell, with everything that is said of a change."""
    values = {
        "slices": [
            row("ndcg@10", 0.4, 0.6, "", tag="billing", n=12, interval=(-0.3, -0.1)),
            row("ndcg@10", 0.9, 0.8, "", tag="login", n=9, interval=(0.05, 0.15)),
            row("ndcg@10", 0.5, 0.5, "", tag="other", n=2),
        ],
        "kind": "ranked_lower",
        "kind_sentences": ["Documents are ranked lower, not lost.", "Most of it is in billing."],
        "hints": ["20 queries show drops of 0.14 and more reliably."],
    }
    return failing(**{**values, **changes})


def tried(**changes):
    """What the self-test found: one degradation caught, one missed."""
    values = {
        "outcome": "passed",
        "leading_metric": "mrr",
        "gates": [gate("passed")],
        "selftest": [
            Degradation("reverse", "Every ranking is turned round.", 3, {"mrr": -0.5}, ["mrr"], ["mrr min"]),
            Degradation("drop last", "The last result is cut.", 1, {"mrr": 0.0}, ["mrr"], []),
        ],
        "advice": ["ndcg@10 with max_drop=0.01 would catch it."],
    }
    return failing(**{**values, **changes})


def run_of(queries):
    return Run.of(
        {
            v.query_id: Answer(
                rankings=(tuple(v.now),), text=v.text, params={}, judgments=v.judgments, weight=1.0
            )
            for v in queries
        },
        depth=10,
        golden_set="golden/faq.yaml",
        relevance_level=1,
        means={"mrr": 0.5},
    ).dumps()


def failing(nodeid=NODE, queries=None, **changes):
    """A golden set whose mrr fell."""
    queries = [query()] if queries is None else queries
    values = {
        "nodeid": nodeid,
        "golden_set": "golden/faq.yaml",
        "query_count": len(queries),
        "outcome": "failed",
        "leading_metric": "mrr",
        "rows": [row(), row("ndcg@10", 0.9, 0.9, "passes")],
        "gates": [gate(queries=[v.query_id for v in queries][:20]), gate("passed", "ndcg@10", ())],
        "notes": ["No query got the 10 results that were asked for; the longest answer has 2."],
        "queries": queries,
        "run": run_of(queries),
        "against": "the baseline",
        "look": f"pytest '{nodeid}' --ir-baseline",
        "accept": f"pytest '{nodeid}' --ir-baseline-update",
        "depth": 10,
    }
    return ItemReport(**{**values, **changes})


def passing(nodeid="tests/test_search.py::test_quality[help]", **changes):
    """A golden set without a baseline that reaches its threshold."""
    queries = changes.pop("queries", None)
    queries = (
        [query("opening", now=("d1",), before=None, scores={"mrr": 1.0})] if queries is None else queries
    )
    values = {
        "nodeid": nodeid,
        "golden_set": "golden/help.yaml",
        "query_count": len(queries),
        "outcome": "passed",
        "leading_metric": "mrr",
        "rows": [row(now=1.0, baseline=None, verdict="passes", gate="≥ 0.8")],
        "gates": [gate("passed", queries=(), word="min", text="mrr is 1.0000; at least 0.8 is required.")],
        "queries": queries,
        "run": run_of(queries),
        "depth": 10,
    }
    return ItemReport(**{**values, **changes})


def accepting(nodeid=NODE, **changes):
    """A golden set whose baseline of another branch cannot be read, so that what is accepted is told first."""
    since = SinceReport(
        "origin/main",
        "0123456789abcdef",
        "unreadable",
        "ir_baselines/test_x/test[faq].json",
        why="It is damaged.",
        **changes,
    )
    return passing(nodeid, since=since.as_dict())


def broken(items):
    """A session in which another golden set could not even be read."""
    text = "golden/new.yaml:3:5: the key `relevent` is unknown.\ngolden/new.yaml:9:1: and this too."
    return SessionReport(items, 1, {NODE: "failed"}, {"tests/test_search.py::test_quality[new]": text})


def hostile():
    """A record that is made of hostile text wherever text of others can be."""
    queries = [
        query(
            text,
            now=(*HOSTILE[:5], "d1"),
            before=(*HOSTILE[3:8],),
            text=HOSTILE[-index - 1],
            where=f"{text}:1",
            judgments={HOSTILE[4]: 2.0, HOSTILE[9]: 1.0},
            forbidden=[HOSTILE[0]],
            status=f"xfail: {text}",
            error=text if index % 5 == 4 else None,
        )
        for index, text in enumerate(HOSTILE)
    ]
    everything = "\n".join(HOSTILE)
    return failing(
        nodeid=everything,
        golden_set=everything,
        queries=queries,
        rows=[row(tag=text, gate=text, verdict=text) for text in HOSTILE],
        gates=[gate(queries=HOSTILE, text=text, details=HOSTILE, origin=text, tag=text) for text in HOSTILE],
        notes=HOSTILE,
        lowered=HOSTILE,
        slices=[row(tag=text, interval=(-0.5, -0.1)) for text in HOSTILE],
        kind="ranked_lower",
        kind_sentences=HOSTILE,
        hints=HOSTILE,
        selftest=[Degradation(text, text, 3, {text: -0.1}, [text], [text]) for text in HOSTILE],
        advice=HOSTILE,
        against=everything,
        look=everything,
        accept=everything,
        run=None,
    )
