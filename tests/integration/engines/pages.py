"""The pages of docs/engines: their code is what the tests run, so that what users copy is what works."""

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
PAGES = ROOT / "docs" / "engines"
GOLDEN = ROOT / "example_project" / "golden" / "rules.yaml"
BLOCK = re.compile(r"^```python\n# (?P<name>[^\n]+)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page):
    """The first line of each block of code, without its #, and the code below."""
    text = (PAGES / page).read_text(encoding="utf-8")
    return {found["name"]: found["code"] for found in BLOCK.finditer(text)}


class Engine:
    """A user's project, made of a page: documents, an index, conftest.py and a test."""

    def __init__(self, folder, page, documents, environment):
        self.folder = folder
        self.code = blocks(f"{page}.md")
        self.environment = environment
        self.documents(documents)
        shutil.copy(Path(__file__).with_name("embedding.py"), folder)
        self.ask()
        self.write("pytest.ini", "[pytest]\naddopts = --strict-markers --strict-config\n")
        self.write("test_search.py", blocks("README.md")["test_search.py"])
        self.write("conftest.py", self.code["conftest.py"])

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

    def change(self, name, before, after):
        """Change the code of the page, as a user might by mistake."""
        text = self.code[name]
        assert text.count(before) == 1, f"{before!r} is not once in {name}"
        self.code[name] = text.replace(before, after)
        self.write(name, self.code[name])

    def index(self):
        """Make the index; nothing to do for a page whose conftest.py does it each time."""
        self.write("index.py", self.code["index.py"])
        if "from index import" in self.code["conftest.py"]:
            return
        done = self._python("index.py")
        assert done.returncode == 0, done.stdout + done.stderr

    def gate(self, *options):
        """Run the test. Gives the exit status and what was printed."""
        plugins = ["-p", "pytest_irmetrics.plugin", "-p", "no:cacheprovider"]
        if "asyncio" in (self.folder / "test_search.py").read_text(encoding="utf-8"):
            plugins += ["-p", "pytest_asyncio.plugin"]
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
