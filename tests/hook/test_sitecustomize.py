"""The sitecustomize example."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "sitecustomize_example"
REPORT = "import sys\nprint('autodiff_hook' in sys.modules)\n"


def test_off_without_the_variable(sample):
    assert sample.output("-c", REPORT, path=(FOLDER,)) == "False"


def test_on_without_a_line_of_code(sample):
    program = sample.write("script.py", "import pkg, sys\nprint(type(pkg.f.J).__name__, pkg.__autodiff__)\n")
    assert sample.output(program, path=(FOLDER,), AUTODIFF_MODULES="pkg") == "AttachedJ pkg"


def test_a_name_that_cannot_be_found_is_told_at_exit(sample):
    """The program's own folder is not on sys.path yet when sitecustomize runs."""
    done = sample.run("-c", "import pkg\nprint('ran')", path=(FOLDER,), AUTODIFF_MODULES="pkg,nope")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    (warning,) = sample.warned(done.stderr)
    assert warning == "ConfigWarning: AUTODIFF_MODULES: no module named 'nope' can be found."


def test_the_next_one_runs_too(sample):
    next_one = sample.write(
        "next/sitecustomize.py", "import sys\nprint('next', __name__, sys.modules[__name__].__file__)\n"
    )
    for variables in ({}, {"AUTODIFF_MODULES": "pkg"}):
        output = sample.output(
            "-c", "import sitecustomize; print(sitecustomize.__file__)", path=(FOLDER, next_one.parent), **variables
        )
        assert output.splitlines() == [f"next sitecustomize {next_one}", str(next_one)]


def test_copies_run_once_each(sample):
    copy = sample.write("copy/sitecustomize.py", (FOLDER / "sitecustomize.py").read_text()).parent
    last = sample.write("last/sitecustomize.py", "print('last')\n").parent
    path = (FOLDER, copy, FOLDER, copy, last)
    program = REPORT + "print([type(finder).__name__ for finder in sys.meta_path].count('Finder'))\n"
    assert sample.output("-c", program, path=path, AUTODIFF_MODULES="pkg").split() == ["last", "True", "1"]


@pytest.mark.parametrize("failure", ["raise RuntimeError('broken')", "import nothing_of_that_name"])
def test_a_program_starts_whatever_goes_wrong(sample, failure):
    broken = sample.write("broken/autodiff_hook/__init__.py", failure).parents[1]
    done = sample.run("-c", "print('ran')", path=(FOLDER, broken), AUTODIFF_MODULES="pkg")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert done.stderr.startswith("sitecustomize: autodiff_hook is off: ") and done.stderr.count("\n") == 1


def test_wrong_settings_are_told(sample):
    sample.write("pyproject.toml", "[tool.autodiff]\nmodule = []\n")
    done = sample.run("-c", "print('ran')", path=(FOLDER,), AUTODIFF_MODULES="pkg")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    (warning,) = sample.warned(done.stderr)
    assert warning.startswith("ConfigWarning: ") and "has no key 'module'" in warning


@pytest.mark.parametrize("option", ["-S", "-I", "-E"])
def test_the_options_that_switch_it_off(sample, option):
    assert sample.output(option, "-c", REPORT, path=(FOLDER,), AUTODIFF_MODULES="pkg") == "False"
