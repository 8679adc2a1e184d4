"""A benchmark that rewards a correct store: short conversations with gold windows of validity.

See docs/benchmark.md.
"""
