"""The console: pages for people, at `/`, over the REST API and nothing else."""

from adapters.console.mounting import serve_beside

__all__ = ["serve_beside"]
