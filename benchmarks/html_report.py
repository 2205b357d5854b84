"""The HTML report in a browser: megabytes, seconds to the first paint, milliseconds to search, at several sizes of session.

    python benchmarks/html_report.py [--sizes 1x115,12x60,100x115,1000x10,1000x115,1x5000,1x100000] [--pictures FOLDER]

A size is tests x queries of each; a fifth of the queries moved. Needs Chromium and chromedriver. The search is typed
into the report's field, and timed until its list is laid out again; the longest of a word that many queries have, one that a few
have, one that none has, and none, is printed. Besides: requests and console messages, of which there must be none, and at
320, 400, 1280 and 1920 pixels how many stand out at the side. `--pictures` writes what one sees first, at each size, width and scheme.
The goals are 6 MB everywhere, and at 5,000 queries a first paint within 1 second and searches within 100 milliseconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_irmetrics.cli import main as command  # noqa: E402 - the tests' folder is beside this one
from tests.browser import DRIVER, open_browser  # noqa: E402
from tests.large_reports import write_large_report  # noqa: E402

GOAL_MEGABYTES, GOAL_PAINT, GOAL_SEARCH = 6.0, 1.0, 100.0
WIDTHS = (320, 400, 1280, 1920)
WORDS = ("refund", "faq-77", "no such word", "")
PAINT = """
new PerformanceObserver(list => done(list.getEntriesByName('first-contentful-paint')[0].startTime))
    .observe({type: 'paint', buffered: true});
"""
SEARCH = """
const field = document.querySelector('[name=words]');
const begin = performance.now();
field.value = %s;
field.dispatchEvent(new Event('input'));
document.body.getBoundingClientRect();
return performance.now() - begin;
"""


def measure(browser, path, pictures):
    """Return seconds to the first paint, milliseconds to search, and what should not be: requests, messages, overflow."""
    paints = []
    for _ in range(3):
        browser.show(path)
        paints.append(browser.wait_for(PAINT) / 1000)
    searches = [browser.do(SEARCH % json.dumps(word)) for word in WORDS]
    requests = browser.do("return performance.getEntriesByType('resource').length")
    beyond = 0
    for width in WIDTHS:
        browser.resize(width)
        beyond = max(beyond, browser.do("return document.documentElement.scrollWidth") - width)
        for look in ("light", "dark", "print") if pictures else ():
            browser.show(
                path,
                width=width,
                height=800,
                scheme="dark" if look == "dark" else "light",
                media="print" if look == "print" else "",
            )
            (pictures / f"{path.stem}-{width}-{look}.png").write_bytes(browser.picture())
    return min(paints), max(searches), requests, len(browser.complaints()), beyond


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1x115,12x60,100x115,1000x10,1000x115,1x5000,1x100000")
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    if DRIVER is None:
        print("NOT RUN: there is no chromedriver here")
        return 0
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    missed = False
    print(
        f"{'tests x queries':>16} {'MB':>6} {'paint s':>8} {'search ms':>10} {'requests':>9} {'messages':>9} {'beyond px':>10}"
    )
    with tempfile.TemporaryDirectory() as folder, open_browser(Path(folder) / "profile") as browser:
        for size in options.sizes.split(","):
            tests, queries = map(int, size.split("x"))
            path = Path(folder) / f"{size}.html"
            report = write_large_report(Path(folder) / size, tests, queries)
            command(["report", str(report), "-o", str(path)])
            megabytes = path.stat().st_size / 1e6
            paint, search, requests, messages, beyond = measure(browser, path, options.pictures)
            print(
                f"{size:>16} {megabytes:>6.2f} {paint:>8.2f} {search:>10.0f} {requests:>9} {messages:>9} {beyond:>10}"
            )
            missed |= megabytes > GOAL_MEGABYTES or requests > 0 or messages > 0 or beyond > 0
            missed |= queries == 5000 and (paint > GOAL_PAINT or search > GOAL_SEARCH)
    print(
        f"goals: {GOAL_MEGABYTES:g} MB; at 5,000 queries {GOAL_PAINT:g} s and {GOAL_SEARCH:g} ms; no request, message or overflow"
    )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
