// What did the decider say with which probability, and what became of it?
// Raw data for a reliability diagram; what a rule or a person decided is left out. `later` is what
// next happened to the end of the fact that was judged: one that was reopened or corrected had been
// closed wrongly, perhaps.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param question => 'relation_to_candidate'
//     STRING = null: only this question; null for all.
//   :param limit => 1000
//     INTEGER = 1000: most rows.
//
// Columns:
//   question, question_version: what was asked, and the version of its wording.
//   backend, model, preset: who answered, and the rules under which it was asked.
//   answer, p: the likeliest answer and its probability.
//   probabilities: of the answers that moved belief, both phrasings.
//   outcome: what came of it.
//   later: the next closed, reopened or corrected of the fact judged; none if nothing.
//   fact, compared_with: the pair.
//   decided_at: when.
//   decision_id: for joining.
CYPHER 25
MATCH (d:Decision)
WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL
  AND NOT d.backend IN ['rule', 'caller', 'fallback']
  AND ($question IS NULL OR d.question = $question)
WITH d ORDER BY d.decided_at, d.position, d.id LIMIT $limit
OPTIONAL MATCH (d)-[:ABOUT]->(f:Fact)
OPTIONAL MATCH (d)-[:COMPARED_WITH]->(other:Fact)
WITH d, f, other, coalesce(other, f) AS judged,
  head(COLLECT { MATCH (d)-[:FROM]->(q:Request) RETURN q ORDER BY q.id }) AS asked
RETURN d.question AS question, d.question_version AS question_version, d.backend AS backend,
  asked.model AS model, asked.preset AS preset, d.chosen AS answer, d.p AS p,
  coalesce(d.pieces, []) AS probabilities, d.outcome AS outcome,
  head(COLLECT {
    MATCH (judged)<-[:ABOUT]-(next:Decision)
    WHERE next.moves_end AND (next.decided_at > d.decided_at
      OR (next.decided_at = d.decided_at AND next.position > d.position))
    RETURN next.outcome ORDER BY next.decided_at, next.position LIMIT 1
  }) AS later,
  f.text AS fact, other.text AS compared_with, d.decided_at AS decided_at, d.id AS decision_id
ORDER BY decided_at, d.position, decision_id
