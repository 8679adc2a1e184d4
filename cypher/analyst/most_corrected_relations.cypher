// Which relations does the memory get wrong, or change, most often?
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//
// Columns:
//   predicate: the relation.
//   facts, open: how many, and those without an end.
//   corrected: ended by hand.
//   by_belief: ended by evidence against them.
//   superseded: were told after what replaced them.
//   disputed, tentative: contradicted and not closed; stored unsure.
//   share: of its facts that were corrected or ended by evidence.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.predicate IS NOT NULL
WITH f.predicate AS predicate, count(*) AS facts, count(CASE WHEN f.open THEN 1 END) AS open,
  count(CASE f.closed_reason WHEN 'corrected' THEN 1 END) AS corrected,
  count(CASE f.closed_reason WHEN 'belief' THEN 1 END) AS by_belief,
  count(CASE f.closed_reason WHEN 'superseded' THEN 1 END) AS superseded,
  count(CASE WHEN f.disputed THEN 1 END) AS disputed,
  count(CASE WHEN f.tentative THEN 1 END) AS tentative
RETURN predicate, facts, open, corrected, by_belief, superseded, disputed, tentative,
  1.0 * (corrected + by_belief) / facts AS share
ORDER BY corrected DESC, by_belief DESC, facts DESC, predicate
