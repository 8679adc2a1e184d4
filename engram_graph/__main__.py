"""``python -m engram_graph`` is the command ``engram``."""

from engram_graph.cli.app import main

if __name__ == "__main__":
    main()
