// The read path: one statement finds the shortlist, another walks the chains behind it.

// name: shortlist_facts
// Hybrid shortlist: nearest by vector and best by full text, the namespace inside both indexes. Each
// index is asked for more than are kept: of equal scores it gives any, and one of them is approximate.
// A fact found by one part gets its vector score all the same; a null vector or query finds none.
// An archived fact, or one that a correction took back whole, takes a place in the indexes and comes
// as null: the caller then asks for more.
// Moments that every fact has come as text, which the driver reads ten times faster than DateTime.
CYPHER 25
CALL () {
  MATCH (f:Fact)
  SEARCH f IN (VECTOR INDEX fact_vector FOR $embedding WHERE f.namespace = $namespace LIMIT $scan)
  SCORE AS near
  RETURN f, 2 * near - 1 AS vector, null AS text
  ORDER BY near DESC, f.text, f.recorded_at
  LIMIT $limit
UNION ALL
  WITH $lucene AS lucene
  FILTER lucene IS NOT NULL
  CALL db.index.fulltext.queryNodes('fact_text', lucene, {limit: $scan}) YIELD node AS f, score
  RETURN f, null AS vector, score AS text
  ORDER BY score DESC, f.text, f.recorded_at
  LIMIT $limit
}
WITH f, max(vector) AS vector, max(text) AS text
WHERE f.namespace = $namespace
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN CASE WHEN f.archived_at IS NULL
    AND (coalesce(f.closed_reason, '') <> 'corrected' OR f.valid_until > f.valid_from) THEN f {.*,
    embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key,
    valid_from: toString(f.valid_from), recorded_at: toString(f.recorded_at)} END AS fact,
  coalesce(vector, 2 * vector.similarity.cosine(f.embedding, $embedding) - 1) AS vector,
  text,
  EXISTS { (f)-[:SUPERSEDES]->() } AS chained,
  head(COLLECT { MATCH (newer:Fact)-[:SUPERSEDES]->(f) RETURN newer.id ORDER BY newer.recorded_at
    LIMIT 1 }) AS successor

// name: shortlist_facts_within
// The same among the facts true at one of the moments from $first to $last. The vector index filters by interval itself, once for
// open and once for ended facts (its filter knows no OR); full text is asked for more and filtered.
// What was true at no moment comes as null, too.
CYPHER 25
CALL () {
  MATCH (f:Fact)
  SEARCH f IN (VECTOR INDEX fact_vector FOR $embedding
    WHERE f.namespace = $namespace AND f.open = true AND f.valid_from <= $last LIMIT $scan)
  SCORE AS near
  RETURN f, 2 * near - 1 AS vector, null AS text
  ORDER BY near DESC, f.text, f.recorded_at
  LIMIT $limit
UNION ALL
  MATCH (f:Fact)
  SEARCH f IN (VECTOR INDEX fact_vector FOR $embedding
    WHERE f.namespace = $namespace AND f.valid_from <= $last AND f.valid_until > $first
    LIMIT $scan)
  SCORE AS near
  RETURN f, 2 * near - 1 AS vector, null AS text
  ORDER BY near DESC, f.text, f.recorded_at
  LIMIT $limit
UNION ALL
  WITH $lucene AS lucene
  FILTER lucene IS NOT NULL
  CALL db.index.fulltext.queryNodes('fact_text', lucene, {limit: $text_limit}) YIELD node, score
  RETURN node AS f, null AS vector, score AS text
}
WITH f, max(vector) AS vector, max(text) AS text
WHERE f.namespace = $namespace
  AND f.valid_from <= $last
  AND (f.valid_until IS NULL OR f.valid_until > $first)
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN CASE WHEN f.archived_at IS NULL
    AND (f.valid_until IS NULL OR f.valid_until > f.valid_from) THEN f {.*,
    embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key,
    valid_from: toString(f.valid_from), recorded_at: toString(f.recorded_at)} END AS fact,
  coalesce(vector, 2 * vector.similarity.cosine(f.embedding, $embedding) - 1) AS vector,
  text,
  EXISTS { (f)-[:SUPERSEDES]->() } AS chained,
  head(COLLECT { MATCH (newer:Fact)-[:SUPERSEDES]->(f) RETURN newer.id ORDER BY newer.recorded_at
    LIMIT 1 }) AS successor

// name: chains
// What each of the given facts superseded, nearest first, to a depth; nothing archived.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
MATCH path = (f)-[:SUPERSEDES]->{1,5}(old:Fact)
WHERE old.archived_at IS NULL
WITH id, old, min(length(path)) AS depth, head(collect(nodes(path)[-2].id)) AS successor
MATCH (old)-[:SUBJECT]->(s:Entity)
MATCH (old)-[:OBJECT]->(o:Entity)
RETURN id, depth, successor,
  old {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact
ORDER BY id, depth, fact.valid_from DESC

// name: facts_of_predicate
// Facts of one predicate that are open, or were true from $first to $last: the nearest to the question first,
// among those nearest of all and some of the predicate's own. Both parts end at a limit, so that a
// predicate with very many facts costs no more than another.
CYPHER 25
CALL () {
  MATCH (f:Fact)
  SEARCH f IN (VECTOR INDEX fact_vector FOR $embedding WHERE f.namespace = $namespace LIMIT $scan)
  RETURN f
UNION
  MATCH (f:Fact)
  WHERE f.namespace = $namespace AND f.predicate = $predicate
  RETURN f LIMIT $scan
}
WITH f
WHERE f.predicate = $predicate AND f.archived_at IS NULL
  AND CASE WHEN $first IS NULL THEN f.open
      ELSE f.valid_from <= $last
        AND (f.valid_until IS NULL OR (f.valid_until > $first AND f.valid_until > f.valid_from)) END
WITH f, 2 * vector.similarity.cosine(f.embedding, $embedding) - 1 AS vector
ORDER BY coalesce(vector, -1.0) DESC, f.recorded_at DESC, f.text
LIMIT $limit
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact,
  vector, null AS text,
  EXISTS { (f)-[:SUPERSEDES]->() } AS chained,
  head(COLLECT { MATCH (newer:Fact)-[:SUPERSEDES]->(f) RETURN newer.id ORDER BY newer.recorded_at
    LIMIT 1 }) AS successor
ORDER BY coalesce(vector, -1.0) DESC, f.recorded_at DESC, f.text

// name: neighbours
// One hop from the objects of the given facts: other facts about those entities, of the first given
// fact first, open before ended. An entity on more than $hub facts leads nowhere. Not archived, not
// said to be never true, and with $first only those true from then to $last.
CYPHER 25
UNWIND range(0, size($ids) - 1) AS at
MATCH (f:Fact {id: $ids[at]})
WHERE f.namespace = $namespace
MATCH (f)-[:OBJECT]->(e:Entity)
WHERE COUNT { (e)<-[:SUBJECT|OBJECT]-() } <= $hub
MATCH (e)<-[:SUBJECT|OBJECT]-(near:Fact)
WHERE near.namespace = $namespace AND near.archived_at IS NULL AND NOT near.id IN $known
  AND (coalesce(near.closed_reason, '') <> 'corrected' OR near.valid_until > near.valid_from)
  AND ($first IS NULL OR (near.valid_from <= $last AND (near.valid_until IS NULL
    OR (near.valid_until > $first AND near.valid_until > near.valid_from))))
WITH near, min(at) AS at
ORDER BY at, near.open DESC, near.valid_from DESC, near.text, near.id
LIMIT $limit
MATCH (near)-[:SUBJECT]->(s:Entity)
MATCH (near)-[:OBJECT]->(o:Entity)
RETURN near {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact,
  null AS vector, null AS text, false AS chained,
  head(COLLECT { MATCH (newer:Fact)-[:SUPERSEDES]->(near) RETURN newer.id
    ORDER BY newer.recorded_at LIMIT 1 }) AS successor
ORDER BY at, near.open DESC, near.valid_from DESC, near.text, near.id

// name: same_among
// Which of the given facts are linked as the same.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
MATCH (f)-[:SAME_AS]->(same:Fact)
WHERE same.id IN $ids
RETURN id AS one, same.id AS other

// name: sources_of
// The messages that state any of the given facts, each with those.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
MATCH (f)-[:STATED_IN]->(m:Message)
RETURN m.id AS id, collect(DISTINCT f.id) AS facts

// name: turns_before
// The turn before each of the given ones in its conversation.
CYPHER 25
UNWIND $ids AS id
MATCH (m:Message {id: id})
WHERE m.namespace = $namespace
MATCH (before:Message)-[:NEXT]->(m)
RETURN id,
  before {.*, embedding: null, search_text: null, namespace_key: null, drafts: null} AS message

// name: shortlist_turns
// The pool of messages for a question: nearest by vector and best by full text, the namespace inside
// both indexes, and the turns up to two places before and after each of those: evidence often stands
// one turn away. With $said_by only what was said from $said_from to then: the vector index filters
// that itself, full text is asked for more and filtered. Each with its likeness to the question as asked and without names, and with the id
// of the turn before it. Properties by name: all of them would read each vector once more.
// All in one row, and lists rather than maps: the driver takes longer over a row than over a turn,
// and over the names of values than over the values. graph/read.py knows the places.
CYPHER 25
CALL () {
  WITH $said_by AS said_by
  FILTER said_by IS NULL
  MATCH (m:Message)
  SEARCH m IN (VECTOR INDEX message_vector FOR $embedding
    WHERE m.namespace = $namespace LIMIT $limit)
  RETURN m, null AS text
UNION ALL
  WITH $said_by AS said_by
  FILTER said_by IS NOT NULL
  MATCH (m:Message)
  SEARCH m IN (VECTOR INDEX message_vector FOR $embedding
    WHERE m.namespace = $namespace AND m.said_at >= $said_from AND m.said_at <= $said_by
    LIMIT $limit)
  RETURN m, null AS text
UNION ALL
  WITH $lucene AS lucene
  FILTER lucene IS NOT NULL
  CALL db.index.fulltext.queryNodes('message_text', lucene, {limit: $text_limit}) YIELD node, score
  FILTER $said_by IS NULL OR (node.said_at >= $said_from AND node.said_at <= $said_by)
  RETURN node AS m, score AS text LIMIT $limit
}
WITH m, max(text) AS text
WHERE m.namespace = $namespace
CALL (m, text) {
  RETURN m AS turn, text AS score
UNION ALL
  MATCH (m)-[:NEXT]-{1,2}(near:Message)
  RETURN near AS turn, null AS score
}
WITH turn, max(score) AS text, turn.embedding AS own
WHERE $said_by IS NULL OR (turn.said_at >= $said_from AND turn.said_at <= $said_by)
RETURN collect([
  turn.id, turn.speaker, turn.text, turn.search_text, toString(turn.said_at),
  2 * vector.similarity.cosine(own, $embedding) - 1,
  2 * vector.similarity.cosine(own, $content) - 1,
  text,
  head(COLLECT { MATCH (previous:Message)-[:NEXT]->(turn) RETURN previous.id }),
  turn.conversation, turn.role, turn.source_id, turn.metadata, turn.status, turn.error,
  toString(turn.recorded_at)
]) AS turns

// name: speakers
// Who speaks in a namespace, as far as a number of its messages tell.
CYPHER 25
MATCH (m:Message)
WHERE m.namespace = $namespace AND m.conversation IS NOT NULL
  AND m.said_at IS NOT NULL AND m.recorded_at IS NOT NULL
WITH m.speaker AS speaker LIMIT $scan
RETURN DISTINCT speaker LIMIT $limit

// name: names_meant
// Which of the keys are aliases, and the names of their entities.
CYPHER 25
UNWIND $keys AS key
MATCH (:Alias {namespace: $namespace, key: key})-[:ALIAS_OF]->(e:Entity)
RETURN DISTINCT key, e.name AS name
ORDER BY name, key

// name: get_fact
// One fact with its entities' names.
CYPHER 25
MATCH (f:Fact {id: $id})
WHERE f.namespace = $namespace
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact,
  COLLECT { MATCH (f)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker } AS speakers,
  COLLECT { MATCH (newer:Fact)-[:SUPERSEDES]->(f) RETURN newer.id } AS superseded_by

// name: get_message
// One message by its id.
CYPHER 25
MATCH (m:Message {id: $id})
WHERE m.namespace = $namespace
RETURN m {.*, embedding: null, search_text: null, namespace_key: null} AS message
