// What did one speaker say?
// The facts that the speaker's messages state, with the words.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param speaker => 'Jonas'
//     STRING: the speaker, as named in the messages.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   said_at: when it was said.
//   fact: the fact as a sentence.
//   quote: the words of the message it rests on, if this speaker was the first to state it.
//   valid_from, valid_until: when it was true, the end excluded; no end while it is open.
//   belief: probability that it still holds, in [.02, .98].
//   also_by: who else stated it.
//   source_id: of the message.
//   fact_id: for `engram explain`.
CYPHER 25
MATCH (m:Message)
WHERE m.namespace = $namespace AND m.status IS NOT NULL AND m.speaker = $speaker
MATCH (m)<-[:STATED_IN]-(f:Fact)
WITH m, f ORDER BY m.said_at, f.recorded_at, f.id LIMIT $limit
RETURN m.said_at AS said_at, f.text AS fact,
  CASE WHEN NOT EXISTS {
    MATCH (f)-[:STATED_IN]->(earlier:Message) WHERE earlier.recorded_at < m.recorded_at
  } THEN f.source_quote END AS quote,
  f.valid_from AS valid_from, f.valid_until AS valid_until, f.belief AS belief,
  COLLECT {
    MATCH (f)-[:STATED_IN]->(by:Message) WHERE by.speaker <> $speaker
    RETURN DISTINCT by.speaker AS who ORDER BY who
  } AS also_by,
  m.source_id AS source_id, f.id AS fact_id
ORDER BY said_at, f.recorded_at, fact_id
