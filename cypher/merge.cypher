// Two entities become one, and two again. The Alias that a merge leaves holds what undoing it
// needs of the entity; each moved fact has a decision that holds what was moved of it.

// name: merge_pair
// The entities two keys mean, and the subjects of facts about the second: all that is locked.
CYPHER 25
UNWIND $keys AS given
WITH given, coalesce(head(COLLECT {
  MATCH (:Alias {namespace: $namespace, key: given})-[:ALIAS_OF]->(e:Entity)
  RETURN e.key
}), given) AS key
MATCH (e:Entity {namespace: $namespace, key: key})
RETURN given, key,
  COLLECT { MATCH (e)<-[:OBJECT]-(:Fact)-[:SUBJECT]->(s:Entity) RETURN DISTINCT s.key } AS subjects

// name: lock_known_entities
// Takes the write locks of entities in the given (sorted) order: plans about them are stale now. One
// that a replay replaced while this waited has no key any more: it is no entity now.
CYPHER 25
UNWIND $keys AS key
MATCH (e:Entity {namespace: $namespace, key: key})
SET e.locked = true
WITH e, key
FILTER e.key IS NOT NULL
SET e.version = e.version + 1
REMOVE e.locked
RETURN key, e {.id, .namespace, .key, .name, .aliases,
  facts: COUNT { (e)<-[:SUBJECT|OBJECT]-() }} AS entity

// name: facts_of_merged
// Facts that an entity is an end of or that mention it, with both ends.
CYPHER 25
MATCH (e:Entity {namespace: $namespace, key: $key})<-[:SUBJECT|OBJECT|MENTIONS]-(f:Fact)
WITH DISTINCT f
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f.id AS id, s.key AS subject, o.key AS object
ORDER BY id

// name: move_facts
// Gives facts other ends, and their typed edges with them.
CYPHER 25
UNWIND $steps AS step
MATCH (f:Fact {id: step.id})
WHERE f.namespace = $namespace
MATCH (f)-[subject:SUBJECT]->(s:Entity)
MATCH (f)-[object:OBJECT]->(o:Entity)
MATCH (s)-[edge]->(o)
WHERE edge.fact_id = f.id
MATCH (to:Entity {namespace: $namespace, key: step.subject})
MATCH (on:Entity {namespace: $namespace, key: step.object})
WITH f, subject, object, edge, to, on, type(edge) AS type, properties(edge) AS kept
DELETE subject, object, edge
CREATE (f)-[:SUBJECT]->(to)
CREATE (f)-[:OBJECT]->(on)
CREATE (to)-[moved:$(type)]->(on)
SET moved = kept
SET f.version = f.version + 1

// name: move_mentions
// What mentions the entity that goes mentions the one that stays, and says for whom (of).
CYPHER 25
MATCH (gone:Entity {namespace: $namespace, key: $gone})
MATCH (kept:Entity {namespace: $namespace, key: $kept})
MATCH (f:Fact)-[old:MENTIONS]->(gone)
WHERE f.namespace = $namespace
WITH f, kept, old, coalesce(old.of, [gone.id]) AS of
DELETE old
MERGE (f)-[new:MENTIONS]->(kept)
ON CREATE SET new.of = of
ON MATCH SET new.of = coalesce(new.of, [kept.id]) + of

// name: return_mentions
// What stands for an entity that came back, or for one that went with it, mentions it again.
CYPHER 25
MATCH (gone:Entity {namespace: $namespace, key: $gone})
MATCH (holder:Entity {namespace: $namespace, key: $holder})
WITH gone, holder, [gone.id] + COLLECT {
  MATCH (a:Alias)-[:ALIAS_OF]->(gone)
  WHERE a.entity_id IS NOT NULL
  RETURN a.entity_id
} AS ids
MATCH (f:Fact)-[old:MENTIONS]->(holder)
WHERE f.namespace = $namespace AND any(id IN old.of WHERE id IN ids)
WITH f, gone, old, [id IN old.of WHERE id IN ids] AS returned,
  [id IN old.of WHERE NOT id IN ids] AS left
CREATE (f)-[:MENTIONS {of: returned}]->(gone)
SET old.of = left
WITH f, old, left
CALL (old, left) {
  FILTER size(left) = 0
  DELETE old
}
RETURN count(f) AS moved

// name: leave_alias
// The entity that went becomes an alias of the one that stays, and its aliases with it.
CYPHER 25
MATCH (gone:Entity {namespace: $namespace, key: $gone})
MATCH (kept:Entity {namespace: $namespace, key: $kept})
CREATE (a:Alias {namespace: $namespace, key: gone.key})
SET a += {name: gone.name, created_at: $now, entity_id: gone.id, entity_created_at: gone.created_at,
  entity_version: gone.version, apart: gone.apart, alias_keys: COLLECT {
    MATCH (b:Alias)-[:ALIAS_OF]->(gone)
    RETURN b.key ORDER BY b.created_at, b.key
  }}
CREATE (a)-[:ALIAS_OF]->(kept)
WITH gone, kept, a
CALL (gone, kept) {
  MATCH (b:Alias)-[old:ALIAS_OF]->(gone)
  DELETE old
  CREATE (b)-[:ALIAS_OF]->(kept)
}
DELETE gone

// name: log_leaving
// Joins the decisions of a merge to the alias it left.
CYPHER 25
MATCH (a:Alias {namespace: $namespace, key: $key})
UNWIND $ids AS id
MATCH (d:Decision {id: id})
CREATE (d)-[:LEFT]->(a)

// name: facts_that_meet
// The given facts, the facts with their relation and ends, and the open values of their subject
// where a relation has one.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
WITH DISTINCT f.predicate AS predicate, s, o
CALL (predicate, s, o) {
  MATCH (s)-[r]->(o)
  WHERE r.predicate = predicate
  RETURN r.fact_id AS id
UNION
  WITH predicate, s
  FILTER predicate IN $one_valued
  MATCH (s)-[r:$(toUpper(predicate))]->()
  WHERE r.open
  RETURN r.fact_id AS id
}
WITH DISTINCT id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
  subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact

// name: find_merge
// The latest merge that a name or the id of one of its decisions means, if it was not taken back.
CYPHER 25
CALL () {
  MATCH (d:Decision {id: $id})-[:LEFT]->(a:Alias)
  WHERE d.namespace = $namespace
  RETURN a, 0 AS rank
UNION
  MATCH (a:Alias {namespace: $namespace, key: $key})
  RETURN a, 1 AS rank
UNION
  WITH coalesce(head(COLLECT {
    MATCH (:Alias {namespace: $namespace, key: $key})-[:ALIAS_OF]->(e:Entity)
    RETURN e.key
  }), $key) AS key
  MATCH (a:Alias)-[:ALIAS_OF]->(:Entity {namespace: $namespace, key: key})
  RETURN a, 2 AS rank
}
MATCH (a)-[:ALIAS_OF]->(holder:Entity)
WHERE EXISTS { (a)<-[:LEFT]-(:Decision) }
RETURN a.key AS gone, a.name AS name, holder.key AS holder
ORDER BY rank, a.created_at DESC
LIMIT 1

// name: merge_log
// What a merge moved, of the facts that are still there, and the subjects to be locked.
CYPHER 25
MATCH (a:Alias {namespace: $namespace, key: $key})<-[:LEFT]-(d:Decision)-[:ABOUT]->(f:Fact)
MATCH (f)-[:SUBJECT]->(s:Entity)
RETURN f.id AS id, d.moved AS ends, s.key AS subject
ORDER BY id

// name: restore_entity
// The entity that an alias was, with the aliases it had; the alias goes.
CYPHER 25
MATCH (a:Alias {namespace: $namespace, key: $key})-[:ALIAS_OF]->(holder:Entity)
CREATE (e:Entity {namespace: $namespace, key: a.key})
SET e += {id: a.entity_id, name: a.name, created_at: a.entity_created_at, aliases: [],
  version: a.entity_version + 1, apart: coalesce(a.apart, []) + [holder.id]}
WITH a, e, holder
CALL (a, e, holder) {
  UNWIND a.alias_keys AS key
  MATCH (b:Alias {namespace: $namespace, key: key})-[old:ALIAS_OF]->(holder)
  WHERE b.created_at < a.created_at  // not one that came since, under the same name
  DELETE old
  CREATE (b)-[:ALIAS_OF]->(e)
}
DETACH DELETE a

// name: drop_same_as
// SAME_AS links that a merge made, of facts that have no longer the same ends.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})-[r:SAME_AS]-(g:Fact)
WHERE f.namespace = $namespace AND r.reason STARTS WITH $reason AND NOT EXISTS {
  MATCH (f)-[:SUBJECT]->(s:Entity)<-[:SUBJECT]-(g)
  MATCH (f)-[:OBJECT]->(o:Entity)<-[:OBJECT]-(g)
}
DELETE r

// name: drop_empty_entity
// An entity that no fact is about or mentions, with its aliases.
CYPHER 25
MATCH (e:Entity {namespace: $namespace, key: $key})
WHERE NOT EXISTS { (e)<-[:SUBJECT|OBJECT|MENTIONS]-(:Fact) }
OPTIONAL MATCH (a:Alias)-[:ALIAS_OF]->(e)
DETACH DELETE a, e
RETURN count(*) AS dropped
