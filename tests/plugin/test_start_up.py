"""What a run imports of the plugin, and how."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_irmetrics
from tests.plugin.conftest import WITHOUT_OTHERS

ROOT = Path(pytest_irmetrics.__file__).parent.parent

IMPORT_EVERYTHING = """
import importlib, json, pkgutil, sys
import pytest_irmetrics

def test_imports():
    for module in pkgutil.walk_packages(pytest_irmetrics.__path__, "pytest_irmetrics."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)

def test_loaders():
    # The package itself and the plugin's first modules are imported before the plugin can do anything about it.
    ours = {name: module for name, module in sys.modules.items() if name.startswith("pytest_irmetrics.")}
    del ours["pytest_irmetrics.plugin"], ours["pytest_irmetrics.plugin.config"]
    assert len(ours) > 50
    assert {type(module.__loader__).__name__ for module in ours.values()} == {"SourceFileLoader"}
"""


def run(folder, *options, **env):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *WITHOUT_OTHERS, *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **env},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("installed", ["as it is", "from a wheel"])
def test_no_module_is_compiled_by_pytest(tmp_path, installed):
    """pytest rewrites the asserts of all modules that a plugin's distribution lists, also of those without any."""
    path = [str(ROOT)]
    if installed == "from a wheel":
        metadata = tmp_path / "wheel" / "pytest_irmetrics-0.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-irmetrics\nVersion: 0.0\n")
        (metadata / "entry_points.txt").write_text("[pytest11]\nirmetrics = pytest_irmetrics.plugin\n")
        (metadata / "RECORD").write_text(
            "pytest_irmetrics/__init__.py,,\npytest_irmetrics/plugin/__init__.py,,\n"
        )
        path.insert(0, str(metadata.parent))
    (tmp_path / "test_all.py").write_text(IMPORT_EVERYTHING)
    run(tmp_path, "test_all.py", PYTHONPATH=os.pathsep.join(path))


def test_a_green_run_leaves_what_it_does_not_need_unloaded(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "import json, sys\n"
        "import pytest\n"
        "@pytest.fixture\n"
        "def retriever():\n"
        "    return lambda query, k: [f'doc-{number}' for number in range(k)]\n"
        "def pytest_unconfigure(config):\n"
        "    print()\n"
        "    print(json.dumps(sorted(sys.modules)))\n"
    )
    (tmp_path / "golden.yaml").write_text("queries:\n- {query: refund, relevant: doc-0}\n")
    (tmp_path / "test_search.py").write_text(
        "import pytest\n"
        "@pytest.mark.ir_golden('golden.yaml')\n"
        "@pytest.mark.ir_threshold('mrr', 0.5)\n"
        "def test_search(irmetrics):\n"
        "    irmetrics.check()\n"
    )
    without_other_plugins = ["-p", "pytest_irmetrics.plugin", "-s"]
    environment = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run(tmp_path, *without_other_plugins, "--ir-baseline-update", **environment)
    output = run(tmp_path, *without_other_plugins, "--ir-baseline", **environment)
    loaded = set(json.loads(output.splitlines()[-1]))
    from_pytest = {"asyncio", "concurrent.futures"} if sys.version_info >= (3, 14) else set()  # by way of pdb
    assert not loaded & ({"asyncio", "concurrent.futures", "jinja2"} - from_pytest)
    ours = [name for name in loaded if name.startswith("pytest_irmetrics")]
    assert len(ours) <= 60, ours
