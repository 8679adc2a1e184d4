"""engram_graph as the memory of agent frameworks: one file a framework, each behind its extra."""
