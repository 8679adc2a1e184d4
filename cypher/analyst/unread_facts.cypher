// Which facts has no search given for so many days?
// Such facts are what `engram hygiene` asks about again. Archived ones are left out.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param days => 30
//     INTEGER = 30: recorded before that, and not read since.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   fact: the fact as a sentence.
//   recorded_at, read_at: when it was learned, and last given by a search.
//   durability: permanent, long_term or short_lived.
//   extractor: what made it; `caller` and `import` are never archived.
//   belief: probability that it still holds, in [.02, .98].
//   fact_id: for `engram explain`.
CYPHER 25
WITH datetime() - duration({days: $days}) AS since
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.recorded_at < since AND f.id IS NOT NULL  // the index
  AND coalesce(f.read_at < since, true) AND f.archived_at IS NULL
RETURN f.text AS fact, f.recorded_at AS recorded_at, f.read_at AS read_at,
  f.durability AS durability, f.extractor AS extractor, f.belief AS belief, f.id AS fact_id
ORDER BY recorded_at, fact_id
LIMIT $limit
