"""Commands that talk to a server through its REST API."""
