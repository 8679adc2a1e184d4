"""The pytest plugin: a real Neo4j, a memory of its own for each test, scripted models."""
