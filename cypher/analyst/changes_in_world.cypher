// What became true, and what ended, between two dates?
// By valid time, as known now. What the memory learned in a time is `changes_in_memory`.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param after => datetime('2024-04-01')
//     ZONED DATETIME: the first moment.
//   :param before => datetime('2024-09-01')
//     ZONED DATETIME: the moment it stops before.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   at: when it began or ended.
//   change: began or ended.
//   subject, predicate, object: what the fact joins.
//   fact: the fact as a sentence.
//   status: current, planned, past or hypothetical, as it was said.
//   closed_reason: of what ended: why.
//   fact_id: for `engram explain`.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.valid_from < $before
  AND coalesce(f.valid_until > f.valid_from AND f.valid_until >= $after, f.open)
UNWIND [{at: f.valid_from, change: 'began'},
  {at: f.valid_until, change: 'ended', reason: f.closed_reason}] AS turn
WITH f, turn
WHERE $after <= turn.at < $before
WITH f, turn ORDER BY turn.at, turn.change DESC, f.id LIMIT $limit
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN turn.at AS at, turn.change AS change, s.name AS subject, f.predicate AS predicate,
  o.name AS object, f.text AS fact, f.temporal_status AS status, turn.reason AS closed_reason,
  f.id AS fact_id
ORDER BY at, change DESC, fact_id
