"""The example project, made worse in the ways that its README names: the gate fails, and says right what kind of change it is."""

from __future__ import annotations

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.warm_python import python_words

EXAMPLE = Path(__file__).parents[2] / "example_project"


def run(*arguments, **environment):
    plugins = ["-p", "no:cacheprovider", "-p", "pytest_irmetrics.plugin"]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("RULES_", "PYTEST_", "GITHUB_", "CI"))
    }
    done = subprocess.run(
        [*python_words(), "-m", "pytest", *plugins, *arguments],
        capture_output=True,
        check=False,
        cwd=EXAMPLE,
        encoding="utf-8",
        # Without the plugins of all the other tests, which take half of the time.
        env={
            **kept,
            "COLUMNS": "100",
            "PYTHONIOENCODING": "utf-8",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **environment,
        },
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Run the gate on a changed engine, once for each change, and read its report."""

    @cache
    def read(test_file="test_search.py", **environment):
        path = tmp_path_factory.mktemp("judged") / "report.json"
        # Some of 3.12 warn of `?1` with a sequence, once for each query.
        options = ["-W", "error", "--ir-baseline", f"--ir-report=json:{path}"]
        status, output = run(test_file, *options, **environment)
        (test,) = json.loads(path.read_text(encoding="utf-8"))["tests"]
        flat = " ".join(output.split())
        assert all(sentence in flat for sentence in test["kind_sentences"])
        # What may be chance or unjudged is another sentence's matter.
        said = [one for one in test["kind_sentences"] if not one.startswith(("This may be", "Missing"))]
        return status, " ".join(said), test

    return read


def test_as_it_is_it_passes_and_nothing_moved(judged):
    status, kind, test = judged()
    assert (status, kind) == (0, "")
    assert all(row["delta"] == 0 for row in test["rows"])


CHANGES = [
    (
        {"RULES_TOKENIZER": "trigram"},
        "23 relevant documents left the first 10, 17 came in; something relevant is found for 103 of 110 queries (was 102), first at a lower rank for 15, higher for 5.",
    ),
    (
        {"RULES_TOKENIZER": "unicode61"},
        "17 relevant documents left the first 10, 12 came in; something relevant is found for 102 of 110 queries (was 102), first at a lower rank for 9, higher for 6.",
    ),
    (
        {"RULES_WEIGHTS": "1,1,1"},
        "6 relevant documents left the first 10, 6 came in; something relevant is found for 102 of 110 queries (was 102), first at a lower rank for 8, higher for 8.",
    ),
    (
        {"RULES_WEIGHTS": "1,1,10"},
        "21 relevant documents left the first 10, 7 came in; something relevant is found for 98 of 110 queries (was 102), first at a lower rank for 8, higher for 6.",
    ),
    (
        {"RULES_WITHOUT": "S"},
        (
            "34 of the 34 lost documents are not in the index: S307, S608, S610, S611, S105 and 29 more. "
            "34 relevant documents left the first 10, 1 came in; "
            "something relevant is found for 90 of 110 queries (was 102), first at a lower rank for 1, higher for 3. All of the fall of mrr is in `security`, 14 of 110 queries."
        ),
    ),
]


@pytest.mark.parametrize(
    ("change", "kind"), CHANGES, ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else ""
)
def test_each_change_is_told_by_its_kind(judged, change, kind):
    status, said, test = judged(**change)
    assert status == 1
    assert said == kind
    # And the rankings bear it out.
    lost, came, rules_of_security = 0, 0, 0
    before = run_of(EXAMPLE / "ir_baselines/test_search/test_search_quality[rules].json")
    for query in test["run"]["queries"]:
        (old,), (new,) = before[query["id"]], query["rankings"]
        for code, grade in query["judgments"].items():
            if grade <= 0:
                continue
            was, is_ = (ranking.index(code) if code in ranking else None for ranking in (old, new))
            lost += was is not None and is_ is None
            rules_of_security += was is not None and is_ is None and code.rstrip("0123456789") == "S"
            came += was is None and is_ is not None
    assert (rules_of_security == lost) is ("RULES_WITHOUT" in change)
    if "RULES_WITHOUT" in change:
        assert "S" not in {
            code.rstrip("0123456789") for query in test["run"]["queries"] for code in query["rankings"][0]
        }
    assert f"{lost} relevant documents left the first 10, {came} came in" in kind


def test_a_failure_is_short_and_every_output_begins_with_the_same_queries(tmp_path):
    paths = {suffix: tmp_path / f"r.{suffix}" for suffix in ("md", "html")}
    worse = {"COLUMNS": "80", "RULES_TOKENIZER": "unicode61"}
    for options, longest, queries in (([], 28, 3), (["-v"], 60, 10)):
        reports = [f"--ir-report={path}" for path in paths.values()]
        _, output = run("test_search.py", "--ir-baseline", *options, *reports, GITHUB_ACTIONS="true", **worse)
        failure = output.partition("[rules] __")[2].partition("\n")[2].partition("\n====")[0]
        assert failure.count("\n") < longest
        named = re.findall(r"(?m)^golden/rules\.yaml:(\d+): ([\w-]+): ", failure)
        assert len(named) == queries
        assert re.findall(r"(?m)^::error file=[^,]*,line=(\d+),", output)[:3] == [
            line for line, _ in named[:1]
        ]
        for suffix, pattern in (
            ("md", r"(?m)^\*\*`([\w-]+)`\*\*"),
            ("html", r'query" dir="auto"><a [^>]*>([\w-]+)<'),
        ):
            shown = re.findall(pattern, paths[suffix].read_text(encoding="utf-8"))
            assert shown[:3] == [query_id for _, query_id in named[:3]]


STAGES = {
    "RULES_TOKENIZER=unicode61": "of 11 relevant documents lost, 9 are still among the candidates, 2 in no stage.",
    "RULES_WITHOUT=S": "of 36 relevant documents lost, 1 is still among the candidates, 35 in no stage.",
}


@pytest.mark.parametrize("change", STAGES)
def test_of_the_search_in_two_stages_it_says_where_rules_were_lost(judged, change):
    status, said, test = judged("test_two_stages.py", **dict([change.split("=")]))
    assert status == 1
    assert f"By stage: {STAGES[change]}" in said
    assert [row["metric"] for row in test["rows"]][-1] == "recall of candidates"
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert f"| `{change}` | {STAGES[change]} |" in readme


def test_the_readme_shows_these_sentences():
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    kinds = {f"{name}={value}": kind for change, kind in CHANGES for name, value in change.items()}
    for change in ("RULES_TOKENIZER=trigram", "RULES_WEIGHTS=1,1,1", "RULES_WITHOUT=S"):
        assert f"| `{change}` | {kinds[change]} |" in readme


@pytest.mark.parametrize(
    "change",
    ["", "RULES_TOKENIZER=trigram", "RULES_TOKENIZER=unicode61", "RULES_WEIGHTS=1,1,10", "RULES_WITHOUT=S"],
)
def test_the_readme_shows_these_means(judged, change):
    _, _, test = judged(**dict([change.split("=")] if change else []))
    means = {row["metric"]: f"{row['full']:.4f}" for row in test["rows"] if row["tag"] is None}
    row = " | ".join(
        [f"`{change}`" if change else "as it is", means["mrr"], means["ndcg@10"], means["recall@10"]]
    )
    assert f"| {row} |" in (EXAMPLE / "README.md").read_text(encoding="utf-8")


def run_of(path):
    data = json.loads(path.read_text(encoding="utf-8"))
    return {query["id"]: query["rankings"] for query in data["queries"]}
