"""What every output shows of self-tests, single queries, accepted falls, updates, titles, and rankings of many results."""

from __future__ import annotations

import html
import json
import re

import pytest

from pytest_irmetrics.cli import main
from tests.expected import assert_as_expected
from tests.git_repository import commit, git, isolate_git, needs_git, new_repository
from tests.projects import printed
from tests.support_site import QUESTIONS, Faq, good

from .html_page import Page

FILES = [f"--ir-report=r.{suffix}" for suffix in ("html", "md", "json")]


def reports(project):
    """Return the text of a page, of Markdown and of JSON without what markup they have."""
    page, markdown, data = (
        (project.path / f"r.{suffix}").read_text(encoding="utf-8") for suffix in ("html", "md", "json")
    )
    return {
        "html": Page(page).text,
        "md": html.unescape(re.sub(r"[\\`*]", "", markdown)).replace("\u200b", ""),
        "json": json.loads(data)["tests"],
    }


def test_the_self_test_is_in_every_output(project):
    faq = Faq(project)
    faq.gate('ir_threshold("mrr", 0.5)', 'ir_threshold("mrr", 0.5, tag="billing")')
    faq.store()
    output = printed(project.run("--ir-selftest", "-o", "ir_max_drop=off", *FILES))
    coloured = project.run("--ir-selftest", "-o", "ir_max_drop=off", "-vv", "--color=yes").stdout.str()
    verbose = " ".join(re.sub(r"\x1b\[\d+m", "", coloured).split())
    quiet = printed(project.run("--ir-selftest", "-o", "ir_max_drop=off", "-q"))
    found = reports(project)
    (test,) = found["json"]
    caught = sum(bool(one["caught_by"]) for one in test["selftest"])
    assert f"self-test: caught {caught} of {len(test['selftest'])}" in quiet
    assert 0 < caught < len(test["selftest"])
    for one in test["selftest"]:
        assert one["name"] in output
        assert one["name"] in found["md"]
        for text in (verbose, found["html"]):
            assert one["name"] in text
            assert one["what"] in text
        told = f"caught by {', '.join(one['caught_by'])}" if one["caught_by"] else "MISSED"
        assert told.split(",", maxsplit=1)[0] in found["html"]
        assert told.split(",", maxsplit=1)[0] in found["md"]
        if told == "MISSED":
            assert re.search(rf"\x1b\[31m  {re.escape(one['name'])} [^\x1b]* MISSED\x1b", coloured)
    assert "\x1b[1m  degradation " in coloured
    assert "\x1b[33m  note: " in coloured
    assert "\x1b[32m\x1b[1mgolden/faq.yaml: baseline passes" in coloured
    advice = [note["text"] for note in test["notes"] if "ir_threshold" in note["text"]]
    assert advice
    for text in (output, verbose, found["html"], found["md"]):
        assert all(" ".join(one.replace("`", "").split()) in text.replace("`", "") for one in advice)
    assert "baseline passes, 12 queries" in output
    missed = [
        line for line in (project.path / "r.md").read_text(encoding="utf-8").splitlines() if "MISSED" in line
    ]
    assert len([line for line in missed if line.startswith("|")]) == len(test["selftest"]) - caught


def test_single_queries_are_shown_in_full_and_no_mean_is_judged(worse):
    for quiet in ([], ["-q"]):
        result = worse.run("--ir-baseline", "--ir-query", "refund", *quiet, *FILES)
        text = printed(result)
        assert "3 1 3 doc-9" in text
        assert "mrr 1.0000 → 0.3333" in text
        assert "no mean judged" in text or not quiet
        assert "Only single queries were judged" in text
    for form in ("html", "md"):
        assert "Only single queries were judged" in reports(worse)[form]


@needs_git
def test_an_accepted_fall_stands_first_in_every_output(project, monkeypatch):
    isolate_git(monkeypatch)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    faq = Faq(project)
    faq.gate('ir_threshold("mrr", 0.2)')
    new_repository(project.path)
    faq.store()
    commit(project.path, "store the baseline")
    faq.search(refund=["billing-11", "billing-12", "billing-2"], hours=["about-11", "about-1"])
    faq.questions(
        reset=("how do I reset my password", {"account-4": 3}, "account"),
        name=None,
        mail=("change my mail", {"account-2": 1}, "account"),
    )
    faq.answers(**{"change my mail": ["account-2"]})
    faq.gate('ir_threshold("mrr", 0.2, max_drop=0.5)')
    faq.store()
    result = project.run("--ir-since=HEAD", *FILES, "--junitxml=junit.xml")
    result.assert_outcomes(passed=1)
    found = reports(project)
    headline = "LOSS ACCEPTED: golden/faq.yaml: " + found["json"][0]["gates"][0]["text"]
    lines = result.outlines
    place = next(n for n, line in enumerate(lines) if "= retrieval quality =" in line)
    assert lines[place + 1].startswith("LOSS ACCEPTED: golden/faq.yaml: mrr fell")
    assert found["md"].splitlines()[2].startswith(headline)
    assert headline in found["html"][:600]
    (warning,) = [line for line in lines if line.startswith("::warning ")]
    assert warning.startswith(
        "::warning file=ir_baselines/test_search/test_search_quality[faq].json,title=A fall in search quality is accepted::"
    )
    assert "irmetrics_accepted" in (project.path / "junit.xml").read_text(encoding="utf-8")
    for sentence in (
        "1 query dropped: name",
        "1 query added",
        "1 judgment changed: reset: account-9 1 → none.",
        "(holds less)",
    ):
        for name, text in (("terminal", printed(result)), ("html", found["html"]), ("md", found["md"])):
            assert sentence in text, (name, sentence)
    quiet = project.run("--ir-since=HEAD", "-q", "--color=yes").stdout.str()
    assert quiet.index("\x1b[33m\x1b[1mLOSS ACCEPTED") < 200
    assert "\x1b[33msince HEAD (" in quiet
    assert "\x1b[32mretrieval quality: " in quiet


@needs_git
def test_reports_name_the_commit_of_the_baseline(project, monkeypatch):
    isolate_git(monkeypatch)
    new_repository(project.path)
    faq = Faq(project)
    faq.gate('ir_threshold("mrr", 0.1, max_drop=0.01)')
    faq.store()
    commit(project.path, "Store the first baseline")
    worse, better = [*QUESTIONS][:5], [*QUESTIONS][5:8]
    faq.search(**{i: ["x", *good(i)] for i in worse})
    faq.store()
    commit(project.path, "Store another")
    faq.search(**{i: ["x", *good(i)] for i in better}, **{i: good(i) for i in worse})
    project.run("--ir-baseline", *FILES)
    found = reports(project)
    version = found["json"][0]["baseline_version"]
    day = git(project.path, "log", "-1", "--format=%cd", "--date=format:%Y-%m-%d")
    assert version == f"{git(project.path, 'rev-parse', 'HEAD')[:9]} of {day}"
    for form in ("html", "md"):
        assert f"compared with the baseline ({version})" in found[form]
    faq.store()
    project.run("--ir-baseline", *FILES)
    assert reports(project)["json"][0]["baseline_version"] is None
    commit(project.path)
    (project.path / ".git/shallow").write_text(git(project.path, "rev-parse", "HEAD") + "\n")
    project.run("--ir-baseline", *FILES)
    assert reports(project)["json"][0]["baseline_version"] is None


def test_an_update_says_what_it_lowers(worse):
    result = worse.run("--ir-baseline-update", "--ir-report=r.md")
    result.stdout.fnmatch_lines(
        [
            "*As the baseline this is lower: *mrr 0.8333 → 0.6111*",
            "baseline ir_baselines?test_search?*.json: stored",
        ]
    )
    assert "mrr 0.8333 → 0.6111" in (worse.path / "r.md").read_text(encoding="utf-8")
    worse.run("--ir-baseline-update", "-q").stdout.no_fnmatch_line("*is lower*")
    worse.run("--ir-baseline-update").stdout.fnmatch_lines(["*.json: unchanged"])


TITLED = {
    # what a result is: the title that is shown beside doc-1
    "{'id': i, 'title': 'The title of ' + i}": "The title of doc-9",
    "{'id': i, 'metadata': {'title': 'The title of ' + i}}": "The title of doc-9",
    "{'_id': i, '_source': {'title': 'The title of ' + i}}": "The title of doc-9",
    "{'id': i, 'title': 'word\\n' * 100}": "word word word",
    "{'id': i, 'title': '<b>' + i}": "<b>doc-9",
    "{'id': i, 'title': 7}": None,
    "{'id': i, 'title': ''}": None,
}


@pytest.mark.parametrize("result", TITLED)
def test_titles_stand_beside_ids_in_every_output_and_in_no_baseline(worse, result):
    worse.retrieve(f"[{result} for i in answers.get(query, [])[:k]]")
    text = printed(worse.run("--ir-baseline", *FILES))
    found = reports(worse)
    title = TITLED[result]
    if title is None:
        assert 'doc-9 "' not in text
        assert found["json"][0]["titles"] == {}
        return
    assert f'doc-9 "{title}' in text
    assert "word " * 30 not in text
    assert title in found["html"]
    assert title in found["md"]
    assert found["json"][0]["titles"]["doc-9"].startswith(title.split()[0])
    worse.run("--ir-baseline-update")
    assert title not in worse.baseline.read_text(encoding="utf-8")


def test_a_title_function_that_raises_costs_a_note_where_titles_are_shown_and_no_verdict(worse):
    conftest = worse.path / "conftest.py"
    fixture = "\n@pytest.fixture\ndef ir_doc_title(): return {}.__getitem__\n"
    conftest.write_text(conftest.read_text(encoding="utf-8") + fixture, encoding="utf-8")
    assert printed(worse.run("--ir-baseline")).count("ir_doc_title raised KeyError") == 1
    worse.run("--ir-baseline-update")
    for options, asked in (([], False), (["-v"], False), (["-vv"], True)):
        result = worse.run("--ir-baseline", *options)
        result.assert_outcomes(passed=1)
        assert ("ir_doc_title raised KeyError" in printed(result)) == asked


def test_variants_stand_side_by_side(project):
    text = (project.path / "conftest.py").read_text(encoding="utf-8")
    project.write(
        "conftest.py",
        text.replace('scope="session"', 'params=["bm25", "dense"]')
        .replace("retriever()", "retriever(request)")
        .replace("answers.get(query, [])[:k]", "answers.get(query, [])[request.param == 'dense':k]"),
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.1)'])
    assert "side by side" not in printed(project.run(*FILES))
    for result in (project.run("-v"), project.run_apart("-v", "-n", "2")):
        result.stdout.fnmatch_lines(
            [
                "golden/faq.yaml, test_search.py::test_search_quality, side by side",
                "metric * bm25 * dense",
                "map * 0.7778 * 0.5833",
            ]
        )
    found = reports(project)
    for text in (found["md"], found["html"]):
        assert "golden/faq.yaml, test_search.py::test_search_quality, side by side" in text
    assert "bm25 dense mrr 0.8333 0.8333 map 0.7778 0.5833" in found["html"]
    assert "| `map` | 0.7778 | 0.5833" in (project.path / "r.md").read_text(encoding="utf-8")


def test_the_table_of_all_tests_leads_to_the_section_of_each(project):
    project.write("golden/other.yaml", (project.path / "golden/faq.yaml").read_text(encoding="utf-8"))
    words = 'pytest.param("words", marks=pytest.mark.ir_threshold("mrr", 0.9))'
    project.test(
        ['ir_golden("golden/*.yaml")', f'parametrize("retriever", ["stems", {words}], indirect=True)']
    )
    project.run("--ir-report=r.html").assert_outcomes(passed=2, failed=2)
    page = (project.path / "r.html").read_text(encoding="utf-8")
    rows = re.findall(r'<th scope="row"[^>]*><a class="id" href="#([^"]*)">(.*?)</a>', page)
    sections = re.findall(r'<h2 id="(set-[^"]*)-name"><span class="id" dir="auto">(.*?)</span>', page)
    names = [f"golden/{name}.yaml [{param}]" for param in ("words", "stems") for name in ("faq", "other")]
    assert [name for _, name in rows] == names
    assert rows == sections


def test_of_a_long_ranking_what_is_judged_is_shown_and_the_rest_counted(project):
    project.write("pytest.ini", "[pytest]\nir_depth = 60\n")
    project.write(
        "golden/faq.yaml",
        "queries: [{query: opening hours, relevant: {d0: 3, d39: 1, d50: 2, lost: 1}, forbidden: [d45]}]\n",
    )
    ranking = [f"d{n}" for n in range(50)]
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0)'])
    project.answers({"opening hours": [name for name in ranking if name != "d45"]})
    project.run("--ir-baseline-update")
    project.answers({"opening hours": [*ranking[1:], "d50", "d0"]})
    project.run("--ir-baseline", *FILES).assert_outcomes(failed=1)
    found = reports(project)
    assert (
        "And 26 ranks more, with d39 grade 1 was 40 at 39, d45 forbidden new at 45, d50 grade 2 new at 50, d0 grade 3 was 1 at 51."
        in found["html"]
    )
    assert ". Not among the results: lost grade 1" in found["html"]
    assert (
        "d0 (grade 3): rank 1 → 51; d50 (grade 2): new at rank 50; d39 (grade 1): rank 40 → 39" in found["md"]
    )


def test_what_passes_stands_by_its_id_in_whatever_order_it_ran(project):
    test = (project.path / "test_search.py").read_text(encoding="utf-8")
    project.write("test_search.py", test + test.replace("test_search_quality", "test_again"))
    project.run("--ir-report=r.md")
    report = (project.path / "r.md").read_text(encoding="utf-8")
    assert 0 < report.index("test_again") < report.index("test_search_quality")


def test_very_many_changed_queries_have_bars_for_the_largest_falls_and_rises(project):
    queries = [f"q{n}" for n in range(400)]
    project.write(
        "golden/faq.yaml",
        "queries:\n" + "".join(f"  - {{query: {name}, relevant: [d]}}\n" for name in queries),
    )
    project.test('ir_golden("golden/*.yaml")')
    project.answers({name: ["x", *"y" * (n % 8 == 0), "d"] for n, name in enumerate(queries)})
    project.run("--ir-baseline-update")
    project.answers(
        {
            name: ["d"] if n % 4 == 0 else ["x", "y", "d"] if n % 4 < 3 else ["x", "d"]
            for n, name in enumerate(queries)
        }
    )
    project.run("--ir-baseline", *FILES)
    written = (project.path / "r.html").read_text(encoding="utf-8")
    page = Page(written)
    assert "200 worse, 100 better, 100 same; bars for the 60 lowest and the 60 highest" in page.text
    bars = [one for one in page.all("rect") if one.get("class", "").startswith("bar ")]
    assert [one["class"] for one in bars] == ["bar bad"] * 60 + ["bar good"] * 60
    rises = [float(one["height"]) for one in bars[60:]]
    assert 0 < rises[0] < rises[-1]
    assert rises == sorted(rises)
    assert all(re.fullmatch(r"\d+\.\d", one[key]) for one in bars for key in ("x", "y", "width", "height"))
    ends = [float(one["x"]) + float(one["width"]) for one in bars]
    assert ends == sorted(ends)
    (width,) = re.findall(r'<svg viewBox="0 0 ([\d.]+) ', written)
    assert ends[-1] <= float(width)


def history_of(project):
    """Commit a fall of the baseline, a damaged one, and one with another golden set."""
    new_repository(project.path)
    faq = Faq(project)
    faq.gate('ir_threshold("mrr", 0.1)')
    faq.store()
    commit(project.path, "Store the first baseline")
    git(project.path, "tag", "v1")
    for number, query_id in enumerate([*QUESTIONS][:2]):
        faq.search(**{other: ["x", *good(other)] for other in [*QUESTIONS][: number + 1]})
        faq.store()
        commit(project.path, f"Make {query_id} <worse>")
    stored = project.baseline.read_text(encoding="utf-8")
    project.baseline.write_text(stored[:100], encoding="utf-8")
    commit(project.path, "Damage it")
    faq.questions(name=None, mail=("change my mail", {"account-2": 1}, "account"))
    faq.answers(**{"change my mail": ["account-2"]})
    project.baseline.write_text(stored, encoding="utf-8")
    faq.store()
    commit(project.path, "Ask another question")


@needs_git
def test_the_history_of_a_baseline_is_as_expected(project, monkeypatch, capsys):
    isolate_git(monkeypatch)
    history_of(project)
    monkeypatch.chdir(project.path)
    monkeypatch.setenv("COLUMNS", "100")
    capsys.readouterr()
    command = ["history", "--metrics", "mrr,ndcg@10", "--since", "v1"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert main([*command, "--html", "history.html"]) == 0
    written = (project.path / "history.html").read_text(encoding="utf-8")
    page = re.sub(r"(?s)<style>.*?</style>|sha256-[^']*", "", written)
    Page(page).assert_every_link_leads_somewhere()
    for name, found in (("txt", text), ("html", page)):
        without_dates = re.sub(r"\d{4}-\d\d-\d\d", "2026-03-01", found)
        assert_as_expected(
            f"reports/history.{name}", re.sub(r"\b[0-9a-f]{10}\b", "0123456789", without_dates)
        )
