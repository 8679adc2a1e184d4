// Where does each fact about an entity come from?
// One row for each message that states it.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param entity => 'Maya'
//     STRING: a name or an alias of it.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   fact: the fact as a sentence.
//   open: whether it has no end.
//   extractor: what made it of the message: caller, import, patterns, or a model.
//   speaker, said_at: who stated it, and when.
//   message: the message as stored.
//   source_id: of the message.
//   fact_id: for `engram explain`.
CYPHER 25
CALL () {
  MATCH (e:Entity {namespace: $namespace, key: toLower($entity)})
  RETURN e
UNION
  MATCH (e:Entity {namespace: $namespace, name: $entity})
  RETURN e
UNION
  MATCH (:Alias {namespace: $namespace, key: toLower($entity)})-[:ALIAS_OF]->(e:Entity)
  RETURN e
}
MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)
WITH DISTINCT f
MATCH (f)-[:STATED_IN]->(m:Message)
RETURN f.text AS fact, f.open AS open, f.extractor AS extractor, m.speaker AS speaker,
  m.said_at AS said_at, m.text AS message, m.source_id AS source_id, f.id AS fact_id
ORDER BY said_at, f.recorded_at, fact_id
LIMIT $limit
