// How did one relation of somebody change, from the first value to the last?
// Every fact about it, ended ones too, in the order they were true.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param subject => 'Maya'
//     STRING: whom the facts are about, by name or alias.
//   :param predicate => 'lives_in'
//     STRING: the relation, one of the 25 names.
//
// Columns:
//   object: the value.
//   fact: the fact as a sentence.
//   negated: it says that this is not so.
//   valid_from, valid_until: when it was true, the end excluded; no end while it is open.
//   closed_reason: belief, superseded, fulfilled, corrected or stated; none while open.
//   belief: probability that it still holds, in [.02, .98].
//   recorded_at, closed_at: when the memory learned it, and that it had ended.
//   superseded_by: the facts that took its place.
//   told_by: who stated it.
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
WHERE f.predicate = $predicate
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN o.name AS object, f.text AS fact, f.negated AS negated, f.valid_from AS valid_from,
  f.valid_until AS valid_until, f.closed_reason AS closed_reason, f.belief AS belief,
  f.recorded_at AS recorded_at, f.closed_at AS closed_at,
  COLLECT { MATCH (f)<-[:SUPERSEDES]-(newer:Fact) RETURN newer.text AS text ORDER BY text }
    AS superseded_by,
  COLLECT { MATCH (f)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS told_by,
  f.id AS fact_id
ORDER BY valid_from, recorded_at, fact_id
