"""A study: arms over conversations, answers judged, and everything kept that a rerun needs."""
