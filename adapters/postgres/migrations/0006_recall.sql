-- Neighbours of a fact in its document, now and at past positions.
CREATE INDEX current_facts_by_place ON fact_versions (bank_id, document_id, from_position) WHERE to_position IS NULL;
CREATE INDEX past_facts_by_place ON fact_versions (bank_id, document_id, from_position) WHERE to_position IS NOT NULL;
DROP INDEX current_facts_by_document;

-- Facts by their time.
CREATE INDEX current_facts_by_mention ON fact_versions (bank_id, mentioned_at) WHERE to_position IS NULL;
CREATE INDEX current_facts_by_occurrence ON fact_versions (bank_id, occurred_start)
    WHERE to_position IS NULL AND occurred_start IS NOT NULL;

-- By which rule the stored terms were made of the texts (domain/terms.py). While they are made anew, by which one and
-- how far that has come.
CREATE TABLE memory_terms_rule (
    rule int NOT NULL,
    next_rule int,
    next_bank_id text,
    next_position bigint
);
CREATE UNIQUE INDEX one_memory_terms_rule ON memory_terms_rule ((true));
INSERT INTO memory_terms_rule (rule) VALUES (1);
