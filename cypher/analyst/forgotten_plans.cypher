// Which plans have passed their time, and nothing says that they came true?
// A plan without a date counts from when it was told. One that somebody took back has an end, and
// is no longer among them; one whose stated end is over is.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param as_of => datetime('2025-06-01')
//     ZONED DATETIME = null: taken for the present moment; null for now.
//   :param days => 30
//     INTEGER = 30: days of grace after its time.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   subject: whose plan.
//   fact: the fact as a sentence.
//   planned_for: its date, else when it was told.
//   dated: whether a date was given.
//   days_over: full days since then.
//   belief: probability that it still holds, in [.02, .98].
//   told_by: who stated it.
//   fact_id: for `engram explain`.
CYPHER 25
WITH coalesce($as_of, datetime()) AS now
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.valid_from < now - duration({days: $days})
  AND f.temporal_status = 'planned' AND NOT f.negated
  AND (f.open OR (f.closed_reason = 'stated' AND f.valid_until < now))
WITH f, now ORDER BY f.valid_from, f.id LIMIT $limit
MATCH (f)-[:SUBJECT]->(s:Entity)
RETURN s.name AS subject, f.text AS fact, f.valid_from AS planned_for, f.valid_from_stated AS dated,
  duration.inDays(f.valid_from, now).days AS days_over, f.belief AS belief,
  COLLECT { MATCH (f)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS told_by,
  f.id AS fact_id
ORDER BY planned_for, fact_id
