"""`python -m mino_core.cli` is `mino`."""

from . import main

raise SystemExit(main())
