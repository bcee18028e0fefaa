"""install, uninstall, status, AUTODIFF_MODULES, [tool.autodiff], AUTODIFF_TRACE."""

from __future__ import annotations

import os

import pytest

import autodiff_hook
from autodiff_hook import config
from autodiff_hook.errors import ConfigError

WARNING = "ConfigWarning: {}: no module named {} can be found."
REPORT = "import autodiff_hook as ad\nprint(ad.status().opted_in)\n"


def test_handle(sample):
    sample.check(
        """
import autodiff_hook, os, sys
finders = list(sys.meta_path)
with autodiff_hook.install("pkg") as handle:
    import pkg
    assert handle.names == ("pkg",) and repr(handle) == "<autodiff_hook.install('pkg')>"
    assert hasattr(pkg.f, "J") and os.environ["AUTODIFF_MODULES"] == "pkg"
assert repr(handle) == "<autodiff_hook.install('pkg'), undone>"
assert not hasattr(pkg.f, "J") and "AUTODIFF_MODULES" not in os.environ and sys.meta_path == finders
handle.uninstall()
"""
    )


def test_handles_overlap(sample):
    sample.check(
        """
import autodiff_hook, os, pkg
first, second = autodiff_hook.install("pkg", "json"), autodiff_hook.install("pkg")
first.uninstall()
first.uninstall()
assert hasattr(pkg.f, "J") and os.environ["AUTODIFF_MODULES"] == "pkg"
assert autodiff_hook.status().opted_in == {"pkg": ("call",)}
second.uninstall()
assert not hasattr(pkg.f, "J") and autodiff_hook.status().opted_in == {}
"""
    )


def test_uninstall(sample):
    sample.check(
        """
import autodiff_hook, os, pkg, pkg.sub
autodiff_hook.install("json")
assert autodiff_hook.status().opted_in == {"json": ("call",), "pkg": ("environment",)}
autodiff_hook.uninstall("pkg")
assert not hasattr(pkg.f, "J") and not hasattr(pkg.sub.g, "J") and os.environ["AUTODIFF_MODULES"] == "json"
try:
    autodiff_hook.uninstall("pkg.sub")
except autodiff_hook.ConfigError as error:
    assert str(error) == "uninstall: 'pkg.sub' is not opted in; opted in: json."
else:
    raise AssertionError
autodiff_hook.install("pkg.sub", "pkg")
autodiff_hook.uninstall("pkg")
assert not hasattr(pkg.f, "J") and hasattr(pkg.sub.g, "J")
autodiff_hook.uninstall()
assert autodiff_hook.status().opted_in == {} and not autodiff_hook.status().enabled
""",
        AUTODIFF_MODULES="pkg",
    )


def test_what_the_environment_opted_in_stays_when_a_handle_ends(sample):
    sample.check(
        """
import autodiff_hook, os, pkg
with autodiff_hook.install("pkg", "json"):
    assert os.environ["AUTODIFF_MODULES"] == "pkg,json"
    assert autodiff_hook.status().opted_in["pkg"] == ("call", "environment")
assert hasattr(pkg.f, "J") and os.environ["AUTODIFF_MODULES"] == "pkg"
""",
        AUTODIFF_MODULES="pkg",
    )


def test_children_inherit_what_install_opted_in(sample):
    sample.check(
        """
import autodiff_hook, subprocess, sys
autodiff_hook.install("pkg", "json")
child = "import autodiff_hook as ad; print(ad.status().opted_in)"
print_of_child = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout
assert print_of_child == "{'json': ('environment',), 'pkg': ('environment',)}\\n"
"""
    )


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "install: name at least one module, as in install('pkg')."),
        (("no_such_package",), "install: no module named 'no_such_package' can be found."),
        (("json.no_such_module",), "install: no module named 'json.no_such_module' can be found."),
        (("json.decoder.deeper",), "install: no module named 'json.decoder.deeper' can be found."),
        (("math.sub",), "install: no module named 'math.sub' can be found."),
        (("json", ""), "install: no module named '' can be found."),
        (("two words",), "install: no module named 'two words' can be found."),
        ((3,), "install: the name of a module is a str, not 3."),
        ((os,), "install: the name of a module is a str, not <module 'os'"),
    ],
)
def test_bad_names_are_errors_and_change_nothing(names, message):
    before = config.opted_in(), config.version
    with pytest.raises(ConfigError) as caught:
        autodiff_hook.install(*names)
    assert str(caught.value).startswith(message)
    assert (config.opted_in(), config.version) == before


def test_looking_for_a_module_imports_nothing(sample):
    sample.check("import autodiff_hook, sys\nautodiff_hook.install('pkg.sub')\nassert 'pkg' not in sys.modules")


def test_environment(sample):
    done = sample.run("-c", REPORT + "import pkg; pkg.f.J", AUTODIFF_MODULES=" pkg , json,,nope, pkg.nope")
    assert done.stdout == "{}\n".format({name: ("environment",) for name in ("json", "nope", "pkg", "pkg.nope")})
    assert sample.warned(done.stderr) == [WARNING.format("AUTODIFF_MODULES", "'nope', 'pkg.nope'")]


@pytest.mark.parametrize("value", ["", " ", ","])
def test_empty_environment(sample, value):
    assert sample.output("-c", REPORT, AUTODIFF_MODULES=value) == "{}"


def test_pyproject(sample):
    path = sample.write(
        "pyproject.toml",
        '[tool.autodiff]\nmodules = ["pkg", "nope"]\nnondifferentiable = ["pkg.mod.f"]\nrules = ["pkg.sub"]\n',
    )
    folder = sample.root / "deep" / "er"
    folder.mkdir(parents=True)
    (sample.root / "deep" / "pyproject.toml").write_text('[project]\nname = "another"\n')
    program = REPORT + (
        "from autodiff_hook import config\n"
        "print(config.nondifferentiable_names(), config.rule_modules(), config.pyproject_path())\n"
        "ad.install('json')\nprint(ad.status().opted_in)\n"
    )
    done = sample.run("-c", program, cwd=folder, AUTODIFF_MODULES="pkg")
    assert sample.warned(done.stderr) == [
        WARNING.format("AUTODIFF_MODULES", "'pkg'"),
        WARNING.format(f"{path}: modules", "'nope', 'pkg'"),
    ]
    assert done.stdout.splitlines() == [
        "{'nope': ('pyproject',), 'pkg': ('environment', 'pyproject')}",
        f"('pkg.mod.f',) ('pkg.sub',) {path}",
        "{'json': ('call',), 'nope': ('pyproject',), 'pkg': ('environment', 'pyproject')}",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[tool.autodiff]\nmodule = []", "[tool.autodiff] has no key 'module'; its keys are modules, nondiff"),
        ("[tool.autodiff]\nmodules = 'pkg'", "[tool.autodiff] modules must be a list of strings, not 'pkg'."),
        ("[tool.autodiff]\nmodules = ['pkg', 3]", "[tool.autodiff] modules must be a list of strings, not ['pkg', 3]."),
        ("[tool.autodiff]\nrules = true", "[tool.autodiff] rules must be a list of strings, not True."),
        ("[tool.autodiff]\nrules = ['*']", "[tool.autodiff] rules: '*' is not a dotted name."),
        (
            "[tool.autodiff]\nnondifferentiable = ['a:b']",
            "[tool.autodiff] nondifferentiable: 'a:b' is not a dotted name.",
        ),
        ("[tool.autodiff.modules]\npkg = 1", "[tool.autodiff] modules must be a list of strings, not {'pkg': 1}."),
        ("tool.autodiff = 1", "tool.autodiff must be a table, not 1."),
        ("[tool.autodiff]\nmodules = [", "cannot read [tool.autodiff]: "),
        ("[tool.autodiff]\nmodules = []\n[project]\nname = ", "cannot read [tool.autodiff]: "),
        ("[tool.autodiff]\nmodules = []\n[other]\na = " + "[" * 5000, "cannot read [tool.autodiff]: "),
        ("[[tool.autodiff]]\nmodules = []", "tool.autodiff must be a table, not [{'modules': []}]."),
        ("[[tool]]\nautodiff = {}", "tool must be a table, not [{'autodiff': {}}]."),
        ("tool = 'x'\n[a]\nautodiff = 1", "tool must be a table, not 'x'."),
    ],
)
def test_errors_in_pyproject_name_the_file_and_the_key(project, text, complaint):
    """A program starts, but nothing is differentiated as if the file were not there."""
    path = project.write("pyproject.toml", text)
    done = project.run(
        "-c",
        """
import autodiff_hook as ad
for differentiate in (ad.gradient, ad.grad(lambda x: x), lambda f, x: ad.jvp(f, (x,), (x,)), ad.gradient):
    try:
        differentiate(lambda x: x * x, 3.0)
    except ad.ConfigError as error:
        print(error)
print(ad.status())
""",
    )
    assert done.returncode == 0, done.stderr
    (warning,) = project.warned(done.stderr)
    assert warning.startswith(f"ConfigWarning: {path}: {complaint}")
    *raised, _, stated, _, _, _ = done.stdout.splitlines()
    assert len(raised) == 4 and all(line.startswith(f"{path}: {complaint}") for line in raised)
    assert stated.startswith(f"pyproject.toml: {path}: {complaint}")


def test_pyproject_without_the_table(project):
    project.write("pyproject.toml", "# [tool.autodiff] would stand here\n[project]\nname = 'x'\n")
    project.check("import autodiff_hook as ad\nassert ad.status().pyproject is None")


def test_trace(sample):
    program = "import autodiff_hook, pkg, json\nautodiff_hook.install('json')\n"
    done = sample.run("-c", program, AUTODIFF_MODULES="pkg", AUTODIFF_TRACE="1")
    lines = done.stderr.splitlines()
    assert lines[:2] == ["autodiff: marked pkg", "autodiff: marked pkg.mod"]
    assert "autodiff: attached to json, imported before" in lines
    for off in ("", "0"):
        assert sample.output("-c", program, AUTODIFF_MODULES="pkg", AUTODIFF_TRACE=off) == ""


def test_status(sample):
    sample.write("pyproject.toml", "[tool.autodiff]\nmodules = ['pkg']\n")
    program = (
        "import autodiff_hook as ad, json, pkg\nprint(ad.status())\nad.install('json', 'pkg')\nprint(ad.status())\n"
    )
    assert sample.output("-c", program).splitlines() == [
        "opted in: pkg (pyproject)",
        f"pyproject.toml: {sample.root / 'pyproject.toml'}",
        "finder: on",
        "imported through the hook: pkg, pkg.mod",
        "with J attached: pkg, pkg.mod",
        "opted in: json (call), pkg (call and pyproject)",
        f"pyproject.toml: {sample.root / 'pyproject.toml'}",
        "finder: on",
        "imported through the hook: pkg, pkg.mod",
        "with J attached: json, json.decoder, json.encoder, json.scanner, pkg, pkg.mod",
    ]


def test_a_deleted_working_directory(project):
    project.check("import os\nos.mkdir('x')\nos.chdir('x')\nos.rmdir('../x')\nimport autodiff_hook")
