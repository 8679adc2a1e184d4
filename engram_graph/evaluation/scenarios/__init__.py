"""Behaviour as scripted steps and checks: the file's form, and what runs it on a real database."""
