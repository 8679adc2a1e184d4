// Which open facts rest on one message alone?
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param speaker => 'Jonas'
//     STRING = null: only what this one said; null for all.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   fact: the fact as a sentence.
//   belief: probability that it still holds, in [.02, .98].
//   speaker, said_at, source_id: of that message.
//   quote: the words of the message it rests on.
//   fact_id: for `engram explain`.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.predicate IS NOT NULL AND f.open
  AND COUNT { (f)-[:STATED_IN]->() } = 1
MATCH (f)-[:STATED_IN]->(m:Message)
WHERE $speaker IS NULL OR m.speaker = $speaker
WITH f, m ORDER BY m.said_at, f.recorded_at, f.id LIMIT $limit
RETURN f.text AS fact, f.belief AS belief, m.speaker AS speaker, m.said_at AS said_at,
  m.source_id AS source_id, f.source_quote AS quote, f.id AS fact_id
ORDER BY said_at, f.recorded_at, fact_id
