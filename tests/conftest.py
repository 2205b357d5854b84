from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is no reason to fail: how long an example takes is for the benchmarks to say.
settings.register_profile("irmetrics", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("irmetrics")
