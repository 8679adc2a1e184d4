// How did belief in the facts about somebody move, and what moved it?
// One row for each decision that set or moved it, in the order they were taken.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param subject => 'Maya'
//     STRING: whom the facts are about, by name or alias.
//   :param predicate => 'lives_in'
//     STRING = null: only this relation; null for all.
//
// Columns:
//   fact: the fact as a sentence.
//   decided_at: when belief was moved.
//   belief_before, belief_after: none before at the start.
//   question, answer: what was asked, and the answer.
//   probabilities: of the answers that moved it, each counting with its logit.
//   because_of: the other fact of the pair.
//   fact_id: for `engram explain`.
CYPHER 25
CALL () {
  MATCH (s:Entity {namespace: $namespace, key: toLower($subject)})
  RETURN s
UNION
  MATCH (s:Entity {namespace: $namespace, name: $subject})
  RETURN s
UNION
  MATCH (:Alias {namespace: $namespace, key: toLower($subject)})-[:ALIAS_OF]->(s:Entity)
  RETURN s
}
MATCH (s)<-[:SUBJECT]-(f:Fact)
WHERE $predicate IS NULL OR f.predicate = $predicate
MATCH (f)<-[moved:ABOUT|COMPARED_WITH]-(d:Decision)
WHERE moved.belief_after IS NOT NULL
RETURN f.text AS fact, d.decided_at AS decided_at, moved.belief_before AS belief_before,
  moved.belief_after AS belief_after, d.question AS question, d.chosen AS answer,
  coalesce(d.pieces, []) AS probabilities,
  head(COLLECT {
    MATCH (d)-[:ABOUT|COMPARED_WITH]->(other:Fact) WHERE other <> f RETURN other.text
  }) AS because_of,
  f.id AS fact_id
ORDER BY f.valid_from, f.recorded_at, fact_id, decided_at, d.position
