"""``python -m autodiff_hook``."""

import sys

from autodiff_hook.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
