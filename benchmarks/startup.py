"""What the plugin costs a pytest run that has nothing to do with retrieval: its imports, options and hooks.

    python benchmarks/startup.py

Each sample is a process of its own in which pytest is loaded already, so that only what the plugin adds is timed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys

SAMPLES = 21
GOAL_MS = 2.0

SCRIPT = """
import json, sys, time
import pytest
from _pytest.config import get_config

config = get_config(["-p", "no:cacheprovider"])
before = set(sys.modules)
started = time.perf_counter()
import pytest_irmetrics.plugin as plugin
config.pluginmanager.register(plugin, "irmetrics")  # declares the options, settings and hooks
registered = time.perf_counter()
config.parse([])
config._do_configure()
print(json.dumps([1000 * (registered - started), sorted(set(sys.modules) - before)]))
"""


def sample() -> tuple[float, list[str]]:
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    milliseconds, modules = json.loads(done.stdout)
    return milliseconds, modules


def main() -> None:
    sample()  # writes the bytecode
    samples = [sample() for _ in range(SAMPLES)]
    cost = statistics.median(milliseconds for milliseconds, _ in samples)
    print(f"an unrelated pytest run pays {cost:.2f} ms for the plugin (goal: under {GOAL_MS:g} ms)")
    print("it imports:", ", ".join(name for name in samples[0][1] if name.startswith("pytest_irmetrics")))


if __name__ == "__main__":
    main()
