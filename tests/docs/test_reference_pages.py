"""docs/reference/fixtures.md has all fixtures and hooks; its examples run, and those of docs/reference/marks.md, docs/reference/options.md and docs/thresholds.md."""

from __future__ import annotations

import re

import pytest

from tests.pages import DOCS, blocks
from tests.projects import ANSWERS, printed

MARKS, OPTIONS, FIXTURES = (
    (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("marks", "options", "fixtures")
)
EXAMPLES = dict(re.findall(r"^\| `(\w+)` .* `(ir_threshold\(.*\))` \|$", MARKS, re.MULTILINE))
"""Word of `ir_threshold` → an example of it."""


def test_the_page_has_every_word_of_a_threshold_and_its_examples_pass(project):
    signature = re.search(r"ir_threshold\((.*?)\)", project.run("--markers").stdout.str())[1]
    assert sorted(EXAMPLES) == sorted(["metric", *re.findall(r"(\w+)=", signature)])
    lines = ["import pytest"]
    for word, mark in EXAMPLES.items():
        lines += ["", '@pytest.mark.ir_golden("golden/*.yaml")', f"@pytest.mark.{mark}"]
        lines += [f"def test_{word}(irmetrics):", "    irmetrics.check()"]
    project.write("test_search.py", "\n".join([*lines, ""]))
    project.run("--ir-baseline-update").assert_outcomes(passed=len(EXAMPLES))
    result = project.run("--ir-baseline")
    result.assert_outcomes(passed=len(EXAMPLES) - 1, failed=1)  # nothing rose over its own baseline
    assert "test_min_gain[faq]" in result.stdout.str()


def test_the_example_of_the_page_on_thresholds_passes(project):
    (code,) = (block.text for block in blocks(DOCS / "thresholds.md") if block.kind == "python")
    project.write("test_search.py", code)
    project.run("--ir-baseline-update").assert_outcomes(passed=1)


def test_the_settings_files_of_the_page_are_read(project):
    project.answers({text: [*ranking, *(f"x-{n}" for n in range(100))] for text, ranking in ANSWERS.items()})
    for language, file in (("ini", "pytest.ini"), ("toml", "pyproject.toml")):
        (text,) = re.findall(rf"^```{language}\n(.*?)^```", OPTIONS, re.MULTILINE | re.DOTALL)
        path = project.write(file, text)
        result = project.run("-v")
        result.assert_outcomes(passed=1)
        assert "recall@100" in printed(result)
        path.unlink()


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
PARTS = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^##|\Z)", FIXTURES, re.MULTILINE | re.DOTALL))
HOOKS = [name for name in PARTS if name.startswith("pytest_")]


def codes_of(text):
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
    codes = codes_of(PARTS[name])
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
