"""docs/coming-from/: each migration works as its page says; the other tool's numbers are its own, where it is installed."""

from __future__ import annotations

import re
import sys

import pytest
import pytrec_eval

from pytest_irmetrics import GoldenSet, Run, evaluate
from tests.pages import DOCS, Project, blocks, is_shown, use

PAGES = {"ranx": 2, "deepeval": 4, "quepid": 4, "hand-written-asserts": 7, "trec-eval": 2}
"""How many commands a page has at least."""


def path_of(page):
    return DOCS / "coming-from" / f"{page}.md"


def test_every_page_is_tested():
    assert {path.stem for path in (DOCS / "coming-from").glob("*.md")} == set(PAGES)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.skipif(sys.platform == "win32", reason="the page's commands are for a POSIX shell")
def test_every_command_prints_what_the_page_shows(tmp_path, page):
    done = use(path_of(page), Project(tmp_path))
    for command, shown, printed in done:
        assert is_shown(shown, printed), f"$ {command}\n{printed}"
    assert len(done) >= PAGES[page]
    assert "FAILED" not in "".join(printed for _, _, printed in done)


@pytest.mark.parametrize("page", PAGES)
def test_the_metrics_that_a_table_names_are_read(page):
    text = path_of(page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:ndcg|map|precision|recall|hit|err|mrr|rbp)(?:\([\w=.]+\))?@\d+)`", text)
    named += re.findall(r'ir_threshold\("([^"]+)"', text)
    assert named
    evaluate(GoldenSet.from_judgments({"q": {"d": 1}}), Run({"q": ["d"]}), named)


def not_run(page):
    """The block whose command another tool has."""
    return next(block for block in blocks(path_of(page)) if block.not_run)


def files(page):
    return {block.file: block.text for block in blocks(path_of(page)) if block.file}


def test_trec_eval_prints_what_the_page_shows():
    written = files("trec-eval")
    qrels = pytrec_eval.parse_qrel(written["dev.qrels"].splitlines())
    run = pytrec_eval.parse_run(written["bm25.run"].splitlines())
    command, *shown = not_run("trec-eval").text.splitlines()
    measures = re.findall(r"-m (\S+)", command)
    scores = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)
    printed = {}
    for measure in measures:
        name = measure.replace(".", "_")
        printed[name] = f"{sum(by_query[name] for by_query in scores.values()) / len(qrels):.4f}"
    assert {line.split()[0]: line.split()[2] for line in shown} == printed


def test_ranx_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ranx", reason="there is no ranx here: it is in the group bench")
    project = Project(tmp_path)
    for name, text in files("ranx").items():
        project.write(name, text)
    monkeypatch.chdir(project.folder)
    exec(files("ranx")["before.py"], {})  # in a process of its own it compiles for a minute
    assert f"$ python before.py\n{capsys.readouterr().out}" == not_run("ranx").text
