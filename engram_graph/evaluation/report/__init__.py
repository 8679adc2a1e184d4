"""A report from result files: one HTML page, and the same in Markdown with its plots beside it."""
