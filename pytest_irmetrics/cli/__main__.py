"""Run the console script ``pytest-irmetrics`` as ``python -m pytest_irmetrics.cli``."""

import sys

from pytest_irmetrics.cli import main

if __name__ == "__main__":
    sys.exit(main())
