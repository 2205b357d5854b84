"""A project whose one session has all that reports can be about: what its files hold, and what pytest prints of it.

Of `shop` some queries fell and some rose, labels and weights were edited, a query is new and one is gone; `help` rose, and is checked by
two retrievers; queries of `down` raise; `broken` cannot be read; `known` is expected to fail; one baseline has no test any more.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import textwrap

from tests.warm_python import python_words

HOSTILE_ID = "<b>|`x`| \u202e::error::"
HOSTILE_TEXT = "=cmd|' /C calc'!A0 \x1b[31m ](javascript:alert(1))"

SHOP = {
    # query: (text, judgments, tags, ranking before, ranking now, further lines)
    "refund": ("refund policy", "{b1: 3, b2: 1}", "billing", "b1 b2 x1", "x1 b2 x2 b1", "weight: 2.0"),
    "invoice": ("where is my invoice", "[b3]", "billing", "b3 x1 x2", "x1 x2 x3", ""),
    "vat": ("add a VAT number", "[b4]", "billing", "b4 b3", "x1 b4", "thresholds: {mrr: 0.9}"),
    "card": ("my card was declined", "{b5: 2, b6: 0}", "billing", "b5 b6", "b6 x1 b5", "forbidden: [x9]"),
    "debit": ("direct debit", "[b7]", "billing", "b7", "x9 b7", "forbidden: [x9]"),
    "plan": ("change my plan", "[b8]", "billing", "b8 x1", "x1 b8", ""),
    "login": ("cannot log in", "[a1, a2]", "account", "a1 x1", "a1 a2", ""),
    "name": ("change my name", "[a3]", "account", "x1 a3", "a3 x1", ""),
    HOSTILE_ID: (HOSTILE_TEXT, "[a4, '<script>']", "account", "<script> a4", "x1 a4", "weight: 3"),
    "nonsense": ("asdf qwerty", None, "account", "", "x2", "no_answer: true"),
    "hard": ("known to be bad", "[a5]", "account", "x1", "x2", "xfail: TICKET-7"),
    "new": ("asked since today", "[a6]", "account", None, "a6", ""),
    "gone": ("asked no more", "[a7]", "account", "a7", None, ""),
}
HELP = {"open": ("opening hours", "h1"), "ship": ("shipping to Norway", "h2"), "call": ("phone number", "h3")}
LATER = ["x6", "x7", "x8", "x9"]
TITLES = {"b1": "Refunds and returns", "x1": "All that we sell", "a1": "Sign in <now>"}

CONFTEST = f"""
import json, pathlib, pytest

@pytest.fixture(scope="session")
def answers():
    return json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))

@pytest.fixture(scope="session")
def retriever(answers):
    def search(query, k):
        if query.startswith("down"):
            raise {{"d": ConnectionError("refused: localhost:9200"), "e": KeyError("id")}}[query[-1]]
        return answers[query][:k]
    return search

@pytest.fixture(scope="session")
def ir_doc_title():
    return {TITLES!r}.get
"""

TESTS = """
import pytest

@pytest.mark.ir_golden("golden/shop.yaml")
@pytest.mark.ir_threshold("ndcg@5", 0.8, max_drop=0.01)
@pytest.mark.ir_threshold("mrr", max_lost=0)
@pytest.mark.ir_threshold("recall@5", max_drop="5%", tag="billing")
def test_shop(irmetrics):
    irmetrics.check()

class TestHelp:
    @pytest.mark.parametrize("retriever", ["words", "stems"], indirect=True)
    @pytest.mark.ir_golden("golden/help.yaml")
    @pytest.mark.ir_threshold("mrr", 0.5, max_drop=0.05)
    def test_help(self, irmetrics):
        irmetrics.check()

    @pytest.fixture
    def retriever(self, request, answers):
        return lambda query, k: answers[f"{request.param} {query}"][:k]

@pytest.mark.ir_golden("golden/down.yaml")
def test_down(irmetrics):
    irmetrics.check()

@pytest.mark.xfail(reason="TICKET-9")
@pytest.mark.ir_golden("golden/known.yaml")
@pytest.mark.ir_threshold("mrr", 0.9)
def test_known(irmetrics):
    irmetrics.check(against=lambda query, k: ["c1"])
"""
BROKEN = """
@pytest.mark.ir_golden("golden/broken.yaml")
def test_broken(irmetrics):
    irmetrics.check()
"""
GONE = """
@pytest.mark.ir_golden("golden/help.yaml")
def test_gone(irmetrics, answers):
    irmetrics.check(retriever=lambda query, k: answers[f"stems {query}"])
"""
SETTINGS = """
[pytest]
ir_depth = 5
ir_metrics = mrr ndcg@5
ir_thresholds =
    mrr max_drop=0.5 tag=nowhere
"""


def golden(queries, place):
    """Write a golden set of the queries that have a ranking at a place of their tuples."""
    lines = ["queries:"]
    for query_id, (text, judgments, tag, *others) in queries.items():
        if others[place] is not None:
            more = [f"relevant: {judgments}"] if judgments else []
            more += [f"tags: [{tag}]", *filter(None, [others[2]])]
            lines += [
                f"  - id: {json.dumps(query_id)}",
                f"    query: {json.dumps(text)}",
                *(f"    {line}" for line in more),
            ]
    return "\n".join([*lines, ""])


def help_set():
    return "queries:\n" + "".join(
        f"  - {{id: {i}, query: {text}, relevant: [{doc}]}}\n" for i, (text, doc) in HELP.items()
    )


class RichProject:
    """The project in a folder: first as its baselines are stored, then as the session finds it."""

    def __init__(self, folder):
        self.folder = folder
        self.write("pytest.ini", SETTINGS)
        self.write("conftest.py", CONFTEST)
        self.write("test_search.py", TESTS + GONE)
        self.write("golden/shop.yaml", golden(SHOP, 0))
        self.write("golden/help.yaml", help_set())
        self.write("golden/down.yaml", "queries: [{query: open, relevant: [c1]}]\n")
        self.write("golden/known.yaml", "queries: [{query: known, relevant: [c1]}]\n")
        found = {
            f"{name} {text}": [doc, *LATER] for text, doc in HELP.values() for name in ("words", "stems")
        }
        lower = {f"{name} opening hours": ["x1", "h1", *LATER] for name in ("words", "stems")}
        self.answers(0, **{**found, **lower})
        self.pytest("--ir-baseline-update")
        self.write("test_search.py", TESTS + BROKEN)
        edited = golden(SHOP, 1).replace("b2: 1}", "b2: 2}").replace("x9 b7", "b7")
        self.write(
            "golden/shop.yaml",
            edited.replace('    query: "cannot log in"', '    query: "cannot log in"\n    weight: 0.5'),
        )
        self.write(
            "golden/down.yaml",
            "queries:\n"
            + "".join(f"  - {{query: down{n} {'d' if n else 'e'}, relevant: [c1]}}\n" for n in range(3)),
        )
        self.write(
            "golden/broken.yaml",
            "queries:\n  - query: a\n    relevent: [b]\n  - {query: b, relevant: [c], weight: -1}\n",
        )
        self.answers(1, **found)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), encoding="utf-8")

    def answers(self, place, **more):
        found = {
            text: others[place].split() for text, _, _, *others in SHOP.values() if others[place] is not None
        }
        self.write("answers.json", json.dumps({**found, "open": ["c1"], "known": ["x1"], **more}))

    def pytest(self, *options, **environment):
        """Run pytest in the folder, as on a screen of 100 columns, and return what it printed."""
        return run_pytest(self.folder, *options, **environment)


def run_pytest(folder, *options, **environment):
    """Run pytest with the plugin alone, in a process of its own, and return what it printed."""
    plugins = ["-p", "pytest_irmetrics.plugin", "-p", "no:cacheprovider"]
    kept = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "COLUMNS": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    kept |= {"PYTHONIOENCODING": "utf-8", "GIT_CEILING_DIRECTORIES": str(folder.parent), **environment}
    done = subprocess.run(
        [*python_words(), "-m", "pytest", *plugins, *options],
        cwd=folder,
        env=kept,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert "INTERNALERROR" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def own_lines(output):
    """Return the failures' messages and the summary of retrieval quality, without what pytest itself prints."""
    kept = re.split(r"(?m)^=+ short test summary info =+$", output)[0]
    kept = kept.partition(" FAILURES ")[2] or kept
    kept = re.sub(r"(?m)^=+$\n?", "", kept.partition("\n")[2])
    return textwrap.dedent(re.sub(r"(?m)^(_{3,}|={3,}) (.*?) (_{3,}|={3,})$", r"--- \2", kept))
