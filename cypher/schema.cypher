// Statements about the schema itself: what is recorded, what the server is, and the vector indexes.

// name: server_version
// The version and edition of the server.
CYPHER 25
CALL dbms.components() YIELD name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition

// name: lock_schema
// One migrator at a time; returns what is recorded. The node is a singleton by its constraint.
CYPHER 25
MERGE (s:EngramSchema {id: 'schema'})
ON CREATE SET s.version = 0, s.created_at = datetime.realtime('UTC')
SET s.locked = true
REMOVE s.locked
RETURN s.version AS version, s.embedder AS embedder, s.dimension AS dimension, s.place AS place,
  s.next_embedder AS next_embedder, s.next_dimension AS next_dimension, s.next_place AS next_place,
  s.leftovers AS leftovers

// name: read_schema
// The recorded schema version, what made the stored vectors, and what is to make them next.
CYPHER 25
MATCH (s:EngramSchema {id: 'schema'})
RETURN s.version AS version, s.embedder AS embedder, s.dimension AS dimension, s.place AS place,
  s.next_embedder AS next_embedder, s.next_dimension AS next_dimension, s.next_place AS next_place,
  s.leftovers AS leftovers

// name: singleton_schema
// The constraint that keeps EngramSchema single; created before anything else.
CYPHER 25
CREATE CONSTRAINT engram_schema IF NOT EXISTS FOR (s:EngramSchema) REQUIRE s.id IS UNIQUE

// name: record_version
// Notes that a migration was applied.
CYPHER 25
MERGE (s:EngramSchema {id: 'schema'})
SET s.version = $version, s.migrated_at = datetime.realtime('UTC')

// name: record_embedder
// Notes which embedder the vector indexes were made for.
CYPHER 25
MATCH (s:EngramSchema {id: 'schema'})
SET s.embedder = $embedder, s.dimension = $dimension

// name: create_fact_vectors
// Vector index on facts; filters inside the index, exact (quantization lowers recall to .81).
CYPHER 25
CREATE VECTOR INDEX fact_vector IF NOT EXISTS FOR (f:Fact) ON f.embedding
WITH [f.namespace, f.open, f.candidate, f.valid_from, f.valid_until]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}}

// name: create_message_vectors
// Vector index on messages (turns); filters inside the index.
CYPHER 25
CREATE VECTOR INDEX message_vector IF NOT EXISTS FOR (m:Message) ON m.embedding
WITH [m.namespace, m.said_at]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}}

// name: create_item_vectors
// Vector index on the texts of items; filters inside the index.
CYPHER 25
CREATE VECTOR INDEX item_vector IF NOT EXISTS FOR (t:ItemText) ON t.embedding
WITH [t.namespace, t.folder]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension,
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}}

// name: drop_fact_vectors
// Before the index is made anew in another dimension (only while no vector is stored).
CYPHER 25
DROP INDEX fact_vector IF EXISTS

// name: drop_message_vectors
// Before the index is made anew in another dimension (only while no vector is stored).
CYPHER 25
DROP INDEX message_vector IF EXISTS

// name: drop_item_vectors
// Before the index is made anew in another dimension (only while no vector is stored).
CYPHER 25
DROP INDEX item_vector IF EXISTS

// name: vector_dimensions
// The dimension of each of our vector indexes.
CYPHER 25
SHOW VECTOR INDEXES YIELD name, options
WHERE name IN ['fact_vector', 'message_vector', 'item_vector']
RETURN name, options.indexConfig['vector.dimensions'] AS dimension

// name: any_vector
// Whether any vector is stored (any namespace: the index is shared).
CYPHER 25
RETURN EXISTS { MATCH (f:Fact) WHERE f.embedding IS NOT NULL }
    OR EXISTS { MATCH (m:Message) WHERE m.embedding IS NOT NULL }
    OR EXISTS { MATCH (t:ItemText) WHERE t.embedding IS NOT NULL } AS found

// name: await_indexes
// Returns when every index is ONLINE, or fails after the given seconds.
CYPHER 25
CALL db.awaitIndexes($seconds)

// name: index_states
// Those of the named indexes that are not ONLINE.
CYPHER 25
SHOW INDEXES YIELD name, state
WHERE state <> 'ONLINE' AND name IN $names
RETURN name, state
