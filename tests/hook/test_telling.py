"""Warnings have categories and point to the program; the trace is a logger, which AUTODIFF_TRACE prints."""

from __future__ import annotations

TRACED = "autodiff_hook.gradient(lambda x: x * x, 3.0)"


def test_warnings_can_be_filtered_by_category(sample):
    program = "import autodiff_hook, pkg\nprint(pkg.f.J(3.0)[0])"
    environment = {"AUTODIFF_MODULES": "pkg,nope"}
    assert sample.warned(sample.run("-c", program, **environment).stderr) == [
        "ConfigWarning: AUTODIFF_MODULES: no module named 'nope' can be found."
    ]
    assert sample.output("-W", "ignore::UserWarning", "-c", program, **environment) == "9.0"
    done = sample.run("-W", "error", "-c", program, **environment)
    assert done.returncode == 1 and "ConfigWarning: AUTODIFF_MODULES: no module named 'nope'" in done.stderr


def test_the_category_is_importable_and_a_warning_as_error_leaves_all_in_order(sample):
    sample.check(
        """
import os, warnings
os.environ["AUTODIFF_MODULES"] = "pkg,nope"
warnings.simplefilter("error")
try:
    import autodiff_hook
except UserWarning as warning:
    first = type(warning)
import autodiff_hook, pkg
assert first is autodiff_hook.ConfigWarning and issubclass(first, autodiff_hook.AutodiffWarning)
assert pkg.f.J(3.0)[0] == 9.0
"""
    )


def test_a_warning_points_to_the_line_that_imports(sample):
    path = sample.write("program.py", "import json\n\nimport autodiff_hook\n")
    stderr = sample.run(path, AUTODIFF_MODULES="nope").stderr
    assert stderr.startswith(f"{path}:3: ConfigWarning: ") and stderr.endswith("\n  import autodiff_hook\n")


def test_who_listens_to_the_logger_gets_the_trace(sample):
    sample.check(
        f"""
import io, logging
said = io.StringIO()
handler = logging.StreamHandler(said)
handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
logging.getLogger("autodiff_hook").addHandler(handler)
import autodiff_hook
{TRACED}
assert not said.getvalue()
logging.getLogger("autodiff_hook").setLevel(logging.DEBUG)
{TRACED.replace("x * x", "x * x * x")}
assert said.getvalue().startswith("autodiff_hook DEBUG specialised <lambda> (<string>:"), said.getvalue()
"""
    )


def test_the_trace_is_one_line_for_each_decision(sample):
    done = sample.run("-c", f"import autodiff_hook\n{TRACED}", AUTODIFF_TRACE="1")
    (line,) = done.stderr.splitlines()
    assert line.startswith("autodiff: specialised <lambda> (<string>:2) in ") and "ms: " in line
    logged = "import logging; logging.basicConfig(level=logging.DEBUG)\n"
    done = sample.run("-c", f"{logged}import autodiff_hook\n{TRACED}", AUTODIFF_TRACE="1")
    assert [line.partition(" ")[0] for line in done.stderr.splitlines()] == [
        "autodiff:",
        "DEBUG:autodiff_hook:specialised",
    ]
