"""The rules of recall: how what several arms found becomes one order, and what of it is answered."""
