"""The mental model: a markdown document that answers a standing question over a bank."""
