"""A small project that gates its search, made in pytester's folder: for tests through pytest itself."""

from __future__ import annotations

import importlib
import io
import json
import re
import sys
import textwrap
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from importlib.metadata import version
from pkgutil import walk_packages
from types import ModuleType

import pytest
from _pytest.fixtures import FixtureManager

import pytest_irmetrics
from tests.warm_python import python_words

# In-process runs forget what they import; what is loaded here is loaded once for all of them.
for _module in walk_packages(pytest_irmetrics.__path__, "pytest_irmetrics."):
    if not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)


@lru_cache(100)
def _fixtures_of(plugin):
    """Return the fixtures of a module or class, in a module that holds nothing else."""
    found = ModuleType(plugin.__name__)
    vars(found).clear()
    for name in dir(plugin):
        value = getattr(plugin, name, None)
        if type(value).__name__ == "FixtureFunctionDefinition" or hasattr(value, "_pytestfixturefunction"):
            setattr(found, name, value)
    return found


def _without_the_rest(holder):
    kind = holder if isinstance(holder, ModuleType) else type(holder)
    of_pytest = getattr(kind, "__module__", kind.__name__).startswith("_pytest.")
    return _fixtures_of(kind) if of_pytest and not isinstance(holder, pytest.Collector) else holder


def _find_fixtures(manager, *args, find=FixtureManager.parsefactories, **named):
    """Let each run look for fixtures of pytest's own forty plugins where they are: a third of a short run went into looking elsewhere."""
    args = [_without_the_rest(arg) for arg in args]
    return find(manager, *args, **{name: _without_the_rest(value) for name, value in named.items()})


# Once, also where a run inside a test forgot that this is imported: of a module without the rest nothing is left to look at.
if FixtureManager.parsefactories.__name__ != _find_fixtures.__name__:
    FixtureManager.parsefactories = _find_fixtures

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

    def edit(self, name, old, new):
        """Replace a text, which must be there, in a file."""
        path = self.path / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} does not hold {old!r}:\n{text}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def store(self, *args):
        """Store the baselines of the project's tests, which pass."""
        result = self.run("--ir-baseline-update", *args)
        assert result.ret == 0, result.stdout.str()

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
        named = (text + " ".join(args)).replace("-", "")
        plugins = [
            name for name in ("asyncio", "anyio") if f"mark.{name}" in text and f"no:{name}" not in args
        ]
        plugins += ["xdist"] if "-n" in args else []
        plugins += ["rerunfailures"] if "--reruns" in args else []
        return [
            *(part for name in UNUSED if name[:5] not in named for part in ("-p", f"no:{name}")),
            *(part for name in plugins for part in ("-p", PLUGINS[name])),
            *args,
        ]

    def run(self, *args):
        """Run pytest in this process, as pytester does, but with nobody who notes each call of a hook: that was a seventh of a run."""
        streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2)]
        loaded, path, finders = dict(sys.modules), list(sys.path), list(sys.meta_path)
        importlib.invalidate_caches()
        try:
            with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
                status = pytest.main(self._arguments(args), plugins=[pytest_irmetrics.plugin])
        finally:
            sys.modules.clear()
            sys.modules.update(loaded)
            sys.path[:], sys.meta_path[:] = path, finders
        lines = [stream.buffer.getvalue().decode().splitlines() for stream in streams]
        sys.stdout.write("\n".join(lines[0]))
        return pytest.RunResult(status, *lines, duration=0)

    def run_apart(self, *args, cold=False):
        """Run pytest in a process of its own: with workers, with Ctrl-C, with another stream; `cold`: that has loaded nothing."""
        python = [sys.executable] if cold else python_words()
        temporary = f"--basetemp={self.path / 'tmp'}"
        return self.pytester.run(*python, "-m", "pytest", temporary, *self._arguments(args))

    @property
    def baseline(self):
        return self.path / "ir_baselines" / "test_search" / "test_search_quality[faq].json"


UNUSED = (
    *("cacheprovider", "doctest", "faulthandler", "junitxml", "legacypath", "logging", "pastebin", "recwarn"),
    *("setuponly", "setupplan", "stepwise", "subtests", "threadexception", "unittest", "unraisableexception"),
)
"""Plugins of pytest's own, each of which takes its part of a short run: left out where no file and no option has its first letters."""

PLUGINS = {
    "asyncio": "pytest_asyncio.plugin",
    "anyio": "anyio.pytest_plugin",
    "xdist": "xdist.plugin",
    "rerunfailures": "pytest_rerunfailures",
}


def printed(result):
    """What was printed, whatever the line breaks."""
    return " ".join(" ".join(result.outlines).split())


def text_of(result):
    """Return a run's whole output as one line, after looking for signs of an error of ours."""
    output = result.stdout.str() + result.stderr.str()
    assert not re.search(_SIGNS_OF_OUR_ERRORS, output), output
    return " ".join(output.split())
