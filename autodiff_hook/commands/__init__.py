"""The command line, ``python -m autodiff_hook``: a file for each command, whose work can be asked for in Python too."""
