"""docs/reference/: marks, options, settings, fixtures and hooks are all there, with examples that run and errors as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.git_repository import needs_git
from tests.plugin.conftest import ANSWERS, printed

PAGES = Path(__file__).parents[2] / "docs" / "reference"
MARKS = (PAGES / "marks.md").read_text(encoding="utf-8")
OPTIONS = (PAGES / "options.md").read_text(encoding="utf-8")
FIXTURES = (PAGES / "fixtures.md").read_text(encoding="utf-8")


def sections(page, level):
    return dict(
        re.findall(rf"^{level} `(?:pytest )?([\w-]+)`\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    )


ENTRIES = sections(OPTIONS, "###")
OPTION_NAMES = [name for name in ENTRIES if name.startswith("--")]
SETTING_NAMES = [name for name in ENTRIES if name.startswith("ir_")]


def plain(text):
    """Without what a code span on a page cannot hold."""
    return text.replace("`", "'")


def example(name):
    return re.search(r"^- Example: `([^`]+)`$", ENTRIES[name], re.MULTILINE)[1]


def wrong(text):
    return re.search(r"^- Wrong: (.*?)`? says `([^`]+)`$", text, re.MULTILINE).groups()


def as_arguments(name, written):
    """A line of a settings file as `-o` takes it; options as they are."""
    return ["-o", written.replace(" = ", "=", 1)] if name.startswith("ir_") else written.split()


# Options and settings ------------------------------------------------------------------------------------------------


def test_the_page_has_every_option_and_setting_and_no_other(project):
    shown = project.run("--help").stdout.str()
    assert set(OPTION_NAMES) == set(re.findall(r"^ +(--(?:no-)?ir-[\w-]+)", shown, re.MULTILINE))
    assert set(SETTING_NAMES) == set(re.findall(r"^ +(ir_\w+) \(\w+\):", shown, re.MULTILINE))


def test_the_defaults_are_those_of_the_code(project):
    code = f"import json\n\ndef pytest_configure(config):\n    names = {SETTING_NAMES}\n"
    project.write(
        "conftest.py", code + "    print(json.dumps({name: config.getini(name) for name in names}))\n"
    )
    defaults = json.loads(project.run("--co", "-q", "-s").outlines[0])
    for name, default in defaults.items():
        (written,) = re.findall(r"^- Type: .*? Default: (.*)\.$", ENTRIES[name], re.MULTILINE)
        shown = default if isinstance(default, list) else [str(default).lower()] if default else []
        if name == "ir_metrics":
            shown = ["mrr", "map", "ndcg@3", "ndcg@10", "precision@10", "recall@10"]
        nothing = "no limit" if name == "ir_timeout" else "none"
        assert written.startswith(", ".join(f"`{value}`" for value in shown) or nothing), name


@needs_git
@pytest.mark.parametrize("name", OPTION_NAMES)
def test_the_example_of_an_option_runs(committed, name):
    committed.run(*example(name).split()).assert_outcomes(passed=1)


@needs_git
def test_the_examples_of_settings_run(committed):
    committed.write("pytest.ini", "\n".join(["[pytest]", *map(example, SETTING_NAMES), ""]))
    committed.run("--ir-baseline-update").assert_outcomes(passed=1)


@needs_git
@pytest.mark.parametrize("name", ENTRIES)
def test_a_wrong_option_or_setting_says_what_the_page_shows(committed, name):
    written, says = wrong(ENTRIES[name])
    result = committed.run(*as_arguments(name, written.strip("`")), *["--ir-baseline"] * (name == "ir_since"))
    assert says in plain(printed(result) + " ".join(result.errlines))


def test_the_settings_files_of_the_page_are_read(project):
    project.answers({text: [*ranking, *(f"x-{n}" for n in range(100))] for text, ranking in ANSWERS.items()})
    for language, file in (("ini", "pytest.ini"), ("toml", "pyproject.toml")):
        (text,) = re.findall(rf"^```{language}\n(.*?)^```", OPTIONS, re.MULTILINE | re.DOTALL)
        path = project.write(file, text)
        result = project.run("-v")
        result.assert_outcomes(passed=1)
        assert "recall@100" in printed(result)
        path.unlink()


# Marks ---------------------------------------------------------------------------------------------------------------


def cells(rows):
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


ARGUMENTS = cells(
    row
    for row in sections(MARKS, "##")["ir_threshold"].splitlines()
    if re.match(r"\| `\w+` .*ir_threshold\(", row)
)
WRONG_MARKS = re.findall(
    r"^\| `(ir_\w+\(.*?\))` \| (.*) \|$", MARKS.partition("## What they say")[2], re.MULTILINE
)


def marked_tests(marks):
    """A module with a test for each mark; `ir_golden` beside those that are of thresholds."""
    lines = ["import pytest"]
    for number, mark in enumerate(marks):
        beside = [] if mark.startswith("ir_golden") else ['@pytest.mark.ir_golden("golden/*.yaml")']
        lines += [
            "",
            f"@pytest.mark.{mark}",
            *beside,
            f"def test_{number}(irmetrics):",
            "    irmetrics.check()",
        ]
    return "\n".join([*lines, ""])


def test_the_page_has_every_mark_with_its_signature(project):
    shown = project.run("--markers").stdout.str()
    signatures = dict(re.findall(r"^@pytest\.mark\.((ir_\w+)\(.*?\)): ", shown, re.MULTILINE))
    assert list(sections(MARKS, "##")) == list(signatures.values())
    for signature, name in signatures.items():
        assert f"`{signature}`" in sections(MARKS, "##")[name]


def test_the_page_has_every_word_of_a_threshold_and_no_other(project):
    names = [row[0].strip("`") for row in ARGUMENTS]
    signature = re.search(r"ir_threshold\((.*?)\)", project.run("--markers").stdout.str())[1]
    assert sorted(names) == sorted(["metric", *re.findall(r"(\w+)=", signature)])
    for name, _, _, shown in ARGUMENTS:
        assert name == "`metric`" or f"{name.strip('`')}=" in shown


def test_the_examples_of_marks_pass(project):
    examples = [row[3].strip("`") for row in ARGUMENTS]
    project.write("test_search.py", marked_tests(examples))
    project.run("--ir-baseline-update").assert_outcomes(passed=len(examples))
    result = project.run("--ir-baseline")
    (gained,) = [n for n, mark in enumerate(examples) if "min_gain" in mark]
    result.assert_outcomes(passed=len(examples) - 1, failed=1)  # nothing rose over its own baseline
    assert f"test_{gained}[faq]" in result.stdout.str()


def test_a_wrong_mark_says_what_the_page_shows(project):
    project.write("test_search.py", marked_tests([mark for mark, _ in WRONG_MARKS]))
    shown = project.run("-W", "ignore::pytest.PytestUnknownMarkWarning").stdout.str()
    failures = re.split(r"^_{3,} test_(\d+)\[.*?\] _{3,}\n", shown, flags=re.MULTILINE)
    said = {
        int(number): " ".join(text.split())
        for number, text in zip(failures[1::2], failures[2::2], strict=True)
    }
    assert len(said) == len(WRONG_MARKS) > 15
    assert "--full-trace" not in shown
    for number, (mark, says) in enumerate(WRONG_MARKS):
        assert says in said[number], mark


def test_the_first_example_of_the_page_runs(project):
    (code,) = re.findall(r"^```python\n(.*?)^```", MARKS, re.MULTILINE | re.DOTALL)
    project.write("test_search.py", code)
    project.run("--ir-baseline-update").assert_outcomes(passed=1)


# Fixtures and hooks --------------------------------------------------------------------------------------------------

IMPORTS = """
import json, pathlib, pytest

def my_search(query, size):
    answers = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
    return answers[query][:size]

"""
RETRIEVER = """
@pytest.fixture
def retriever():
    return lambda query, k: my_search(query, size=k)

"""
PARTS = sections(FIXTURES, "##")
HOOKS = [name for name in PARTS if name.startswith("pytest_")]


def blocks(text):
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def write_blocks(project, codes):
    """Tests go into the module, all else into conftest.py, after a retriever unless there is one."""
    fixtures = [code for code in codes if "def test_" not in code]
    own = any("def retriever" in code for code in fixtures)
    project.write("conftest.py", IMPORTS + RETRIEVER * (not own) + "\n".join(fixtures))
    tests = [code for code in codes if "def test_" in code]
    if tests:
        project.write("test_search.py", "import pytest\n\n" + "\n".join(tests))


def test_the_page_has_every_fixture_and_hook_and_no_other(project):
    (project.path / "conftest.py").unlink()
    shown = project.run("--fixtures").stdout.str()
    fixtures = re.findall(r"^(\w+)(?: \[\w+ scope\])? -- \S*pytest_irmetrics", shown, re.MULTILINE)
    assert sorted(PARTS) == sorted([*fixtures, *HOOKS])


def test_the_page_has_every_hook_with_its_signature(project):
    code = """
    def pytest_configure(config):
        for name, hook in vars(config.hook).items():
            if name.startswith("pytest_irmetrics"):
                print(f"`{name}({', '.join(hook.spec.argnames)})`")
    """
    project.write("conftest.py", code)
    signatures = [line for line in project.run("--co", "-q", "-s").outlines if line.startswith("`pytest_ir")]
    assert len(signatures) == len(HOOKS)
    assert all(any(signature in PARTS[name] for name in HOOKS) for signature in signatures)


@pytest.mark.parametrize("name", PARTS)
def test_the_example_of_a_fixture_or_hook_runs(project, name):
    codes = blocks(PARTS[name].partition("- Wrong:")[0])
    assert codes
    write_blocks(project, codes)
    if name == "pytest_irmetrics_metrics":
        project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("first_is_best", 0.5)'])
    result = project.run("-v", "-s")
    result.assert_outcomes(passed=1)
    if name == "pytest_irmetrics_evaluated":
        assert "test_search_quality[faq] 0.83" in printed(result)
    if name == "ir_corpus":
        assert "doc-40" in printed(result)
    if name == "ir_doc_title":
        project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.99)'])
        assert "Reset your password" in printed(project.run("-vv"))


@pytest.mark.parametrize("name", [name for name, text in PARTS.items() if "- Wrong:" in text])
def test_a_wrong_fixture_or_hook_says_what_the_page_shows(project, name):
    bad = PARTS[name].partition("- Wrong:")[2]
    _, says = wrong(f"- Wrong:{bad}")
    write_blocks(project, blocks(bad))
    if name == "ir_doc_title":
        project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.99)'])
    assert says in printed(project.run("-v"))
