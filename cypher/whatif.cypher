// Making a replay so, and taking that back. What it replaces is kept aside: nodes without their label
// (:Replaced, and what each was), which no other statement, index or constraint knows, held by one
// :Replay node. Keys and versions have other names there, so that a plan which waited for the lock of
// such a node is stale; relationships to records that stay are kept as lists of ids.

// name: hold_all
// Takes the write locks of all conversations, entities and facts, in the order of every writer.
CYPHER 25
CALL () {
  MATCH (c:Conversation)
  WHERE c.namespace = $namespace AND c.name IS NOT NULL
  WITH c ORDER BY c.name
  SET c.locked = true
  REMOVE c.locked
  RETURN count(*) AS conversations
}
CALL () {
  MATCH (e:Entity)
  WHERE e.namespace = $namespace AND e.key IS NOT NULL
  WITH e ORDER BY e.key
  SET e.locked = true
  REMOVE e.locked
  RETURN count(*) AS entities
}
CALL () {
  MATCH (f:Fact)
  WHERE f.namespace = $namespace AND f.predicate IS NOT NULL
  WITH f ORDER BY f.id
  SET f.locked = true
  REMOVE f.locked
  RETURN count(*) AS facts
}
RETURN conversations, entities, facts

// name: count_pending
// Messages that somebody is at work on, or was when it was killed.
CYPHER 25
MATCH (m:Message)
WHERE m.namespace = $namespace AND m.status = 'pending'
RETURN count(m) AS pending

// name: last_replay
// The step that can be taken back, locked.
CYPHER 25
MATCH (r:Replay {namespace: $namespace})
SET r.locked = true
REMOVE r.locked
RETURN r {.*} AS replay

// name: begin_replay
// A step, with nothing in it yet.
CYPHER 25
MERGE (r:Replay {namespace: $namespace})
SET r += $properties

// name: end_replay
// How the namespace stands after the step: as long as it stands so, it can be taken back.
CYPHER 25
MATCH (r:Replay {namespace: $namespace})
SET r.state = $state

// name: drop_replay
// A step that can be taken back no longer, and all it kept.
CYPHER 25
MATCH (r:Replay {namespace: $namespace})
OPTIONAL MATCH (r)-[:REPLACED]->(n:Replaced)
DETACH DELETE n, r

// name: drop_some_replaced
// Part of what a step kept, for large ones.
CYPHER 25
MATCH (:Replay {namespace: $namespace})-[:REPLACED]->(n:Replaced)
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone

// name: set_labels_aside
// Labels on what is replaced: those on what stays, under the same id, wait to be put there; others
// are kept aside with what they are about.
CYPHER 25
MATCH (r:Replay {namespace: $namespace})
CALL () {
  UNWIND $staying AS id
  MATCH (w:Feedback {id: id})-[about:ABOUT]->()
  WHERE w.namespace = $namespace
  DELETE about
}
CALL (r) {
  UNWIND $leaving AS id
  MATCH (w:Feedback {id: id})
  WHERE w.namespace = $namespace
  CREATE (r)-[:REPLACED]->(w)
  SET w:Replaced, w.was = 'Feedback'
  REMOVE w:Feedback
}

// name: set_facts_aside
// Facts without their typed edges, which can be made anew, and what states them as ids.
CYPHER 25
MATCH (r:Replay {namespace: $namespace})
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.predicate IS NOT NULL
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
MATCH (s)-[edge:$(CASE WHEN f.negated THEN 'NEGATED' ELSE toUpper(f.predicate) END)]->(o)
WHERE coalesce(edge.fact_id, '') = f.id  // not by an index: see candidates
WITH r, f, edge, COLLECT { MATCH (f)-[stated:STATED_IN]->(:Message) RETURN stated } AS sources
CREATE (r)-[:REPLACED]->(f)
SET f:Replaced, f.was = 'Fact', f.sources = [each IN sources | endNode(each).id],
  f.replaced_version = f.version, f.version = null
REMOVE f:Fact
DELETE edge
FOREACH (each IN sources | DELETE each)

// name: set_decisions_aside
// Decisions; the calls they rest on stay, and are kept as ids.
CYPHER 25
MATCH (r:Replay {namespace: $namespace})
MATCH (d:Decision)
WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL
WITH r, d, COLLECT { MATCH (d)-[rests:FROM]->(:Request) RETURN rests } AS calls
CREATE (r)-[:REPLACED]->(d)
SET d:Replaced, d.was = 'Decision', d.requests = [each IN calls | endNode(each).id]
REMOVE d:Decision
FOREACH (each IN calls | DELETE each)

// name: set_names_aside
// Entities and aliases.
CYPHER 25
MATCH (r:Replay {namespace: $namespace})
CALL (r) {
  MATCH (e:Entity)
  WHERE e.namespace = $namespace AND e.key IS NOT NULL
  CREATE (r)-[:REPLACED]->(e)
  SET e:Replaced, e.was = 'Entity', e.replaced_key = e.key, e.replaced_version = e.version,
    e.key = null, e.version = null
  REMOVE e:Entity
}
CALL (r) {
  MATCH (a:Alias)
  WHERE a.namespace = $namespace AND a.key IS NOT NULL
  CREATE (r)-[:REPLACED]->(a)
  SET a:Replaced, a.was = 'Alias', a.replaced_key = a.key, a.key = null
  REMOVE a:Alias
}

// name: adopt_entities
// Entities of the replay become the namespace's.
CYPHER 25
UNWIND $rows AS row
MATCH (e:Entity {namespace: $replayed, key: row.key})
SET e.namespace = $namespace, e.id = row.id, e.version = row.version, e.apart = row.apart

// name: adopt_aliases
// Aliases of the replay become the namespace's.
CYPHER 25
UNWIND $rows AS row
MATCH (a:Alias {namespace: $replayed, key: row.key})
SET a.namespace = $namespace, a.entity_id = row.entity_id, a.apart = row.apart

// name: adopt_facts
// Facts of the replay become the namespace's, with their typed edges, stated in its messages.
CYPHER 25
UNWIND $rows AS row
MATCH (f:Fact {id: row.copy})
WHERE f.namespace = $replayed
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
MATCH (s)-[edge:$(CASE WHEN f.negated THEN 'NEGATED' ELSE toUpper(f.predicate) END)]->(o)
WHERE coalesce(edge.fact_id, '') = f.id  // not by an index: see candidates
SET f.id = row.id, f.namespace = $namespace, f.namespace_key = $namespace_key,
  f.version = row.version, f.read_at = row.read_at,
  edge.fact_id = row.id, edge.namespace = $namespace
WITH f, row
CALL (f) {
  MATCH (f)-[told:STATED_IN]->()
  DELETE told
}
CALL (f, row) {
  UNWIND row.sources AS id
  MATCH (m:Message {id: id})
  WHERE m.namespace = $namespace
  CREATE (f)-[:STATED_IN]->(m)
}

// name: adopt_mentions
// For whom facts mention an entity, where a merge put it there.
CYPHER 25
UNWIND $rows AS row
MATCH (f:Fact {id: row.fact})-[r:MENTIONS]->(:Entity {namespace: $namespace, key: row.key})
WHERE f.namespace = $namespace
SET r.of = row.of

// name: adopt_links
// Links whose reason names a decision.
CYPHER 25
UNWIND $rows AS row
MATCH (a:Fact {id: row.source})-[r:$(row.type)]->(b:Fact {id: row.target})
WHERE a.namespace = $namespace AND b.namespace = $namespace
SET r.reason = row.reason

// name: adopt_decisions
// Decisions of the replay become the namespace's, and rest on the calls that were made.
CYPHER 25
UNWIND $rows AS row
MATCH (d:Decision {id: row.copy})
WHERE d.namespace = $replayed
SET d += row.more
SET d.id = row.id, d.namespace = $namespace, d.reason = row.reason
WITH d, row
CALL (d) {
  MATCH (d)-[rests:FROM]->()
  DELETE rests
}
CALL (d, row) {
  UNWIND row.requests AS id
  MATCH (q:Request {id: id})
  WHERE q.namespace = $namespace
  CREATE (d)-[:FROM]->(q)
}

// name: put_labels
// Labels on the facts and decisions that they are about.
CYPHER 25
UNWIND $rows AS row
MATCH (w:Feedback {id: row.label})
WHERE w.namespace = $namespace
CALL (row) {
  MATCH (n:Fact {id: row.fact})
  WHERE n.namespace = $namespace
  RETURN n
UNION ALL
  MATCH (n:Decision {id: row.decision})
  WHERE n.namespace = $namespace
  RETURN n
}
CREATE (w)-[:ABOUT]->(n)

// name: labels_there
// What each label is about.
CYPHER 25
MATCH (w:Feedback)
WHERE w.namespace = $namespace AND w.given_at IS NOT NULL
RETURN w.id AS label,
  head(COLLECT { MATCH (w)-[:ABOUT]->(f:Fact) RETURN f.id }) AS fact,
  head(COLLECT { MATCH (w)-[:ABOUT]->(d:Decision) RETURN d.id }) AS decision

// name: reads_there
// When facts were last read.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.predicate IS NOT NULL AND f.read_at IS NOT NULL
RETURN f.id AS id, f.read_at AS at

// name: count_replaced
// How much is set aside, of each sort.
CYPHER 25
OPTIONAL MATCH (:Replay {namespace: $namespace})-[:REPLACED]->(n:Replaced)
RETURN count(CASE n.was WHEN 'Fact' THEN 1 END) AS fact,
  count(CASE n.was WHEN 'Decision' THEN 1 END) AS decision,
  count(CASE n.was WHEN 'Entity' THEN 1 END) AS entity,
  count(CASE n.was WHEN 'Alias' THEN 1 END) AS alias

// name: remove_replayed
// What a replay put in the place of others; how much went, of each sort.
CYPHER 25
CALL () {
  MATCH (n:Fact)
  WHERE n.namespace = $namespace AND n.predicate IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Decision)
  WHERE n.namespace = $namespace AND n.decided_at IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Entity)
  WHERE n.namespace = $namespace AND n.key IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Alias)
  WHERE n.namespace = $namespace AND n.key IS NOT NULL
  RETURN n
}
WITH n, labels(n)[0] AS was
DETACH DELETE n
RETURN count(CASE was WHEN 'Fact' THEN 1 END) AS fact,
  count(CASE was WHEN 'Decision' THEN 1 END) AS decision,
  count(CASE was WHEN 'Entity' THEN 1 END) AS entity,
  count(CASE was WHEN 'Alias' THEN 1 END) AS alias

// name: restore_names
// Entities and aliases that were set aside.
CYPHER 25
MATCH (:Replay {namespace: $namespace})-[held:REPLACED]->(n:Replaced)
WHERE n.was IN ['Entity', 'Alias']
DELETE held
SET n:$(n.was), n.key = n.replaced_key
FOREACH (e IN CASE WHEN n.was = 'Entity' THEN [n] ELSE [] END | SET e.version = e.replaced_version)
SET n.replaced_key = null, n.replaced_version = null, n.was = null
REMOVE n:Replaced

// name: restore_facts
// Facts that were set aside, with typed edges and sources.
CYPHER 25
MATCH (:Replay {namespace: $namespace})-[held:REPLACED]->(f:Replaced)
WHERE f.was = 'Fact'
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
DELETE held
SET f:Fact, f.version = f.replaced_version
REMOVE f:Replaced
CREATE (s)-[r:$(CASE WHEN f.negated THEN 'NEGATED' ELSE toUpper(f.predicate) END)
  {fact_id: f.id}]->(o)
SET r += f {.namespace, .predicate, .text, .belief, .tentative, .disputed, .negated,
  .temporal_status, .valid_from, .valid_until, .open, .recorded_at, .closed_at, .closed_reason}
WITH f, f.sources AS sources
SET f.was = null, f.sources = null, f.replaced_version = null
WITH f, sources
UNWIND sources AS id
MATCH (m:Message {id: id})
WHERE m.namespace = $namespace
CREATE (f)-[:STATED_IN]->(m)

// name: restore_decisions
// Decisions that were set aside, with the calls they rest on.
CYPHER 25
MATCH (:Replay {namespace: $namespace})-[held:REPLACED]->(d:Replaced)
WHERE d.was = 'Decision'
DELETE held
SET d:Decision
REMOVE d:Replaced
WITH d, d.requests AS requests
SET d.was = null, d.requests = null
WITH d, requests
UNWIND requests AS id
MATCH (q:Request {id: id})
WHERE q.namespace = $namespace
CREATE (d)-[:FROM]->(q)

// name: restore_labels
// Labels that were set aside.
CYPHER 25
MATCH (:Replay {namespace: $namespace})-[held:REPLACED]->(w:Replaced)
WHERE w.was = 'Feedback'
DELETE held
SET w:Feedback, w.was = null
REMOVE w:Replaced

// name: restore_reads
// When facts were last read, also while they were set aside.
CYPHER 25
UNWIND $reads AS read
MATCH (f:Fact {id: read.id})
WHERE f.namespace = $namespace
SET f.read_at = read.at

// name: replays_left
// Namespaces of replays under way or broken off: those that begin like the given one.
CYPHER 25
CALL () {
  MATCH (n:Message)
  WHERE n.namespace STARTS WITH $namespace AND n.source_id IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Entity)
  WHERE n.namespace STARTS WITH $namespace AND n.key IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Request)
  WHERE n.namespace STARTS WITH $namespace AND n.sent_at IS NOT NULL
  RETURN n
}
RETURN DISTINCT n.namespace AS name
