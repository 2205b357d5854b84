"""docs/coming-from.md: the metrics that it names are read, and what it shows of trec_eval is what trec_eval computes."""

from __future__ import annotations

import re

import pytrec_eval

from pytest_irmetrics import GoldenSet, Run, evaluate
from tests.pages import DOCS, blocks

PAGE = DOCS / "coming-from.md"


def test_the_metrics_that_a_table_names_are_read():
    text = PAGE.read_text(encoding="utf-8")
    ours = "\n".join(row.rpartition(" | ")[2] for row in re.findall(r"^\| .* \|$", text, re.MULTILINE))
    named = re.findall(
        r"`((?:ndcg|map|precision|recall|hit|err|mrr|rbp)(?:\([\w=.]+\))?@\d+)`", ours.replace(" |", "")
    )
    named += re.findall(r'ir_threshold\("([^"]+)"', text)
    assert len(named) > 15
    evaluate(GoldenSet.from_judgments({"q": {"d": 1}}), Run({"q": ["d"]}), named)


def test_trec_eval_prints_what_the_page_shows():
    written = {block.file: block.text for block in blocks(PAGE) if block.file}
    qrels = pytrec_eval.parse_qrel(written["dev.qrels"].splitlines())
    run = pytrec_eval.parse_run(written["bm25.run"].splitlines())
    command, *shown = next(block for block in blocks(PAGE) if block.not_run).text.splitlines()
    measures = re.findall(r"-m (\S+)", command)
    scores = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)
    printed = {}
    for measure in measures:
        name = measure.replace(".", "_")
        printed[name] = f"{sum(by_query[name] for by_query in scores.values()) / len(qrels):.4f}"
    assert {line.split()[0]: line.split()[2] for line in shown} == printed
