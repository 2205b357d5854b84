"""Read the rows of tests/scenarios/*.yaml, and run one: make its project, run pytest in it, look at what came of it.

README.md beside this file says what the keys of a row mean.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shlex
import shutil
from difflib import SequenceMatcher
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.expected import RENEWING
from tests.git_repository import commit, git, isolate_git, new_repository
from tests.projects import ASYNCIO_SETTING, text_of

FOLDER = Path(__file__).parent
RECORD = os.environ.get("IRMETRICS_RECORD")
TURNS = (
    "(lambda turns: (turns.append(turns.pop(0)) or turns[-1]) if turns and isinstance(turns[0], list) else turns)"
    "(answers.get(query, []))[:k]"
)
"""What the retriever gives where answers differ from one time to the next."""
BASELINE = "ir_baselines/test_search/test_search_quality[faq].json"
FILES = {"golden": "golden/faq.yaml", "test": "test_search.py", "ini": "pytest.ini", "baseline": BASELINE}

RUN_KEYS = {
    *("options", "env", "cwd", "apart", "outcome", "says", "never", "once"),
    *("lines", "writes", "json", "baseline"),
}
CHANGE_KEYS = {
    *("golden", "now", "retrieve", "gates", "marks", "body", "test", "conftest", "settings", "copies"),
    *("edit", "files", "moves", "store", "git"),
}
ROW_KEYS = {"name", "before", "steps", *RUN_KEYS, *CHANGE_KEYS}
SETUP_KEYS = (
    *("golden", "retrieve", "gates", "marks", "body", "test"),
    *("conftest", "settings", "copies", "files"),
)
"""What a row says of the project in which the baseline is stored; all else of a row is about its first run."""


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Reads `off`, `on`, `yes` and `no` as the texts that they are in settings and answers."""


Loader.yaml_implicit_resolvers = {
    first: [one for one in resolvers if one[0] != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load(path):
    return yaml.load(path.read_text(encoding="utf-8"), Loader)


@cache
def shared():
    return load(FOLDER / "shared.yaml")


@cache
def rows():
    """All rows, each with the defaults of its file, by `FILE: NAME`."""
    found = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        if path.name == "shared.yaml":
            continue
        content = load(path)
        defaults = content.get("defaults", {}) if isinstance(content, dict) else {}
        for row in content["rows"] if isinstance(content, dict) else content:
            name = f"{path.stem}: {row['name']}"
            assert name not in found, f"two rows are called {name}"
            found[name] = {**checked({**defaults, **row}), "id": name}
    return found


def checked(row):
    unknown = set(row) - ROW_KEYS
    unknown |= {key for step in row.get("steps", ()) for key in set(step) - RUN_KEYS - CHANGE_KEYS}
    assert not unknown, f"{row['name']}: unknown keys {unknown}"
    return row


def several(value):
    return [] if value is None else value if isinstance(value, list) else [value]


def literal(value):
    """A text that begins with `= ` is a Python expression; anything else is itself."""
    return eval(value[2:]) if isinstance(value, str) and value.startswith("= ") else value


def ids(answer):
    """`doc-1 doc-2`, a list of ids, or a list of such lists: one for each time that the query is asked."""
    if isinstance(answer, str):
        return answer.split()
    return [ids(turn) for turn in answer] if any(isinstance(turn, list) for turn in answer) else answer


def answers(value, base):
    """A name of shared answers, or what differs from the answers of before."""
    value = literal(value)
    chosen = shared()["answers"][value] if isinstance(value, str) else {**base, **(value or {})}
    return {query: ids(answer) for query, answer in chosen.items()}


def mark(gate):
    """`mrr 0.5 tag=billing` → `ir_threshold("mrr", 0.5, tag="billing")`."""
    words = [word.partition("=") for word in gate.split()]
    if words[0][1]:  # ndcg(gain=exp)@10
        words[0] = ("".join(words[0]), "", "")

    def argument(text):
        try:
            return repr(ast.literal_eval(text))
        except (SyntaxError, ValueError):
            return repr(text)

    given = [f"{name}={argument(value)}" if sign else argument(name) for name, sign, value in words[1:]]
    return f"ir_threshold({', '.join([repr(words[0][0]), *given])})"


class Scenario:
    """One row in one project."""

    def __init__(self, row, project, monkeypatch, stored):
        self.row, self.project, self.monkeypatch, self.stored = row, project, monkeypatch, stored
        self.path = project.path
        self.state = {"gates": ["mrr 0.5"], "marks": [], "body": "irmetrics.check()"}
        self.before = answers(row.get("before") or {}, shared()["answers"]["good"])
        self.recorded = []

    def run(self):
        row = self.row
        isolate_git(self.monkeypatch)
        self.set_up()
        own = {key: value for key, value in row.items() if key not in ("name", "before", "steps")}
        after = {key: value for key, value in own.items() if key not in SETUP_KEYS}
        if "steps" not in row:
            self.step(after)
        else:
            self.change({key: value for key, value in after.items() if key in CHANGE_KEYS})
        for step in row.get("steps", ()):
            # What a row with steps says of runs holds for each of them.
            self.step({**{key: value for key, value in after.items() if key in RUN_KEYS}, **step})

    def set_up(self):
        """Make the project of before, with its baseline stored; for rows that begin alike this is done once."""
        setup = {key: self.row[key] for key in SETUP_KEYS if key in self.row}
        stores = self.row.get("before") is not None
        key = json.dumps([setup, self.before, stores, "git" in self.row])
        kept = self.stored / hashlib.sha256(key.encode()).hexdigest()[:20]
        if not kept.exists() or RECORD:
            self.answer(self.before)
            self.change({"golden": "faq", "test": None, **setup})
            if stores:
                self.project.store()
            if "git" in self.row:
                (self.path / ".gitignore").write_text("__pycache__\n*.out\n", encoding="utf-8")
                new_repository(self.path)
                commit(self.path, "Store the baseline")
                git(self.path, "checkout", "-q", "-b", "feature")
            shutil.copytree(self.path, kept, symlinks=True, dirs_exist_ok=True)
        else:
            self.write_test(setup)
            shutil.rmtree(self.path)
            shutil.copytree(kept, self.path, symlinks=True)
            os.chdir(self.path)

    def answer(self, answers):
        """Let the retriever give these answers."""
        by_turn = any(isinstance(turn, list) for answer in answers.values() for turn in answer)
        if by_turn and TURNS not in (self.path / "conftest.py").read_text(encoding="utf-8"):
            self.project.retrieve(TURNS)
        self.project.answers(answers)

    def write_test(self, step):
        """Note what a step says of the test, and write it where it says anything."""
        about = {key: step[key] for key in ("gates", "marks", "body") if key in step}
        self.state.update(about)
        if step.get("test"):
            self.project.write("test_search.py", step["test"])
        elif about or "test" in step:
            marks = several(self.state["marks"])
            if not any(mark.startswith("ir_golden") for mark in marks):
                marks = ['ir_golden("golden/*.yaml")', *marks]
            marks += [mark(gate) for gate in several(self.state["gates"])]
            self.project.test(marks, self.state["body"].strip().replace("\n", "\n    "))

    def change(self, step):
        """Do to the project what a step says, in the order of the lines below."""
        project = self.project
        if "golden" in step:
            golden = literal(step["golden"])
            golden = shared()["golden"].get(golden, golden) if isinstance(golden, str) else golden
            text = golden if isinstance(golden, str) else as_golden_set(golden)
            project.write("golden/faq.yaml", text)
        self.write_test(step)
        if "retrieve" in step:
            project.retrieve(step["retrieve"])
        if "conftest" in step:
            conftest = self.path / "conftest.py"
            conftest.write_text(f"{conftest.read_text(encoding='utf-8')}\n\n{step['conftest']}\n", "utf-8")
        if "settings" in step:
            lines = [f"{name} = {ini(value)}\n" for name, value in step["settings"].items()]
            asyncio = ASYNCIO_SETTING if "mark.asyncio" in (step.get("test") or "") else ""
            project.write("pytest.ini", "[pytest]\n" + asyncio + "".join(lines))
        for new, old in step.get("copies", {}).items():
            project.write(new, (self.path / FILES.get(old, old)).read_text(encoding="utf-8"))
        for name, text in step.get("files", {}).items():
            path = self.path / FILES.get(name, name)
            if path.is_dir():
                shutil.rmtree(path)
            elif text is None:
                path.unlink()
            else:
                project.write(path, text)
        for old, new in step.get("moves", {}).items():
            (self.path / new).parent.mkdir(parents=True, exist_ok=True)
            (self.path / FILES.get(old, old)).rename(self.path / new)
        for edit in step.get("edit", ()):
            name, old, new = edit if len(edit) == 3 else ("golden", *edit)
            project.edit(FILES.get(name, name), old, new or "")
        if "now" in step:
            self.answer(answers(step["now"], self.before))
        if step.get("store"):
            project.store()
        for words in several(step.get("git")):
            if words == "commit":
                commit(self.path)
            elif words is not True:
                git(self.path, *shlex.split(words))

    def step(self, step):
        self.change(step)
        for name, value in step.get("env", {}).items():
            self.monkeypatch.setenv(name, value)
        if "cwd" in step:
            (self.path / step["cwd"]).mkdir(exist_ok=True)
            self.monkeypatch.chdir(self.path / step["cwd"])
        usual = "--ir-baseline" if self.row.get("before") is not None else ""
        for options in several(step.get("options", usual)):
            self.run_pytest(step, options)

    def run_pytest(self, step, options):
        kept = self.baseline_bytes()
        arguments = shlex.split(options)
        report = "scenario.out"
        if step.get("json") or RECORD:
            arguments.append(f"--ir-report=json:{report}")
        run = self.project.run_apart if step.get("apart") else self.project.run
        result = run(*arguments)
        if RECORD:
            self.record(options, result, report)
            return
        output = text_of(result)
        if RENEWING:
            self.renew(step, output, report)
            return
        problems = list(self.problems(step, result, output, kept, report))
        if problems:
            where = f"{self.row['name']}, with {options or 'no options'}"
            said = result.stdout.str() + result.stderr.str()
            pytest.fail("\n".join([f"{where}:", *problems, "", said]), pytrace=False)

    def renew(self, step, output, report):
        """Write in the row's file, in place of each text that is not said, the words that are said now where it was."""
        path = FOLDER / f"{self.row['id'].partition(': ')[0]}.yaml"
        file = before = path.read_text(encoding="utf-8")
        said = output.split()
        for text in [*several(step.get("says")), *several(step.get("once"))]:
            words = folded(text).split()
            alike = SequenceMatcher(None, words, said, autojunk=False).find_longest_match()
            if folded(text) not in output and alike.size > len(words) / 3:
                start = max(alike.b - alike.a, 0)
                file = file.replace(text, " ".join(said[start : start + len(words)]))
        for place, value in step.get("json", {}).items():
            if place.endswith(".text"):
                document = json.loads((self.path / report).read_text(encoding="utf-8"))
                file = file.replace(value, look_up(document, place))
        if file != before:  # a worker of another row would read it while it is cut to nothing, and store that
            path.write_text(file, encoding="utf-8")

    def problems(self, step, result, output, kept, report):
        """Yield what a run did not come to of all that its step says."""
        yield from other_outcome(result, step.get("outcome", "passed"))
        for text in several(step.get("says")):
            if folded(text) not in output:
                yield f"does not say {text!r}"
        for text in several(step.get("never")):
            if folded(text) in output:
                yield f"says {text!r}"
        for text in several(step.get("once")):
            if (count := output.count(folded(text))) != 1:
                yield f"says {count} times {text!r}"
        for line in several(step.get("lines")):
            if not any(fnmatch(one, line) for one in result.outlines):
                yield f"has no line like {line!r}"
        for name, texts in step.get("writes", {}).items():
            content = folded((self.path / name).read_text(encoding="utf-8"))
            yield from (f"{name} does not hold {text!r}" for text in several(texts) if text not in content)
        if step.get("json"):
            document = json.loads((self.path / report).read_text(encoding="utf-8"))
            found = {place: look_up(document, place) for place in step["json"]}
            for place, wanted in step["json"].items():
                if found[place] != wanted:
                    yield f"{place} is {found[place]!r}, not {wanted!r}"
        if what := step.get("baseline"):
            now = self.baseline_bytes()
            found = "none" if not now else "unchanged" if now == kept else "stored"
            if found != what:
                yield f"the baseline is {found}"

    def baseline_bytes(self):
        folders = sorted(self.path.rglob("ir_baselines"))
        files = sorted(file for folder in folders for file in folder.rglob("*.json") if file.is_file())
        return {file.relative_to(self.path).as_posix(): file.read_bytes() for file in files}

    def record(self, options, result, report):
        """Append what came of a run to the file that IRMETRICS_RECORD names."""
        path = self.path / report
        document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        baselines = self.baseline_bytes()
        line = {
            "row": self.row["id"],
            "run": len(self.recorded),
            "options": options,
            "exit": int(result.ret),
            "outcomes": result.parseoutcomes() if result.outlines else {},
            "report": comparable(document, str(self.path)),
            "baselines": {name: hashlib.sha256(data).hexdigest()[:16] for name, data in baselines.items()},
        }
        line["outcomes"].pop("seconds", None)
        self.recorded.append(line)
        with Path(RECORD).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, sort_keys=True) + "\n")


def other_outcome(result, expected):
    """Yield how a run ended, where that is not as expected: `passed`, numbers of outcomes, an exit status, or `any`."""
    if expected == "any":
        return
    if isinstance(expected, str):
        counted = any(line.startswith("=") or " in " in line for line in result.outlines[-1:])
        expected = {expected: 1} if counted else {"passed": 0, "failed": 1}[expected]  # under -qq
    if isinstance(expected, int):
        if result.ret != expected:
            yield f"ended with exit status {int(result.ret)}"
        return
    found = {
        key: count for key, count in result.parseoutcomes().items() if key not in ("warnings", "seconds")
    }
    if found != expected:
        yield f"ended with {found}"


def as_golden_set(data):
    """Write a golden set, or the list of its queries, one query a line."""
    data = {"queries": data} if isinstance(data, list) else data
    head = [f"{key}: {json.dumps(value)}\n" for key, value in data.items() if key != "queries"]
    return "".join([*head, "queries:\n", *(f"  - {json.dumps(query)}\n" for query in data["queries"])])


def ini(value):
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).strip().replace("\n", "\n    ")


def folded(text):
    return " ".join(str(text).split())


def look_up(document, place):
    """`tests.0.gates.0.state` of a document, or what an expression of its keys is."""
    if place.startswith("= "):
        return eval(place[2:], dict(document))
    for key in place.split("."):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


VOLATILE = {"run_info", "latency_p50", "latency_p95", "took"}


def comparable(value, folder):
    """A report without what differs from run to run: durations, commits, versions, the folder of the run."""
    if isinstance(value, dict):
        return {key: comparable(item, folder) for key, item in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [comparable(item, folder) for item in value]
    if isinstance(value, str):
        return re.sub(r"\b[0-9a-f]{7,40}\b", "COMMIT", value.replace(folder, "FOLDER"))
    return value
