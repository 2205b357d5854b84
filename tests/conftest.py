from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Whatever CI these tests run in: a test that is about GitHub's log says so.
os.environ.pop("GITHUB_ACTIONS", None)

# A busy machine is no reason to fail: how long an example takes is for the benchmarks to say.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The gate says the same of the same code twice; examples of chance, and many, are for `make fuzz`.
settings.register_profile("irmetrics", patient, derandomize=True)
settings.register_profile("fuzz", patient, max_examples=2000, print_blob=True)
settings.load_profile("irmetrics")
