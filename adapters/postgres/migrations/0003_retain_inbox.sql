-- Items of asynchronous retains, kept until their operation ends; a retry reads them again.
CREATE TABLE retain_inbox (
    operation_id uuid PRIMARY KEY,
    bank_id text NOT NULL,
    items jsonb NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now()
);
