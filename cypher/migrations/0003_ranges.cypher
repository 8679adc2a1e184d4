// Range indexes: a namespace together with time or state, so that every scan stays in its tenant.
CYPHER 25 CREATE INDEX fact_recorded IF NOT EXISTS FOR (f:Fact) ON (f.namespace, f.recorded_at, f.id);
CYPHER 25 CREATE INDEX fact_valid IF NOT EXISTS FOR (f:Fact) ON (f.namespace, f.valid_from);
CYPHER 25 CREATE INDEX fact_predicate IF NOT EXISTS FOR (f:Fact) ON (f.namespace, f.predicate);
CYPHER 25 CREATE INDEX entity_name IF NOT EXISTS FOR (e:Entity) ON (e.namespace, e.name);
CYPHER 25 CREATE INDEX entity_any_name IF NOT EXISTS FOR (e:Entity) ON (e.name);
CYPHER 25 CREATE INDEX message_said IF NOT EXISTS FOR (m:Message) ON (m.namespace, m.conversation, m.said_at, m.recorded_at);
CYPHER 25 CREATE INDEX message_status IF NOT EXISTS FOR (m:Message) ON (m.namespace, m.status);
CYPHER 25 CREATE INDEX decision_decided IF NOT EXISTS FOR (d:Decision) ON (d.namespace, d.decided_at);
CYPHER 25 CREATE INDEX request_sent IF NOT EXISTS FOR (r:Request) ON (r.namespace, r.sent_at);
