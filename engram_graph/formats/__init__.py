"""Files that come in: JSON lines of messages or facts, and LoCoMo."""
