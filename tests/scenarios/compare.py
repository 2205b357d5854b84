"""Name the rows whose runs came out differently in two recordings: python -m tests.scenarios.compare OLD.jsonl NEW.jsonl."""

from __future__ import annotations

import json
import sys
from pathlib import Path

MOST = 8
"""Differences shown of one run."""


def read(path):
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return {(line["row"], line["run"]): line for line in map(json.loads, lines)}


def differences(old, new, place=""):
    """Yield `place: old → new` for all that differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            if key not in old or key not in new:
                yield f"{place}{key}: only in the {'new' if key in new else 'old'} one"
            else:
                yield from differences(old[key], new[key], f"{place}{key}.")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{place}{number}.")
    elif old != new:
        yield f"{place.rstrip('.')}: {json.dumps(old)[:150]} → {json.dumps(new)[:150]}"


def main(old_path, new_path):
    old, new = read(old_path), read(new_path)
    count = 0
    for key in dict.fromkeys([*old, *new]):
        row, run = key
        if key not in old or key not in new:
            found = [f"only in the {'new' if key in new else 'old'} recording"]
        else:
            found = list(differences(old[key], new[key]))
        if found:
            count += 1
            more = [f"and {len(found) - MOST} more"] if len(found) > MOST else []
            sys.stdout.write("\n    ".join([f"{row} (run {run + 1})", *found[:MOST], *more]) + "\n")
    sys.stdout.write(f"{count} of {len(new)} runs differ\n")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
