// Which answers were kept from changing anything, and by which rule?
// The rules and their order are in docs/deciding.md.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param outcome => 'blocked_temporal'
//     STRING = null: only what this rule refused; null for all.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   decided_at: when.
//   outcome: ignored_weak, blocked_temporal, blocked_structure, unconfirmed, blocked_order,
//     new_interval, same_source or blocked_role.
//   answer, p: what the decider said about the two.
//   fact, compared_with: the new fact, and the one it left as it was.
//   reason: in words.
//   told_by: who stated the new fact.
//   decision_id: for looking it up.
CYPHER 25
MATCH (d:Decision)
WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL
  AND d.outcome IN ['ignored_weak', 'blocked_temporal', 'blocked_structure', 'unconfirmed',
    'blocked_order', 'new_interval', 'same_source', 'blocked_role']
  AND ($outcome IS NULL OR d.outcome = $outcome)
WITH d ORDER BY d.decided_at DESC, d.position, d.id LIMIT $limit
MATCH (d)-[:ABOUT]->(f:Fact)
RETURN d.decided_at AS decided_at, d.outcome AS outcome, d.chosen AS answer, d.p AS p,
  f.text AS fact,
  head(COLLECT { MATCH (d)-[:COMPARED_WITH]->(other:Fact) RETURN other.text }) AS compared_with,
  nullIf(d.reason, '') AS reason,
  COLLECT { MATCH (f)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS told_by,
  d.id AS decision_id
ORDER BY decided_at DESC, d.position, decision_id
