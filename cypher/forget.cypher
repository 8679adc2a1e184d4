// Forgetting: what is asked for, what touches it, and its removal. The order of locks is the write
// path's: conversations, entities, facts, messages.

// name: message_named
// A message by its id or, failing that, by the caller's own.
CYPHER 25
CALL () {
  MATCH (m:Message {id: $id})
  WHERE m.namespace = $namespace
  RETURN m.id AS id, 0 AS rank
UNION ALL
  MATCH (m:Message {namespace: $namespace, source_id: $id})
  RETURN m.id AS id, 1 AS rank
}
RETURN id
ORDER BY rank
LIMIT 1

// name: facts_resting_on
// Facts that a message states and no other one.
CYPHER 25
MATCH (m:Message {id: $id})<-[:STATED_IN]-(f:Fact)
WHERE m.namespace = $namespace
  AND NOT EXISTS { MATCH (f)-[:STATED_IN]->(other:Message) WHERE other <> m }
RETURN f.id AS id

// name: facts_around
// An entity, by its own key or an alias's, and the facts it is the subject or the object of.
CYPHER 25
WITH coalesce(head(COLLECT {
  MATCH (:Alias {namespace: $namespace, key: $key})-[:ALIAS_OF]->(e:Entity)
  RETURN e.key
}), $key) AS key
MATCH (e:Entity {namespace: $namespace, key: key})
RETURN e.key AS key,
  COLLECT { MATCH (e)<-[:SUBJECT|OBJECT]-(f:Fact) RETURN DISTINCT f.id } AS ids

// name: same_facts
// Facts linked as the same as one of the given ones, and those themselves.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
CALL (f) {
  RETURN f.id AS found
UNION
  MATCH (f)-[:SAME_AS]-(other:Fact)
  WHERE other.namespace = $namespace
  RETURN other.id AS found
}
RETURN DISTINCT found AS id

// name: facts_leaving
// The facts that go, with the keys of their entities.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
RETURN f.id AS id, f.recorded_at AS recorded_at,
  COLLECT {
    MATCH (f)-[:SUBJECT|OBJECT|MENTIONS]->(e:Entity)
    WHERE e.key IS NOT NULL  // one that another client is just setting aside
    RETURN DISTINCT e.key
  } AS keys

// name: links_leaving
// The chains and disputes they are part of.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})-[r:SUPERSEDES|CONTRADICTS]-(:Fact)
WHERE f.namespace = $namespace
WITH DISTINCT r
RETURN {type: type(r), source: startNode(r).id, target: endNode(r).id, p: r.p, reason: r.reason,
  decided_at: r.decided_at} AS link

// name: decisions_leaving
// The decisions on them, those that stand for a draft of a message that goes, and those that merged
// an entity which goes; the facts and requests of each.
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (f:Fact {id: id})<-[:ABOUT|COMPARED_WITH]-(d:Decision)
  WHERE f.namespace = $namespace
  RETURN d
UNION
  UNWIND $drafts AS id
  MATCH (d:Decision {id: id})
  WHERE d.namespace = $namespace
  RETURN d
UNION
  UNWIND $entities AS key
  MATCH (e:Entity {namespace: $namespace, key: key})<-[:ALIAS_OF]-(:Alias)<-[:LEFT]-(d:Decision)
  RETURN d
UNION
  UNWIND $entities AS key
  MATCH (e:Entity {namespace: $namespace, key: key})<-[:MENTIONS]-(:Fact)<-[:ABOUT]-(d:Decision)
  WHERE d.kept_id = e.id OR d.gone_id = e.id
  RETURN d
}
RETURN d.id AS id,
  COLLECT { MATCH (d)-[:ABOUT|COMPARED_WITH]->(f:Fact) RETURN f.id } AS facts,
  COLLECT { MATCH (d)-[:FROM]->(q:Request) RETURN q.id } AS requests

// name: facts_beside
// Facts that stay and had to do with those that go, with every decision that moved them. A quote
// goes with the first message of its fact, unless another one has the same words.
CYPHER 25
UNWIND $beside AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
RETURN f.id AS id, f.disputed AS disputed,
  head(COLLECT { MATCH (f)-[:SUBJECT]->(e:Entity) RETURN e.key }) AS subject_key,
  EXISTS { MATCH (f)-[:CONTRADICTS]-(other:Fact) WHERE NOT other.id IN $ids } AS contradicted,
  f.source_quote IS NOT NULL AND f.id IN $drafts AND NOT EXISTS {
    MATCH (f)-[:STATED_IN]->(m:Message)
    WHERE NOT m.id IN $messages AND m.text CONTAINS f.source_quote
  } AS quote_goes,
  COLLECT {
    MATCH (f)<-[r:ABOUT|COMPARED_WITH]-(d:Decision)
    WITH r, d, coalesce(d.moves_end, false) AND type(r) = 'ABOUT' AS moves_end
    WHERE r.belief_after IS NOT NULL OR moves_end OR d.question = 'dispute'
    RETURN {decision: d.id, decided_at: d.decided_at, position: coalesce(d.position, 0),
      belief: r.belief_after, moves_end: moves_end, disputes: d.question = 'dispute',
      valid_until_before: d.valid_until_before, valid_until_after: d.valid_until_after,
      reason_before: d.reason_before, reason_after: d.reason_after}
  } AS traces

// name: messages_around
// Messages that state the facts that go, and those asked for.
CYPHER 25
CALL () {
  UNWIND $ids AS id
  MATCH (f:Fact {id: id})-[:STATED_IN]->(m:Message)
  WHERE f.namespace = $namespace
  RETURN m
UNION
  UNWIND $messages AS id
  MATCH (m:Message {id: id})
  WHERE m.namespace = $namespace
  RETURN m
}
RETURN m.id AS id, m.conversation AS conversation, m.status = 'done' AS done, m.drafts AS drafts,
  EXISTS { MATCH (m)<-[:STATED_IN]-(f:Fact) WHERE NOT f.id IN $ids } AS states_more,
  COLLECT { MATCH (m)<-[:STATED_IN]-(f:Fact) WHERE NOT f.id IN $ids AND m.id IN $messages
    RETURN f.id } AS stays,
  COLLECT { MATCH (before:Message)-[:NEXT]->(m) RETURN before.id } AS before,
  COLLECT { MATCH (m)-[:NEXT]->(after:Message) RETURN after.id } AS after

// name: requests_around
// The requests that decisions which go rest on, and those that had a fact which goes for a candidate:
// they came after it.
CYPHER 25
CALL () {
  UNWIND $requests AS id
  MATCH (q:Request {id: id})
  WHERE q.namespace = $namespace
  RETURN q
UNION
  MATCH (q:Request)
  WHERE q.namespace = $namespace AND q.sent_at >= $since
    AND any(id IN q.candidates WHERE id IN $ids)
  RETURN q
}
RETURN q.id AS id, q.candidates AS candidates, q.answers AS answers,
  q.id IN $requests AS rested_on,
  EXISTS { MATCH (q)<-[:FROM]-(d:Decision) WHERE NOT d.id IN $decisions } AS kept

// name: entities_around
// Entities, and whether a fact that stays is about or mentions them.
CYPHER 25
UNWIND $keys AS key
MATCH (e:Entity {namespace: $namespace, key: key})
RETURN e.key AS key, EXISTS {
  MATCH (e)<-[:SUBJECT|OBJECT|MENTIONS]-(f:Fact)
  WHERE NOT f.id IN $ids
} AS used

// name: lock_conversations
// Takes the write locks of conversations, in the given (sorted) order.
CYPHER 25
UNWIND $names AS name
MATCH (c:Conversation {namespace: $namespace, name: name})
SET c.locked = true
REMOVE c.locked

// name: lock_messages
// Takes the write locks of messages, in the given (sorted) order.
CYPHER 25
UNWIND $ids AS id
MATCH (m:Message {id: id})
WHERE m.namespace = $namespace
SET m.locked = true
REMOVE m.locked

// name: close_chains
// SUPERSEDES past the facts that go. One that is there stays as it is.
CYPHER 25
UNWIND $links AS link
MATCH (newer:Fact {id: link.source})
MATCH (older:Fact {id: link.target})
WHERE newer.namespace = $namespace AND older.namespace = $namespace
MERGE (newer)-[r:SUPERSEDES]->(older)
ON CREATE SET r += link.properties

// name: erase_facts
// Facts with their typed edges, their labels and everything that hangs on them.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
OPTIONAL MATCH (s)-[r:$(CASE WHEN f.negated THEN 'NEGATED' ELSE toUpper(f.predicate) END)]->(o)
WHERE coalesce(r.fact_id, '') = f.id  // not by an index: see candidates
OPTIONAL MATCH (f)<-[:ABOUT]-(w:Feedback)
DELETE r
DETACH DELETE f, w

// name: erase_decisions
// Decisions with their labels.
CYPHER 25
UNWIND $ids AS id
MATCH (d:Decision {id: id})
WHERE d.namespace = $namespace
OPTIONAL MATCH (d)<-[:ABOUT]-(w:Feedback)
DETACH DELETE d, w

// name: erase_requests
// Requests.
CYPHER 25
UNWIND $ids AS id
MATCH (q:Request {id: id})
WHERE q.namespace = $namespace
DETACH DELETE q

// name: erase_feedback
// Labels.
CYPHER 25
UNWIND $ids AS id
MATCH (w:Feedback {id: id})
WHERE w.namespace = $namespace
DETACH DELETE w

// name: erase_items
// Items with their texts.
CYPHER 25
UNWIND $ids AS id
MATCH (i:Item {id: id})
WHERE i.namespace = $namespace
OPTIONAL MATCH (i)-[:INDEXED_AS]->(t:ItemText)
DETACH DELETE t, i

// name: rewrite_requests
// Requests without what is forgotten of them.
CYPHER 25
UNWIND $requests AS request
MATCH (q:Request {id: request.id})
WHERE q.namespace = $namespace
SET q.candidates = request.candidates, q.answers = request.answers

// name: rewrite_drafts
// Messages without the drafts that are forgotten of them.
CYPHER 25
UNWIND $messages AS message
MATCH (m:Message {id: message.id})
WHERE m.namespace = $namespace
SET m.drafts = message.drafts

// name: close_turns
// NEXT past the messages that go.
CYPHER 25
UNWIND $turns AS turn
MATCH (before:Message {id: turn[0]})
MATCH (after:Message {id: turn[1]})
WHERE before.namespace = $namespace AND after.namespace = $namespace
MERGE (before)-[:NEXT]->(after)

// name: erase_messages
// Messages.
CYPHER 25
UNWIND $ids AS id
MATCH (m:Message {id: id})
WHERE m.namespace = $namespace
DETACH DELETE m

// name: erase_conversations
// Of the given conversations those without a message.
CYPHER 25
UNWIND $names AS name
MATCH (c:Conversation {namespace: $namespace, name: name})
WHERE NOT EXISTS {
  MATCH (m:Message)
  WHERE m.namespace = $namespace AND m.conversation = name AND m.said_at IS NOT NULL
    AND m.recorded_at IS NOT NULL  // every part of the index
}
DELETE c

// name: erase_entities
// Entities with their aliases.
CYPHER 25
UNWIND $keys AS key
MATCH (e:Entity {namespace: $namespace, key: key})
OPTIONAL MATCH (a:Alias)-[:ALIAS_OF]->(e)
DETACH DELETE a, e

// name: some_facts
// The next facts of a namespace that is emptied.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.predicate IS NOT NULL
RETURN f.id AS id
LIMIT $limit

// name: some_decisions
// Its next decisions that are on no fact.
CYPHER 25
MATCH (d:Decision)
WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL
  AND NOT EXISTS { (d)-[:ABOUT|COMPARED_WITH]->(:Fact) }
RETURN d.id AS id
LIMIT $limit

// name: some_requests
// Its next requests that no decision rests on.
CYPHER 25
MATCH (q:Request)
WHERE q.namespace = $namespace AND q.sent_at IS NOT NULL AND NOT EXISTS { (q)<-[:FROM]-() }
RETURN q.id AS id
LIMIT $limit

// name: some_entities
// Its next entities that no fact is about or mentions.
CYPHER 25
MATCH (e:Entity)
WHERE e.namespace = $namespace AND e.key IS NOT NULL
  AND NOT EXISTS { (e)<-[:SUBJECT|OBJECT|MENTIONS]-() }
RETURN e.key AS id
LIMIT $limit

// name: some_feedback
// Its next labels that are on nothing: given while what they are about went.
CYPHER 25
MATCH (w:Feedback)
WHERE w.namespace = $namespace AND w.given_at IS NOT NULL AND NOT EXISTS { (w)-[:ABOUT]->() }
RETURN w.id AS id
LIMIT $limit

// name: some_items
// Its next items.
CYPHER 25
MATCH (i:Item)
WHERE i.namespace = $namespace AND i.folder IS NOT NULL AND i.key IS NOT NULL
RETURN i.id AS id
LIMIT $limit

// name: some_messages
// Its next messages that state no fact, and their conversations.
CYPHER 25
MATCH (m:Message)
WHERE m.namespace = $namespace AND m.status IS NOT NULL AND NOT EXISTS { (m)<-[:STATED_IN]-() }
WITH m
LIMIT $limit
RETURN m.id AS id, m.conversation AS conversation
