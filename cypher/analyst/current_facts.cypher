// What holds about an entity now?
// The facts that have it as subject or object and whose interval contains this moment. A plan or a
// supposition is among them; `status` says so.
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
//   subject, predicate, object: what the fact joins.
//   fact: the fact as a sentence.
//   negated: it says that this is not so.
//   status: current, planned, past or hypothetical, as it was said.
//   valid_from: since when it is true.
//   belief: probability that it still holds, in [.02, .98].
//   tentative, disputed: stored unsure; contradicted and not closed.
//   told_by: who stated it.
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
WHERE f.valid_from <= datetime() AND (f.valid_until IS NULL OR f.valid_until > datetime())
WITH DISTINCT f
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN s.name AS subject, f.predicate AS predicate, o.name AS object, f.text AS fact,
  f.negated AS negated, f.temporal_status AS status, f.valid_from AS valid_from, f.belief AS belief,
  f.tentative AS tentative, f.disputed AS disputed,
  COLLECT { MATCH (f)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS told_by,
  f.id AS fact_id
ORDER BY predicate, valid_from, f.recorded_at, fact_id
LIMIT $limit
