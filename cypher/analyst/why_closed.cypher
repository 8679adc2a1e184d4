// Why were facts about somebody closed, and by which decision?
// One row for each time the end of a fact was moved. Where an answer spoke against it, its
// probability and what it did to belief are there; `engram explain` tells the same with all gates.
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
//   valid_until: the end it got.
//   closed_reason: belief, superseded, fulfilled, corrected or stated.
//   decided_at: when that was decided.
//   closed_by: the fact that took its place, if one did.
//   question, answer, p: what was asked about the two, the answer, its probability.
//   belief_before, belief_after: what the answer did to belief in the fact.
//   told_by, quote: who stated what took its place, in which words.
//   words: of a correction by hand: why.
//   decision_id, fact_id: for looking them up.
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
MATCH (f)<-[:ABOUT]-(closing:Decision)
WHERE closing.moves_end AND closing.valid_until_after IS NOT NULL
OPTIONAL MATCH (closing)-[:COMPARED_WITH]->(by:Fact)
OPTIONAL MATCH (by)<-[:ABOUT]-(asked:Decision)-[moved:COMPARED_WITH]->(f)
WHERE asked.decided_at = closing.decided_at AND asked.outcome = 'applied'
RETURN f.text AS fact, closing.valid_until_after AS valid_until,
  closing.reason_after AS closed_reason, closing.decided_at AS decided_at, by.text AS closed_by,
  asked.question AS question, asked.chosen AS answer, asked.p AS p,
  moved.belief_before AS belief_before, moved.belief_after AS belief_after,
  COLLECT { MATCH (by)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS told_by,
  by.source_quote AS quote, nullIf(closing.reason, '') AS words, closing.id AS decision_id,
  f.id AS fact_id
ORDER BY decided_at, closing.position, decision_id
