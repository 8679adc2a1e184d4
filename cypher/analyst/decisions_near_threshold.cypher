// Which decisions were close: a little more or less, and they had gone the other way?
// The numbers are those of docs/deciding.md. An answer is close to acting, a belief to the bound
// under which a fact is closed, or over which it is opened again.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param margin => 0.05
//     FLOAT = 0.05: how close.
//   :param act => 0.85
//     FLOAT = 0.85: an answer acts at or above it.
//   :param close_below => 0.25
//     FLOAT = 0.25: a fact believed less is closed.
//   :param reopen_above => 0.60
//     FLOAT = 0.60: a fact closed by belief is opened again above it.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   distance: how far above (or, negative, below) the threshold.
//   kind: answer or belief.
//   value, threshold: the number, and what it was held against.
//   question, answer, outcome: the decision.
//   fact, compared_with: what it is about.
//   decided_at: when it was taken.
//   decision_id: for looking it up.
CYPHER 25
CALL () {
  MATCH (d:Decision)
  WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL
  UNWIND [d.p] + coalesce(d.pieces, []) AS value
  WITH DISTINCT d, value
  WHERE abs(value - $act) <= $margin
  RETURN d, 'answer' AS kind, value, $act AS threshold
UNION ALL
  MATCH (d:Decision)
  WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL
  MATCH (d)-[moved:ABOUT|COMPARED_WITH]->(:Fact)
  WHERE moved.belief_after <> moved.belief_before
  UNWIND [$close_below, $reopen_above] AS threshold
  WITH d, moved.belief_after AS value, threshold
  WHERE abs(value - threshold) <= $margin
  RETURN d, 'belief' AS kind, value, threshold
}
RETURN value - threshold AS distance, kind, value, threshold, d.question AS question,
  d.chosen AS answer, d.outcome AS outcome,
  head(COLLECT { MATCH (d)-[:ABOUT]->(f:Fact) RETURN f.text }) AS fact,
  head(COLLECT { MATCH (d)-[:COMPARED_WITH]->(f:Fact) RETURN f.text }) AS compared_with,
  d.decided_at AS decided_at, d.id AS decision_id
ORDER BY abs(distance), decided_at, decision_id
LIMIT $limit
