// History: what was true when, what was known when, and why.

// name: facts_of_namespace
// Facts of a namespace in recording order, as known at a moment, true at one of the moments from
// $first to $last, by page.
// The end of a fact as known earlier is rebuilt from the decisions that moved it.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.recorded_at IS NOT NULL AND f.id IS NOT NULL  // the index
  AND ($after IS NULL OR f.recorded_at >= $after)
  AND ($known_at IS NULL OR f.recorded_at <= $known_at)
  AND ($predicate IS NULL OR f.predicate = $predicate)
  AND ($after_id IS NULL OR f.recorded_at > $after OR f.id > $after_id)
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
WHERE $object_key IS NULL OR o.key = $object_key
  OR EXISTS { (o)<-[:ALIAS_OF]-(:Alias {namespace: $namespace, key: $object_key}) }
CALL (f) {
  OPTIONAL MATCH (f)<-[:ABOUT]-(d:Decision)
  WHERE $known_at IS NOT NULL AND d.moves_end
  WITH f, d ORDER BY d.decided_at, d.position
  WITH f, collect(d) AS moves
  WITH f, moves, [d IN moves WHERE d.decided_at <= $known_at] AS done
  RETURN CASE WHEN size(done) > 0 THEN done[-1].valid_until_after
      WHEN size(moves) > 0 THEN moves[0].valid_until_before ELSE f.valid_until END AS until,
    CASE WHEN size(done) > 0 THEN done[-1].reason_after
      WHEN size(moves) > 0 THEN moves[0].reason_before ELSE f.closed_reason END AS reason,
    CASE WHEN size(done) > 0 THEN done[-1].decided_at
      WHEN size(moves) > 0 THEN null ELSE f.closed_at END AS closed_at
}
WITH f, s, o, until, reason, closed_at
WHERE ($first IS NULL OR (f.valid_from <= $last
    AND (until IS NULL OR (until > $first AND until > f.valid_from))))
  AND ($open IS NULL OR (until IS NULL) = $open)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key,
    valid_until: until, closed_reason: reason, open: until IS NULL,
    closed_at: CASE WHEN until IS NULL THEN null ELSE closed_at END} AS fact
ORDER BY f.namespace, f.recorded_at, f.id
LIMIT $limit

// name: facts_of_subject
// The same for one subject, from its entity.
CYPHER 25
WITH coalesce(head(COLLECT {
  MATCH (:Alias {namespace: $namespace, key: $subject_key})-[:ALIAS_OF]->(e:Entity)
  RETURN e.key
}), $subject_key) AS key
MATCH (s:Entity {namespace: $namespace, key: key})<-[:SUBJECT]-(f:Fact)
WHERE ($after IS NULL OR f.recorded_at >= $after)
  AND ($known_at IS NULL OR f.recorded_at <= $known_at)
  AND ($predicate IS NULL OR f.predicate = $predicate)
  AND ($after_id IS NULL OR f.recorded_at > $after OR f.id > $after_id)
MATCH (f)-[:OBJECT]->(o:Entity)
WHERE $object_key IS NULL OR o.key = $object_key
  OR EXISTS { (o)<-[:ALIAS_OF]-(:Alias {namespace: $namespace, key: $object_key}) }
CALL (f) {
  OPTIONAL MATCH (f)<-[:ABOUT]-(d:Decision)
  WHERE $known_at IS NOT NULL AND d.moves_end
  WITH f, d ORDER BY d.decided_at, d.position
  WITH f, collect(d) AS moves
  WITH f, moves, [d IN moves WHERE d.decided_at <= $known_at] AS done
  RETURN CASE WHEN size(done) > 0 THEN done[-1].valid_until_after
      WHEN size(moves) > 0 THEN moves[0].valid_until_before ELSE f.valid_until END AS until,
    CASE WHEN size(done) > 0 THEN done[-1].reason_after
      WHEN size(moves) > 0 THEN moves[0].reason_before ELSE f.closed_reason END AS reason,
    CASE WHEN size(done) > 0 THEN done[-1].decided_at
      WHEN size(moves) > 0 THEN null ELSE f.closed_at END AS closed_at
}
WITH f, s, o, until, reason, closed_at
WHERE ($first IS NULL OR (f.valid_from <= $last
    AND (until IS NULL OR (until > $first AND until > f.valid_from))))
  AND ($open IS NULL OR (until IS NULL) = $open)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key,
    valid_until: until, closed_reason: reason, open: until IS NULL,
    closed_at: CASE WHEN until IS NULL THEN null ELSE closed_at END} AS fact
ORDER BY f.recorded_at, f.id
LIMIT $limit

// name: timeline
// All facts of a subject, of one predicate or all, by valid_from, then recording order.
CYPHER 25
WITH coalesce(head(COLLECT {
  MATCH (:Alias {namespace: $namespace, key: $subject_key})-[:ALIAS_OF]->(e:Entity)
  RETURN e.key
}), $subject_key) AS key
MATCH (s:Entity {namespace: $namespace, key: key})<-[:SUBJECT]-(f:Fact)
WHERE $predicate IS NULL OR f.predicate = $predicate
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact,
  COLLECT {
    MATCH (f)-[r:SUPERSEDES]->(old:Fact)
    RETURN {type: 'SUPERSEDES', source: f.id, target: old.id, reason: r.reason,
      decided_at: r.decided_at}
  } AS links
ORDER BY fact.valid_from, fact.recorded_at

// name: explain_decisions
// Every decision that touched a fact, oldest first.
CYPHER 25
MATCH (f:Fact {id: $id})
WHERE f.namespace = $namespace
MATCH (f)<-[:ABOUT|COMPARED_WITH]-(d:Decision)
WITH DISTINCT d
OPTIONAL MATCH (d)-[about:ABOUT]->(fact:Fact)
OPTIONAL MATCH (d)-[compared:COMPARED_WITH]->(candidate:Fact)
RETURN d {.*, fact_id: fact.id, candidate_id: candidate.id,
  request_id: head(COLLECT { MATCH (d)-[:FROM]->(q:Request) RETURN q.id ORDER BY q.id }),
  belief_before: about.belief_before, belief_after: about.belief_after,
  candidate_belief_before: compared.belief_before,
  candidate_belief_after: compared.belief_after} AS decision
ORDER BY decision.decided_at, decision.position

// name: explain_requests
// The decider calls of each write that touched a fact, and the fact each was made for. All calls of
// a write carry its moment, also one that no decision rests on: all its answers may have been new.
// A call about pairs of facts or entities asks of many that have nothing to do with each other: its
// decisions suffice.
CYPHER 25
MATCH (f:Fact {id: $id})
WHERE f.namespace = $namespace
MATCH (f)<-[:ABOUT|COMPARED_WITH]-(d:Decision)
WHERE NOT d.question IN ['same_fact', 'same_entity'] AND EXISTS { (d)-[:FROM]->(:Request) }
MATCH (d)-[:ABOUT]->(made:Fact)
WITH DISTINCT made, d.decided_at AS at
MATCH (q:Request)
WHERE q.namespace = $namespace AND q.sent_at = at
  AND NOT EXISTS { (q)<-[:FROM]-(:Decision)-[:ABOUT]->(other:Fact) WHERE other <> made }
RETURN q {.*, fact_id: made.id} AS request
ORDER BY request.sent_at, request.id

// name: explain_others
// The other facts that a story speaks of.
CYPHER 25
UNWIND $ids AS id
MATCH (f:Fact {id: id})
WHERE f.namespace = $namespace
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
  subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact
ORDER BY fact.recorded_at, fact.id

// name: facts_by_prefix
// Facts by the start of their id, by the index on ids; a whole id is the start of itself alone.
CYPHER 25
MATCH (f:Fact)
WHERE f.id STARTS WITH $prefix AND f.namespace = $namespace
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
RETURN f {.*, embedding: null, search_text: null, namespace_key: null,
  subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact
ORDER BY fact.recorded_at, fact.id
LIMIT $limit

// name: explain_messages
// The messages that state a fact, oldest first.
CYPHER 25
MATCH (f:Fact {id: $id})-[:STATED_IN]->(m:Message)
WHERE f.namespace = $namespace
RETURN m {.*, embedding: null, search_text: null, namespace_key: null} AS message
ORDER BY message.said_at, message.recorded_at

// name: explain_chain
// What a fact superseded and what superseded it, nearest first.
CYPHER 25
MATCH (f:Fact {id: $id})
WHERE f.namespace = $namespace
CALL (f) {
  MATCH path = (f)-[:SUPERSEDES]->+(other:Fact)
  RETURN other, min(length(path)) AS depth, 'older' AS side
UNION ALL
  MATCH path = (f)<-[:SUPERSEDES]-+(other:Fact)
  RETURN other, min(length(path)) AS depth, 'newer' AS side
}
MATCH (other)-[:SUBJECT]->(s:Entity)
MATCH (other)-[:OBJECT]->(o:Entity)
RETURN side, depth, other {.*, embedding: null, search_text: null, namespace_key: null,
  subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact
ORDER BY side, depth, fact.valid_from DESC

// name: explain_links
// SAME_AS, CONTRADICTS and REFINES around a fact.
CYPHER 25
MATCH (f:Fact {id: $id})
WHERE f.namespace = $namespace
MATCH (f)-[r:SAME_AS|CONTRADICTS|REFINES]-(:Fact)
WITH DISTINCT r
RETURN {type: type(r), source: startNode(r).id, target: endNode(r).id, p: r.p, reason: r.reason,
  decided_at: r.decided_at} AS link
ORDER BY link.type, link.decided_at

// name: namespaces
// Every namespace and what it holds. The one statement that looks across namespaces: for operators.
CYPHER 25
MATCH (c:Conversation)
WITH DISTINCT c.namespace AS namespace
RETURN namespace,
  COUNT { MATCH (m:Message) WHERE m.namespace = namespace
    AND m.status IS NOT NULL } AS messages,
  COUNT { MATCH (f:Fact) WHERE f.namespace = namespace
    AND f.predicate IS NOT NULL } AS facts,
  COUNT { MATCH (f:Fact) WHERE f.namespace = namespace
    AND f.predicate IS NOT NULL AND f.open } AS open,
  COUNT { MATCH (e:Entity) WHERE e.namespace = namespace
    AND e.key IS NOT NULL } AS entities,
  head(COLLECT { MATCH (f:Fact) WHERE f.namespace = namespace
    AND f.recorded_at IS NOT NULL AND f.id IS NOT NULL RETURN f.recorded_at
    ORDER BY f.namespace DESC, f.recorded_at DESC LIMIT 1 }) AS last_recorded_at
ORDER BY namespace

// name: stats
// Counts of one namespace, what its decider calls cost, and how long each question takes: a request
// asks several, and its time counts for each of them.
CYPHER 25
RETURN
  COUNT { MATCH (m:Message) WHERE m.namespace = $namespace
    AND m.status IS NOT NULL } AS messages,
  COUNT { MATCH (m:Message) WHERE m.namespace = $namespace
    AND m.status IN ['pending', 'failed'] } AS unfinished,
  COUNT { MATCH (f:Fact) WHERE f.namespace = $namespace
    AND f.predicate IS NOT NULL } AS facts,
  COUNT { MATCH (f:Fact) WHERE f.namespace = $namespace
    AND f.predicate IS NOT NULL AND f.open } AS open,
  COUNT { MATCH (f:Fact) WHERE f.namespace = $namespace
    AND f.predicate IS NOT NULL AND NOT f.open } AS closed,
  COUNT { MATCH (f:Fact) WHERE f.namespace = $namespace
    AND f.predicate IS NOT NULL AND f.disputed } AS disputed,
  COUNT { MATCH (f:Fact) WHERE f.namespace = $namespace
    AND f.predicate IS NOT NULL AND f.tentative } AS tentative,
  COUNT { MATCH (f:Fact) WHERE f.namespace = $namespace
    AND f.unsettled = true } AS unsettled,
  COUNT { MATCH (e:Entity) WHERE e.namespace = $namespace
    AND e.key IS NOT NULL } AS entities,
  COUNT { MATCH (d:Decision) WHERE d.namespace = $namespace
    AND d.decided_at IS NOT NULL } AS decisions,
  COLLECT { MATCH (f:Fact) WHERE f.namespace = $namespace
    AND f.predicate IS NOT NULL AND f.open
    WITH f.predicate AS predicate, count(*) AS facts ORDER BY facts DESC, predicate
    RETURN {predicate: predicate, facts: facts} } AS predicates,
  head(COLLECT { MATCH (q:Request) WHERE q.namespace = $namespace
    AND q.sent_at IS NOT NULL
    RETURN {requests: count(q), failed: count(q.error), cost_usd: coalesce(sum(q.cost_usd), 0.0),
      unpriced: count(q) - count(q.cost_usd), p50: percentileDisc(q.latency_ms, 0.5),
      p90: percentileDisc(q.latency_ms, 0.9), p99: percentileDisc(q.latency_ms, 0.99)} }) AS calls,
  COLLECT { MATCH (q:Request) WHERE q.namespace = $namespace
    AND q.sent_at IS NOT NULL
    WITH q, split(q.question_versions, '"') AS parts  // {"name": version, …}
    UNWIND [i IN range(1, size(parts) - 1, 2) | parts[i]] AS question
    WITH question, count(*) AS requests, count(q.error) AS failed,
      percentileDisc(q.latency_ms, 0.5) AS p50, percentileDisc(q.latency_ms, 0.9) AS p90,
      percentileDisc(q.latency_ms, 0.99) AS p99
    ORDER BY requests DESC, question
    RETURN {question: question, requests: requests, failed_requests: failed,
      latency_ms_p50: p50, latency_ms_p90: p90, latency_ms_p99: p99} } AS questions

// name: diff_valid
// What began or ended from $first to $last in the world, as far as the memory knows now, in that
// order; at one moment ends come first. Each with what superseded it and why.
CYPHER 25
CALL () {
  MATCH (f:Fact)
  WHERE f.namespace = $namespace AND f.valid_from >= $first AND f.valid_from <= $last
  RETURN f, f.valid_from AS at, 'began' AS kind
UNION ALL
  MATCH (f:Fact)
  WHERE f.namespace = $namespace AND f.valid_from <= $last
    AND f.valid_until >= $first AND f.valid_until <= $last
  RETURN f, f.valid_until AS at, 'ended' AS kind
}
WITH f, at, kind
WHERE (f.valid_until IS NULL OR f.valid_until > f.valid_from)
  AND ($predicate IS NULL OR f.predicate = $predicate)
MATCH (f)-[:SUBJECT]->(s:Entity)
WHERE $subject_key IS NULL OR s.key = $subject_key
  OR EXISTS { (s)<-[:ALIAS_OF]-(:Alias {namespace: $namespace, key: $subject_key}) }
MATCH (f)-[:OBJECT]->(o:Entity)
WITH f, at, kind, s, o
ORDER BY at, kind DESC, f.recorded_at, f.id
LIMIT $limit
RETURN kind, at,
  f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key} AS fact,
  CASE WHEN kind = 'ended' THEN f.closed_reason END AS reason,
  CASE WHEN kind = 'ended' THEN f.valid_until END AS valid_until_after,
  null AS valid_until_before,
  CASE WHEN kind = 'ended' THEN head(COLLECT {
    MATCH (f)<-[:ABOUT]-(d:Decision)
    WHERE d.moves_end
    RETURN d.reason ORDER BY d.decided_at DESC, d.position DESC LIMIT 1 }) END AS why,
  CASE WHEN kind = 'ended' THEN head(COLLECT {
    MATCH (newer:Fact)-[:SUPERSEDES]->(f)
    RETURN newer {.id, .text} ORDER BY newer.recorded_at LIMIT 1 }) END AS by
ORDER BY at, kind DESC, f.recorded_at, f.id

// name: diff_recorded
// What the memory did from $first to $last, in that order: facts recorded, ends set, moved and taken
// away, disputes found, facts archived and restored. An end that a fact was recorded with is part of
// its recording. Facts are as they were known at $last.
CYPHER 25
CALL () {
  MATCH (f:Fact)
  WHERE f.namespace = $namespace AND f.recorded_at >= $first AND f.recorded_at <= $last
    AND f.id IS NOT NULL  // the index
  RETURN f, null AS d, f.recorded_at AS at, 'recorded' AS kind, -1 AS position
UNION ALL
  MATCH (d:Decision)
  WHERE d.namespace = $namespace AND d.decided_at >= $first AND d.decided_at <= $last
    AND (d.moves_end OR d.outcome IN ['disputed', 'archived', 'restored'])
  MATCH (d)-[:ABOUT]->(f:Fact)
  WHERE NOT d.moves_end OR d.decided_at > f.recorded_at
  RETURN f, d, d.decided_at AS at, CASE
      WHEN NOT d.moves_end THEN d.outcome
      WHEN d.valid_until_before IS NULL THEN 'closed'
      WHEN d.valid_until_after IS NULL THEN 'reopened'
      ELSE 'moved' END AS kind, d.position AS position
}
WITH f, d, at, kind, position
WHERE $predicate IS NULL OR f.predicate = $predicate
MATCH (f)-[:SUBJECT]->(s:Entity)
WHERE $subject_key IS NULL OR s.key = $subject_key
  OR EXISTS { (s)<-[:ALIAS_OF]-(:Alias {namespace: $namespace, key: $subject_key}) }
MATCH (f)-[:OBJECT]->(o:Entity)
WITH f, d, at, kind, position, s, o
ORDER BY at, position, f.id
LIMIT $limit
CALL (f) {
  OPTIONAL MATCH (f)<-[:ABOUT]-(m:Decision)
  WHERE m.moves_end
  WITH f, m ORDER BY m.decided_at, m.position
  WITH f, collect(m) AS moves
  WITH f, moves, [m IN moves WHERE m.decided_at <= $last] AS done,
    [m IN moves WHERE m.decided_at <= f.recorded_at] AS given
  RETURN CASE WHEN size(done) > 0 THEN done[-1].valid_until_after
      WHEN size(moves) > 0 THEN moves[0].valid_until_before ELSE f.valid_until END AS until,
    CASE WHEN size(done) > 0 THEN done[-1].reason_after
      WHEN size(moves) > 0 THEN moves[0].reason_before ELSE f.closed_reason END AS reason,
    CASE WHEN size(done) > 0 THEN done[-1].decided_at
      WHEN size(moves) > 0 THEN null ELSE f.closed_at END AS closed_at,
    CASE WHEN size(given) > 0 THEN given[-1].valid_until_after
      WHEN size(moves) > 0 THEN moves[0].valid_until_before ELSE f.valid_until END AS given
}
RETURN kind, at,
  f {.*, embedding: null, search_text: null, namespace_key: null,
    subject: s.name, subject_key: s.key, object: o.name, object_key: o.key,
    valid_until: until, closed_reason: reason, open: until IS NULL,
    closed_at: CASE WHEN until IS NULL THEN null ELSE closed_at END} AS fact,
  d.reason_after AS reason,
  d.valid_until_before AS valid_until_before,
  CASE WHEN kind = 'recorded' THEN given ELSE d.valid_until_after END AS valid_until_after,
  d.reason AS why,
  head(COLLECT { MATCH (d)-[:COMPARED_WITH]->(other:Fact) RETURN other {.id, .text} }) AS by
ORDER BY at, position, f.id
