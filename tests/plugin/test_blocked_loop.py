"""An async retriever that blocks is told in the middle of the test, also where pytest captures output."""

from __future__ import annotations

import subprocess
import sys

import pytest

CONFTEST = """
    import time, pytest

    @pytest.fixture(scope="session")
    def retriever():
        async def search(query, k):
            time.sleep({seconds})
            return ["doc-12", "doc-9", "doc-1"][:k]

        return search
"""


def test_it_fails_with_what_to_do(project):
    project.write("conftest.py", CONFTEST.format(seconds=0.6))
    project.write("pytest.ini", "[pytest]\nir_timeout = 0.1\n")
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "The async retriever blocked the event loop." in " ".join(result.stdout.str().split())


@pytest.mark.parametrize("options", [[], ["-s"], ["--capture=sys"]])
def test_one_that_never_comes_back_is_told_at_once(project, options):
    project.write("conftest.py", CONFTEST.format(seconds=3600))
    project.write("pytest.ini", "[pytest]\nir_timeout = 0.1\n")
    command = [sys.executable, "-m", "pytest", "-p", "irmetrics", *options]
    with subprocess.Popen(command, cwd=project.path, stderr=subprocess.PIPE, encoding="utf-8") as process:
        lines = iter(process.stderr.readline, "")
        line = next(line for line in lines if line.strip())
        assert process.poll() is None
        process.kill()
    assert line.startswith("pytest-irmetrics: query 'reset': no answer for ")
    assert "`await asyncio.to_thread(…)`" in line
