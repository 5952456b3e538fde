-- When each API key was last used. Beside the log: it is no decision, and it changes with the requests.
CREATE TABLE api_key_uses (
    key_id text PRIMARY KEY,
    last_used_at timestamptz NOT NULL
);
