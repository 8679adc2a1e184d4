// Items that an application keeps under a path and a key, and the texts they are found by.
CYPHER 25 CREATE CONSTRAINT item_id IF NOT EXISTS FOR (i:Item) REQUIRE i.id IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT item_key IF NOT EXISTS FOR (i:Item) REQUIRE (i.namespace, i.folder, i.key) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT item_text_id IF NOT EXISTS FOR (t:ItemText) REQUIRE t.id IS UNIQUE;
CYPHER 25 CREATE INDEX item_text_folder IF NOT EXISTS FOR (t:ItemText) ON (t.namespace, t.folder);
CYPHER 25 CREATE INDEX item_created IF NOT EXISTS FOR (i:Item) ON (i.namespace, i.created_at, i.id);
