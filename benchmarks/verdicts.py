"""How often the verdicts and the sentences about them are true: simulated and real changes, judged by the plugin's own code.

    python benchmarks/verdicts.py [--quick] [TABLE ...]

Each table is a function in `verdict_tables/`, which prints it and returns the goals that it missed; with one missed the exit
status is 1. Everything random has a seed, so two runs print the same. `--quick` takes a fifth of the trials.

The real changes are those of the example project: its queries over the documentation of ruff's rules, in SQLite's full-text
index, with another tokenizer or other weights. A harmless change is such a change with the two runs swapped at random, query
by query: it moves as many queries as far, and makes nothing better or worse.
"""

from __future__ import annotations

import argparse
import sys
import time

from verdict_tables.default import default_gate
from verdict_tables.end_to_end import end_to_end
from verdict_tables.noise import noise
from verdict_tables.significance import significance
from verdict_tables.slices import slices
from verdict_tables.tolerance import tolerance

TABLES = {
    table.__name__: table for table in (noise, default_gate, tolerance, significance, slices, end_to_end)
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"which: {', '.join(TABLES)}; else all")
    parser.add_argument("--quick", action="store_true", help="a fifth of the trials")
    options = parser.parse_args()
    unknown = [name for name in options.tables if name not in TABLES]
    if unknown:
        parser.error(f"no such table: {', '.join(unknown)}. There are {', '.join(TABLES)}.")
    missed = []
    for name in options.tables or TABLES:
        start = time.perf_counter()
        missed += TABLES[name](0.2 if options.quick else 1.0)
        print(f"({name}: {time.perf_counter() - start:.0f} s)\n")
    for goal in missed:
        print(f"MISSED: {goal}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
