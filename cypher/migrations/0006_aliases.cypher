// A name that means another entity: unique in its namespace, and looked up at each write.
CYPHER 25 CREATE CONSTRAINT alias_key IF NOT EXISTS FOR (a:Alias) REQUIRE (a.namespace, a.key) IS UNIQUE;
