// Every record is one node: its id, and for messages and entities the caller's own key, are unique.
// The keys that start with namespace also serve look-ups inside one namespace.
CYPHER 25 CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (f:Fact) REQUIRE f.id IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT message_id IF NOT EXISTS FOR (m:Message) REQUIRE m.id IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT message_source IF NOT EXISTS FOR (m:Message) REQUIRE (m.namespace, m.source_id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (e:Entity) REQUIRE e.id IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT entity_key IF NOT EXISTS FOR (e:Entity) REQUIRE (e.namespace, e.key) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT conversation_name IF NOT EXISTS FOR (c:Conversation) REQUIRE (c.namespace, c.name) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT decision_id IF NOT EXISTS FOR (d:Decision) REQUIRE d.id IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT request_id IF NOT EXISTS FOR (r:Request) REQUIRE r.id IS UNIQUE;
