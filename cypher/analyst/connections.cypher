// How are two entities connected?
// The shortest ways through open facts, up to four steps. A fact that says no connects nothing.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param entity => 'Maya'
//     STRING: a name or an alias of it.
//   :param other => 'Graz'
//     STRING: the other end, by name or alias.
//   :param limit => 10
//     INTEGER = 10: most ways.
//
// Columns:
//   steps: facts on the way.
//   entities: the names on the way, both ends included.
//   facts: the facts that join them.
//   least_belief: belief in the weakest of them.
CYPHER 25
CALL () {
  MATCH (a:Entity {namespace: $namespace, key: toLower($entity)})
  RETURN a
UNION
  MATCH (a:Entity {namespace: $namespace, name: $entity})
  RETURN a
UNION
  MATCH (:Alias {namespace: $namespace, key: toLower($entity)})-[:ALIAS_OF]->(a:Entity)
  RETURN a
}
CALL (a) {
  MATCH (b:Entity {namespace: $namespace, key: toLower($other)})
  RETURN b
UNION
  MATCH (b:Entity {namespace: $namespace, name: $other})
  RETURN b
UNION
  MATCH (:Alias {namespace: $namespace, key: toLower($other)})-[:ALIAS_OF]->(b:Entity)
  RETURN b
}
MATCH path = ALL SHORTEST
  (a) (()-[r WHERE r.open AND r.fact_id IS NOT NULL AND NOT r.negated]-(:Entity)){1,4} (b)
RETURN length(path) AS steps, [e IN nodes(path) | e.name] AS entities,
  [each IN r | each.text] AS facts,
  reduce(least = 1.0, each IN r | CASE WHEN each.belief < least THEN each.belief ELSE least END)
    AS least_belief
ORDER BY least_belief DESC, facts
LIMIT $limit
