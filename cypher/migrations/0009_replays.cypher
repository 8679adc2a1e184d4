// What a replay was put in the place of: one step a namespace can be taken back.
CYPHER 25 CREATE CONSTRAINT replay_namespace IF NOT EXISTS FOR (r:Replay) REQUIRE r.namespace IS UNIQUE;
