// In which messages were secrets removed, and how many?
// A secret is replaced by `(redacted)` before anything is stored, so what it was is nowhere.
// Somebody who wrote that word is counted, too.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   said_at, speaker, source_id: of the message.
//   places: how often something was removed from its text.
//   message: its text, as stored.
//   by_decider: facts of it that only the decider recognised as a secret.
CYPHER 25
CALL () {
  MATCH (m:Message)
  WHERE m.namespace = $namespace AND m.status IS NOT NULL AND m.text CONTAINS '(redacted)'
  RETURN m
UNION
  MATCH (d:Decision)
  WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL AND d.outcome = 'redacted'
  MATCH (d)-[:ABOUT]->(:Fact)-[:STATED_IN]->(m:Message)
  RETURN m
}
WITH m, size(split(m.text, '(redacted)')) - 1 AS places, COUNT {
  MATCH (m)<-[:STATED_IN]-(f:Fact)<-[:ABOUT]-(d:Decision)
  WHERE d.outcome = 'redacted'
  RETURN DISTINCT f
} AS by_decider
RETURN m.said_at AS said_at, m.speaker AS speaker, m.source_id AS source_id, places,
  m.text AS message, by_decider
ORDER BY said_at, m.recorded_at
LIMIT $limit
