CREATE EXTENSION IF NOT EXISTS vector;

-- The clock of each bank. A writer holds its row from its first change to its commit, so that positions are gapless
-- and in commit order. The counts describe what is current; they move with the clock.
CREATE TABLE memory_clock (
    bank_id text PRIMARY KEY,
    position bigint NOT NULL DEFAULT 0,
    facts bigint NOT NULL DEFAULT 0,
    written_at timestamptz,
    document_at timestamptz
) WITH (fillfactor = 50);

-- Where each combination of tags and fact type was last written, and how many current facts it has. Closing a fact
-- moves no position here, and no row is ever removed while its bank has memory. `tag_set` stands for `tags` in keys:
-- sets of tags can be too long for one.
CREATE TABLE scope_clock (
    bank_id text NOT NULL,
    tag_set uuid NOT NULL,
    fact_type text NOT NULL,
    tags text[] NOT NULL,
    position bigint NOT NULL,
    facts bigint NOT NULL,
    PRIMARY KEY (bank_id, tag_set, fact_type)
);
CREATE INDEX scope_clock_by_position ON scope_clock (bank_id, position);

-- A fact is a series of versions, each valid in [from_position, to_position); NULL means "still". Nothing but
-- `to_position` is ever changed. In its bank a version is known by its `from_position`. `tags` are sorted and distinct.
CREATE TABLE fact_versions (
    bank_id text NOT NULL,
    fact_id uuid NOT NULL,
    version int NOT NULL,
    from_position bigint NOT NULL,
    to_position bigint,
    tag_set uuid NOT NULL,
    fact_type text NOT NULL CHECK (fact_type IN ('world', 'experience', 'observation')),
    terms tsvector NOT NULL,
    tags text[] NOT NULL DEFAULT '{}',
    text text NOT NULL,
    context text,
    occurred_start timestamptz,
    occurred_end timestamptz,
    mentioned_at timestamptz,
    document_id text,
    chunk_id text,
    metadata jsonb NOT NULL DEFAULT '{}',
    entities text[] NOT NULL DEFAULT '{}',
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (bank_id, fact_id, version),
    CHECK (to_position > from_position)
);
CREATE UNIQUE INDEX fact_versions_by_start ON fact_versions (bank_id, from_position);
CREATE UNIQUE INDEX fact_versions_by_end ON fact_versions (bank_id, to_position) WHERE to_position IS NOT NULL;
CREATE INDEX current_facts_by_document ON fact_versions (bank_id, document_id) WHERE to_position IS NULL;
-- Every lexeme begins with a mark of its bank, so that no bank reads the postings of another. Without the pending list
-- a search never pays for the writes before it.
CREATE INDEX current_facts_by_term ON fact_versions USING gin (terms) WITH (fastupdate = off)
    WHERE to_position IS NULL;

-- The vector of each version, with what a search must know to leave it out: small rows, for in a small bank a search
-- reads them all. Only vectors of one `space` (a model at so many dimensions) are comparable.
CREATE TABLE fact_vectors (
    bank_id text NOT NULL,
    from_position bigint NOT NULL,
    to_position bigint,
    tag_set uuid NOT NULL,
    fact_type text NOT NULL,
    space text NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (bank_id, from_position)
);
CREATE INDEX past_vectors_by_end ON fact_vectors (bank_id, to_position) WHERE to_position IS NOT NULL;
CREATE INDEX current_vectors_by_tag_set ON fact_vectors (bank_id, tag_set) WHERE to_position IS NULL;

-- In how many current facts of a bank each search term is.
CREATE TABLE memory_terms (
    bank_id text NOT NULL,
    term text NOT NULL,
    facts bigint NOT NULL,
    PRIMARY KEY (bank_id, term)
) WITH (fillfactor = 80);

CREATE TABLE memory_documents (
    bank_id text NOT NULL,
    document_id text NOT NULL,
    text text NOT NULL,
    tags text[] NOT NULL DEFAULT '{}',
    metadata jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (bank_id, document_id)
);
