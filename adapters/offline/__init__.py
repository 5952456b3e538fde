"""The engine that needs no model: rules of form instead of understanding, the same answer for the same input, always.

What it does: sentences become facts, dates and names in them are found by how they are written, and a document is an
extract: the sentences that match the question, grouped by the names they share and ordered by date. What it does not:
rephrase, infer, resolve a contradiction, or know that two spellings mean one person. Nothing it writes claims more.
"""
