-- Tables of the event log, in the shape the `eventsourcing` library reads and writes, plus the transaction that wrote a
-- row (`xid`), which a reader that tails the log without the table lock will need.
CREATE TYPE stored_event_uuid AS (originator_id uuid, originator_version bigint, topic text, state bytea);

CREATE TABLE stored_events (
    originator_id uuid NOT NULL,
    originator_version bigint NOT NULL,
    topic text NOT NULL,
    state bytea NOT NULL,
    notification_id bigserial NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (originator_id, originator_version)
);
CREATE UNIQUE INDEX stored_events_notification_id_idx ON stored_events (notification_id);

CREATE TABLE snapshots (
    originator_id uuid NOT NULL,
    originator_version bigint NOT NULL,
    topic text NOT NULL,
    state bytea NOT NULL,
    PRIMARY KEY (originator_id, originator_version)
);

-- The log as a person reads it in psql.
CREATE VIEW event_log AS
SELECT e.notification_id AS position,
       j.state -> 'envelope' ->> 'bank_id' AS bank_id,
       j.state -> 'envelope' ->> 'stream' AS stream,
       e.originator_version AS version,
       e.topic,
       (j.state -> 'envelope' ->> 'schema')::int AS schema,
       (j.state -> 'envelope' ->> 'occurred_at')::timestamptz AS occurred_at,
       j.state -> 'envelope' ->> 'actor' AS actor,
       j.state -> 'envelope' ->> 'operation_id' AS operation_id,
       j.state -> 'envelope' ->> 'cause' AS cause,
       j.state -> 'payload' AS payload,
       e.originator_id AS stream_id
FROM stored_events e
CROSS JOIN LATERAL (SELECT convert_from(e.state, 'UTF8')::jsonb AS state) j;
