"""A failure as pytest's own options ask for it: --tb, --color, NO_COLOR, -v."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import make_ranking_worse

VERDICT = "mrr fell by 0.2222 from the baseline to 0.6111; at most 0.0100 is allowed."
MOVED = "  doc-9 (grade 3): rank 1 → 3; doc-4 (grade 1): rank 2 → gone"


@pytest.fixture
def fallen(stored):
    make_ranking_worse(stored)
    return stored


def failures(result):
    """Return what stands between the heading FAILURES and the summary of retrieval quality."""
    lines = result.outlines
    begin = next((place for place, line in enumerate(lines) if "= FAILURES =" in line), None)
    if begin is None:
        return []
    end = next(place for place, line in enumerate(lines) if "= retrieval quality =" in line)
    return lines[begin + 1 : end]


@pytest.mark.parametrize("style", ["auto", "short", "long", "native"])
def test_a_traceback_style_changes_nothing_as_there_is_no_traceback(fallen, style):
    heading, first, *rest = failures(fallen.run("--ir-baseline", f"--tb={style}"))
    assert "test_search_quality[faq]" in heading
    assert first == VERDICT
    assert MOVED in rest
    assert rest[-1].startswith("To accept it: ")


@pytest.mark.parametrize("columns", [50, 80])
@pytest.mark.parametrize("how", ["run", "run_apart"])
def test_line_is_one_line_with_the_users_place_and_the_whole_verdict(fallen, monkeypatch, columns, how):
    monkeypatch.setenv("COLUMNS", str(columns))
    workers = ["-n", "1"] if how == "run_apart" else []
    *worker, line = failures(getattr(fallen, how)("--ir-baseline", "--tb=line", *workers))
    assert [text[:5] for text in worker] in ([], ["[gw0]"])  # pytest 8.0 does not name it
    assert line.endswith(f"test_search.py:6: Failed: {VERDICT}")


def test_line_has_the_exception_of_a_query_that_raised(project):
    project.retrieve("1 / 0")
    (line,) = failures(project.run("--tb=line"))
    assert line.endswith(
        "Failed: 3 of 3 queries could not be retrieved: raised ZeroDivisionError: division by zero (conftest.py:6). "
        "No mean was computed."
    )


def test_line_keeps_what_is_no_failure_of_a_gate(fallen):
    """The body's own failure has pytest's own line and the cause that pytest prints with it."""
    fallen.test('ir_golden("golden/*.yaml")', "irmetrics.evaluate(); assert False, 'mine'")
    lines = failures(fallen.run("--tb=line"))
    assert any("mine" in line for line in lines)
    assert lines[-1].endswith("AssertionError: mine")


def test_no_shows_the_verdict_in_the_summaries_alone(fallen):
    result = fallen.run("--ir-baseline", "--tb=no")
    assert failures(result) == []
    result.stdout.fnmatch_lines(
        ["golden/faq.yaml: FAILS, 3 queries; mrr 0.6111 (−0.2222)*", "FAILED test_search.py*"]
    )
    assert VERDICT not in result.outlines


@pytest.mark.parametrize(
    ("options", "environment", "coloured"),
    [
        (["--color=no"], {}, False),
        (["--color=yes"], {}, True),
        (["--color=yes"], {"NO_COLOR": "1"}, True),  # what is asked for on the command line holds
        (["--color=no"], {"FORCE_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ([], {"PY_COLORS": "1"}, True),
        ([], {}, False),  # no terminal
    ],
)
def test_colours_are_where_pytests_own_are(fallen, monkeypatch, options, environment, coloured):
    for name in ("NO_COLOR", "FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    output = fallen.run("--ir-baseline", *options).stdout.str()
    assert (f"\x1b[31m\x1b[1m{VERDICT}\x1b[0m\n" in output) is coloured
    assert (f"\n{VERDICT}\n" in output) is not coloured
    assert ("\x1b[1mgolden/faq.yaml:5: refund: refund policy\x1b[0m\n" in output) is coloured
    assert ("\x1b" in output) is coloured


def test_more_is_under_v(fallen):
    brief, full = ("\n".join(failures(fallen.run("--ir-baseline", *options))) for options in ([], ["-v"]))
    for words in ("3 queries: 1 worse, 0 better, 2 same.", "Set in ", "  baseline  1 doc-9(3)"):
        assert words in full
        assert words not in brief


def test_every_output_has_the_exceptions_own_words_beside_what_could_not_be_retrieved(project):
    project.retrieve("{}[query]")
    reports = {name: f"--ir-report={project.path / name}" for name in ("r.md", "r.json", "r.html")}
    result = project.run(*reports.values(), "--junitxml=junit.xml")
    said = "3 of 3 queries could not be retrieved: raised KeyError:"
    result.stdout.fnmatch_lines([f"{said} *"])
    for name in (*reports, "junit.xml"):
        assert said in (project.path / name).read_text(encoding="utf-8").replace("**", ""), name


def test_errors_of_several_kinds_are_counted_in_the_verdict_and_told_below(project):
    project.retrieve("{'how do I reset my password': 1 / 0 if 'reset' in query else 2}[query]")
    project.run().stdout.fnmatch_lines(
        [
            "3 of 3 queries could not be retrieved: raised ZeroDivisionError: division by",
            "  zero (conftest.py:6), and 2 other errors. No mean was computed.",
            "golden/faq.yaml:2: reset",
            "  raised ZeroDivisionError: division by zero (conftest.py:6).",
        ]
    )


def test_what_is_accepted_is_told_once_though_each_answer_has_an_error_of_its_own(project):
    project.retrieve("[{'name': query}]")
    lines = failures(project.run())
    assert "3 of 3 queries could not be retrieved: result 1 is dict {'name': 'how do I reset" in lines
    assert [line for line in lines if "Accepted, best first" in line] == [
        "  from it. A fixture ir_doc_id can say where it is. Accepted, best first: ids"
    ]
    assert "  result 1 is dict {'name': 'refund policy'}." in lines
    assert len(lines) < 20
