// Who said how much, and how well did it stand?
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//
// Columns:
//   speaker: as named in the messages.
//   messages: how many.
//   facts: facts stated in them.
//   alone: of those, facts that nobody else stated.
//   open, disputed: of the facts: without an end; contradicted and not closed.
//   by_belief, corrected: of the facts: ended by evidence; ended by hand.
//   mean_belief: over the facts; none without any.
CYPHER 25
MATCH (m:Message)
WHERE m.namespace = $namespace AND m.status IS NOT NULL
WITH m.speaker AS speaker, collect(m) AS said
CALL (speaker, said) {
  UNWIND said AS m
  MATCH (m)<-[:STATED_IN]-(f:Fact)
  WITH DISTINCT f, speaker
  WITH f, NOT EXISTS { MATCH (f)-[:STATED_IN]->(by:Message) WHERE by.speaker <> speaker } AS alone
  RETURN count(*) AS facts, count(CASE WHEN alone THEN 1 END) AS alone,
    count(CASE WHEN f.open THEN 1 END) AS open, count(CASE WHEN f.disputed THEN 1 END) AS disputed,
    count(CASE f.closed_reason WHEN 'belief' THEN 1 END) AS by_belief,
    count(CASE f.closed_reason WHEN 'corrected' THEN 1 END) AS corrected,
    avg(f.belief) AS mean_belief
}
RETURN speaker, size(said) AS messages, facts, alone, open, disputed, by_belief, corrected,
  mean_belief
ORDER BY facts DESC, messages DESC, speaker
