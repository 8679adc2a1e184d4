"""Spans and metrics by the OpenTelemetry API; without an SDK nothing happens."""
