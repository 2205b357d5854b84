"""Take the pictures of the HTML report that docs/reports.md shows: the first screen of the example's red build.

    python -m tests.report_pictures

writes docs/pictures/report-light.webp and report-dark.webp. Needs Chromium and chromedriver.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.browser import DRIVER, open_browser
from tests.git_repository import git

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 800


def red_report(folder):
    """Run the example with a tokenizer that makes it worse, and return the path of its report."""
    project = folder / "example"
    shutil.copytree(ROOT / "example_project", project)
    git(project, "init", "-q", "-b", "main", ".")
    git(project, "add", ".")
    git(
        project,
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.org",
        "commit",
        "-q",
        "-m",
        "Search letters instead of words",
    )
    report = folder / "report.html"
    environment = {**os.environ, "RULES_TOKENIZER": "trigram", "PYTHONPATH": str(ROOT)}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider"]
    command += ["test_search.py", "--ir-baseline", f"--ir-report={report}"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return report


def main():
    if DRIVER is None:
        sys.exit("There is no chromedriver here (Debian: chromium, chromium-driver).")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        report = red_report(Path(folder))
        with open_browser(Path(folder) / "profile") as browser:
            for scheme in ("light", "dark"):
                browser.show(report, width=WIDTH, height=HEIGHT, scheme=scheme)
                path = PICTURES / f"report-{scheme}.webp"
                path.write_bytes(browser.picture("webp"))


if __name__ == "__main__":
    main()
