#!/usr/bin/env bash
# Images for the container tests; it prints nothing but errors, and what is up to date stays.
#   docker/build.sh [base] [neo4j] [server]     (all of them by default)
# base    engram-base:bookworm: Debian with Python, where a root has debootstrap; it stands in for
#         python:3.12-slim, which is used elsewhere. BASE=IMAGE names another one.
# neo4j   engram-neo4j:VERSION, from the jars that the package's lock names; needs PYTHON to have the
#         extra "embedded"
# server  engram-graph:test, from docker/Dockerfile, all packages fetched before
# PYTHON is the interpreter to use, by default that of .venv. The user's cache keeps what was made.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-.venv/bin/python}
cache=${ENGRAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/engram_graph}
mkdir -p "$cache/docker"
exec 9>"$cache/docker/lock"
flock 9
scratch=$(mktemp -d "$cache/docker/building.XXXXXX") # beside the jars, so that they can be linked
trap 'rm -rf "$scratch"' EXIT
docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0

digest() { sha256sum | cut -c1-16; }
made_from() { docker image inspect -f '{{index .Config.Labels "engram.inputs"}}' "$1" 2>/dev/null || true; }
build() { docker build -q "$@" 2>"$scratch/log" >/dev/null || { cat "$scratch/log" >&2; exit 1; }; }

make_rootfs() { # TARBALL
  local mirror root=$scratch/root
  # Debian's mirror is the machine's own choice; nothing of it stays in the image.
  mirror=$({ cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null || true; } |
    awk '/^URIs:/ { print $2; exit } /^deb / { print ($2 ~ /^\[/) ? $4 : $2; exit }')
  debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv bookworm \
    "$root" "$mirror" >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" >&2; exit 1; }
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/etc/apt/sources.list \
    "$root"/usr/share/{doc,man,locale,info}/* "$root"/debootstrap
  find "$root" -name __pycache__ -prune -exec rm -rf {} +
  tar -C "$root" -cf "$1.$$" . && mv "$1.$$" "$1"
}

base() {
  [ -z "${BASE:-}" ] || return 0
  if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    BASE=python:3.12-slim
    return
  fi
  BASE=engram-base:bookworm
  local key tarball
  key=$(declare -f make_rootfs | digest)
  tarball=$cache/docker/base-$key.tar
  [ -f "$tarball" ] || make_rootfs "$tarball"
  [ "$(made_from "$BASE")" = "$key" ] ||
    docker import -c "LABEL engram.inputs=$key" "$tarball" "$BASE" >/dev/null
}

neo4j() {
  base
  local lib java version key context=$scratch/neo4j
  { read -r lib && read -r java && read -r version; } < <("$python" -c '
from engram_graph.server import cache_dir, ensure_jars, find_java, neo4j_version
print(ensure_jars(cache_dir()), find_java().resolve().parents[1], neo4j_version(), sep="\n")')
  key=$({ echo "$BASE $(made_from "$BASE") $lib" && cat docker/neo4j/* "$java/release"; } | digest)
  [ "$(made_from "engram-neo4j:$version")" != "$key" ] || return 0
  mkdir "$context"
  cp docker/neo4j/* "$context"
  cp -rl "$lib" "$context/lib" 2>/dev/null || cp -r "$lib" "$context/lib"
  cp -r "$java" "$context/jre"
  rm -rf "$context"/lib/*.json "$context"/jre/{include,legal,man}
  build --build-arg "BASE=$BASE" --label "engram.inputs=$key" -t "engram-neo4j:$version" "$context"
}

server() {
  base
  local key wheels context=(.dockerignore pyproject.toml README.md LICENSE cypher schemas engram_graph)
  key=$({ echo "$BASE $(made_from "$BASE")" && cat docker/Dockerfile constraints.txt &&
    find "${context[@]}" -type f -not -name '*.pyc' -print0 | sort -z | xargs -0 sha256sum; } | digest)
  [ "$(made_from engram-graph:test)" != "$key" ] || return 0
  # Fetched here, with this machine's own settings of pip, so that the build needs no network.
  "$python" - >"$scratch/wanted" <<'END'
import tomllib
with open("pyproject.toml", "rb") as file:
    about = tomllib.load(file)
project = about["project"]
print(*about["build-system"]["requires"], *project["dependencies"],
      *project["optional-dependencies"]["mcp"], sep="\n")
END
  wheels=$cache/docker/wheels-$({ echo "$BASE" && cat "$scratch/wanted" constraints.txt; } | digest)
  if [ ! -d "$wheels" ]; then
    local target
    target=$(docker run --rm "$BASE" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    "$python" -m pip download -q -d "$scratch/wheels" -c constraints.txt --only-binary=:all: \
      --python-version "$target" -r "$scratch/wanted" >&2
    rm -rf "$cache"/docker/wheels-*
    mv "$scratch/wheels" "$wheels"
  fi
  mkdir "$scratch/server"
  ln -s "$wheels" "$scratch/server/wheels"
  tar -ch "${context[@]}" constraints.txt docker/Dockerfile -C "$scratch/server" wheels |
    build --build-arg "BASE=$BASE" --build-arg PIP_NO_INDEX=1 --label "engram.inputs=$key" \
      -f docker/Dockerfile -t engram-graph:test -
  # What it was built in, and its last version.
  docker image prune -f --filter label=engram.stage >/dev/null
  docker image prune -f --filter label=engram.inputs >/dev/null
}

[ $# -gt 0 ] || set -- base neo4j server
for image in "$@"; do
  case $image in
  base | neo4j | server) "$image" ;;
  *) echo "docker/build.sh: no image is called $image" >&2 && exit 2 ;;
  esac
done
