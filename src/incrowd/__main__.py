"""``python -m incrowd`` is ``incrowd``."""

from incrowd.cli import main

main()
