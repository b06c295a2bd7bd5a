"""``python -m gramian``: the command line, where the program is not on the path."""

import sys

from gramian.cli.app import main

sys.exit(main())
