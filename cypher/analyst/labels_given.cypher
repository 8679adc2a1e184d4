// Which facts and decisions did people call right or wrong?
// The labels of `engram feedback`, oldest first. docs/calibration.md says what each of them tells.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param verdict => 'wrong'
//     STRING = null: only right, or only wrong; null for both.
//   :param limit => 1000
//     INTEGER = 1000: most rows.
//
// Columns:
//   verdict, given_by, why: the label, who gave it, and in whose words why.
//   fact: the fact labelled, or the one that the decision labelled is about.
//   was_open, belief: how a labelled fact stood then; none for a decision.
//   question, answer, p, outcome: the decision labelled; none for a fact.
//   compared_with: the other fact of the decision.
//   given_at: when.
//   fact_id, decision_id: what is labelled, one of the two.
CYPHER 25
MATCH (w:Feedback)
WHERE w.namespace = $namespace AND w.given_at IS NOT NULL
  AND ($verdict IS NULL OR w.verdict = $verdict)
WITH w ORDER BY w.given_at, w.id LIMIT $limit
OPTIONAL MATCH (w)-[:ABOUT]->(f:Fact)
OPTIONAL MATCH (w)-[:ABOUT]->(d:Decision)
RETURN w.verdict AS verdict, w.given_by AS given_by, w.why AS why,
  coalesce(f.text, head(COLLECT { MATCH (d)-[:ABOUT]->(g:Fact) RETURN g.text })) AS fact,
  w.open AS was_open, w.belief AS belief,
  d.question AS question, d.chosen AS answer, d.p AS p, d.outcome AS outcome,
  head(COLLECT { MATCH (d)-[:COMPARED_WITH]->(g:Fact) RETURN g.text }) AS compared_with,
  w.given_at AS given_at, f.id AS fact_id, d.id AS decision_id
ORDER BY given_at, w.id
