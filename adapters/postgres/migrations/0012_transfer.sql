-- Archives of banks that wait to be fetched, or to be imported: in the database, for the process that made one is not
-- the one that is asked for it. In parts, so that nobody holds a whole one in memory; they are compressed already.
CREATE TABLE transfer_files (
    key text PRIMARY KEY,
    bank_id text NOT NULL,
    filename text NOT NULL,
    byte_size bigint NOT NULL,
    sha256 text NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX transfer_files_of_bank ON transfer_files (bank_id);
CREATE INDEX transfer_files_by_end ON transfer_files (expires_at);

CREATE TABLE transfer_file_parts (
    key text NOT NULL REFERENCES transfer_files ON DELETE CASCADE,
    number int NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (key, number)
);
ALTER TABLE transfer_file_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;
