// The few facts to be asked about again: only those have the property.
CYPHER 25 CREATE INDEX fact_unsettled IF NOT EXISTS FOR (f:Fact) ON (f.namespace, f.unsettled);
