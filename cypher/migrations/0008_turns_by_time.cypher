// The vector index on messages filters by time now: it is made anew, from the vectors stored.
CYPHER 25 DROP INDEX message_vector IF EXISTS;
