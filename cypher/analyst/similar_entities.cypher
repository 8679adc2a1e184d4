// Which entities look like the same, by their names?
// Two names are alike when they share enough of their words, in any order. What was taken apart by
// hand is left out. `engram duplicates` looks closer at names, and asks the decider. Every name is
// compared with all that share a word: 115 ms (p50) in a namespace of 2000 facts.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param alike => 0.5
//     FLOAT = 0.5: least share of all words of the two that both have.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   name, other: the two names.
//   alike: share of all words of the two that both have.
//   words: those words.
//   name_facts, other_facts: how many facts each is an end of.
//   in_common: entities that facts join both with.
CYPHER 25
MATCH (e:Entity)
WHERE e.namespace = $namespace AND e.key IS NOT NULL
WITH e, [word IN split(replace(e.key, ',', ' '), ' ')
  WHERE size(word) > 2 OR toIntegerOrNull(word) IS NOT NULL] AS words
UNWIND words AS word
WITH word, collect(DISTINCT {e: e, size: size(words)}) AS sharing
WHERE 1 < size(sharing) <= 100  // a word in more names than that is no name
UNWIND sharing AS one
UNWIND sharing AS two
WITH one, two, word
WHERE one.e.key < two.e.key
WITH one.e AS a, two.e AS b, collect(DISTINCT word) AS words,
  one.size + two.size AS both
WITH a, b, words, 1.0 * size(words) / (both - size(words)) AS alike
WHERE alike >= $alike AND NOT b.id IN coalesce(a.apart, []) AND NOT a.id IN coalesce(b.apart, [])
WITH a, b, words, alike ORDER BY alike DESC, a.name, b.name LIMIT $limit
WITH a, b, words, alike,
  COLLECT { MATCH (a)<-[:SUBJECT|OBJECT]-(:Fact)-[:SUBJECT|OBJECT]->(c:Entity) RETURN DISTINCT c }
    AS beside
RETURN a.name AS name, b.name AS other, alike, words,
  COUNT { (a)<-[:SUBJECT|OBJECT]-() } AS name_facts,
  COUNT { (b)<-[:SUBJECT|OBJECT]-() } AS other_facts,
  COUNT {
    MATCH (b)<-[:SUBJECT|OBJECT]-(:Fact)-[:SUBJECT|OBJECT]->(c:Entity)
    WHERE c IN beside AND c <> a AND c <> b
    RETURN DISTINCT c
  } AS in_common
ORDER BY alike DESC, name, other
