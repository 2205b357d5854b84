"""The snippets of docs/engines.md, each in a project of its own, so that what users copy is what works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from pytest_irmetrics import Run

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "engines.md"
GOLDEN = ROOT / "example_project" / "golden" / "rules.yaml"
SNIPPETS = dict(
    re.findall(
        r"^```python\n# conftest\.py, (\w+)\n(.*?)^```$",
        PAGE.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
)
"""Engine → the conftest.py that the page has for it."""
TEST = """
import pytest


@pytest.mark.ir_golden("golden/*.yaml")
@pytest.mark.ir_threshold("ndcg@10", min=0.60, max_drop=0.01)
def test_search_quality(irmetrics):
    irmetrics.check()
"""


class Engine:
    """A user's project, made of a snippet: documents, an index, conftest.py and a test."""

    def __init__(self, folder, name, documents, environment):
        self.folder = folder
        self.code = SNIPPETS[name]
        self.environment = environment
        self.documents(documents)
        for file in (
            Path(__file__).with_name("embedding.py"),
            Path(__file__).parent / "indexes" / f"{name}.py",
        ):
            shutil.copy(file, folder / ("index.py" if file.stem == name else file.name))
        self.ask()
        self.write("pytest.ini", "[pytest]\naddopts = --strict-markers --strict-config\n")
        self.write("test_search.py", TEST)
        self.write("conftest.py", self.code)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def documents(self, documents):
        self.write("documents.json", json.dumps(documents))

    def ask(self, *more):
        """Write the example project's golden set: without its thresholds, its one filter, and what has no answer."""
        import yaml

        golden = yaml.safe_load(GOLDEN.read_text(encoding="utf-8"))
        queries = [query for query in golden["queries"] if not {"no_answer", "params"} & set(query)]
        self.write("golden/rules.yaml", yaml.safe_dump({"queries": [*queries, *more]}, sort_keys=False))

    def change(self, before, after):
        """Change the code of the page, as a user might by mistake."""
        assert self.code.count(before) == 1, f"{before!r} is not once in {self.code}"
        self.code = self.code.replace(before, after)
        self.write("conftest.py", self.code)

    def index(self):
        """Make the index; nothing to do where conftest.py does it each time."""
        if "from index import" in self.code:
            return
        done = self._python("index.py")
        assert done.returncode == 0, done.stdout + done.stderr

    def gate(self, *options):
        """Run the test. Gives the exit status and what was printed."""
        plugins = ["-p", "pytest_irmetrics.plugin", "-p", "no:cacheprovider"]
        done = self._python("-m", "pytest", *plugins, *options)
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        assert "INTERNALERROR" not in done.stdout + done.stderr
        return done.returncode, done.stdout + done.stderr

    @property
    def baselines(self):
        return sorted((self.folder / "ir_baselines").rglob("*.json"))

    @property
    def baseline(self):
        (path,) = self.baselines
        return path.read_text(encoding="utf-8")

    def ranking(self, query):
        """What the stored baseline has for a query."""
        (path,) = self.baselines
        return list(Run.load(path)[query])

    def _python(self, *arguments):
        environment = {
            **os.environ,
            **self.environment,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "COLUMNS": "120",
            # Threads that wait for each other by spinning cost more than they gain on a few hundred small vectors.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
            environment.pop(name, None)
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            check=False,
            encoding="utf-8",
            timeout=120,
        )
