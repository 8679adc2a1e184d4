# Recipes for working on engram_graph; each is one or two plain commands.

# Everything that must be green before a commit, but the tests.
check:
    ruff check .
    ruff format --check .
    mypy
    lint-imports --no-cache
    deptry .

# The tests; arguments go to pytest, such as `just test tests/pure`.
test *arguments:
    python -m pytest {{arguments}}

# What is made from code: schemas, the catalogue of queries, the reference pages.
generate:
    python -m engram_graph.schemas
    python -m engram_graph.graph.catalogue
    python -m docs._build.reference

# The documentation as a site, on this machine.
docs:
    mkdocs serve

# Wheel and sdist into dist/, with their metadata checked.
build:
    uv build --build-constraints constraints.txt
    twine check --strict dist/*

# The lower bounds of all dependencies, resolved.
floors:
    uv pip compile --quiet --resolution lowest-direct --python-version 3.11 --extra all pyproject.toml

# Known vulnerabilities of the tested versions. Asks a service: needs the network.
audit:
    pip-audit --requirement constraints.txt --no-deps --disable-pip
