// Labels that people give facts and decisions, and what calibration reads of the log beside them.

// name: facts_of_decision
// A decision, and the facts it is about: their locks are taken before it is labelled.
CYPHER 25
MATCH (d:Decision {id: $id})
WHERE d.namespace = $namespace
RETURN d.id AS id,
  COLLECT { MATCH (d)-[:ABOUT|COMPARED_WITH]->(f:Fact) RETURN DISTINCT f.id } AS facts

// name: label_fact
// A label on a fact, with how the fact stands; dated after what last changed the fact.
CYPHER 25
MATCH (f:Fact {id: $id})
WHERE f.namespace = $namespace
WITH f, coalesce(f.changed_at, f.recorded_at) AS changed
MERGE (w:Feedback {id: $properties.id})
ON CREATE SET w += $properties, w.namespace = $namespace,
  w.given_at = CASE WHEN changed >= $now THEN changed + duration({microseconds: 1}) ELSE $now END,
  w.belief = f.belief, w.open = f.valid_until IS NULL OR f.valid_until > $now,
  w.closed_reason = f.closed_reason
MERGE (w)-[:ABOUT]->(f)
RETURN w {.*, fact_id: f.id} AS feedback

// name: label_decision
// A label on a decision.
CYPHER 25
MATCH (d:Decision {id: $id})
WHERE d.namespace = $namespace
MERGE (w:Feedback {id: $properties.id})
ON CREATE SET w += $properties, w.namespace = $namespace,
  w.given_at = CASE WHEN d.decided_at >= $now THEN d.decided_at + duration({microseconds: 1})
    ELSE $now END
MERGE (w)-[:ABOUT]->(d)
RETURN w {.*, decision_id: d.id} AS feedback

// name: explain_feedback
// The labels of a fact and of the decisions that touched it, oldest first.
CYPHER 25
MATCH (f:Fact {id: $id})
WHERE f.namespace = $namespace
CALL (f) {
  MATCH (f)<-[:ABOUT]-(w:Feedback)
  RETURN w, null AS decision
UNION
  MATCH (f)<-[:ABOUT|COMPARED_WITH]-(d:Decision)<-[:ABOUT]-(w:Feedback)
  RETURN w, d.id AS decision
}
RETURN w {.*, fact_id: CASE WHEN decision IS NULL THEN f.id END, decision_id: decision} AS feedback
ORDER BY feedback.given_at, feedback.id

// name: labels
// Every label of a namespace with the facts it may tell of: its own, or those of its decision.
CYPHER 25
MATCH (w:Feedback)
WHERE w.namespace = $namespace AND w.given_at IS NOT NULL
RETURN w {.*,
    fact_id: head(COLLECT { MATCH (w)-[:ABOUT]->(f:Fact) RETURN f.id }),
    decision_id: head(COLLECT { MATCH (w)-[:ABOUT]->(d:Decision) RETURN d.id })} AS feedback,
  COLLECT { MATCH (w)-[:ABOUT]->(f:Fact) RETURN f.id
    UNION MATCH (w)-[:ABOUT]->(:Decision)-[:ABOUT|COMPARED_WITH]->(f:Fact) RETURN f.id } AS facts
ORDER BY feedback.given_at, feedback.id

// name: decisions_of_facts
// Every decision that touched one of the facts.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})<-[:ABOUT|COMPARED_WITH]-(d:Decision)
WHERE f.namespace = $namespace
WITH DISTINCT d
OPTIONAL MATCH (d)-[:ABOUT]->(fact:Fact)
OPTIONAL MATCH (d)-[compared:COMPARED_WITH]->(candidate:Fact)
RETURN d {.*, fact_id: fact.id, candidate_id: candidate.id,
    candidate_belief_after: compared.belief_after} AS decision,
  coalesce(d.position, 0) AS position, coalesce(d.moves_end, false) AS moves_end
ORDER BY d.decided_at, position, d.id

// name: answers_by_question
// How many answers of a decider each question has in the log of decisions.
CYPHER 25
MATCH (d:Decision)
WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL
  AND NOT d.backend IN ['rule', 'caller', 'fallback']
RETURN d.question AS question, count(*) AS answers
ORDER BY question
