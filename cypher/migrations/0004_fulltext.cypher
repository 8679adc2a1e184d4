// Full text over the words and the namespace's opaque token: the tenant filter sits inside the index.
// The analyzer keeps every word ("not" too); stems are part of search_text.
CYPHER 25 CREATE FULLTEXT INDEX fact_text IF NOT EXISTS FOR (f:Fact) ON EACH [f.search_text, f.namespace_key] OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words'}};
CYPHER 25 CREATE FULLTEXT INDEX message_text IF NOT EXISTS FOR (m:Message) ON EACH [m.search_text, m.namespace_key] OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words'}};
