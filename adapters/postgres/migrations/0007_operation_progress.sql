-- How far running operations are. Of no worth after a crash of the server, so it is not logged.
CREATE UNLOGGED TABLE operation_progress (
    bank_id text NOT NULL,
    operation_id uuid NOT NULL,
    attempt int NOT NULL,
    stage text NOT NULL,
    at timestamptz NOT NULL,
    processed bigint,
    total bigint,
    detail jsonb,
    PRIMARY KEY (bank_id, operation_id)
);

-- A kept reply tells what it cost, so that an event can tell it when no attempt does; its payload goes with its bank.
-- Operations that are under way ask anew.
DROP TABLE kept_replies;
CREATE TABLE kept_replies (
    bank_id text NOT NULL,
    operation_id uuid NOT NULL,
    key text NOT NULL,
    payload json,
    call jsonb NOT NULL,
    counted boolean NOT NULL DEFAULT false,
    kept_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (bank_id, operation_id, key)
);
CREATE INDEX kept_replies_by_age ON kept_replies (kept_at);
