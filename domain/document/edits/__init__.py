"""Edits of a document: the operations that can be asked for, and how they are carried out.

`applying` takes `operations` in order. What their ids name is found by `references`, what they change is said in
`blocks`, `sections` and `items`; the texts they bring are read by `block_texts`, `heading_texts` and `item_texts`.
Every change is a splice of a `draft` (`splicing`, `gaps`, `differences`), and `verification` has the parser read the
result. Lists and tables are made of items: `itemized` and `rewriting` build them from those, `markers` and `rows` know
what stands around an item. What cannot be done is `unfit`.
"""
