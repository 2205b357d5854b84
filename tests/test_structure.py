"""The rooms of the package: what may import what, and what an import may cost."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import pytest_irmetrics

PACKAGE = Path(pytest_irmetrics.__file__).parent

# A room may import those before it, and none after it.
ROOMS = [
    "base",
    "metrics",
    "thresholds",
    "run",
    "golden",
    "retrieval",
    "evaluation",
    "comparison",
    "gates",
    "reports",
    "analysis",
    "cli",
    "plugin",
]
LIBRARY = ROOMS[:-1]
"""All but the room that is pytest's: none of them imports it."""


def room_of(module):
    """`golden.yaml` is in the room golden."""
    return module.partition(".")[0]


def modules():
    """Module name within the package → file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts := parts[:-1] if parts[-1] == "__init__" else parts:
            found[".".join(parts)] = path
    return found


MODULES = modules()
NAMES = {f"pytest_irmetrics.{module}" for module in MODULES}


@cache
def imports(path, module):
    """Line and module of all imports anywhere in a file: within functions, for types alone and by name, too."""
    return [*_imports(path, module)]


def _imports(path, module):
    package = ["pytest_irmetrics", *module.split(".")]
    if path.name != "__init__.py":
        package.pop()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            for name in node.names:
                inner = f"{base}.{name.name}"
                yield node.lineno, inner if inner.removeprefix("pytest_irmetrics.") in MODULES else base
        elif isinstance(node, ast.Constant) and node.value in NAMES:  # for importlib
            yield node.lineno, node.value


def own_imports(path, module):
    for line, name in imports(path, module):
        if name.partition(".")[0] == "pytest_irmetrics":
            yield line, name.partition(".")[2]


def fresh(code):
    """What a new interpreter prints for this code, read as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=PACKAGE.parent,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_every_room_stands_where_the_plan_has_it():
    assert {room_of(module) for module in MODULES} == set(ROOMS)


def test_imports_point_one_way():
    wrong = [
        f"{module}:{line} imports {name or 'the package itself'}"
        for module, path in MODULES.items()
        for line, name in own_imports(path, module)
        if room_of(name) != room_of(module)
        and (not name or ROOMS.index(room_of(name)) > ROOMS.index(room_of(module)))
    ]
    assert wrong == []


@pytest.mark.parametrize("depth", [2, 9], ids=["folders", "files"])
def test_no_imports_run_in_a_circle(depth):
    uses = {}
    for module, path in MODULES.items():
        place, *names = (
            ".".join(name.split(".")[:depth])
            for name in [module, *(name for _, name in own_imports(path, module))]
        )
        uses.setdefault(place, set()).update(set(names) - {place})
    left = set(uses)
    while free := {
        place for place in left if not uses[place] & left or not any(place in uses[other] for other in left)
    }:
        left -= free
    assert not {place: sorted(uses[place] & left) for place in sorted(left)}


def test_the_library_does_without_pytest():
    assert [
        f"{module}:{line}"
        for module, path in MODULES.items()
        if room_of(module) in LIBRARY
        for line, name in imports(path, module)
        if name.partition(".")[0] in ("pytest", "_pytest", "pluggy")
    ] == []


def test_the_metrics_stand_alone():
    loaded = fresh("import pytest_irmetrics.metrics\nprint(json.dumps(sorted(sys.modules)))")
    ours = {name for name in loaded if name.startswith("pytest_irmetrics.")}
    others = {name for name in ours if not name.startswith("pytest_irmetrics.metrics")}
    assert others == {f"pytest_irmetrics.base{name}" for name in ("", ".numbers")}
    assert not {"pytest", "_pytest", "pluggy", "yaml"} & set(loaded)


def test_the_plugin_loads_nothing_that_pytest_has_not_loaded():
    loaded = fresh(
        "import pytest\n"
        "before = set(sys.modules)\n"
        "import pytest_irmetrics.plugin\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    assert loaded == ["pytest_irmetrics", "pytest_irmetrics.plugin", "pytest_irmetrics.plugin.config"]


def test_a_run_that_gates_nothing_loads_nothing(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "import json, sys\n"
        "def pytest_unconfigure(config):\n"
        "    print()\n"
        "    print(json.dumps(sorted(sys.modules)))\n"
    )
    (tmp_path / "test_other.py").write_text("def test_other():\n    assert True\n")
    loaded = []
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for options in (["-p", "irmetrics"], []):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=alone)
        assert done.returncode == 0, done.stdout + done.stderr
        loaded.append(set(json.loads(done.stdout.splitlines()[-1])))
    with_plugin, without = loaded
    assert "pytest_irmetrics.plugin" in with_plugin, "the package is not installed here: pip install -e ."
    assert with_plugin - without <= {
        "pytest_irmetrics",
        "pytest_irmetrics.plugin",
        "pytest_irmetrics.plugin.config",
    }


def test_the_public_names_are_loaded_when_they_are_used():
    loaded = fresh(
        "import pytest_irmetrics\n"
        "before = sorted(name for name in sys.modules if name.startswith('pytest_irmetrics'))\n"
        "for name in pytest_irmetrics.__all__:\n"
        "    if name != 'IRMetrics':\n"
        "        getattr(pytest_irmetrics, name)\n"
        "print(json.dumps([before, 'pytest' in sys.modules]))"
    )
    assert loaded == [["pytest_irmetrics"], False]
    assert pytest_irmetrics.IRMetrics.__name__ == "IRMetrics"
    with pytest.raises(AttributeError, match=r"^module 'pytest_irmetrics' has no attribute 'Evaluator'$"):
        pytest_irmetrics.Evaluator  # noqa: B018 - looking it up is the test


def test_tests_use_what_a_user_can():
    """Names that are public, and the console script; what is inside is tested in tests/unit, where nothing else reaches it."""
    public = {"cli", *pytest_irmetrics.__all__}
    inside = {}
    for path in sorted((PACKAGE.parent / "tests").rglob("*.py")):
        if not {"unit", "wrong.py"} & {*path.parts}:
            for module, names in imported_names(path):
                used = set() if module == "pytest_irmetrics" and names <= public else names - {"main"}
                if used and module.startswith("pytest_irmetrics"):
                    inside.setdefault(path.name, []).append(f"{module}: {', '.join(sorted(used))}")
    assert inside == {}


def imported_names(path):
    """Module and names of each import of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            yield from ((alias.name, {alias.name}) for alias in node.names if "." in alias.name)
