"""Which pyproject.toml counts: whose it is, what it is, and where it stands."""

from __future__ import annotations

import os

import pytest

TABLE = "[tool.autodiff]\nmodules = ['json']\n"
REPORT = """
import autodiff_hook as ad
status = ad.status()
print(status.pyproject)
print(*status.ignored, sep="\\n")
"""
STRANGER = 54321
by_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives files away: needs root")


def found(project, program=REPORT, **options):
    """The file in force, what is ignored, and that each of these is told once on stderr."""
    done = project.run("-c", program, **options)
    assert done.returncode == 0, done.stderr
    path, *ignored = done.stdout.splitlines()
    ignored = [line for line in ignored if line]
    assert project.warned(done.stderr) == [f"ConfigWarning: {line}." for line in ignored]
    return (None if path == "None" else path), ignored


def ignored(path, reason):
    return [f"{path} is ignored: {reason}"]


def folder_in(project):
    folder = project.root / "folder"
    folder.mkdir()
    return folder, project.write("pyproject.toml", TABLE), folder / "pyproject.toml"


def test_what_is_no_regular_file(project):
    folder, outer, inner = folder_in(project)
    for make in (lambda: os.mkfifo(inner), inner.mkdir, lambda: inner.symlink_to("/dev/zero")):
        make()
        assert found(project, cwd=folder) == (str(outer), ignored(inner, "it is not a regular file"))
        inner.rmdir() if inner.is_dir() else inner.unlink()


def test_a_file_that_becomes_a_pipe_when_it_is_opened(project):
    folder, outer, inner = folder_in(project)
    os.mkfifo(inner)
    program = f"""
import os
asked = os.stat
os.stat = lambda path, **options: asked({str(outer)!r} if path == {str(inner)!r} else path, **options)
"""
    assert found(project, program + REPORT, cwd=folder) == (str(outer), ignored(inner, "it is not a regular file"))


def test_a_huge_file(project):
    folder, outer, inner = folder_in(project)
    inner.write_text(TABLE)
    os.truncate(inner, 1 << 30)
    assert found(project, cwd=folder) == (str(outer), ignored(inner, "it is larger than 1 MiB"))


def test_links(project):
    folder, outer, inner = folder_in(project)
    inner.symlink_to("nowhere")
    assert found(project, cwd=folder) == (str(outer), [])
    inner.unlink()
    inner.symlink_to(inner.name)
    path, reasons = found(project, cwd=folder)
    assert path == str(outer) and reasons[0].startswith(f"{inner} is ignored: it cannot be read: Too many ")
    inner.unlink()
    inner.symlink_to(project.write("elsewhere/settings", TABLE))
    assert found(project, cwd=folder) == (str(inner), [])


FOREIGN = f"it belongs to the user {STRANGER}, who is neither root nor the one of this process"


@by_root
def test_files_of_others(project):
    folder, outer, inner = folder_in(project)
    inner.write_text(TABLE)
    os.chown(inner, STRANGER, -1)
    assert found(project, cwd=folder) == (str(outer), ignored(inner, FOREIGN))
    inner.write_text("[project]\nname = 'nothing of ours'\n")
    assert found(project, cwd=folder) == (str(outer), [])
    inner.unlink()
    inner.symlink_to(project.write("elsewhere/settings", TABLE))
    os.lchown(inner, STRANGER, -1)
    assert found(project, cwd=folder) == (str(outer), ignored(inner, FOREIGN))
    program = f"import os\nos.geteuid = lambda: {STRANGER}\n"
    assert found(project, program + REPORT, cwd=folder) == (str(inner), [])


@by_root
def test_the_search_ends_with_the_folders_of_the_owner(project):
    folder, outer, _ = folder_in(project)
    assert found(project, cwd=folder) == (str(outer), [])
    os.chown(project.root, STRANGER, -1)
    assert found(project, cwd=folder) == (None, [])
    assert found(project) == (str(outer), [])


def test_the_search_ends_with_the_file_system(project):
    folder, outer, _ = folder_in(project)
    program = f"""
import os
asked = os.stat
def stat(path, **options):
    found = asked(path, **options)
    return os.stat_result([*found[:2], found.st_dev + 1, *found[3:]]) if path == {str(project.root)!r} else found
os.stat = stat
"""
    assert found(project, program + REPORT, cwd=folder) == (None, [])
    assert found(project, program + REPORT) == (str(outer), [])


def test_switched_off(project):
    path = project.write("pyproject.toml", TABLE)
    assert found(project, AUTODIFF_PYPROJECT="0") == (None, [])
    assert found(project, AUTODIFF_PYPROJECT="1") == (str(path), [])
    printed = project.output("-c", "import autodiff_hook as ad\nprint(ad.status())", AUTODIFF_PYPROJECT="0")
    assert "pyproject.toml: not read (AUTODIFF_PYPROJECT=0)" in printed.splitlines()
    path.write_text("[tool.autodiff]\nmodule = 1")
    project.check("import autodiff_hook as ad\nassert ad.gradient(lambda x: x, 1.0) == (1.0,)", AUTODIFF_PYPROJECT="0")


SPELLINGS = [
    "[ tool . autodiff ]\nmodules = ['json']",
    "['tool'.\"autodiff\"]\nmodules = ['json']",
    "[tool]\nautodiff = {modules = ['json']}",
    "[tool]\nautodiff.modules = ['json']",
    "tool.autodiff.modules = ['json']",
    "tool = {autodiff = {modules = ['json']}}",
    "[tool.autodiff]\r\nmodules = ['json']\r\n",
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_spellings_of_the_table(project, text):
    path = project.write("pyproject.toml", text)
    program = REPORT + "assert status.opted_in == {'json': ('pyproject',)}\n"
    assert found(project, program) == (str(path), [])


@pytest.mark.parametrize(
    "content", [b"[project]\nname = '\xff'\n", b"[project\n", b"# [tool.autodiff] ]]\ntool = 3\n[", b"tool = 3\n"]
)
def test_broken_files_without_the_table_are_not_our_business(project, content):
    (project.root / "pyproject.toml").write_bytes(content)
    assert found(project) == (None, [])
    project.check("import autodiff_hook as ad\nassert ad.gradient(lambda x: x, 1.0) == (1.0,)")


def test_a_file_that_is_no_text(project):
    path = project.root / "pyproject.toml"
    path.write_bytes(TABLE.encode() + b"[project]\nname = '\xff'\n")
    done = project.run("-c", "import autodiff_hook as ad\nad.gradient(lambda x: x, 1.0)")
    warning, *_, error = done.stderr.splitlines()
    assert f": ConfigWarning: {path}: cannot read [tool.autodiff]: 'utf-8' codec" in warning
    assert error.startswith(f"autodiff_hook.errors.ConfigError: {path}: cannot read [tool.autodiff]: 'utf-8' codec")


@pytest.mark.parametrize("key", ["rules", "nondifferentiable"])
@pytest.mark.parametrize(
    ("module", "text", "complaint"),
    [
        ("nowhere", None, "the module 'nowhere' cannot be imported: ModuleNotFoundError: No module named 'nowhere'"),
        ("broken", "1 / 0", "the module 'broken' cannot be imported: ZeroDivisionError: division by zero"),
        (
            "json.nowhere",
            None,
            "the module 'json.nowhere' cannot be imported: ModuleNotFoundError: No module named 'json.n",
        ),
    ],
)
def test_modules_of_settings_that_cannot_be_imported(project, key, module, text, complaint):
    path = project.write("pyproject.toml", f"[tool.autodiff]\n{key} = ['{module}']\n")
    if text is not None:
        project.write(f"{module}.py", text)
    program = """
import autodiff_hook as ad
for _ in range(2):
    try:
        ad.gradient(lambda x: x, 1.0)
    except ad.ConfigError as error:
        print(error)
"""
    for line in project.output("-c", program).splitlines():
        assert line.startswith(f"{path}: [tool.autodiff] {key}: {complaint}")


def test_stderr_may_be_closed(project):
    project.write("pyproject.toml", "[tool.autodiff]\nmodule = 1")
    program = "import sys\n{}\nimport autodiff_hook\nprint('ran')"
    for close in ("sys.stderr = None", "sys.stderr.close()"):
        assert project.output("-c", program.format(close)) == "ran"
