// What did each question cost, and how long did the requests take that asked it?
// One request asks several questions: its cost is shared out evenly among their names, its latency
// counts for each of them.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param since => datetime('2024-01-01')
//     ZONED DATETIME = null: only requests sent from then on; null for all.
//
// Columns:
//   question: its name.
//   backend, model: who was asked.
//   requests: how many asked it.
//   failed: of them, those that ended in an error.
//   cost_usd: its share of what is known.
//   unpriced: requests whose cost is unknown.
//   latency_ms_p50, latency_ms_p90: of those requests, in milliseconds.
CYPHER 25
MATCH (q:Request)
WHERE q.namespace = $namespace AND q.sent_at IS NOT NULL AND ($since IS NULL OR q.sent_at >= $since)
WITH q, split(q.question_versions, '"') AS parts  // {"name": version, …}
WITH q, [i IN range(1, size(parts) - 1, 2) | parts[i]] AS questions
UNWIND questions AS question
RETURN question, q.backend AS backend, q.model AS model, count(*) AS requests,
  count(q.error) AS failed, sum(q.cost_usd / size(questions)) AS cost_usd,
  sum(CASE WHEN q.cost_usd IS NULL THEN 1 ELSE 0 END) AS unpriced,
  percentileDisc(q.latency_ms, 0.5) AS latency_ms_p50,
  percentileDisc(q.latency_ms, 0.9) AS latency_ms_p90
ORDER BY cost_usd DESC, requests DESC, question, backend, model
