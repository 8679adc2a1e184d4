"""Spans and metrics by the OpenTelemetry API: nothing happens until the application installs an SDK."""
