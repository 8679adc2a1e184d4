// Making all vectors anew for another embedder. The names of properties and indexes are those of the
// place that is asked for (engram_graph/graph/places.py). Vectors are shared by all namespaces.

// name: plan_reembed
// Notes who is to make the vectors next, and where; from here on there may be leftovers.
CYPHER 25
MATCH (s:EngramSchema {id: 'schema'})
SET s.next_embedder = $embedder, s.next_dimension = $dimension, s.next_place = $place,
  s.leftovers = true

// name: drop_reembed_plan
// What is current stays current; what another plan began is left over.
CYPHER 25
MATCH (s:EngramSchema {id: 'schema'})
SET s.leftovers = true
REMOVE s.next_embedder, s.next_dimension, s.next_place

// name: switch_vectors
// The one step that makes the new place the current one.
CYPHER 25
MATCH (s:EngramSchema {id: 'schema'})
SET s.embedder = s.next_embedder, s.dimension = s.next_dimension, s.place = s.next_place
REMOVE s.next_embedder, s.next_dimension, s.next_place

// name: end_reembed
// Nothing is left over any more; unless another plan was made meanwhile.
CYPHER 25
MATCH (s:EngramSchema {id: 'schema'})
WHERE s.place = $place OR ($place = 1 AND s.place IS NULL)
WITH s WHERE s.next_place IS NULL
REMOVE s.leftovers

// name: count_vectors
// How many facts, messages and texts of items there are, and how many of them have a vector.
CYPHER 25
CALL () {
  MATCH (f:Fact)
  WHERE f.text IS NOT NULL
  RETURN count(f) AS facts, count(f.embedding) AS fact_vectors
}
CALL () {
  MATCH (m:Message)
  WHERE m.text IS NOT NULL
  RETURN count(m) AS messages, count(m.embedding) AS message_vectors
}
CALL () {
  MATCH (t:ItemText)
  WHERE t.text IS NOT NULL
  RETURN count(t) AS items, count(t.embedding) AS item_vectors
}
RETURN facts, fact_vectors, messages, message_vectors, items, item_vectors

// name: facts_without_vector
// The next facts without a vector, by id.
CYPHER 25
MATCH (n:Fact)
WHERE n.id > $after AND n.embedding IS NULL AND n.text IS NOT NULL
RETURN n.id AS id, null AS speaker, n.text AS text
ORDER BY n.id
LIMIT $limit

// name: messages_without_vector
// The next messages without a vector, by id.
CYPHER 25
MATCH (n:Message)
WHERE n.id > $after AND n.embedding IS NULL AND n.text IS NOT NULL
RETURN n.id AS id, n.speaker AS speaker, n.text AS text
ORDER BY n.id
LIMIT $limit

// name: items_without_vector
// The next texts of items without a vector, by id.
CYPHER 25
MATCH (n:ItemText)
WHERE n.id > $after AND n.embedding IS NULL AND n.text IS NOT NULL
RETURN n.id AS id, null AS speaker, n.text AS text
ORDER BY n.id
LIMIT $limit

// name: set_fact_vectors
// Vectors of facts that still say what was embedded.
CYPHER 25
UNWIND $rows AS row
MATCH (n:Fact {id: row.id})
WHERE n.text = row.text AND n.embedding IS NULL
SET n.embedding = row.vector
RETURN count(n) AS written

// name: set_message_vectors
// Vectors of messages that still say what was embedded.
CYPHER 25
UNWIND $rows AS row
MATCH (n:Message {id: row.id})
WHERE n.text = row.text AND n.embedding IS NULL
SET n.embedding = row.vector
RETURN count(n) AS written

// name: set_item_vectors
// Vectors of texts of items; a text never changes.
CYPHER 25
UNWIND $rows AS row
MATCH (n:ItemText {id: row.id})
WHERE n.text = row.text AND n.embedding IS NULL
SET n.embedding = row.vector
RETURN count(n) AS written

// name: clean_facts
// Takes the vectors of other places off the next facts, by id.
CYPHER 25
MATCH (n:Fact)
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
FOREACH (other IN [each IN keys(n) WHERE each STARTS WITH 'embed' AND each <> 'embedding'] |
  REMOVE n[other])
RETURN max(n.id) AS last

// name: clean_messages
// Takes the vectors of other places off the next messages, by id.
CYPHER 25
MATCH (n:Message)
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
FOREACH (other IN [each IN keys(n) WHERE each STARTS WITH 'embed' AND each <> 'embedding'] |
  REMOVE n[other])
RETURN max(n.id) AS last

// name: clean_items
// Takes the vectors of other places off the next texts of items, by id.
CYPHER 25
MATCH (n:ItemText)
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
FOREACH (other IN [each IN keys(n) WHERE each STARTS WITH 'embed' AND each <> 'embedding'] |
  REMOVE n[other])
RETURN max(n.id) AS last

// name: vector_indexes
// The names of all vector indexes on facts, messages or texts of items, ours among them.
CYPHER 25
SHOW VECTOR INDEXES YIELD name, labelsOrTypes
WHERE labelsOrTypes IN [['Fact'], ['Message'], ['ItemText']]
RETURN name
