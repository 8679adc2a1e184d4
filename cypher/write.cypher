// The write path, in the order the flow runs it. Every statement filters on the namespace.

// name: store_message
// Stores a message once by its source_id and puts it into its conversation's NEXT chain, which
// follows said_at, then recorded_at: right behind the last one that is not later, else in front of
// the first. The Conversation node is the lock of that order. What was forgotten while this waited
// for the lock has no properties any more: then there is no row. What is recorded about vectors is
// read after the writes, whose locks hold up a change of it.
CYPHER 25
MERGE (c:Conversation {namespace: $namespace, name: $conversation})
SET c.locked = true
REMOVE c.locked
WITH c
FILTER c.name IS NOT NULL
MERGE (m:Message {namespace: $namespace, source_id: $source_id})
ON CREATE SET m += $properties
WITH m, m.id = $id AS created
FILTER created IS NOT NULL
CALL (m, created) {
  FILTER created
  // CASE rather than OR, which is planned as scans: so each look-up reads one place of the index.
  OPTIONAL CALL () {
    MATCH (p:Message)
    WHERE p.namespace = $namespace AND p.conversation = $conversation
      AND p.said_at <= $said_at AND p.recorded_at IS NOT NULL AND p.id <> $id
      AND CASE WHEN p.said_at = $said_at THEN p.recorded_at <= $recorded_at ELSE true END
    RETURN p
    ORDER BY p.namespace DESC, p.conversation DESC, p.said_at DESC, p.recorded_at DESC
    LIMIT 1
  }
  OPTIONAL CALL (p) {
    WITH p
    FILTER p IS NULL
    MATCH (n:Message)
    WHERE n.namespace = $namespace AND n.conversation = $conversation
      AND n.said_at >= $said_at AND n.recorded_at IS NOT NULL AND n.id <> $id
    RETURN n AS first
    ORDER BY n.namespace, n.conversation, n.said_at, n.recorded_at
    LIMIT 1
  }
  OPTIONAL MATCH (p)-[between:NEXT]->(follower:Message)
  DELETE between
  FOREACH (before IN CASE WHEN p IS NULL THEN [] ELSE [p] END | CREATE (before)-[:NEXT]->(m))
  FOREACH (after IN CASE WHEN follower IS NULL THEN [] ELSE [follower] END |
    CREATE (m)-[:NEXT]->(after))
  FOREACH (after IN CASE WHEN first IS NULL THEN [] ELSE [first] END | CREATE (m)-[:NEXT]->(after))
}
RETURN m {.*, embedding: null, search_text: null, namespace_key: null} AS message, created,
  head(COLLECT { MATCH (v:EngramSchema {id: 'schema'}) RETURN v {.place, .embedder, .dimension} })
    AS vectors

// name: candidates
// G(f): the nearest facts still valid or closed by belief, or $near_ids where a log tells them (the
// index is approximate and leaves equal scores to chance: it is asked for more than are kept); facts with the same subject and predicate
// still valid (of a one-valued relation also superseded ones, and always those that start next to
// the new one: a late arrival may cut them); facts naming a shared rare entity; what the same message
// stated before; and twins, facts of any state with the same triple. Speakers are who stated a fact
// and whose other words counted as support for it. Moments that every fact has come as text, which
// the driver reads ten times faster than DateTime.
CYPHER 25
CALL () {
  WITH $near_ids AS known
  FILTER known IS NULL
  MATCH (f:Fact)
  SEARCH f IN (VECTOR INDEX fact_vector FOR $embedding
    WHERE f.namespace = $namespace AND f.candidate = true LIMIT $near_scan)
  SCORE AS score
  RETURN f, score, 'near' AS how
  ORDER BY score DESC, f.text, f.recorded_at
  LIMIT $near
UNION ALL
  UNWIND coalesce($near_ids, []) AS id
  MATCH (f:Fact {id: id})
  WHERE f.namespace = $namespace AND f.candidate
  WITH f, coalesce(vector.similarity.cosine(f.embedding, $embedding), 0.0) AS score
  RETURN f, score, 'near' AS how
UNION ALL
  // The hint: Neo4j 2026.09 takes wrong ends from a relationship index that is searched by dynamic
  // types: those of the relationship before. A young database would choose that.
  MATCH (own:Entity {namespace: $namespace, key: $subject_key})-[r:$any([$type, 'NEGATED'])]->()
  USING INDEX own:Entity(namespace, key)
  WHERE r.namespace = $namespace AND r.predicate = $predicate
    AND (r.open OR r.valid_until > $now OR ($single AND r.closed_reason = 'superseded'))
  WITH r ORDER BY r.recorded_at DESC, r.fact_id LIMIT $related_scan
  MATCH (f:Fact {id: r.fact_id})
  WITH f, coalesce(vector.similarity.cosine(f.embedding, $embedding), 0.0) AS score
  RETURN f, score, 'related' AS how
  ORDER BY score DESC, f.text, f.recorded_at
  LIMIT $related
UNION ALL
  CALL () {
    WITH $single AS single
    FILTER single
    MATCH (own:Entity {namespace: $namespace, key: $subject_key})-[r:$($type)]->()
    USING INDEX own:Entity(namespace, key)
    WHERE r.namespace = $namespace AND r.valid_from <= $begins
      AND r.temporal_status IN ['current', 'past']
      AND (r.closed_reason IS NULL OR r.closed_reason IN ['belief', 'superseded'])
    RETURN r ORDER BY r.valid_from DESC, r.recorded_at DESC LIMIT 2
  UNION ALL
    WITH $single AS single
    FILTER single
    MATCH (own:Entity {namespace: $namespace, key: $subject_key})-[r:$($type)]->()
    USING INDEX own:Entity(namespace, key)
    WHERE r.namespace = $namespace AND r.valid_from > $begins
      AND r.temporal_status IN ['current', 'past']
      AND (r.closed_reason IS NULL OR r.closed_reason IN ['belief', 'superseded'])
    RETURN r ORDER BY r.valid_from, r.recorded_at LIMIT 2
  }
  MATCH (f:Fact {id: r.fact_id})
  RETURN f, coalesce(vector.similarity.cosine(f.embedding, $embedding), 0.0) AS score,
    'related' AS how
UNION ALL
  CALL () {
    MATCH (any:Fact)
    WHERE any.namespace = $namespace AND any.predicate IS NOT NULL  // for the index
    WITH any LIMIT $rare_scan
    RETURN count(any) AS held
  }
  UNWIND $rare_keys AS key
  MATCH (e:Entity {namespace: $namespace, key: key})
  WHERE key <> $subject_key
  WITH e, held, COUNT { (e)<-[:SUBJECT|OBJECT|MENTIONS]-() } AS degree
  WHERE degree < CASE WHEN held * $rare_share > $rare_min THEN held * $rare_share ELSE $rare_min END
  MATCH (e)<-[:SUBJECT|OBJECT|MENTIONS]-(f:Fact)
  WHERE f.open AND f.namespace = $namespace
  WITH DISTINCT f, coalesce(vector.similarity.cosine(f.embedding, $embedding), 0.0) AS score
  RETURN f, score, 'related' AS how
  ORDER BY score DESC, f.text, f.recorded_at
  LIMIT $related
UNION ALL
  MATCH (:Message {id: $message_id})<-[:STATED_IN]-(f:Fact)
  WHERE f.namespace = $namespace AND f.candidate
  WITH f, coalesce(vector.similarity.cosine(f.embedding, $embedding), 0.0) AS score
  RETURN f, score, 'near' AS how
  ORDER BY score DESC, f.text, f.recorded_at
  LIMIT $near
UNION ALL
  MATCH (own:Entity {namespace: $namespace, key: $subject_key})-[r:$any([$type, 'NEGATED'])]->
    (:Entity {namespace: $namespace, key: $object_key})
  USING INDEX own:Entity(namespace, key)
  WHERE r.namespace = $namespace AND r.predicate = $predicate
  MATCH (f:Fact {id: r.fact_id})
  RETURN f, 1.0 AS score, 'twin' AS how
}
WITH f, max(score) AS score, collect(DISTINCT how) AS how
MATCH (f)-[:SUBJECT]->(fs:Entity)
MATCH (f)-[:OBJECT]->(fo:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: fs.name, subject_key: fs.key, object: fo.name, object_key: fo.key,
    valid_from: toString(f.valid_from), recorded_at: toString(f.recorded_at)} AS fact,
  how, score,
  COLLECT {
    MATCH (f)-[:STATED_IN]->(m:Message)
    RETURN m.speaker AS speaker
  UNION
    MATCH (f)<-[:COMPARED_WITH]-(d:Decision)-[:ABOUT]->(:Fact)-[:STATED_IN]->(m:Message)
    WHERE d.outcome = 'applied' AND d.chosen IN ['duplicate', 'refinement']
    RETURN m.speaker AS speaker
  } AS speakers,
  COLLECT { MATCH (newer:Fact)-[:SUPERSEDES]->(f) RETURN newer.id } AS superseded_by
ORDER BY score DESC, f.text, f.recorded_at, f.id

// name: known_entities
// Version of the subject (0 when new) and its names, the entities among the named keys, and those
// that any of the keys is an alias of.
CYPHER 25
OPTIONAL MATCH (s:Entity {namespace: $namespace, key: $subject_key})
RETURN coalesce(s.version, 0) AS version, s.name AS name, coalesce(s.aliases, []) AS also,
  COLLECT {
    UNWIND $keys AS key
    MATCH (e:Entity {namespace: $namespace, key: key})
    WHERE key <> $subject_key AND key <> $object_key
    RETURN e.key
  } AS mentions,
  COLLECT {
    UNWIND $keys + [$subject_key, $object_key] AS key
    MATCH (:Alias {namespace: $namespace, key: key})-[:ALIAS_OF]->(e:Entity)
    RETURN {alias: key, key: e.key, name: e.name}
  } AS aliases

// name: lock_entities
// Takes the write locks of the entities in the given (sorted) order, so that no two writers wait for
// each other, and returns the subject's version from before. The subject and the object are made when
// missing; others, which are mentioned or whose edges change, have no name here. SET comes first: it
// takes the lock, then one reads.
// A draft was applied when its fact is there, or its decision that it repeats one. An entity that was
// forgotten while this waited for its lock has no key any more; a key may have become an alias.
CYPHER 25
UNWIND $entities AS entity
CALL (entity) {
  FILTER entity.name IS NOT NULL
  MERGE (e:Entity {namespace: $namespace, key: entity.key})
  ON CREATE SET e.id = entity.id, e.name = entity.name, e.aliases = [], e.version = 0,
    e.created_at = $now
  RETURN e
UNION ALL
  FILTER entity.name IS NULL
  MATCH (e:Entity {namespace: $namespace, key: entity.key})
  RETURN e
}
SET e.locked = true
WITH e, e.version AS version
SET e.version = CASE WHEN e.key = $subject_key THEN version + 1 ELSE version END
REMOVE e.locked
RETURN e.key AS key, version,
  EXISTS { MATCH (:Fact {id: $draft_id}) } OR EXISTS { MATCH (:Decision {id: $draft_id}) } AS applied,
  EXISTS { MATCH (:Message {id: $message_id}) } AS told,
  EXISTS { MATCH (:Alias {namespace: $namespace, key: e.key}) } AS is_alias

// name: hold_entities
// Takes the write locks of known entities in the given (sorted) order and changes nothing.
CYPHER 25
UNWIND $keys AS key
MATCH (e:Entity {namespace: $namespace, key: key})
SET e.locked = true
REMOVE e.locked

// name: lock_facts
// Takes the write locks of the facts a plan changes or joins, in the given (sorted) order.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
SET f.locked = true
WITH f, f.version AS version
REMOVE f.locked
RETURN f.id AS id, version

// name: create_fact
// The fact, its two entities' typed edge, its source and what it mentions. A fact that says no has
// an edge of type NEGATED: whoever asks for LIVES_IN gets only places lived in. No row, and nothing
// written, when the message was forgotten. What is recorded about vectors is read last, as above.
CYPHER 25
MATCH (s:Entity {namespace: $namespace, key: $subject_key})
MATCH (o:Entity {namespace: $namespace, key: $object_key})
MATCH (m:Message {id: $message_id})
CREATE (f:Fact)
SET f += $properties
CREATE (f)-[:STATED_IN]->(m)
CREATE (f)-[:SUBJECT]->(s)
CREATE (f)-[:OBJECT]->(o)
CREATE (s)-[r:$($type) {fact_id: f.id}]->(o)
SET r += f {.namespace, .predicate, .text, .belief, .tentative, .disputed, .negated,
  .temporal_status, .valid_from, .valid_until, .open, .recorded_at, .closed_at, .closed_reason}
WITH f
CALL (f) {
  UNWIND $mentions AS key
  MATCH (e:Entity {namespace: $namespace, key: key})
  CREATE (f)-[:MENTIONS]->(e)
}
RETURN f.id AS id,
  head(COLLECT { MATCH (v:EngramSchema {id: 'schema'}) RETURN v {.place, .embedder, .dimension} })
    AS vectors

// name: settle_fact
// A fact that is asked about again, rewritten in place. Its relation may be another one now, and a
// secret may have gone from its object: so it gets a new typed edge, and no orphan stays.
CYPHER 25
MATCH (f:Fact {id: $fact_id})
WHERE f.namespace = $namespace
SET f += $properties
WITH f, [each IN keys(f) WHERE each STARTS WITH 'embed' AND each <> 'embedding'] AS others
FOREACH (other IN others | REMOVE f[other])  // vectors of the old words, for another embedder
WITH f
MATCH (s:Entity {namespace: $namespace, key: $subject_key})
MATCH (o:Entity {namespace: $namespace, key: $object_key})
MATCH (f)-[had:OBJECT]->(before:Entity)
MATCH (s)-[old]->(before)
WHERE old.fact_id = f.id
DELETE had, old
CREATE (f)-[:OBJECT]->(o)
CREATE (s)-[r:$($type) {fact_id: f.id}]->(o)
SET r += f {.namespace, .predicate, .text, .belief, .tentative, .disputed, .negated,
  .temporal_status, .valid_from, .valid_until, .open, .recorded_at, .closed_at, .closed_reason}
WITH before, o
FILTER before <> o
SET before.locked = true  // waits for a fact about it that is being written
WITH before
REMOVE before.locked
WITH before
WHERE NOT EXISTS { (before)<-[:SUBJECT|OBJECT]-() }
OPTIONAL MATCH (alias:Alias)-[:ALIAS_OF]->(before)
DETACH DELETE before, alias

// name: is_decided
// Whether a decision that stands for a draft was written before.
CYPHER 25
RETURN EXISTS { MATCH (d:Decision {id: $id}) WHERE d.namespace = $namespace } AS decided

// name: add_source
// One more message that states a known fact; what is said again is archived no longer.
CYPHER 25
MATCH (f:Fact {id: $fact_id})
WHERE f.namespace = $namespace
MATCH (m:Message {id: $message_id})
MERGE (f)-[:STATED_IN]->(m)
SET f.archived_at = null
RETURN f.id AS id

// name: revive_facts
// Archived facts that a new one says again, in other words or in more detail.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace AND f.archived_at IS NOT NULL
SET f.archived_at = null

// name: change_facts
// New state of existing facts, and of their typed edges in the same statement.
CYPHER 25
UNWIND $changes AS change
MATCH (f:Fact {id: change.id})
WHERE f.namespace = $namespace
SET f += change.properties, f.version = f.version + 1
WITH f
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
MATCH (s)-[r:$(CASE WHEN f.negated THEN 'NEGATED' ELSE toUpper(f.predicate) END)]->(o)
WHERE coalesce(r.fact_id, '') = f.id  // not by an index: see candidates
SET r += f {.namespace, .predicate, .text, .belief, .tentative, .disputed, .negated,
  .temporal_status, .valid_from, .valid_until, .open, .recorded_at, .closed_at, .closed_reason}

// name: link_facts
// SUPERSEDES, SAME_AS, CONTRADICTS and REFINES between facts of one namespace.
CYPHER 25
UNWIND $links AS link
MATCH (a:Fact {id: link.source})
MATCH (b:Fact {id: link.target})
WHERE a.namespace = $namespace AND b.namespace = $namespace
MERGE (a)-[r:$(link.type)]->(b)
SET r += link.properties

// name: unlink_facts
// Links that no longer hold.
CYPHER 25
UNWIND $links AS link
MATCH (a:Fact {id: link.source})-[r:$(link.type)]->(b:Fact {id: link.target})
WHERE a.namespace = $namespace
DELETE r

// name: record_requests
// The calls to the decider with every answer; whether each fact they asked about is still there.
CYPHER 25
UNWIND $requests AS request
CREATE (q:Request)
SET q += request
RETURN all(id IN q.candidates WHERE EXISTS { MATCH (:Fact {id: id}) }) AS known

// name: record_decisions
// The judgements, about which fact and compared with which, and the requests they rest on; how many
// of the facts each one names are there.
CYPHER 25
UNWIND $decisions AS d
CREATE (n:Decision)
SET n += d.properties
WITH n, d
CALL (n, d) {
  MATCH (f:Fact {id: d.fact_id})
  CREATE (n)-[:ABOUT {belief_before: d.about_before, belief_after: d.about_after}]->(f)
}
CALL (n, d) {
  MATCH (f:Fact {id: d.candidate_id})
  CREATE (n)-[:COMPARED_WITH
    {belief_before: d.compared_before, belief_after: d.compared_after}]->(f)
}
CALL (n, d) {
  UNWIND d.requests AS id
  MATCH (q:Request {id: id})
  CREATE (n)-[:FROM]->(q)
}
RETURN COUNT { (n)-[:ABOUT|COMPARED_WITH]->() } AS facts,
  size([id IN [d.fact_id, d.candidate_id] WHERE id IS NOT NULL]) AS named

// name: set_drafts
// What was extracted from a message, kept so that resuming never asks again. The first one stays:
// two clients that extract the same message write the same facts.
CYPHER 25
MATCH (m:Message {id: $message_id})
WHERE m.namespace = $namespace
SET m.locked = true
SET m.drafts = coalesce(m.drafts, $drafts)
REMOVE m.locked
RETURN m.drafts AS drafts

// name: set_status
// How far a message is: pending, done, or failed with the reason. What is done stays done.
CYPHER 25
MATCH (m:Message {id: $message_id})
WHERE m.namespace = $namespace
SET m.locked = true
WITH m, m.status = 'done' AS done
REMOVE m.locked
SET m.status = CASE WHEN done THEN m.status ELSE $status END,
  m.error = CASE WHEN done THEN m.error ELSE $error END

// name: lock_message
// A message that is about to be rewritten, locked.
CYPHER 25
MATCH (m:Message {id: $message_id})
WHERE m.namespace = $namespace
SET m.locked = true
WITH m
REMOVE m.locked
RETURN m {.speaker, .text, .metadata, .drafts} AS message

// name: rewrite_message
// A message without the secrets that were found in it.
CYPHER 25
MATCH (m:Message {id: $message_id})
WHERE m.namespace = $namespace
SET m += $properties
WITH m, [each IN keys(m) WHERE each STARTS WITH 'embed' AND each <> 'embedding'] AS others
FOREACH (other IN others | REMOVE m[other])  // vectors of the old words, for another embedder

// name: unsettled
// Facts a question about which got no usable answer, oldest first.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.unsettled = true
RETURN f.id AS id
ORDER BY f.recorded_at, f.id

// name: unsettled_fact
// One such fact with the messages that state it, the first one first, and the facts whose belief its
// answers moved already.
CYPHER 25
MATCH (f:Fact {id: $id})
WHERE f.namespace = $namespace AND f.unsettled = true AND EXISTS { (f)-[:STATED_IN]->() }
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact,
  COLLECT {
    MATCH (f)-[:STATED_IN]->(m:Message)
    RETURN m {.*, embedding: null, search_text: null, namespace_key: null}
    ORDER BY m.recorded_at, m.id
  } AS messages,
  COLLECT {
    MATCH (f)<-[:ABOUT]-(d:Decision)-[:COMPARED_WITH]->(c:Fact)
    WHERE d.question = 'relation_to_candidate' AND d.outcome = 'applied'
    RETURN c.id
  } AS counted

// name: unfinished
// Messages whose facts are not written yet, oldest first.
CYPHER 25
MATCH (m:Message)
WHERE m.namespace = $namespace AND m.status IN ['pending', 'failed']
RETURN m {.*, embedding: null, search_text: null, namespace_key: null} AS message
ORDER BY message.said_at, message.recorded_at

// name: facts_of_message
// Facts a message gave rise to, in recording order.
CYPHER 25
MATCH (m:Message {id: $message_id})<-[:STATED_IN]-(f:Fact)
WHERE m.namespace = $namespace
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
  subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact
ORDER BY fact.recorded_at

// name: recent_messages
// Earlier turns of a conversation, newest first.
CYPHER 25
MATCH (m:Message)
WHERE m.namespace = $namespace AND m.conversation = $conversation AND m.said_at <= $said_at
  AND m.recorded_at IS NOT NULL AND m.id <> $message_id  // every part of the index
RETURN m {.*, embedding: null, search_text: null, namespace_key: null} AS message
ORDER BY m.namespace DESC, m.conversation DESC, m.said_at DESC, m.recorded_at DESC
LIMIT $limit

// name: import_entities
// Entities of a bulk import, made when missing.
CYPHER 25
UNWIND $entities AS entity
MERGE (e:Entity {namespace: $namespace, key: entity.key})
ON CREATE SET e.id = entity.id, e.name = entity.name, e.aliases = [], e.version = 0,
  e.created_at = $now
RETURN e.key AS key, EXISTS { MATCH (:Alias {namespace: $namespace, key: e.key}) } AS is_alias

// name: import_facts
// Facts of a bulk import with typed edges and their starting belief; known ids are left alone.
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (known:Fact {id: row.id})
WITH row, known
FILTER known IS NULL
MATCH (s:Entity {namespace: $namespace, key: row.subject_key})
MATCH (o:Entity {namespace: $namespace, key: row.object_key})
MATCH (m:Message {id: $message_id})
CREATE (f:Fact)
SET f += row.properties
CREATE (f)-[:SUBJECT]->(s)
CREATE (f)-[:OBJECT]->(o)
CREATE (f)-[:STATED_IN]->(m)
CREATE (s)-[r:$(row.type) {fact_id: f.id}]->(o)
SET r += f {.namespace, .predicate, .text, .belief, .tentative, .disputed, .negated,
  .temporal_status, .valid_from, .valid_until, .open, .recorded_at, .closed_at, .closed_reason}
CREATE (d:Decision)
SET d += row.decision
CREATE (d)-[:ABOUT {belief_after: f.belief}]->(f)
RETURN count(f) AS stored
