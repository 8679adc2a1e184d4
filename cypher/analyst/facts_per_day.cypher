// How much did the memory learn on each day?
// Days of transaction time, in UTC, the latest first.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param limit => 31
//     INTEGER = 31: most days.
//
// Columns:
//   day: the date.
//   messages: messages stored.
//   learned: facts stored.
//   closed: ends given to facts, or moved.
//   reopened: ends taken away.
//   requests, cost_usd: calls to the decider, and what is known of their cost.
CYPHER 25
CALL () {
  MATCH (m:Message)
  WHERE m.namespace = $namespace AND m.status IS NOT NULL
  RETURN date(m.recorded_at) AS day, 'message' AS what, 0.0 AS cost
UNION ALL
  MATCH (f:Fact)
  WHERE f.namespace = $namespace AND f.recorded_at IS NOT NULL AND f.id IS NOT NULL  // the index
  RETURN date(f.recorded_at) AS day, 'learned' AS what, 0.0 AS cost
UNION ALL
  MATCH (d:Decision)
  WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL AND d.moves_end
  RETURN date(d.decided_at) AS day,
    CASE WHEN d.valid_until_after IS NULL THEN 'reopened' ELSE 'closed' END AS what, 0.0 AS cost
UNION ALL
  MATCH (q:Request)
  WHERE q.namespace = $namespace AND q.sent_at IS NOT NULL
  RETURN date(q.sent_at) AS day, 'request' AS what, coalesce(q.cost_usd, 0.0) AS cost
}
RETURN day, count(CASE what WHEN 'message' THEN 1 END) AS messages,
  count(CASE what WHEN 'learned' THEN 1 END) AS learned,
  count(CASE what WHEN 'closed' THEN 1 END) AS closed,
  count(CASE what WHEN 'reopened' THEN 1 END) AS reopened,
  count(CASE what WHEN 'request' THEN 1 END) AS requests, sum(cost) AS cost_usd
ORDER BY day DESC
LIMIT $limit
