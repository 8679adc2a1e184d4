// What replaced what, from the newest fact back to the first?
// Each chain begins at a fact about the subject that nothing supersedes. A fact may supersede one
// of another relation: a move fulfils the plan to move.
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
//   newest: the fact the chain begins at.
//   step: how many steps behind it.
//   fact: the fact as a sentence.
//   valid_from, valid_until: when it was true, the end excluded; no end while it is open.
//   superseded_by: the fact one step before.
//   reason: why that one took its place.
//   decided_at: when that was decided.
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
MATCH (s)<-[:SUBJECT]-(top:Fact)
WHERE ($predicate IS NULL OR top.predicate = $predicate)
  AND EXISTS { (top)-[:SUPERSEDES]->(:Fact) } AND NOT EXISTS { (top)<-[:SUPERSEDES]-(:Fact) }
MATCH path = (top)-[:SUPERSEDES]->*(f:Fact)
WITH top, f, path ORDER BY length(path)
WITH top, f, head(collect(path)) AS path
RETURN top.text AS newest, length(path) AS step, f.text AS fact, f.valid_from AS valid_from,
  f.valid_until AS valid_until, nodes(path)[-2].text AS superseded_by,
  relationships(path)[-1].reason AS reason, relationships(path)[-1].decided_at AS decided_at,
  f.id AS fact_id
ORDER BY top.valid_from, top.id, step, valid_from, fact_id
