"""The hook: opting modules in, finding and marking them at import, attaching ``J`` to their functions."""

from __future__ import annotations

from autodiff_hook.loader.bootstrap import install as install
from autodiff_hook.loader.bootstrap import install_from_environment as install_from_environment
from autodiff_hook.loader.bootstrap import uninstall as uninstall
