-- An entity is known by an id that is made of its name.
CREATE INDEX memory_entities_by_id ON memory_entities (bank_id, (md5(folded)::uuid));
CREATE INDEX current_facts_by_time ON fact_versions (bank_id, mentioned_at DESC NULLS LAST, from_position DESC)
    WHERE to_position IS NULL;

-- A document's new tags and scopes are those of its facts that are set aside, too; NULL: as their last version says.
ALTER TABLE invalidated_facts ADD COLUMN tags text[];
ALTER TABLE invalidated_facts ADD COLUMN observation_scopes jsonb;
CREATE VIEW facts_set_aside AS
    SELECT f.bank_id, f.fact_id, f.version, f.from_position, f.to_position, f.fact_type,
        coalesce(i.tags, f.tags) AS tags, f.text, f.context, f.occurred_start, f.occurred_end, f.mentioned_at,
        f.document_id, f.chunk_id, f.metadata, f.entities, f.recorded_at, f.source_ids,
        CASE WHEN i.tags IS NULL THEN f.observation_scopes ELSE i.observation_scopes END AS observation_scopes,
        i.invalidated_at, i.reason
    FROM invalidated_facts i JOIN fact_versions f USING (bank_id, fact_id, version);
