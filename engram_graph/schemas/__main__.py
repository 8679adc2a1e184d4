"""``python -m engram_graph.schemas``."""

from engram_graph.schemas import main

if __name__ == "__main__":
    main()
