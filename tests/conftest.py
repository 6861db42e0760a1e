"""For every test: properties are not judged by how fast this machine happens to be."""

from hypothesis import HealthCheck, settings

settings.register_profile("clawd", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("clawd")
