// Which contradictions are open: both facts are held to be true?
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   newer, older: the two facts.
//   newer_belief, older_belief: belief in each.
//   newer_told_by, older_told_by: who stated each.
//   p: probability of the contradiction.
//   decided_at: when it was noticed.
//   newer_id, older_id: for `engram explain` and `engram correct`.
CYPHER 25
MATCH (newer:Fact)-[c:CONTRADICTS]->(older:Fact)
USING INDEX newer:Fact(namespace, predicate)  // not by all contradictions of all namespaces
WHERE newer.namespace = $namespace AND newer.predicate IS NOT NULL AND newer.open AND older.open
RETURN newer.text AS newer, older.text AS older, newer.belief AS newer_belief,
  older.belief AS older_belief,
  COLLECT { MATCH (newer)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS newer_told_by,
  COLLECT { MATCH (older)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS older_told_by,
  c.p AS p, c.decided_at AS decided_at, newer.id AS newer_id, older.id AS older_id
ORDER BY decided_at, newer_id, older_id
LIMIT $limit
