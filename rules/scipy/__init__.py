"""The derivatives of SciPy. Each subpackage has an entry point of its own, and is loaded once SciPy's is imported."""
