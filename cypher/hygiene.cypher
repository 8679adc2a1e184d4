// Upkeep: which facts are the same, which are worth keeping, what search gives, what was read.

// name: count_pairs
// How many pairs there are to look at: two of the newest facts of one subject and predicate.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.predicate IS NOT NULL
MATCH (f)-[:SUBJECT]->(s:Entity)
WITH s, f.predicate AS predicate, count(f) AS held
WITH CASE WHEN held > $newest THEN $newest ELSE held END AS held
RETURN sum(held * (held - 1) / 2) AS pairs

// name: groups
// The newest facts of each predicate that some subjects have several of; a page, by subject.
CYPHER 25
MATCH (s:Entity)
WHERE s.namespace = $namespace AND s.key > $after_key
WITH s ORDER BY s.namespace, s.key LIMIT $limit
CALL (s) {
  MATCH (s)<-[:SUBJECT]-(f:Fact)
  WITH f ORDER BY f.recorded_at DESC, f.id DESC
  WITH f.predicate AS predicate, collect(f)[..$newest] AS facts
  WHERE size(facts) > 1
  UNWIND facts AS f
  MATCH (f)-[:OBJECT]->(o:Entity)
  RETURN collect({
    fact: f {.*, embedding: null, search_text: null, namespace_key: null,
      subject: s.name, subject_key: s.key, object: o.name, object_key: o.key},
    same_as: COLLECT { MATCH (f)-[:SAME_AS]-(same:Fact) RETURN same.id }
  }) AS facts
}
RETURN s.key AS subject_key, facts
ORDER BY subject_key

// name: decided_before
// Those of the given decisions that are there.
CYPHER 25
UNWIND $ids AS id
MATCH (d:Decision {id: id})
WHERE d.namespace = $namespace
RETURN d.id AS id

// name: link_same
// SAME_AS, which has no direction: one link a pair, whichever way it was written.
CYPHER 25
UNWIND $links AS link
MATCH (a:Fact {id: link.source})
MATCH (b:Fact {id: link.target})
WHERE a.namespace = $namespace AND b.namespace = $namespace
MERGE (a)-[r:SAME_AS]-(b)
SET r += link.properties

// name: unlink_same
// The same, taken away.
CYPHER 25
UNWIND $links AS link
MATCH (a:Fact {id: link.source})-[r:SAME_AS]-(b:Fact {id: link.target})
WHERE a.namespace = $namespace
DELETE r

// name: stale_ids
// Facts that were extracted, not given, and neither recorded, read nor judged worth it since a
// moment. What was restored by hand stays.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.recorded_at < $before AND f.id IS NOT NULL  // the index
  AND f.archived_at IS NULL AND coalesce(f.read_at < $before, true)
  AND NOT f.extractor IN ['caller', 'import']
  AND NOT EXISTS {
    MATCH (f)<-[:ABOUT]-(d:Decision)
    WHERE d.outcome = 'restored'
      OR (d.question = 'worth_remembering' AND d.outcome = 'kept' AND d.decided_at >= $before)
  }
RETURN f.id AS id
ORDER BY f.namespace, f.recorded_at, f.id

// name: short_lived_ids
// Short-lived facts that were extracted, not given, and recorded before a moment. What was restored
// by hand stays.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.recorded_at < $before AND f.id IS NOT NULL  // the index
  AND f.durability = 'short_lived' AND f.archived_at IS NULL
  AND NOT f.extractor IN ['caller', 'import']
  AND NOT EXISTS { MATCH (f)<-[:ABOUT]-(d:Decision) WHERE d.outcome = 'restored' }
RETURN f.id AS id
ORDER BY f.namespace, f.recorded_at, f.id

// name: ageing_facts
// Facts that may be archived, each with the messages that state it, oldest first.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact,
  COLLECT {
    MATCH (f)-[:STATED_IN]->(m:Message)
    RETURN m {.*, embedding: null, search_text: null, namespace_key: null}
    ORDER BY m.recorded_at, m.id
  } AS messages
ORDER BY fact.recorded_at, fact.id

// name: archive_facts
// Takes facts out of search, unless one was changed, read or said again since it was looked at.
// SET comes first: it takes the lock, then one reads.
CYPHER 25
UNWIND $archives AS seen
MATCH (f:Fact {id: seen.id})
WHERE f.namespace = $namespace
SET f.locked = true
REMOVE f.locked
WITH f, seen
WHERE f.archived_at IS NULL AND f.version = seen.version
  AND coalesce(f.read_at = seen.read_at, f.read_at IS NULL AND seen.read_at IS NULL)
  AND COUNT { (f)-[:STATED_IN]->(:Message) } = seen.sources
SET f.archived_at = $now
RETURN f.id AS id

// name: restore_fact
// Gives an archived fact back to search; no row when there is none, or when it was not archived.
CYPHER 25
MATCH (f:Fact {id: $id})
WHERE f.namespace = $namespace
SET f.locked = true
REMOVE f.locked
WITH f
WHERE f.archived_at IS NOT NULL
SET f.archived_at = null
RETURN f.id AS id

// name: note_reads
// When facts were last read; the newest moment wins. The version stays: no plan goes stale.
CYPHER 25
UNWIND $reads AS read
MATCH (f:Fact {id: read.id})
WHERE f.namespace = $namespace
SET f.locked = true
REMOVE f.locked
SET f.read_at = CASE WHEN f.read_at > read.at THEN f.read_at ELSE read.at END
