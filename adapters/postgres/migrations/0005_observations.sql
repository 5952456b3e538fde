-- What an observation rests on, and in which scopes a fact may be consolidated (NULL: as its bank says).
ALTER TABLE fact_versions ADD COLUMN source_ids uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE fact_versions ADD COLUMN observation_scopes jsonb;
CREATE INDEX current_observations_by_source ON fact_versions USING gin (source_ids)
    WHERE to_position IS NULL AND fact_type = 'observation';

-- What consolidation made of each current fact that is no observation: neither time means that it waits.
CREATE TABLE consolidation (
    bank_id text NOT NULL,
    fact_id uuid NOT NULL,
    position bigint NOT NULL,
    tag_set uuid NOT NULL,
    consolidated_at timestamptz,
    failed_at timestamptz,
    failure text,
    PRIMARY KEY (bank_id, fact_id)
);
CREATE INDEX facts_to_consolidate ON consolidation (bank_id, position) INCLUDE (tag_set)
    WHERE consolidated_at IS NULL AND failed_at IS NULL;
CREATE INDEX facts_not_consolidated ON consolidation (bank_id) WHERE failed_at IS NOT NULL;
ALTER TABLE memory_clock ADD COLUMN consolidated_at timestamptz;
INSERT INTO consolidation (bank_id, fact_id, position, tag_set)
    SELECT bank_id, fact_id, from_position, tag_set FROM fact_versions
    WHERE to_position IS NULL AND fact_type <> 'observation';

-- The parts a document was read in. A part with the same text keeps its id when a document is read again, and its facts
-- when it would be read with the same (`read_with`: a digest of all that has a say in it).
CREATE TABLE memory_chunks (
    bank_id text NOT NULL,
    document_id text NOT NULL,
    chunk_id uuid NOT NULL,
    number int NOT NULL,
    text text NOT NULL,
    sha256 text NOT NULL,
    read_with text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL,
    PRIMARY KEY (bank_id, document_id, chunk_id)
);
CREATE INDEX memory_chunks_by_id ON memory_chunks (chunk_id);

-- Facts that a person set aside: their last version, and why. Restoring one adds a version.
CREATE TABLE invalidated_facts (
    bank_id text NOT NULL,
    fact_id uuid NOT NULL,
    version int NOT NULL,
    position bigint NOT NULL,
    reason text,
    invalidated_at timestamptz NOT NULL,
    PRIMARY KEY (bank_id, fact_id)
);

-- Which fact came of which, as a text said.
CREATE TABLE fact_causes (
    bank_id text NOT NULL,
    fact_id uuid NOT NULL,
    cause_id uuid NOT NULL,
    PRIMARY KEY (bank_id, fact_id, cause_id)
);
CREATE INDEX fact_effects ON fact_causes (bank_id, cause_id);

-- The names of a bank by their folded spelling: how a name is first written, and in how many current facts it is.
CREATE TABLE memory_entities (
    bank_id text NOT NULL,
    folded text NOT NULL,
    name text NOT NULL,
    facts bigint NOT NULL,
    first_seen timestamptz NOT NULL,
    last_seen timestamptz NOT NULL,
    PRIMARY KEY (bank_id, folded)
);
INSERT INTO memory_entities (bank_id, folded, name, facts, first_seen, last_seen)
    SELECT bank_id, left(lower(name), 300), (array_agg(name ORDER BY from_position))[1],
        count(DISTINCT from_position) FILTER (WHERE to_position IS NULL), min(recorded_at), max(recorded_at)
    FROM fact_versions, unnest(entities) AS name GROUP BY bank_id, left(lower(name), 300);
-- Names spelled nearly the same; by bank too, so that no bank reads the postings of another.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE INDEX memory_entities_by_spelling ON memory_entities USING gin (bank_id, folded gin_trgm_ops);

-- How a document was retained, so that it can be read again.
ALTER TABLE memory_documents ADD COLUMN retained_with jsonb NOT NULL DEFAULT '{}';
ALTER TABLE memory_documents ADD COLUMN text_stored boolean NOT NULL DEFAULT true;

-- The order in which retains were asked for, whichever of them comes first to its end. `parts` are the requests that a
-- document is made of, in that order; `revision` is another one after each write.
CREATE SEQUENCE retain_order;
ALTER TABLE memory_documents ADD COLUMN parts jsonb NOT NULL DEFAULT '[]';
ALTER TABLE memory_documents ADD COLUMN revision bigint NOT NULL DEFAULT nextval('retain_order');
ALTER TABLE retain_inbox ADD COLUMN asked bigint NOT NULL DEFAULT nextval('retain_order');
-- Where each item stood in its request, and how many facts were read of those that are done and no longer here.
ALTER TABLE retain_inbox ADD COLUMN places int[] NOT NULL DEFAULT '{}';
ALTER TABLE retain_inbox ADD COLUMN facts int NOT NULL DEFAULT 0;
