// What people say of facts and decisions: each label is one node, read in the order they were given.
CYPHER 25 CREATE CONSTRAINT feedback_id IF NOT EXISTS FOR (w:Feedback) REQUIRE w.id IS UNIQUE;
CYPHER 25 CREATE INDEX feedback_given IF NOT EXISTS FOR (w:Feedback) ON (w.namespace, w.given_at);
