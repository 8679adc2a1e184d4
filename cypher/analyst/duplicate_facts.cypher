// Which facts say the same in other words, or one of them in more detail?
// They are linked, never merged; a search gives one of them.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   newer, older: the two facts; where one is more detailed, it is the newer.
//   link: SAME_AS or REFINES.
//   p: probability of that.
//   newer_belief, older_belief: belief in each.
//   decided_at: when it was noticed.
//   newer_id, older_id: for `engram explain`.
CYPHER 25
MATCH (newer:Fact)-[r:SAME_AS|REFINES]->(older:Fact)
USING INDEX newer:Fact(namespace, predicate)  // not by all such links of all namespaces
WHERE newer.namespace = $namespace AND newer.predicate IS NOT NULL
RETURN newer.text AS newer, older.text AS older, type(r) AS link, r.p AS p,
  newer.belief AS newer_belief, older.belief AS older_belief, r.decided_at AS decided_at,
  newer.id AS newer_id, older.id AS older_id
ORDER BY decided_at, newer_id, older_id
LIMIT $limit
