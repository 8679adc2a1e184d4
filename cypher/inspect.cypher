// Everything a few small namespaces hold, as it is stored: for evaluation and its comparisons.

// name: everything
// Every record of the namespaces with its properties, and the relationships that leave it.
CYPHER 25
UNWIND $namespaces AS namespace
CALL (namespace) {
  MATCH (n:Fact)
  WHERE n.namespace = namespace AND n.predicate IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Entity)
  WHERE n.namespace = namespace AND n.key IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Message)
  WHERE n.namespace = namespace AND n.status IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Conversation)
  WHERE n.namespace = namespace AND n.name IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Decision)
  WHERE n.namespace = namespace AND n.decided_at IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Request)
  WHERE n.namespace = namespace AND n.sent_at IS NOT NULL
  RETURN n
}
RETURN elementId(n) AS place, labels(n) AS labels, properties(n) AS properties,
  COLLECT {
    MATCH (n)-[r]->(m)
    RETURN {type: type(r), to: elementId(m), properties: properties(r)}
  } AS leaving
