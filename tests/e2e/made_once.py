# SPDX-License-Identifier: Apache-2.0
"""What many cases use is made once: compiled programs in the build folder, recordings once per run.

Workers of xdist share both. What is made must not be changed by a case; a case that changes a file copies it first.
"""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess

from budget import shared_work

COMPLETE = '.complete'


def made_once(folder, make):
    """The folder, which the first process that asks for it fills by make(folder); others wait for that."""
    folder = pathlib.Path(folder)
    if (folder / COMPLETE).exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with shared_work(), open(f'{folder}.lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / COMPLETE).exists():
            # An earlier attempt may have failed.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / COMPLETE).touch()
    return folder


def key_of(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def built(build, files, *commands):
    """The folder in which the files (name: text) are and where the commands ran. A failing command raises.

    It is in the build folder `build` until that is deleted, by a name that says which files and commands. In
    programs/KEY of it there is nothing else.
    """
    tools = [(tool, os.stat(tool).st_mtime_ns) for command in commands if (tool := shutil.which(str(command[0])))]
    words = [[str(word) for word in command] for command in commands]

    def make(folder):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        for command in words:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors='replace', check=False)
            assert done.returncode == 0, f'{" ".join(command)}\n{done.stderr}'

    return made_once(build / 'e2e-programs' / key_of(sorted(files.items()), words, tools), make)


def compiled(build, name, text, *options, compiler='gcc'):
    """The program that the compiler makes of this text; the source, called NAME, is beside it."""
    stem = pathlib.Path(name).stem
    return built(build, {name: text}, [compiler, name, *options, '-o', stem]) / stem
