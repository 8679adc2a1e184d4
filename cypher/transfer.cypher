// Export and import of a namespace. An export reads page by page along an index; an import writes in
// batches that may be repeated: what is known stays as it is. Facts and messages carry the mark
// ``importing`` until all that belongs to them is there; a broken import is completed by another one.

// name: export_state
// How much a namespace holds, and a sum that moves with every change of a fact, entity or message.
CYPHER 25
RETURN
  COUNT { MATCH (c:Conversation) WHERE c.namespace = $namespace AND c.name IS NOT NULL }
    AS conversation,
  COUNT { MATCH (m:Message) WHERE m.namespace = $namespace AND m.status IS NOT NULL } AS message,
  COUNT { MATCH (e:Entity) WHERE e.namespace = $namespace AND e.key IS NOT NULL } AS entity,
  COUNT { MATCH (f:Fact) WHERE f.namespace = $namespace AND f.predicate IS NOT NULL } AS fact,
  head(COLLECT { MATCH (f:Fact) WHERE f.namespace = $namespace AND f.predicate IS NOT NULL
    RETURN coalesce(sum(COUNT { (f)-[:MENTIONS]->() }), 0) }) AS mention,
  head(COLLECT { MATCH (f:Fact) WHERE f.namespace = $namespace AND f.predicate IS NOT NULL
    RETURN coalesce(sum(COUNT { (f)-[:SUPERSEDES|SAME_AS|CONTRADICTS|REFINES]->() }), 0) })
    AS link,
  COUNT { MATCH (d:Decision) WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL }
    AS decision,
  COUNT { MATCH (q:Request) WHERE q.namespace = $namespace AND q.sent_at IS NOT NULL } AS request,
  COUNT { MATCH (a:Alias) WHERE a.namespace = $namespace AND a.key IS NOT NULL } AS alias,
  COUNT { MATCH (w:Feedback) WHERE w.namespace = $namespace AND w.given_at IS NOT NULL }
    AS feedback,
  COUNT { MATCH (i:Item) WHERE i.namespace = $namespace AND i.folder IS NOT NULL
    AND i.key IS NOT NULL } AS item,
  head(COLLECT { MATCH (i:Item) WHERE i.namespace = $namespace AND i.folder IS NOT NULL
    AND i.key IS NOT NULL RETURN max(i.updated_at) }) AS items_put,
  head(COLLECT { MATCH (f:Fact) WHERE f.namespace = $namespace AND f.predicate IS NOT NULL
    RETURN sum(f.version) }) AS fact_versions,
  head(COLLECT { MATCH (e:Entity) WHERE e.namespace = $namespace AND e.key IS NOT NULL
    RETURN sum(e.version) }) AS entity_versions,
  COUNT { MATCH (m:Message) WHERE m.namespace = $namespace AND m.status = 'done' } AS done

// name: export_conversations
// Conversations after a name.
CYPHER 25
MATCH (c:Conversation)
WHERE c.namespace = $namespace AND c.name > $after
RETURN c.name AS name
ORDER BY c.namespace, c.name
LIMIT $limit

// name: export_messages
// Messages in the order of their conversations, after the last one seen: the rest of its
// conversation, then the next ones.
CYPHER 25
CALL () {
  MATCH (m:Message)
  WHERE m.namespace = $namespace AND m.conversation = $conversation AND m.said_at >= $said_at
    AND m.recorded_at IS NOT NULL
    AND CASE WHEN m.said_at > $said_at THEN true
      WHEN m.recorded_at = $recorded_at THEN m.id > $after
      ELSE m.recorded_at > $recorded_at END
  RETURN m
  ORDER BY m.namespace, m.conversation, m.said_at, m.recorded_at, m.id
  LIMIT $limit
UNION ALL
  MATCH (m:Message)
  WHERE m.namespace = $namespace AND m.conversation > $conversation AND m.said_at IS NOT NULL
    AND m.recorded_at IS NOT NULL
  RETURN m
  ORDER BY m.namespace, m.conversation, m.said_at, m.recorded_at, m.id
  LIMIT $limit
}
WITH m
ORDER BY m.conversation, m.said_at, m.recorded_at, m.id
LIMIT $limit
RETURN m {.*, embedding: null, search_text: null, namespace_key: null,
  vector: CASE WHEN $vectors THEN m.embedding END} AS message

// name: export_entities
// Entities after a key.
CYPHER 25
MATCH (e:Entity)
WHERE e.namespace = $namespace AND e.key > $after
RETURN e {.*} AS entity
ORDER BY e.namespace, e.key
LIMIT $limit

// name: export_facts
// Facts in recording order after the last one seen, with the messages that state them.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.recorded_at >= $at AND f.id IS NOT NULL
  AND (f.recorded_at > $at OR f.id > $after)
WITH f ORDER BY f.namespace, f.recorded_at, f.id LIMIT $limit
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key,
    vector: CASE WHEN $vectors THEN f.embedding END} AS fact,
  COLLECT { MATCH (f)-[:STATED_IN]->(m:Message)
    RETURN m.id ORDER BY m.said_at, m.recorded_at, m.id } AS sources
ORDER BY f.recorded_at, f.id

// name: export_ties
// What the facts after the last one seen mention, and their links to other facts.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.recorded_at >= $at AND f.id IS NOT NULL
  AND (f.recorded_at > $at OR f.id > $after)
WITH f ORDER BY f.namespace, f.recorded_at, f.id LIMIT $limit
RETURN f.id AS id, f.recorded_at AS at,
  COLLECT { MATCH (f)-[r:MENTIONS]->(e:Entity)
    RETURN {key: e.key, of: coalesce(r.of, [])} ORDER BY e.key } AS mentions,
  COLLECT { MATCH (f)-[r:SUPERSEDES|SAME_AS|CONTRADICTS|REFINES]->(g:Fact)
    RETURN {type: type(r), source: f.id, target: g.id, p: r.p, reason: r.reason,
      decided_at: r.decided_at} ORDER BY type(r), g.id } AS links
ORDER BY f.recorded_at, f.id

// name: export_decisions
// Decisions in their order after the last one seen, with what they moved.
CYPHER 25
MATCH (d:Decision)
WHERE d.namespace = $namespace AND d.decided_at >= $at
  AND (d.decided_at > $at OR d.id > $after)
WITH d ORDER BY d.namespace, d.decided_at, d.id LIMIT $limit
OPTIONAL MATCH (d)-[about:ABOUT]->(fact:Fact)
OPTIONAL MATCH (d)-[compared:COMPARED_WITH]->(candidate:Fact)
RETURN d {.*, fact_id: fact.id, candidate_id: candidate.id,
  belief_before: about.belief_before, belief_after: about.belief_after,
  candidate_belief_before: compared.belief_before,
  candidate_belief_after: compared.belief_after} AS decision
ORDER BY d.decided_at, d.id

// name: export_requests
// Calls to deciders after the last one seen, with the decisions that rest on them.
CYPHER 25
MATCH (q:Request)
WHERE q.namespace = $namespace AND q.sent_at >= $at AND (q.sent_at > $at OR q.id > $after)
WITH q ORDER BY q.namespace, q.sent_at, q.id LIMIT $limit
RETURN q {.*} AS request,
  COLLECT { MATCH (q)<-[:FROM]-(d:Decision) RETURN d.id ORDER BY d.id } AS decisions
ORDER BY q.sent_at, q.id

// name: export_aliases
// Aliases after a key, with the decisions of the merge that left them.
CYPHER 25
MATCH (a:Alias)
WHERE a.namespace = $namespace AND a.key > $after
WITH a ORDER BY a.namespace, a.key LIMIT $limit
MATCH (a)-[:ALIAS_OF]->(e:Entity)
RETURN a {.*} AS alias, e.key AS entity,
  COLLECT { MATCH (a)<-[:LEFT]-(d:Decision) RETURN d.id ORDER BY d.id } AS decisions
ORDER BY a.key

// name: export_feedback
// Labels in the order they were given, after the last one seen.
CYPHER 25
MATCH (w:Feedback)
WHERE w.namespace = $namespace AND w.given_at >= $at AND (w.given_at > $at OR w.id > $after)
WITH w ORDER BY w.namespace, w.given_at, w.id LIMIT $limit
RETURN w {.*,
    fact_id: head(COLLECT { MATCH (w)-[:ABOUT]->(f:Fact) RETURN f.id }),
    decision_id: head(COLLECT { MATCH (w)-[:ABOUT]->(d:Decision) RETURN d.id })} AS feedback
ORDER BY w.given_at, w.id

// name: export_items
// Items by path and key, after the last one seen, with what they are found by.
CYPHER 25
MATCH (i:Item)
WHERE i.namespace = $namespace AND i.folder >= $folder AND i.key IS NOT NULL
  AND (i.folder > $folder OR i.key > $after)
WITH i ORDER BY i.namespace, i.folder, i.key LIMIT $limit
RETURN i {.*} AS item,
  COLLECT { MATCH (i)-[:INDEXED_AS]->(t:ItemText)
    RETURN {text: t.text, vector: CASE WHEN $vectors THEN t.embedding END} ORDER BY t.id } AS texts
ORDER BY i.folder, i.key

// name: ids_elsewhere
// Those of the ids that a record of another namespace has.
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Message {id: id})
  RETURN n
UNION ALL
  MATCH (n:Entity {id: id})
  RETURN n
UNION ALL
  MATCH (n:Fact {id: id})
  RETURN n
UNION ALL
  MATCH (n:Decision {id: id})
  RETURN n
UNION ALL
  MATCH (n:Request {id: id})
  RETURN n
UNION ALL
  MATCH (n:Feedback {id: id})
  RETURN n
UNION ALL
  MATCH (n:Item {id: id})
  RETURN n
}
WITH id, n
WHERE n.namespace <> $namespace
RETURN DISTINCT id

// name: transfer_conversations
// Conversations, made when missing, and their locks: one import or message at a time orders one.
CYPHER 25
UNWIND $names AS name
MERGE (c:Conversation {namespace: $namespace, name: name})
SET c.locked = true
REMOVE c.locked

// name: transfer_known_messages
// The messages that are there by their source_id.
CYPHER 25
UNWIND $source_ids AS source_id
MATCH (m:Message {namespace: $namespace, source_id: source_id})
RETURN m {.*, embedding: null, search_text: null, namespace_key: null} AS message

// name: transfer_messages
// New messages, one after the other, each put into its conversation's NEXT chain: right behind the
// last one that is not later, else in front of the first. Returns how many were made.
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MERGE (m:Message {namespace: $namespace, source_id: row.source_id})
  ON CREATE SET m += row.properties, m.importing = true
  WITH m, row
  FILTER m.id = row.id
  OPTIONAL CALL (row) {
    MATCH (p:Message)
    WHERE p.namespace = $namespace AND p.conversation = row.conversation
      AND p.said_at <= row.said_at AND p.recorded_at IS NOT NULL AND p.id <> row.id
      AND CASE WHEN p.said_at = row.said_at THEN p.recorded_at <= row.recorded_at ELSE true END
    RETURN p
    ORDER BY p.namespace DESC, p.conversation DESC, p.said_at DESC, p.recorded_at DESC
    LIMIT 1
  }
  OPTIONAL CALL (row, p) {
    WITH row, p
    FILTER p IS NULL
    MATCH (n:Message)
    WHERE n.namespace = $namespace AND n.conversation = row.conversation
      AND n.said_at >= row.said_at AND n.recorded_at IS NOT NULL AND n.id <> row.id
      AND NOT EXISTS { (n)<-[:NEXT]-() }
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
  RETURN m.id AS made
}
RETURN count(made) AS made

// name: transfer_known_facts
// Those of the facts that are there, and whether an import of them is still under way.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
RETURN f.id AS id, f.importing IS NOT NULL AS importing

// name: transfer_entities
// Entities, made when missing; a known one stays as it is.
CYPHER 25
UNWIND $entities AS entity
MERGE (e:Entity {namespace: $namespace, key: entity.key})
ON CREATE SET e += entity.properties

// name: transfer_facts
// New facts with their typed edges. A subject that was there before counts the change, so that a
// plan made without these facts is made again.
CYPHER 25
UNWIND $rows AS row
MATCH (s:Entity {namespace: $namespace, key: row.subject_key})
MATCH (o:Entity {namespace: $namespace, key: row.object_key})
CREATE (f:Fact)
SET f += row.properties, f.importing = true
CREATE (f)-[:SUBJECT]->(s)
CREATE (f)-[:OBJECT]->(o)
CREATE (s)-[r:$(row.type) {fact_id: f.id}]->(o)
SET r += f {.namespace, .predicate, .text, .belief, .tentative, .disputed, .negated,
  .temporal_status, .valid_from, .valid_until, .open, .recorded_at, .closed_at, .closed_reason}
FOREACH (known IN CASE WHEN s.id = row.subject_id THEN [] ELSE [s] END |
  SET known.version = known.version + 1)

// name: transfer_sources
// Which messages state a fact; a known fact gets its new sources.
CYPHER 25
UNWIND $rows AS row
MATCH (f:Fact {id: row.id})
WHERE f.namespace = $namespace
UNWIND row.sources AS source
MATCH (m:Message {id: source})
WHERE m.namespace = $namespace
MERGE (f)-[:STATED_IN]->(m)

// name: transfer_mentions
// What facts mention besides their subject and object, and for whom, if a merge put it there. One
// that is there stays as it is.
CYPHER 25
UNWIND $rows AS row
MATCH (f:Fact {id: row.fact})
WHERE f.namespace = $namespace
MATCH (e:Entity {namespace: $namespace, key: row.key})
MERGE (f)-[r:MENTIONS]->(e)
ON CREATE SET r.of = CASE WHEN size(row.of) > 0 THEN row.of END

// name: transfer_links
// Links of which one end is new. SUPERSEDES needs two new ends: a known fact may be open still.
CYPHER 25
UNWIND $links AS link
MATCH (a:Fact {id: link.source})
MATCH (b:Fact {id: link.target})
WHERE a.namespace = $namespace AND b.namespace = $namespace
  AND (a.importing IS NOT NULL OR b.importing IS NOT NULL)
  AND (link.type <> 'SUPERSEDES' OR (a.importing IS NOT NULL AND b.importing IS NOT NULL))
MERGE (a)-[r:$(link.type)]->(b)
ON CREATE SET r += link.properties

// name: transfer_decisions
// Decisions on new facts, or on none. What they moved of a known fact is not said: its belief and
// its end are its own.
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (known:Decision {id: row.properties.id})
WITH row, known
FILTER known IS NULL
OPTIONAL MATCH (a:Fact {id: row.fact_id})
WHERE a.namespace = $namespace
OPTIONAL MATCH (c:Fact {id: row.candidate_id})
WHERE c.namespace = $namespace
WITH row, a, c
FILTER (row.fact_id IS NULL AND row.candidate_id IS NULL)
  OR a.importing IS NOT NULL OR c.importing IS NOT NULL
CREATE (d:Decision)
SET d += row.properties
SET d += CASE WHEN a.importing IS NULL THEN {moves_end: false} ELSE row.closing END
FOREACH (fact IN CASE WHEN a IS NULL THEN [] ELSE [a] END |
  CREATE (d)-[r:ABOUT]->(fact)
  SET r += CASE WHEN fact.importing IS NULL THEN {} ELSE row.about END)
FOREACH (fact IN CASE WHEN c IS NULL THEN [] ELSE [c] END |
  CREATE (d)-[r:COMPARED_WITH]->(fact)
  SET r += CASE WHEN fact.importing IS NULL THEN {} ELSE row.compared END)

// name: transfer_requests
// Calls to deciders that an imported decision rests on, or none at all.
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (known:Request {id: row.properties.id})
WITH row, known
FILTER known IS NULL
WITH row, COLLECT {
  UNWIND row.decisions AS id
  MATCH (d:Decision {id: id})
  WHERE d.namespace = $namespace
  RETURN d
} AS decisions
FILTER size(decisions) > 0 OR row.orphan
CREATE (q:Request)
SET q += row.properties
FOREACH (d IN decisions | CREATE (d)-[:FROM]->(q))

// name: transfer_aliases
// Aliases whose key is free, each of its entity, and joined to the decisions of its merge.
CYPHER 25
UNWIND $rows AS row
MATCH (e:Entity {namespace: $namespace, key: row.entity})
OPTIONAL MATCH (taken:Entity {namespace: $namespace, key: row.key})
WITH row, e, taken
FILTER taken IS NULL
MERGE (a:Alias {namespace: $namespace, key: row.key})
ON CREATE SET a += row.properties, a.made = true
WITH row, e, a
FILTER a.made IS NOT NULL
REMOVE a.made
CREATE (a)-[:ALIAS_OF]->(e)
WITH row, a
UNWIND row.decisions AS id
MATCH (d:Decision {id: id})
WHERE d.namespace = $namespace
CREATE (d)-[:LEFT]->(a)

// name: transfer_feedback
// Labels on new facts, and on decisions that came with one.
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (n:Fact {id: row.fact_id})
  WHERE n.namespace = $namespace AND n.importing IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Decision {id: row.decision_id})
  WHERE n.namespace = $namespace AND (NOT EXISTS { (n)-[:ABOUT|COMPARED_WITH]->(:Fact) }
    OR EXISTS { MATCH (n)-[:ABOUT|COMPARED_WITH]->(f:Fact) WHERE f.importing IS NOT NULL })
  RETURN n
}
MERGE (w:Feedback {id: row.properties.id})
ON CREATE SET w += row.properties
MERGE (w)-[:ABOUT]->(n)

// name: transfer_items
// Items whose path and key are free, with the texts they are found by.
CYPHER 25
UNWIND $rows AS row
MERGE (i:Item {namespace: $namespace, folder: row.folder, key: row.key})
ON CREATE SET i += row.own, i.made = true
WITH row, i
FILTER i.made IS NOT NULL
REMOVE i.made
WITH row, i
UNWIND row.texts AS text
CREATE (i)-[:INDEXED_AS]->(t:ItemText)
SET t = text.properties, t.namespace = $namespace, t.folder = i.folder

// name: transfer_done
// Takes the mark from what is imported whole.
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Fact {id: id})
  RETURN n
UNION ALL
  MATCH (n:Message {id: id})
  RETURN n
}
WITH n
WHERE n.namespace = $namespace AND n.importing IS NOT NULL
REMOVE n.importing
