# SPDX-License-Identifier: Apache-2.0
"""tally config: lists, shows and writes perf's configuration files, and perf reads what it wrote."""
import json
import os
import pathlib
import re

import json_schema
import pytest
from conftest import NEWEST_PERF, Program

OWN = '# mine\n[a]\n\tb = own # why\n\tc = d\n[x "Y"]\n\tz = 1\n[a]\n\te = f\n\tb = again\n'


@pytest.fixture
def own(tmp_path):
    (tmp_path / '.perfconfig').write_text(OWN)
    return tmp_path / '.perfconfig'


@pytest.fixture(params=['6.1', 'newest'])
def stock(request, tmp_path, perf):
    if request.param == 'newest' and not NEWEST_PERF:
        pytest.skip('the newest perf is not installed (TALLY_NEWEST_PERF)')
    return perf if request.param == '6.1' else Program(NEWEST_PERF, tmp_path)


def test_lists_and_shows_as_perf_does(tally, stock, own):
    for words in ([], ['-l'], ['--list', '--user'], ['--user', 'a.b'], ['a.b', 'a.c'], ['a.nothing']):
        ours, theirs = tally('config', *words, check=0), stock('config', *words, check=0)
        if not words or words[0] in ('-l', '--list'):
            # perf shows the section "Y" by another name than it has in the file.
            assert sorted(line.lower() for line in ours.stdout.splitlines()) == sorted(
                line.lower() for line in theirs.stdout.splitlines())
        else:
            assert ours.stdout == theirs.stdout
    assert tally('config').stdout == 'a.b=again\na.c=d\na.e=f\nx.Y.z=1\n'
    assert 'a.nothing is not set in /etc/perfconfig and ' in tally('config', 'a.nothing').stderr


def test_one_value_changes_and_the_rest_stays(tally, stock, own):
    assert tally('config', 'a.b=x # y', 'a.new = "1 2"', 'New.Name=3', check=0).stdout == ''
    assert own.read_text() == OWN.replace('again', '"x # y"\n\tnew = "1 2"') + '[New]\n\tName = 3\n'
    assert stock('config', 'a.b', 'a.new', check=0).stdout == 'a.b=x # y\na.new=1 2\n'
    assert tally('config', 'a.b', 'A.New', 'new.name', check=0).stdout == 'a.b=x # y\na.new=1 2\nnew.name=3\n'


def test_new_files_are_perfs(tally, stock, tmp_path):
    texts = []
    for program in (tally, stock):
        program('config', 'report.children=false', 'ui.show-headers=true', 'report.percent-limit=5', check=0)
        texts.append((tmp_path / '.perfconfig').read_text())
        (tmp_path / '.perfconfig').unlink()
    assert texts[0] == texts[1]


def test_reports_follow_what_it_wrote(tally, perf_recording, tmp_path):
    path = perf_recording('u')
    wide = tally('report', '--stdio', '-i', path, check=0).stdout
    tally('config', 'report.percent-limit=99', check=0)
    assert len(tally('report', '--stdio', '-i', path, check=0).stdout) < len(wide)
    tally('config', 'report.percent-limit=0', check=0)
    assert tally('report', '--stdio', '-i', path, check=0).stdout == wide


def test_a_file_that_cannot_be_read_is_named(tally, perf_recording, tmp_path):
    large = tmp_path / 'large'
    large.write_text('[report]\n\tpercent-limit = 99\n' + '# a comment\n' * 100000)
    result = tally('report', '--stdio', '-i', perf_recording('u'), check=0, env={'PERF_CONFIG': str(large)})
    assert '%' in result.stdout
    assert re.search(f'{large} is not used as configuration: .*longer than 1048576 bytes', result.stderr, re.M), result.stderr


def test_another_file_and_links(tally, tmp_path, own):
    other = tmp_path / 'other'
    environment = {'PERF_CONFIG': str(other)}
    assert tally('config', env=environment, check=0).stderr == f'tally: no variable is set in {other}\n'
    tally('config', 'k.l=m', env=environment, check=0)
    assert tally('config', env=environment, check=0).stdout == 'k.l=m\n' and own.read_text() == OWN
    own.unlink()
    own.symlink_to(other)
    assert tally('config', check=0).stdout == 'k.l=m\n'
    tally('config', 'k.n=o', check=0)
    assert own.is_symlink() and other.read_text().endswith('[k]\n\tl = m\n\tn = o\n')


@pytest.mark.parametrize(('words', 'status', 'said'), [
    (['nodot'], 255, 'The config variable does not contain a section name: nodot'),
    (['a.b='], 255, 'The config variable does not contain a value: a.b='),
    (['a.=1'], 255, 'The config variable does not contain a variable name: a.=1'),
    (['a.x=1', '='], 255, 'The config variable does not contain a section name: ='),
    (['a.b c=1'], 255, 'has a variable name with other characters than letters'),
    (['--user', '--system'], 129, 'only one config file at a time'),
    (['-l', 'a.b'], 129, 'takes no arguments'),
    (['--json', 'a.b=1'], 129, 'takes no arguments'),
])
def test_wrong_words_change_nothing(tally, own, words, status, said):
    assert said in tally('config', *words, check=status).stderr
    assert own.read_text() == OWN and os.listdir(own.parent) == ['.perfconfig']


def test_files_that_cannot_be_written(tally, own, tmp_path):
    own.write_text(OWN + 'broken\n')
    result = tally('config', 'a.b=1', check=255)
    assert 'has to be corrected first' in result.stderr and 'bad config file line 10' in result.stderr
    assert own.read_text() == OWN + 'broken\n'
    listed = tally('config', '-l', check=0)
    assert 'a.b=again' in listed.stdout and 'bad config file line 10 in ' in listed.stderr
    for place, said in (('/dev/null', "'/dev/null' is not a file that can keep a variable"),
                        (tmp_path, 'is not a file'), (tmp_path / 'no' / 'file', 'No such file or directory')):
        assert said in tally('config', 'a.b=1', env={'PERF_CONFIG': str(place)}, check=255).stderr


def test_json_has_the_file_of_each_variable(tally, own):
    listed = json.loads(tally('config', '--json', check=0).stdout)
    json_schema.check(listed, json.loads((pathlib.Path(__file__).parents[2] / 'docs/schema/config.json').read_text()))
    assert {'name': 'a.b', 'value': 'again', 'file': str(own)} in listed['settings']
