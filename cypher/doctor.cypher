// What must be true of every graph (design §7). Each statement returns the ids that break one rule,
// never more than $limit, for the namespaces in $namespaces, entered through an index. Nothing here writes.

// name: all_namespaces
// Every namespace that any record carries. Looks across namespaces: for operators.
CYPHER 25
MATCH (n:Fact|Entity|Alias|Message|Conversation|Decision|Request|Feedback|Item
  |ItemText)
WHERE n.namespace IS NOT NULL
RETURN DISTINCT n.namespace AS namespace
ORDER BY namespace

// name: namespaces_starting
// The namespaces whose names start so, of any record: those that belong to one test.
CYPHER 25
MATCH (n:Fact|Entity|Alias|Message|Conversation|Decision|Request|Feedback|Item
  |ItemText)
WHERE n.namespace STARTS WITH $prefix
RETURN DISTINCT n.namespace AS namespace
ORDER BY namespace

// name: incomplete_records
// Records without what every look-up starts from. Looks across namespaces: for operators.
CYPHER 25
MATCH (n:Fact|Entity|Alias|Message|Conversation|Decision|Request|Feedback|Item
  |ItemText)
WHERE n.namespace IS NULL
  OR (n:Fact AND (n.id IS NULL OR n.predicate IS NULL OR n.recorded_at IS NULL OR n.text IS NULL))
  OR (n:Entity AND (n.id IS NULL OR n.key IS NULL OR n.name IS NULL))
  OR (n:Message AND (n.id IS NULL OR n.source_id IS NULL OR n.status IS NULL OR n.said_at IS NULL
    OR n.conversation IS NULL OR n.text IS NULL))
  OR (n:Conversation AND n.name IS NULL)
  OR (n:Alias AND (n.key IS NULL OR n.name IS NULL))
  OR (n:Decision AND (n.id IS NULL OR n.decided_at IS NULL OR n.outcome IS NULL))
  OR (n:Request AND (n.id IS NULL OR n.sent_at IS NULL))
  OR (n:Feedback AND (n.id IS NULL OR n.given_at IS NULL))
  OR (n:Item AND (n.id IS NULL OR n.folder IS NULL OR n.key IS NULL))
  OR (n:ItemText AND (n.id IS NULL OR n.folder IS NULL))
RETURN coalesce(n.id, elementId(n)) AS id
LIMIT $limit

// name: counts
// How many of each record there are to look at.
CYPHER 25
UNWIND $namespaces AS namespace
RETURN
  sum(COUNT { MATCH (f:Fact) WHERE f.namespace = namespace AND f.predicate IS NOT NULL }) AS facts,
  sum(COUNT { MATCH (e:Entity) WHERE e.namespace = namespace AND e.key IS NOT NULL }) AS entities,
  sum(COUNT { MATCH (m:Message) WHERE m.namespace = namespace AND m.status IS NOT NULL })
    AS messages,
  sum(COUNT { MATCH (c:Conversation) WHERE c.namespace = namespace AND c.name IS NOT NULL })
    AS conversations,
  sum(COUNT { MATCH (a:Alias) WHERE a.namespace = namespace AND a.key IS NOT NULL }) AS aliases,
  sum(COUNT { MATCH (d:Decision) WHERE d.namespace = namespace AND d.decided_at IS NOT NULL })
    AS decisions,
  sum(COUNT { MATCH (q:Request) WHERE q.namespace = namespace AND q.sent_at IS NOT NULL })
    AS requests,
  sum(COUNT { MATCH (w:Feedback) WHERE w.namespace = namespace AND w.given_at IS NOT NULL })
    AS feedback,
  sum(COUNT { MATCH (i:Item) WHERE i.namespace = namespace AND i.folder IS NOT NULL
    AND i.key IS NOT NULL }) AS items

// name: fact_ends
// Facts without exactly one SUBJECT and one OBJECT.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (f:Fact)
WHERE f.namespace = namespace AND f.predicate IS NOT NULL
  AND (COUNT { (f)-[:SUBJECT]->(:Entity) } <> 1 OR COUNT { (f)-[:OBJECT]->(:Entity) } <> 1)
RETURN f.id AS id
LIMIT $limit

// name: fact_edge
// Facts without exactly one typed edge of their predicate from SUBJECT to OBJECT.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (f:Fact)
WHERE f.namespace = namespace AND f.predicate IS NOT NULL
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
WITH DISTINCT f, s, o
OPTIONAL MATCH (s)-[r]->(o)
WHERE r.fact_id = f.id AND type(r) = CASE WHEN f.negated THEN 'NEGATED' ELSE toUpper(f.predicate) END
WITH f, s, o, count(r) AS edges
WHERE edges <> 1
RETURN DISTINCT f.id AS id
LIMIT $limit

// name: edge_differs
// Facts whose typed edge differs from them in a shared property.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (f:Fact)
WHERE f.namespace = namespace AND f.predicate IS NOT NULL
MATCH (f)-[:SUBJECT]->(s:Entity)
MATCH (f)-[:OBJECT]->(o:Entity)
WITH DISTINCT f, s, o  // both ends known: a hub is not walked once for each of its facts
MATCH (s)-[r]->(o)
WHERE r.fact_id = f.id
  AND any(name IN ['namespace', 'predicate', 'text', 'belief', 'tentative', 'disputed', 'negated',
    'temporal_status', 'valid_from', 'valid_until', 'open', 'recorded_at', 'closed_at',
    'closed_reason']
    WHERE coalesce(f[name] <> r[name], (f[name] IS NULL) <> (r[name] IS NULL)))
RETURN DISTINCT f.id AS id
LIMIT $limit

// name: stray_edge
// Edges between entities that are no fact's, or lie elsewhere than their fact says.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (s:Entity)
WHERE s.namespace = namespace AND s.key IS NOT NULL
MATCH (s)-[r]->(o:Entity)
OPTIONAL MATCH (f:Fact {id: r.fact_id})
WITH s, r, o, f
WHERE f IS NULL
  OR CASE WHEN f.negated THEN 'NEGATED' ELSE toUpper(f.predicate) END <> type(r)
  OR NOT EXISTS { (f)-[:SUBJECT]->(s) } OR NOT EXISTS { (f)-[:OBJECT]->(o) }
RETURN coalesce(r.fact_id, elementId(r)) AS id
LIMIT $limit

// name: unused_entity
// Entities that no fact is about or mentions.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (e:Entity)
WHERE e.namespace = namespace AND e.key IS NOT NULL
  AND NOT EXISTS { (e)<-[:SUBJECT|OBJECT|MENTIONS]-(:Fact) }
RETURN e.id AS id
LIMIT $limit

// name: alias
// Aliases without exactly one entity, with the key of an entity, or that their entity does not
// show; and entities that show others.
CYPHER 25
UNWIND $namespaces AS namespace
CALL (namespace) {
  MATCH (a:Alias)
  WHERE a.namespace = namespace AND a.key IS NOT NULL
  WITH a, namespace
  WHERE a.name IS NULL
    OR COUNT { (a)-[:ALIAS_OF]->(:Entity) } <> 1
    OR EXISTS { MATCH (e:Entity {namespace: namespace, key: a.key}) }
    OR NOT EXISTS { MATCH (a)-[:ALIAS_OF]->(e:Entity) WHERE a.name IN e.aliases }
  RETURN a.key AS id
UNION ALL
  MATCH (e:Entity)
  WHERE e.namespace = namespace AND e.key IS NOT NULL
  WITH e
  WHERE size(coalesce(e.aliases, [])) <> COUNT { (e)<-[:ALIAS_OF]-(:Alias) }
  RETURN e.id AS id
}
RETURN id
LIMIT $limit

// name: fact_source
// Facts that no message states.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (f:Fact)
WHERE f.namespace = namespace AND f.predicate IS NOT NULL
  AND NOT EXISTS { (f)-[:STATED_IN]->(:Message) }
RETURN f.id AS id
LIMIT $limit

// name: superseded_open
// Superseded facts that are still open.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (old:Fact)
WHERE old.namespace = namespace AND old.predicate IS NOT NULL
  AND (old.open OR old.valid_until IS NULL)
  AND EXISTS { (old)<-[:SUPERSEDES]-(:Fact) }
RETURN old.id AS id
LIMIT $limit

// name: supersedes
// Every SUPERSEDES pair, newer first: the caller looks for circles.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (new:Fact)
WHERE new.namespace = namespace AND new.predicate IS NOT NULL
MATCH (new)-[:SUPERSEDES]->(old:Fact)
RETURN new.id AS new, old.id AS old

// name: namespace_crossed
// Ends of relationships that lead into another namespace, or to a record that has none.
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
  MATCH (n:Decision)
  WHERE n.namespace = namespace AND n.decided_at IS NOT NULL
  RETURN n
}
MATCH (n)--(other)
WHERE other.namespace IS NULL OR other.namespace <> namespace
RETURN DISTINCT n.id AS id
LIMIT $limit

// name: decision_fact
// Decisions that point at no fact and do not say that none was stored, or that it was forgotten.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (d:Decision)
WHERE d.namespace = namespace AND d.decided_at IS NOT NULL
  AND NOT d.outcome IN ['not_stored', 'forgotten']
  AND NOT EXISTS { (d)-[:ABOUT|COMPARED_WITH]->(:Fact) }
RETURN d.id AS id
LIMIT $limit

// name: feedback
// Labels that say neither right nor wrong, or are not about exactly one fact or decision of their
// namespace; of a fact, without how it stood.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (w:Feedback)
WHERE w.namespace = namespace AND w.given_at IS NOT NULL
  AND (NOT coalesce(w.verdict IN ['right', 'wrong'], false)
    OR COUNT { (w)-[:ABOUT]->() } <> 1
    OR NOT EXISTS { MATCH (w)-[:ABOUT]->(n:Fact|Decision) WHERE n.namespace = namespace }
    OR (EXISTS { (w)-[:ABOUT]->(:Fact) } AND (w.belief IS NULL OR w.open IS NULL)))
RETURN w.id AS id
LIMIT $limit

// name: item
// Items without a value, its order of times or its number of messages; texts that are not those of
// one item at their path.
CYPHER 25
UNWIND $namespaces AS namespace
CALL (namespace) {
  MATCH (i:Item)
  WHERE i.namespace = namespace AND i.folder IS NOT NULL AND i.key IS NOT NULL
    AND (i.value IS NULL OR i.source IS NULL OR coalesce(i.said < 0, true)
      OR coalesce(i.updated_at < i.created_at, true))
  RETURN i.id AS id
UNION ALL
  MATCH (t:ItemText)
  WHERE t.namespace = namespace AND t.folder IS NOT NULL
    AND (t.text IS NULL OR COUNT { (t)<-[:INDEXED_AS]-() } <> 1 OR NOT EXISTS {
      MATCH (t)<-[:INDEXED_AS]-(i:Item)
      WHERE i.namespace = namespace AND i.folder = t.folder
    })
  RETURN t.id AS id
}
RETURN id
LIMIT $limit

// name: belief_range
// Facts whose belief is not in [.02, .98].
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (f:Fact)
WHERE f.namespace = namespace AND f.predicate IS NOT NULL
  AND NOT coalesce(0.02 - 1e-9 <= f.belief <= 0.98 + 1e-9, false)
RETURN f.id AS id
LIMIT $limit

// name: belief_decided
// Facts whose belief is not what the decisions on them made it, each from where the one before had
// left it: a lost update shows. A decision carried over from what was forgotten knows no before.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (f:Fact)
WHERE f.namespace = namespace AND f.predicate IS NOT NULL
WITH f, COLLECT {
  MATCH (f)<-[r:ABOUT|COMPARED_WITH]-(d:Decision)
  WHERE r.belief_after IS NOT NULL
  RETURN {before: r.belief_before, after: r.belief_after, carried: d.outcome = 'forgotten'}
  ORDER BY d.decided_at, coalesce(d.position, 0)
} AS moves
WHERE NOT coalesce(abs(moves[-1].after - f.belief) <= 1e-9, false)
  OR any(at IN range(1, size(moves) - 1) WHERE NOT moves[at].carried
    AND NOT coalesce(abs(moves[at].before - moves[at - 1].after) <= 1e-9, false))
RETURN f.id AS id
LIMIT $limit

// name: unsettled_disagrees
// Facts that are to be asked about again though no answer is missing, or the other way round. What
// a person corrected is not asked about any more.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (f:Fact)
WHERE f.namespace = namespace AND f.predicate IS NOT NULL
WITH f, head(COLLECT {
  MATCH (f)<-[:ABOUT]-(d:Decision)
  WHERE d.question IN ['belief_start', 'settle']
  RETURN d.outcome = 'fallback'
  ORDER BY d.decided_at DESC, coalesce(d.position, 0) DESC
  LIMIT 1
}) AS missing
WHERE coalesce(f.unsettled, false)
  <> (coalesce(missing, false) AND coalesce(f.closed_reason <> 'corrected', true))
RETURN f.id AS id
LIMIT $limit

// name: open_disagrees
// Facts whose open, candidate, closed_at and closed_reason do not follow from valid_until.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (f:Fact)
WHERE f.namespace = namespace AND f.predicate IS NOT NULL
WITH f, f.valid_until IS NULL AS open
WHERE NOT coalesce(f.open = open
  AND f.candidate = (open OR coalesce(f.closed_reason = 'belief', false))
  AND (f.closed_reason IS NULL) = open
  AND (f.closed_at IS NULL) = open, false)
RETURN f.id AS id
LIMIT $limit

// name: interval_order
// Facts that end before they start, or have no start.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (f:Fact)
WHERE f.namespace = namespace AND f.predicate IS NOT NULL
  AND (f.valid_from IS NULL OR f.valid_until < f.valid_from)
RETURN f.id AS id
LIMIT $limit

// name: not_utc
// Records with a moment that is no instant in UTC.
CYPHER 25
UNWIND $namespaces AS namespace
CALL (namespace) {
  MATCH (f:Fact)
  WHERE f.namespace = namespace AND f.predicate IS NOT NULL
  RETURN f.id AS id,
    [f.valid_from, f.valid_until, f.recorded_at, f.closed_at, f.read_at, f.archived_at,
      f.changed_at] AS moments
UNION ALL
  MATCH (m:Message)
  WHERE m.namespace = namespace AND m.status IS NOT NULL
  RETURN m.id AS id, [m.said_at, m.recorded_at] AS moments
UNION ALL
  MATCH (d:Decision)
  WHERE d.namespace = namespace AND d.decided_at IS NOT NULL
  RETURN d.id AS id, [d.decided_at, d.valid_until_before, d.valid_until_after] AS moments
UNION ALL
  MATCH (w:Feedback)
  WHERE w.namespace = namespace AND w.given_at IS NOT NULL
  RETURN w.id AS id, [w.given_at] AS moments
UNION ALL
  MATCH (i:Item)
  WHERE i.namespace = namespace AND i.folder IS NOT NULL AND i.key IS NOT NULL
  RETURN i.id AS id, [i.created_at, i.updated_at] AS moments
}
WITH id, moments
WHERE any(moment IN moments WHERE CASE
  WHEN moment IS NULL THEN false
  WHEN NOT valueType(moment) STARTS WITH 'ZONED DATETIME' THEN true
  ELSE moment.offsetSeconds <> 0 END)
RETURN id
LIMIT $limit

// name: embedding_dimension
// Facts, messages and texts of items whose vector has another dimension than the index. No vector is allowed.
CYPHER 25
UNWIND $namespaces AS namespace
CALL (namespace) {
  MATCH (n:Fact)
  WHERE n.namespace = namespace AND n.predicate IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Message)
  WHERE n.namespace = namespace AND n.status IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:ItemText)
  WHERE n.namespace = namespace AND n.folder IS NOT NULL
  RETURN n
}
WITH n
WHERE n.embedding IS NOT NULL AND size(n.embedding) <> $dimension
RETURN n.id AS id
LIMIT $limit

// name: stray_vector
// Facts, messages and texts of items with a vector at a place that is not the current one, while none is to be
// there: then all vectors are being made anew, or that broke off.
CYPHER 25
UNWIND $namespaces AS namespace
CALL (namespace) {
  MATCH (n:Fact)
  WHERE n.namespace = namespace AND n.predicate IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Message)
  WHERE n.namespace = namespace AND n.status IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:ItemText)
  WHERE n.namespace = namespace AND n.folder IS NOT NULL
  RETURN n
}
WITH n
WHERE any(each IN keys(n) WHERE each STARTS WITH 'embed' AND each <> 'embedding')
  AND NOT EXISTS { MATCH (s:EngramSchema {id: 'schema'}) WHERE s.leftovers }
RETURN n.id AS id
LIMIT $limit

// name: namespace_key
// Facts and messages whose token in the full-text index is not that of their namespace.
CYPHER 25
UNWIND $namespaces AS namespace
CALL (namespace) {
  MATCH (n:Fact)
  WHERE n.namespace = namespace AND n.predicate IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Message)
  WHERE n.namespace = namespace AND n.status IS NOT NULL
  RETURN n
}
WITH n, namespace
WHERE coalesce(n.namespace_key <> $tokens[namespace], true)
RETURN n.id AS id
LIMIT $limit

// name: message_done
// Messages whose state is none, that are done with an error, or done without the drafts that
// their extracted facts came from.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (m:Message)
WHERE m.namespace = namespace AND m.status IS NOT NULL
WITH m
WHERE NOT m.status IN ['pending', 'done', 'failed']
  OR (m.status = 'done' AND (m.error IS NOT NULL OR (m.drafts IS NULL AND EXISTS {
    MATCH (m)<-[:STATED_IN]-(f:Fact)
    WHERE f.extractor = 'patterns' OR f.extractor STARTS WITH 'llm:'
  })))
RETURN m.id AS id
LIMIT $limit

// name: lock_left
// Records on which a transaction left its lock mark.
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
}
WITH n
WHERE n.locked IS NOT NULL
RETURN coalesce(n.id, n.name) AS id
LIMIT $limit

// name: import_left
// Messages and facts of an import that broke off.
CYPHER 25
UNWIND $namespaces AS namespace
CALL (namespace) {
  MATCH (n:Fact)
  WHERE n.namespace = namespace AND n.predicate IS NOT NULL
  RETURN n
UNION ALL
  MATCH (n:Message)
  WHERE n.namespace = namespace AND n.status IS NOT NULL
  RETURN n
}
WITH n
WHERE n.importing IS NOT NULL
RETURN n.id AS id
LIMIT $limit

// name: next_order
// Messages with two neighbours on one side, or a NEXT that leaves the conversation or its order.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (m:Message)
WHERE m.namespace = namespace AND m.status IS NOT NULL
WITH m
WHERE COUNT { (m)-[:NEXT]->() } > 1 OR COUNT { (m)<-[:NEXT]-() } > 1
  OR EXISTS {
    MATCH (m)-[:NEXT]->(n:Message)
    WHERE n.conversation <> m.conversation OR n.said_at < m.said_at
      OR (n.said_at = m.said_at AND n.recorded_at < m.recorded_at)
  }
RETURN m.id AS id
LIMIT $limit

// name: next_chain
// Conversations whose messages are not one chain: n messages have n - 1 NEXT among them.
CYPHER 25
UNWIND $namespaces AS namespace
MATCH (m:Message)
WHERE m.namespace = namespace AND m.status IS NOT NULL
WITH namespace, m.conversation AS conversation, count(m) AS messages,
  sum(COUNT { (m)-[:NEXT]->(:Message) }) AS links
WHERE links <> messages - 1
RETURN conversation AS id
LIMIT $limit

// name: fact_texts
// What facts say: a page of each namespace in $places, after its (at, after).
CYPHER 25
UNWIND $places AS place
CALL (place) {
  MATCH (f:Fact)
  WHERE f.namespace = place.namespace AND f.recorded_at >= place.at AND f.id IS NOT NULL
    AND (f.recorded_at > place.at OR f.id > place.after)
  RETURN f.id AS id, f.recorded_at AS at, f.id AS after, [f.text, f.source_quote] AS texts,
    [] AS json, f.search_text AS search_text
  ORDER BY f.namespace, f.recorded_at, f.id
  LIMIT $limit
}
RETURN place.namespace AS namespace, id, at, after, texts, json, search_text

// name: message_texts
// What messages say: a page of each namespace in $places, after its source_id.
CYPHER 25
UNWIND $places AS place
CALL (place) {
  MATCH (m:Message)
  WHERE m.namespace = place.namespace AND m.source_id > place.after
  RETURN m.id AS id, m.source_id AS after, [m.text, m.speaker, m.error] AS texts,
    [m.metadata, m.drafts] AS json, m.search_text AS search_text
  ORDER BY m.namespace, m.source_id
  LIMIT $limit
}
RETURN place.namespace AS namespace, id, place.at AS at, after, texts, json, search_text

// name: entity_texts
// Names of entities: a page of each namespace in $places, after its key.
CYPHER 25
UNWIND $places AS place
CALL (place) {
  MATCH (e:Entity)
  WHERE e.namespace = place.namespace AND e.key > place.after
  RETURN e.id AS id, e.key AS after, [e.name] + coalesce(e.aliases, []) AS texts
  ORDER BY e.namespace, e.key
  LIMIT $limit
}
RETURN place.namespace AS namespace, id, place.at AS at, after, texts, [] AS json

// name: decision_texts
// Words of decisions: a page of each namespace in $places, after its (at, after).
CYPHER 25
UNWIND $places AS place
CALL (place) {
  MATCH (d:Decision)
  WHERE d.namespace = place.namespace AND d.decided_at >= place.at
    AND (d.decided_at > place.at OR d.id > place.after)
  RETURN d.id AS id, d.decided_at AS at, [d.reason, d.chosen] AS texts
  ORDER BY d.namespace, d.decided_at, d.id
  LIMIT $limit
}
RETURN place.namespace AS namespace, id, at, id AS after, texts, [] AS json

// name: request_texts
// Answers and errors of decider calls: a page of each namespace in $places, after its (at, after).
CYPHER 25
UNWIND $places AS place
CALL (place) {
  MATCH (q:Request)
  WHERE q.namespace = place.namespace AND q.sent_at >= place.at
    AND (q.sent_at > place.at OR q.id > place.after)
  RETURN q.id AS id, q.sent_at AS at, [q.error] AS texts, [q.answers] AS json
  ORDER BY q.namespace, q.sent_at, q.id
  LIMIT $limit
}
RETURN place.namespace AS namespace, id, at, id AS after, texts, json

// name: feedback_texts
// Words of labels: a page of each namespace in $places, after its (at, after).
CYPHER 25
UNWIND $places AS place
CALL (place) {
  MATCH (w:Feedback)
  WHERE w.namespace = place.namespace AND w.given_at >= place.at
    AND (w.given_at > place.at OR w.id > place.after)
  RETURN w.id AS id, w.given_at AS at, [w.why, w.given_by] AS texts
  ORDER BY w.namespace, w.given_at, w.id
  LIMIT $limit
}
RETURN place.namespace AS namespace, id, at, id AS after, texts, [] AS json

// name: item_texts
// Values of items and what finds them: a page of each namespace in $places, after its (at, after).
CYPHER 25
UNWIND $places AS place
CALL (place) {
  MATCH (i:Item)
  WHERE i.namespace = place.namespace AND i.created_at >= place.at AND i.id IS NOT NULL
    AND (i.created_at > place.at OR i.id > place.after)
  RETURN i
  ORDER BY i.namespace, i.created_at, i.id
  LIMIT $limit
}
RETURN place.namespace AS namespace, i.id AS id, i.created_at AS at, i.id AS after,
  COLLECT { MATCH (i)-[:INDEXED_AS]->(t:ItemText) RETURN t.text } AS texts, [i.value] AS json
