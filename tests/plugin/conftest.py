from __future__ import annotations

import json
import re
import sys
import textwrap
from importlib import import_module
from importlib.metadata import version
from pkgutil import walk_packages

import pytest

import pytest_irmetrics
from tests.git_repository import commit, git, isolate_git, new_repository

# In-process runs forget what they import; what is loaded here is loaded once for all of them.
for _module in walk_packages(pytest_irmetrics.__path__, "pytest_irmetrics."):
    if not _module.name.endswith("__main__"):
        import_module(_module.name)

OLD_ASYNCIO = tuple(map(int, version("pytest-asyncio").split(".")[:2])) < (0, 24)
"""Whether pytest-asyncio is one that leaves event loops behind."""

# It says what is so anyhow, and without it the plugin warns; the old one does not know it.
ASYNCIO_SETTING = "" if OLD_ASYNCIO else "asyncio_default_fixture_loop_scope = function\n"

_ANSWER = "answers.get(query, [])[:k]"

RETRIEVER = f"""
    import json, pathlib, pytest

    @pytest.fixture(scope="session")
    def retriever():
        answers = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
        return lambda query, k: {_ANSWER}
"""

TEST = """
    import pytest

    @pytest.mark.ir_golden("golden/*.yaml")
    @pytest.mark.ir_threshold("mrr", 0.5)
    def test_search_quality(irmetrics):
        irmetrics.check()
"""

GOLDEN = """
    queries:
      - id: reset
        query: how do I reset my password
        relevant: [doc-12, doc-40]
      - id: refund
        query: refund policy
        relevant: {doc-9: 3, doc-4: 1, doc-7: 0}
        tags: [billing]
      - id: hours
        query: opening hours
        relevant: doc-1
"""

ANSWERS = {
    "how do I reset my password": ["doc-12", "doc-3", "doc-40"],
    "refund policy": ["doc-9", "doc-4", "doc-5"],
    "opening hours": ["doc-2", "doc-1"],
}

WITHOUT_RESET = {**ANSWERS, "how do I reset my password": ["doc-3", "doc-5", "doc-6"]}
"""Answers of a search that got worse: one query has lost both of its documents."""

GOLDEN_MARK = 'ir_golden("golden/*.yaml")'

GATED = '@pytest.mark.ir_golden("golden/*.yaml")\n@pytest.mark.ir_threshold("mrr", 0.99)\n'
"""Marks that what the project's retriever finds does not satisfy."""

_SIGNS_OF_OUR_ERRORS = (
    r"(?m)INTERNALERROR|Traceback \(most recent call last\)|^\S*pytest_irmetrics[/\\]\S+:\d+: "
)


class Project:
    """A small project that gates its search, in pytester's folder."""

    def __init__(self, pytester):
        self.pytester = pytester
        self.path = pytester.path
        self.write("conftest.py", RETRIEVER)
        self.write("test_search.py", TEST)
        self.write("golden/faq.yaml", GOLDEN)
        self.answers(ANSWERS)

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    def answers(self, answers):
        self.write("answers.json", json.dumps(answers))

    def retrieve(self, expression):
        """Let the retriever give what an expression of `query` and `k` is, in place of the answers."""
        conftest = self.path / "conftest.py"
        text = conftest.read_text(encoding="utf-8")
        assert _ANSWER in text
        conftest.write_text(text.replace(_ANSWER, expression), encoding="utf-8")

    def make_async(self):
        """Let the test be a coroutine that pytest-asyncio runs."""
        self.write("pytest.ini", f"[pytest]\n{ASYNCIO_SETTING}")
        tests = self.path / "test_search.py"
        text = tests.read_text(encoding="utf-8").replace("irmetrics.check", "await irmetrics.acheck")
        tests.write_text(text.replace("def test", "@pytest.mark.asyncio\nasync def test"), encoding="utf-8")

    def test(self, marks, body="irmetrics.check()", name="test_search_quality"):
        marks = [marks] if isinstance(marks, str) else marks
        lines = ["import pytest", "", *(f"@pytest.mark.{mark}" for mark in marks)]
        self.write("test_search.py", "\n".join([*lines, f"def {name}(irmetrics):", f"    {body}", ""]))

    def _arguments(self, args):
        """Load the plugins that a test is about and no others: that is several times as fast."""
        text = "".join(path.read_text(encoding="utf-8") for path in self.path.glob("*.py"))
        plugins = ["irmetrics"]
        plugins += [
            name for name in ("asyncio", "anyio") if f"mark.{name}" in text and f"no:{name}" not in args
        ]
        plugins += ["xdist"] if "-n" in args else []
        plugins += ["rerunfailures"] if "--reruns" in args else []
        return [
            "-p",
            "no:cacheprovider",
            *(part for name in plugins for part in ("-p", PLUGINS[name])),
            *args,
        ]

    def run(self, *args):
        """Run pytest in this process."""
        return self.pytester.runpytest_inprocess(*self._arguments(args))

    def run_apart(self, *args):
        """Run pytest in a process of its own: with workers, with Ctrl-C, with another stream."""
        return self.pytester.runpytest_subprocess(*self._arguments(args))

    @property
    def baseline(self):
        return self.path / "ir_baselines" / "test_search" / "test_search_quality[faq].json"


PLUGINS = {
    "irmetrics": "pytest_irmetrics.plugin",
    "asyncio": "pytest_asyncio.plugin",
    "anyio": "anyio.pytest_plugin",
    "xdist": "xdist.plugin",
    "rerunfailures": "pytest_rerunfailures",
}


@pytest.fixture
def project(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    # A file that changes twice in a second and keeps its size would be taken for what was compiled before.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Project(pytester)


def store(project):
    """Store the baseline of the project's test, which passes."""
    project.run("--ir-baseline-update").assert_outcomes(passed=1)


@pytest.fixture
def stored(project):
    """Give a project whose baseline is stored."""
    store(project)
    return project


@pytest.fixture
def committed(stored, monkeypatch):
    """Give a project whose baseline is stored, all of it committed on `main`."""
    isolate_git(monkeypatch)
    stored.write("pytest.ini", "[pytest]\n")
    stored.write(".gitignore", "__pycache__\n*.out\n")
    new_repository(stored.path)
    commit(stored.path, "store the baseline")
    return stored


@pytest.fixture
def branch(committed):
    """Give a project whose baseline is committed on `main`, with the branch `feature` checked out."""
    git(committed.path, "checkout", "-q", "-b", "feature")
    return committed


def make_ranking_worse(project):
    project.answers({**ANSWERS, "refund policy": ["doc-5", "doc-6", "doc-9"]})


def edit_golden_set(project, old, new):
    golden = project.path / "golden/faq.yaml"
    text = golden.read_text(encoding="utf-8")
    assert old in text
    golden.write_text(text.replace(old, new), encoding="utf-8")


def printed(result):
    """What was printed, whatever the line breaks."""
    return " ".join(" ".join(result.outlines).split())


def text_of(result):
    """Return a run's whole output as one line, after looking for signs of an error of ours."""
    output = result.stdout.str() + result.stderr.str()
    assert not re.search(_SIGNS_OF_OUR_ERRORS, output), output
    return " ".join(output.split())


def write_tests(project, code):
    (project.path / "test_search.py").write_text("import pytest\n\n" + code.replace("GATED\n", GATED))


def summary_lines(result):
    """Return the lines about retrieval quality, without what differs between runs."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if "retrieval quality" in line)
    end = next(index for index, line in enumerate(lines[start + 1 :], start + 1) if line.startswith("="))
    return lines[start + 1 : end]
