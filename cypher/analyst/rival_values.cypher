// Who has more than one open value of a relation that holds one, such as two homes?
// It happens after a merge of two entities, or when an answer was not sure enough to close the old
// one.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   subject, predicate: whose relation.
//   objects: its open values, the oldest first.
//   beliefs: belief in each, in the same order.
//   fact_ids: for `engram correct`.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.predicate IN ['lives_in', 'born_in', 'works_at', 'has_role',
    'studies_at', 'married_to', 'partner_of', 'follows_diet']
  AND f.open AND NOT f.negated AND f.temporal_status IN ['current', 'past']
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
WITH s, o, f ORDER BY f.valid_from, f.recorded_at, f.id
WITH s, f.predicate AS predicate, count(DISTINCT o) AS values, collect(o.name) AS objects,
  collect(f.belief) AS beliefs, collect(f.id) AS fact_ids
WHERE values > 1
RETURN s.name AS subject, predicate, objects, beliefs, fact_ids
ORDER BY subject, predicate
LIMIT $limit
