-- Replies of language models, kept until the operation they were paid for ends; the next attempt reads them.
-- json, not jsonb: a reply goes into the next request of its conversation, which must be the same again to the byte.
CREATE TABLE kept_replies (
    operation_id uuid NOT NULL,
    key text NOT NULL,
    payload json NOT NULL,
    counted boolean NOT NULL DEFAULT false,
    kept_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (operation_id, key)
);
