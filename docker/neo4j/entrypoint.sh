#!/usr/bin/env bash
# What the official image understands, as far as tests and compose need it: NEO4J_AUTH, settings as
# NEO4J_<name> ("_" for ".", "__" for "_"), the commands neo4j and neo4j-admin.
set -euo pipefail

java=("$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow
  -Dfile.encoding=UTF-8)
for package in java.nio java.io sun.nio.ch java.util.concurrent; do
  java+=("--add-opens=java.base/$package=ALL-UNNAMED")
done
java+=(-cp "/opt/neo4j/lib/*") # java expands the star, not this shell
export NEO4J_CONF="$NEO4J_HOME/conf"
admin() { "${java[@]}" -Xmx128m org.neo4j.cli.AdminTool "$@"; }

declare -A settings
while IFS='=' read -r name value; do
  case $name in "" | "#"*) ;; *) settings[$name]=$value ;; esac
done </opt/neo4j/neo4j.conf
while IFS='=' read -r -d '' name value; do
  case $name in
  NEO4J_[a-z]*)
    name=${name#NEO4J_} name=${name//__/%} name=${name//_/.} name=${name//%/_}
    settings[$name]=$value
    ;;
  esac
done < <(env -0)
# The heap is no setting of this main class.
heap=${settings[server.memory.heap.max_size]:-512m}
unset 'settings[server.memory.heap.max_size]' 'settings[server.memory.heap.initial_size]'

auth=${NEO4J_AUTH:-}
[ "$auth" != none ] || settings[dbms.security.auth_enabled]=false
for name in "${!settings[@]}"; do
  printf '%s=%s\n' "$name" "${settings[$name]}"
done >"$NEO4J_CONF/neo4j.conf"

case ${1:-neo4j} in
neo4j) ;;
neo4j-admin)
  shift
  admin "$@"
  exit
  ;;
*) exec "$@" ;;
esac

if [[ $auth == neo4j/* ]] && [ ! -d /data/databases/system ]; then
  # From a file: an argument would be in the list of processes.
  password=${auth#neo4j/} password=${password//\\/\\\\} password=${password//\"/\\\"}
  (umask 077 && printf '"%s"\n' "$password" >"$NEO4J_HOME/first-password")
  admin dbms set-initial-password "@$NEO4J_HOME/first-password" >/dev/null
  rm "$NEO4J_HOME/first-password"
fi
unset NEO4J_AUTH
exec "${java[@]}" "-Xmx$heap" org.neo4j.server.Neo4jCommunity \
  "--home-dir=$NEO4J_HOME" "--config-dir=$NEO4J_CONF" --console-mode
