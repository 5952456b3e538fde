"""`python -m adapters.cli`, the same as the console script."""

from adapters.cli.main import main

main()
