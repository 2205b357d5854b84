"""``python -m pytest_irmetrics.cli``, where the console script is not on the path."""

from __future__ import annotations

import sys

from pytest_irmetrics.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
