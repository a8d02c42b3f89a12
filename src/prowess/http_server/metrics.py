"""Metrics of one server process for Prometheus. Labels are operations and statuses, never skills, people or tenants."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0)


class ServerMetrics:
    """Counters of one process, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "prowess_requests_total", "Answered requests of the interface.", ["operation", "status"], registry=registry
        )
        self._seconds = Histogram(
            "prowess_request_seconds", "Time to answer.", ["operation"], buckets=_SECONDS, registry=registry
        )
        self._store = Gauge("prowess_store_up", "1 if the store could be used at the last look.", registry=registry)
        self._age = Gauge(
            "prowess_checkpoint_age_seconds",
            "How long the oldest audit record has waited for its place in the log.",
            registry=registry,
        )
        self._signed = Counter("prowess_checkpoints_total", "Checkpoints signed by this process.", registry=registry)

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(operation, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)

    def store_failed(self) -> None:
        """Note that the store could not be used."""
        self._store.set(0)

    def signed(self) -> None:
        """Count a checkpoint."""
        self._signed.inc()

    def text(self, age: float | None) -> bytes:
        """Return the metrics. `age` is that of the oldest waiting record, None if the store cannot be used."""
        self._store.set(0 if age is None else 1)
        if age is not None:
            self._age.set(age)
        return generate_latest(self._registry)
