"""The arms of a study, each in a file of its own."""
