// What was true at one moment, as the memory knew it at another?
// Two clocks: valid time says when a fact was true, transaction time when the memory knew. The end
// of a fact as known earlier is rebuilt from the decisions that moved it. It gives a whole world:
// 1000 rows of 2000 facts took 277 ms (p50), most of it the driver; limit asks for fewer.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param as_of => datetime('2024-08-15')
//     ZONED DATETIME = null: the moment in valid time; null for now.
//   :param known_at => datetime('2030-01-01')
//     ZONED DATETIME = null: the moment in transaction time; null for now.
//   :param limit => 1000
//     INTEGER = 1000: most rows.
//
// Columns:
//   subject, predicate, object: what the fact joins.
//   fact: the fact as a sentence.
//   negated: it says that this is not so.
//   status: current, planned, past or hypothetical, as it was said.
//   valid_from, valid_until: when it was true, the end as known then.
//   closed_reason: why it has that end, as known then.
//   recorded_at: when the memory learned it.
//   fact_id: for `engram explain`.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.valid_from <= coalesce($as_of, datetime())
  AND f.recorded_at <= coalesce($known_at, datetime())
WITH f, CASE WHEN $known_at IS NULL THEN [] ELSE COLLECT {
  MATCH (f)<-[:ABOUT]-(d:Decision)
  WHERE d.moves_end
  RETURN d ORDER BY d.decided_at, d.position
} END AS moves
WITH f, moves, [d IN moves WHERE d.decided_at <= $known_at] AS done
WITH f,
  CASE WHEN size(done) > 0 THEN done[-1].valid_until_after
    WHEN size(moves) > 0 THEN moves[0].valid_until_before ELSE f.valid_until END AS valid_until,
  CASE WHEN size(done) > 0 THEN done[-1].reason_after
    WHEN size(moves) > 0 THEN moves[0].reason_before ELSE f.closed_reason END AS closed_reason
WITH f, valid_until, closed_reason
WHERE valid_until IS NULL OR valid_until > coalesce($as_of, datetime())
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN s.name AS subject, f.predicate AS predicate, o.name AS object, f.text AS fact,
  f.negated AS negated, f.temporal_status AS status, f.valid_from AS valid_from, valid_until,
  closed_reason, f.recorded_at AS recorded_at, f.id AS fact_id
ORDER BY subject, predicate, valid_from, recorded_at, fact_id
LIMIT $limit
