// What did the memory learn, and what did it change its mind about, between two moments?
// By transaction time: when it was decided. What became true and what ended in the world is
// `changes_in_world`.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param after => datetime('2024-01-01')
//     ZONED DATETIME: the first moment.
//   :param before => datetime('2030-01-01')
//     ZONED DATETIME: the moment it stops before.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   at: when it was decided.
//   change: learned, closed, reopened, corrected, archived, restored, merged or unmerged.
//   fact: the fact as a sentence.
//   reason: of a change: why, in words or by its kind.
//   valid_until: the end it got; none when it was reopened.
//   because_of: the fact that it was compared with.
//   told_by: who stated it.
//   fact_id: for `engram explain`.
CYPHER 25
MATCH (d:Decision)
WHERE d.namespace = $namespace AND d.decided_at >= $after AND d.decided_at < $before
  AND (d.question = 'belief_start' OR (d.moves_end AND d.chosen <> 'stated')
    OR d.outcome IN ['archived', 'restored', 'merged', 'unmerged'])
MATCH (d)-[:ABOUT]->(f:Fact)
WITH d, f ORDER BY d.decided_at, d.position, d.id LIMIT $limit
RETURN d.decided_at AS at,
  CASE d.question WHEN 'belief_start' THEN 'learned' ELSE d.outcome END AS change,
  f.text AS fact,
  CASE WHEN d.question <> 'belief_start' THEN coalesce(nullIf(d.reason, ''), d.reason_after) END
    AS reason,
  d.valid_until_after AS valid_until,
  head(COLLECT { MATCH (d)-[:COMPARED_WITH]->(other:Fact) RETURN other.text }) AS because_of,
  COLLECT { MATCH (f)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS told_by,
  f.id AS fact_id
ORDER BY at, d.position, d.id
