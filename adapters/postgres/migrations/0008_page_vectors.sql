-- The vector of each page (mental model) by its name and text, at the version of its stream that had them. Made after
-- the page was written; one that is missing, older or of another `space` (a model at so many dimensions) is made anew.
-- NULL: the model makes no vector of this text.
CREATE TABLE page_vectors (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    space text NOT NULL,
    embedding halfvec,
    PRIMARY KEY (bank_id, mental_model_id)
);
