// Which entities do most facts touch?
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param limit => 20
//     INTEGER = 20: most rows.
//
// Columns:
//   entity: its name.
//   facts: facts it is an end of.
//   open: of them, those without an end.
//   as_subject, as_object: how often it is which end.
//   mentions: further facts that mention it.
//   predicates: the relations of its facts, the most frequent first.
CYPHER 25
MATCH (e:Entity)
WHERE e.namespace = $namespace AND e.key IS NOT NULL
WITH e, COUNT { (e)<-[:SUBJECT|OBJECT]-() } AS ends
ORDER BY ends DESC, e.key LIMIT $limit
CALL (e) {
  MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)
  WITH DISTINCT f
  WITH f.predicate AS predicate, count(*) AS facts, sum(CASE WHEN f.open THEN 1 ELSE 0 END) AS open
  ORDER BY facts DESC, predicate
  RETURN sum(facts) AS facts, sum(open) AS open, collect(predicate) AS predicates
}
RETURN e.name AS entity, facts, open, COUNT { (e)<-[:SUBJECT]-() } AS as_subject,
  COUNT { (e)<-[:OBJECT]-() } AS as_object, COUNT { (e)<-[:MENTIONS]-() } AS mentions, predicates
ORDER BY facts DESC, entity
