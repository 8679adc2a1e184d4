// What a view as a network needs beside the facts: the entities at their ends.

// name: entities_of_keys
// The entities of these keys, each with how many facts have it as an end.
CYPHER 25
UNWIND $keys AS key
MATCH (e:Entity {namespace: $namespace, key: key})
RETURN e {.id, .namespace, .key, .name, .aliases,
  facts: COUNT { (e)<-[:SUBJECT|OBJECT]-() }} AS entity
