// Items: values that an application keeps under a path and a key, found again by path or by text. A
// path is stored as one string that ends with a slash, so a range of strings is all that lies below.

// name: put_item
// An item, new or with another value, and the texts it is found by. No row: it was deleted while this
// waited for the lock.
CYPHER 25
MERGE (i:Item {namespace: $namespace, folder: $folder, key: $key})
ON CREATE SET i.id = $id, i.source = $id, i.said = 0, i.created_at = $now
SET i.value = $value,
  i.updated_at = CASE WHEN i.created_at > $now THEN i.created_at ELSE $now END
WITH i
WHERE i.id IS NOT NULL
CALL (i) {
  MATCH (i)-[:INDEXED_AS]->(t:ItemText)
  DETACH DELETE t
}
CALL (i) {
  UNWIND $rows AS row
  CREATE (i)-[:INDEXED_AS]->(t:ItemText)
  SET t = row.properties, t.namespace = $namespace, t.folder = $folder
}
RETURN i {.*} AS item

// name: get_item
// The item of a path and a key.
CYPHER 25
MATCH (i:Item {namespace: $namespace, folder: $folder, key: $key})
RETURN i {.*} AS item

// name: items_below
// Items at a path or below it, oldest first.
CYPHER 25
MATCH (i:Item)
WHERE i.namespace = $namespace AND i.folder >= $folder AND i.folder < $behind AND i.key IS NOT NULL
RETURN i {.*} AS item
ORDER BY i.created_at, i.id
SKIP $skip LIMIT $limit

// name: items_near
// Items at a path or below it by the nearest of their texts; texts: how many of them were found.
CYPHER 25
MATCH (t:ItemText)
SEARCH t IN (VECTOR INDEX item_vector FOR $embedding
  WHERE t.namespace = $namespace AND t.folder >= $folder AND t.folder < $behind LIMIT $limit)
SCORE AS near
MATCH (t)<-[:INDEXED_AS]-(i:Item)
WITH i, max(2 * near - 1) AS score, count(*) AS texts
RETURN i {.*} AS item, score, texts
ORDER BY score DESC, i.created_at, i.id

// name: items_without_text
// Items at a path or below it that no vector finds, oldest first.
CYPHER 25
MATCH (i:Item)
WHERE i.namespace = $namespace AND i.folder >= $folder AND i.folder < $behind AND i.key IS NOT NULL
  AND NOT EXISTS { MATCH (i)-[:INDEXED_AS]->(t:ItemText) WHERE t.embedding IS NOT NULL }
RETURN i {.*} AS item
ORDER BY i.created_at, i.id
SKIP $skip LIMIT $limit

// name: item_folders
// Every path that has an item.
CYPHER 25
MATCH (i:Item)
WHERE i.namespace = $namespace AND i.folder IS NOT NULL AND i.key IS NOT NULL
RETURN DISTINCT i.folder AS folder

// name: count_said
// One more message that says what the item says; which number it has.
CYPHER 25
MATCH (i:Item {namespace: $namespace, folder: $folder, key: $key})
SET i.locked = true
REMOVE i.locked
WITH i
WHERE i.id IS NOT NULL
SET i.said = i.said + 1
RETURN i.said AS said

// name: delete_item
// The item of a path and a key, with its texts; what it was at last. The lock comes first: no text is
// put meanwhile, and of two that delete one finds nothing.
CYPHER 25
MATCH (i:Item {namespace: $namespace, folder: $folder, key: $key})
SET i.locked = true
REMOVE i.locked
WITH i, i {.*} AS item
WHERE item.id IS NOT NULL
CALL (i) {
  MATCH (i)-[:INDEXED_AS]->(t:ItemText)
  DETACH DELETE t
}
DETACH DELETE i
RETURN item
