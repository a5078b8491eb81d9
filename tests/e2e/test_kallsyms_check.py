# SPDX-License-Identifier: Apache-2.0
"""kallsyms and check: against stock perf where it has them."""
import json
import pathlib
import random
import shutil
import subprocess

import pytest

import json_schema
from conftest import NEWEST_PERF, ROOT


def kernel_functions():
    """Names of the kernel's functions that are there once."""
    names = {}
    for line in pathlib.Path('/proc/kallsyms').read_text(encoding='utf-8').splitlines():
        address, kind, name = line.split(maxsplit=2)
        if kind in 'tTwW' and '\t' not in name and int(address, 16):
            names.setdefault(name, []).append(address)
    return [name for name, places in names.items() if len(places) == 1 and not name.startswith('__pfx_')]


def test_kallsyms_as_perf(tally, perf):
    names = kernel_functions()
    if not names:
        pytest.skip('the kernel hides its addresses')
    names = random.Random(1).sample(names, 40) + ['there_is_no_such_function']
    expected = perf('kallsyms', *names, check=0).stdout.splitlines()
    ours = tally('kallsyms', *names, check=0).stdout.splitlines()
    # perf finds one name of an address, tally all.
    for theirs, line in zip(expected, ours, strict=True):
        assert line == theirs or (theirs.endswith(': not found') and line.startswith(theirs.split(':')[0] + ': '))
    assert ours[-1] == 'there_is_no_such_function: not found'


def test_kallsyms_without_a_name(tally):
    assert 'Usage: ' in tally('kallsyms', check=129).stderr


def test_hidden_addresses_are_told(tally, open_folder):
    program = open_folder / 'tally'
    shutil.copy(tally.path, program)
    result = subprocess.run(['setpriv', '--reuid', '65534', '--clear-groups', program, 'kallsyms', 'schedule'],
                            text=True, capture_output=True, check=False)
    if result.returncode == 0:
        pytest.skip('the kernel shows its addresses to all')
    assert result.returncode == 255 and 'kptr_restrict' in result.stderr


def test_check_lists_what_version_lists(tally):
    rows = tally('version', '--build-options', check=0).stdout.splitlines()[1:]
    for row in rows:
        name, is_on = row.split(':')[0].strip(), '[ on  ]' in row
        assert tally('check', 'feature', name, check=0 if is_on else 1).stdout == row + '\n'


@pytest.mark.parametrize('arguments,status', [
    (['feature', 'zlib'], 0), (['feature', 'ZLIB'], 0), (['feature', 'HAVE_ZLIB_SUPPORT'], 0),
    (['feature', 'zlib,libelf'], 0), (['feature', 'libperl'], 1), (['feature', 'libperl,zlib'], 1),
    (['feature', 'nosuch'], 1), (['-q', 'feature', 'nosuch'], 1), (['-q', 'feature', 'zlib'], 0),
    (['feature', '-q', 'zlib'], 0), (['feature', 'zli'], 1), (['feature', ','], 0),
    (['feature', 'zlib', 'libelf'], 255), ([], 129), (['feature'], 129), (['nosuch'], 129)])
def test_check_exits_as_perf(tally, arguments, status):
    result = tally('check', *arguments, check=status)
    assert not ('-q' in arguments and (result.stdout or result.stderr))
    if NEWEST_PERF and 'libperl' not in str(arguments):
        newest = type(tally)(NEWEST_PERF, tally.environment['HOME'])
        assert newest('check', *arguments).returncode == status


def test_kallsyms_as_json(tally):
    names = kernel_functions()
    if not names:
        pytest.skip('the kernel hides its addresses')
    names = random.Random(2).sample(names, 20) + ['there_is_no_such_function']
    document = json.loads(tally('kallsyms', '--json', *names, check=0).stdout)
    json_schema.check(document, json.loads((ROOT / 'docs' / 'schema' / 'kallsyms.json').read_text(encoding='utf-8')))
    rows = [f"{one['name']}: {one['module']} {one['file']} {one['start']}-{one['end']} ({one['start']}-{one['end']})"
            if one['is_found'] else f"{one['name']}: not found" for one in document['symbols']]
    assert rows == tally('kallsyms', *names, check=0).stdout.splitlines()
