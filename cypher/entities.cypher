// Entities and their other names. An Alias node is a name that means another entity; its key is
// unique in the namespace and no entity's key. Entity.aliases shows the same names in Browser.

// name: list_entities
// Entities of a namespace by key, with how many facts have them as an end.
CYPHER 25
MATCH (e:Entity)
WHERE e.namespace = $namespace AND e.key > $after
  AND ($like IS NULL OR e.key CONTAINS $like OR any(a IN e.aliases WHERE toLower(a) CONTAINS $like))
WITH e ORDER BY e.namespace, e.key LIMIT $limit
RETURN e {.id, .namespace, .key, .name, .aliases,
  facts: COUNT { (e)<-[:SUBJECT|OBJECT]-() }} AS entity
ORDER BY e.key

// name: get_entity
// The entity that a key means: its own or one of its aliases'.
CYPHER 25
WITH coalesce(head(COLLECT {
  MATCH (:Alias {namespace: $namespace, key: $key})-[:ALIAS_OF]->(e:Entity)
  RETURN e.key
}), $key) AS key
MATCH (e:Entity {namespace: $namespace, key: key})
RETURN e {.id, .namespace, .key, .name, .aliases,
  facts: COUNT { (e)<-[:SUBJECT|OBJECT]-() }} AS entity

// name: resolve_keys
// The entities behind those of the keys that are aliases; no row for others.
CYPHER 25
UNWIND $keys AS key
MATCH (:Alias {namespace: $namespace, key: key})-[:ALIAS_OF]->(e:Entity)
RETURN key, e.key AS entity_key, e.name AS name

// name: profiles
// Entities with up to $limit facts each, open and newest first, and what they were parted from.
CYPHER 25
UNWIND $keys AS key
MATCH (e:Entity {namespace: $namespace, key: key})
RETURN key, coalesce(e.apart, []) AS apart,
  COLLECT {
    MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact)
    WITH DISTINCT f ORDER BY f.open DESC, f.recorded_at DESC, f.id LIMIT $limit
    MATCH (f)-[:SUBJECT]->(s:Entity)
    MATCH (f)-[:OBJECT]->(o:Entity)
    RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
      subject: s.name, subject_key: s.key, object: o.name, object_key: o.key}
    ORDER BY f.open DESC, f.recorded_at DESC, f.id
  } AS facts

// name: claim_key
// Whether no entity has a key. The node is made and taken away again: until this transaction
// ends, nobody else can make one of that key.
CYPHER 25
MERGE (e:Entity {namespace: $namespace, key: $key})
ON CREATE SET e.claimed = true
WITH e, e.claimed IS NOT NULL AS free
CALL (e, free) {
  FILTER free
  DELETE e
}
RETURN free

// name: put_alias
// An alias of an entity; of a known one, whose it is.
CYPHER 25
MATCH (e:Entity {namespace: $namespace, key: $key})
MERGE (a:Alias {namespace: $namespace, key: $alias_key})
ON CREATE SET a.name = $name, a.created_at = $now, a.made = true
WITH e, a, a.made IS NOT NULL AS made
REMOVE a.made
WITH e, a, made
CALL (e, a, made) {
  FILTER made
  CREATE (a)-[:ALIAS_OF]->(e)
}
RETURN made, COLLECT { MATCH (a)-[:ALIAS_OF]->(of:Entity) RETURN of.name } AS names

// name: drop_alias
// Takes an alias from an entity; one that a merge left stays, for taking the merge back.
CYPHER 25
MATCH (a:Alias {namespace: $namespace, key: $alias_key})-[:ALIAS_OF]->
  (e:Entity {namespace: $namespace, key: $key})
WITH a, EXISTS { (a)<-[:LEFT]-(:Decision) } AS merged
CALL (a, merged) {
  FILTER NOT merged
  DETACH DELETE a
}
RETURN merged

// name: show_aliases
// The names of Alias nodes on their entities, in the order they came.
CYPHER 25
UNWIND $keys AS key
MATCH (e:Entity {namespace: $namespace, key: key})
SET e.aliases = COLLECT {
  MATCH (a:Alias)-[:ALIAS_OF]->(e)
  RETURN a.name ORDER BY a.created_at, a.key
}
RETURN e {.id, .namespace, .key, .name, .aliases,
  facts: COUNT { (e)<-[:SUBJECT|OBJECT]-() }} AS entity
