// What `engram bench` measures the product against: the same data written and found by one bare
// statement, without locks, questions or rules. Also how it removes what it wrote.

// name: bare_fact
// A message, a fact with its two entities, typed edge and source, and one decision.
CYPHER 25
CREATE (m:Message)
SET m += $message
MERGE (s:Entity {namespace: $namespace, key: $subject.key})
ON CREATE SET s += $subject
MERGE (o:Entity {namespace: $namespace, key: $object.key})
ON CREATE SET o += $object
CREATE (f:Fact)
SET f += $fact
CREATE (f)-[:SUBJECT]->(s)
CREATE (f)-[:OBJECT]->(o)
CREATE (f)-[:STATED_IN]->(m)
CREATE (s)-[r:$($type)]->(o)
SET r += $edge
CREATE (d:Decision)
SET d += $decision
CREATE (d)-[:ABOUT {belief_after: $fact.belief}]->(f)

// name: bare_hybrid
// Vector and full text in one statement: ids and scores, nothing else.
CYPHER 25
MATCH (f:Fact)
SEARCH f IN (VECTOR INDEX fact_vector FOR $embedding WHERE f.namespace = $namespace LIMIT $limit)
SCORE AS score
RETURN f.id AS id, score
UNION ALL
CALL db.index.fulltext.queryNodes('fact_text', $lucene, {limit: $limit}) YIELD node, score
RETURN node.id AS id, score

// name: bare_turns
// The same over messages: no turns around them, ids and scores and nothing else.
CYPHER 25
MATCH (m:Message)
SEARCH m IN (VECTOR INDEX message_vector FOR $embedding WHERE m.namespace = $namespace LIMIT $limit)
SCORE AS score
RETURN m.id AS id, score
UNION ALL
CALL db.index.fulltext.queryNodes('message_text', $lucene, {limit: $limit}) YIELD node, score
RETURN node.id AS id, score

// name: load_turns
// A conversation of messages in the order given, its name and namespace in each. Written at once:
// the product stores one message at a time.
CYPHER 25
MERGE (:Conversation {namespace: $namespace, name: $conversation})
WITH *
UNWIND $rows AS row
CREATE (m:Message {namespace: $namespace})
SET m += row
WITH collect(m) AS turns
UNWIND range(1, size(turns) - 1) AS at
WITH turns[at - 1] AS before, turns[at] AS after
CREATE (before)-[:NEXT]->(after)

// name: bare_message
// The one message that a bare bulk write states its facts in.
CYPHER 25
CREATE (m:Message)
SET m += $message

// name: bare_bulk
// Many facts: entities, facts, edges, sources and starting decisions by one UNWIND.
CYPHER 25
MATCH (m:Message {id: $message_id})
UNWIND $rows AS row
MERGE (s:Entity {namespace: $namespace, key: row.subject.key})
ON CREATE SET s += row.subject
MERGE (o:Entity {namespace: $namespace, key: row.object.key})
ON CREATE SET o += row.object
CREATE (f:Fact)
SET f += row.fact
CREATE (f)-[:SUBJECT]->(s)
CREATE (f)-[:OBJECT]->(o)
CREATE (f)-[:STATED_IN]->(m)
CREATE (s)-[r:$(row.type)]->(o)
SET r += row.edge
CREATE (d:Decision)
SET d += row.decision
CREATE (d)-[:ABOUT {belief_after: row.fact.belief}]->(f)

// name: most
// What the queries for people are asked about: who changed a value most often, the message of the
// last change and its speaker, and the person last in the alphabet.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.valid_from IS NOT NULL AND f.closed_reason IS NOT NULL
MATCH (f)-[:SUBJECT]->(s:Entity)
WITH s, f.predicate AS predicate, collect(f) AS ended
ORDER BY size(ended) DESC, s.name LIMIT 1
UNWIND ended AS f
MATCH (f)<-[:SUPERSEDES]-(newer:Fact)-[:STATED_IN]->(m:Message)
WITH s, predicate, m ORDER BY newer.valid_from DESC LIMIT 1
MATCH (other:Entity) WHERE other.namespace = $namespace AND other.name IS NOT NULL
WITH s, predicate, m, other ORDER BY other.name DESC LIMIT 1
RETURN s.name AS subject, s.name AS entity, predicate, m.source_id AS source_id,
  m.speaker AS speaker, other.name AS other

// name: remove
// Up to so many records of a namespace, with their relationships; how many went. Repeat until none.
CYPHER 25
CALL () {
  MATCH (n:Decision) WHERE n.namespace = $namespace AND n.decided_at IS NOT NULL
  RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Request) WHERE n.namespace = $namespace AND n.sent_at IS NOT NULL
  RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Fact) WHERE n.namespace = $namespace AND n.valid_from IS NOT NULL
  RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Message) WHERE n.namespace = $namespace AND n.status IS NOT NULL
  RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Conversation) WHERE n.namespace = $namespace AND n.name IS NOT NULL
  RETURN n LIMIT $limit
UNION ALL
  MATCH (n:Entity) WHERE n.namespace = $namespace AND n.key IS NOT NULL
  RETURN n LIMIT $limit
}
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS removed

// name: left
// Records that are left in a namespace.
CYPHER 25
MATCH (n:Fact|Message|Entity|Conversation|Decision|Request)
WHERE n.namespace = $namespace
RETURN count(n) AS left
