// Moving: what other memories keep in Neo4j, read page by page. $namespace is what they part it by.

// name: graphiti_episodes
// Episodes of a group of graphiti after an id.
CYPHER 25
MATCH (n:Episodic)
WHERE n.group_id = $namespace AND n.uuid > $after
RETURN n {.uuid, .name, .content, .source, .source_description, .valid_at, .created_at} AS episode
ORDER BY n.uuid
LIMIT $limit

// name: graphiti_facts
// Facts of a group of graphiti after an id, and how many values of its own types each has.
CYPHER 25
MATCH (a:Entity)-[r:RELATES_TO]->(b:Entity)
WHERE r.group_id = $namespace AND r.uuid > $after
RETURN r {.uuid, .name, .fact, .episodes, .created_at, .expired_at, .valid_at, .invalid_at,
    .reference_time} AS fact,
  a.name AS subject, b.name AS object,
  size([key IN keys(r) WHERE NOT key IN ['uuid', 'name', 'fact', 'fact_embedding', 'episodes',
    'group_id', 'created_at', 'expired_at', 'valid_at', 'invalid_at', 'reference_time',
    'source_node_uuid', 'target_node_uuid']]) AS attributes
ORDER BY r.uuid
LIMIT $limit

// name: graphiti_rest
// How much a group of graphiti has of what is not moved.
CYPHER 25
RETURN
  COUNT { MATCH (n:Entity) WHERE n.group_id = $namespace AND n.summary <> '' } AS summaries,
  COUNT { MATCH (n:Entity) WHERE n.group_id = $namespace AND NOT (n)-[:RELATES_TO]-() } AS entities,
  COUNT { MATCH (n:Community) WHERE n.group_id = $namespace } AS communities,
  COUNT { MATCH (n:Saga) WHERE n.group_id = $namespace } AS sagas

// name: graphiti_groups
// Some groups of graphiti, for whoever names one that is not there.
CYPHER 25
MATCH (n:Episodic|Entity)
WHERE n.group_id IS NOT NULL
RETURN DISTINCT n.group_id AS name
ORDER BY name
LIMIT 20

// name: agent_memory_messages
// Messages of neo4j-agent-memory after an id: of one user, or of all. Ours have a namespace.
CYPHER 25
MATCH (c:Conversation)-[:HAS_MESSAGE]->(m:Message)
WHERE m.namespace IS NULL AND m.id > $after
  AND ($namespace IS NULL OR c.user_identifier = $namespace)
RETURN m {.id, .role, .content, .timestamp, .metadata} AS message,
  c.session_id AS session, c.user_identifier AS user
ORDER BY m.id
LIMIT $limit

// name: agent_memory_relations
// Relationships between entities of neo4j-agent-memory after an id. Of one user: those that a
// message of theirs states.
CYPHER 25
MATCH (a:Entity)-[r:RELATED_TO]->(b:Entity)
WHERE r.fact_id IS NULL AND r.id > $after
  AND ($namespace IS NULL OR EXISTS {
    MATCH (c:Conversation)-[:HAS_MESSAGE]->(m:Message)
    WHERE c.user_identifier = $namespace AND m.id IN r.source_message_ids
  })
RETURN r {.id, .type, .relation_type, .description, .confidence, .valid_from, .valid_until,
    .created_at, .source_message_ids, .evidence} AS relation,
  a.name AS subject, coalesce(a.aliases, []) AS subject_aliases,
  b.name AS object, coalesce(b.aliases, []) AS object_aliases
ORDER BY r.id
LIMIT $limit

// name: agent_memory_facts
// Facts of neo4j-agent-memory after an id. They are nobody's: asked for one user there are none.
CYPHER 25
MATCH (f:Fact)
WHERE $namespace IS NULL AND f.namespace IS NULL AND f.id > $after AND f.created_at IS NOT NULL
RETURN f {.id, .subject, .predicate, .object, .confidence, .valid_from, .valid_until, .created_at,
    .metadata} AS fact
ORDER BY f.id
LIMIT $limit

// name: agent_memory_preferences
// Preferences of neo4j-agent-memory after an id, each with its user, and what superseded it.
CYPHER 25
MATCH (p:Preference)
WHERE p.id > $after
  AND ($namespace IS NULL OR EXISTS { (:User {identifier: $namespace})-[:HAS_PREFERENCE]->(p) })
WITH p ORDER BY p.id LIMIT $limit
RETURN p {.id, .category, .preference, .context, .confidence, .valid_from, .valid_until,
    .created_at, .metadata} AS preference,
  COLLECT { MATCH (u:User)-[:HAS_PREFERENCE]->(p)
    WHERE $namespace IS NULL OR u.identifier = $namespace
    RETURN u.identifier ORDER BY u.identifier } AS users,
  COLLECT { MATCH (old:Preference)-[:SUPERSEDED_BY]->(p) RETURN old.id ORDER BY old.id } AS older,
  EXISTS { (p)-[:SUPERSEDED_BY]->(:Preference) } AS superseded
ORDER BY p.id

// name: agent_memory_rest
// How much neo4j-agent-memory has of what is not moved; of one user, what is not known to be theirs.
CYPHER 25
RETURN
  CASE WHEN $namespace IS NULL THEN 0
    ELSE COUNT { MATCH (f:Fact) WHERE f.namespace IS NULL AND f.created_at IS NOT NULL }
    END AS facts_of_nobody,
  COUNT { MATCH (e:Entity) WHERE e.namespace IS NULL AND e.type IS NOT NULL
    AND NOT (e)-[:RELATED_TO]-() } AS entities,
  COUNT { MATCH (t:ReasoningTrace)
    WHERE $namespace IS NULL OR t.user_identifier = $namespace } AS reasoning_traces

// name: agent_memory_users
// Some users of neo4j-agent-memory, for whoever names one that is not there.
CYPHER 25
MATCH (u:User)
WHERE u.identifier IS NOT NULL
RETURN DISTINCT u.identifier AS name
ORDER BY name
LIMIT 20

// name: moved_ends
// Those of the facts that are open here.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace AND f.open
RETURN f.id AS id

// name: messages_stating
// The messages that state each of the given facts, as they were said.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
MATCH (f)-[:STATED_IN]->(m:Message)
RETURN f.id AS id,
  m {.*, embedding: null, search_text: null, namespace_key: null} AS message
ORDER BY f.id, m.said_at, m.recorded_at

// name: moved_messages
// Those of the messages that are here.
CYPHER 25
UNWIND $ids AS id
MATCH (m:Message {id: id})
WHERE m.namespace = $namespace
RETURN m.id AS id
