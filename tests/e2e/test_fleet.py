# SPDX-License-Identifier: Apache-2.0
"""fleet asks servers and databases: both give the same, and the views are those of recordings."""
import json
import re

import pytest

import json_schema
import perfdata_build
from conftest import CORPUS, ROOT
from store_server import NOW_NS, SECOND, Server, make_batch

EVER = ('--since', '2000-01-01')


@pytest.fixture(autouse=True)
def needs_server(tally):
    options = tally('version', '--build-options').stdout
    for name in ('libmicrohttpd', 'libcurl', 'sqlite'):
        if not re.search(rf'^ *{name}: \[ on', options, re.M):
            pytest.skip(f'this build has no {name}')


@pytest.fixture
def server(tally, tmp_path):
    with Server(tally, tmp_path / 'store.db') as running:
        running.post(make_batch(1, {'host': 'a'}, (('main;work', 3), ('main;rest', 1)), service='api'))
        running.post(make_batch(2, {'host': 'b'}, (('main;work', 30),), service='api', begin_ns=NOW_NS + 60 * SECOND))
        running.post(make_batch(3, {'host': 'b'}, (('main;query', 100),), service='db'))
        yield running


def test_a_server_and_its_database_give_the_same(tally, server):
    commands = [['top', '-s', 'comm,sym'], ['top', '--json', '-g'], ['top', 'service="db"', '--by', 'host'], ['labels'],
                ['labels', 'host'], ['flamegraph', '--folded'], ['flamegraph', 'host="b"', '--svg', '-o', '-'],
                ['flamegraph', '-o', '-', 'host="b"', '--baseline', 'host="a"']]
    for command in commands:
        one = tally('fleet', *command, *EVER, '--from', server.url, check=0)
        other = tally('fleet', *command, *EVER, '--from', f'sqlite:{server.store}', check=0)
        without_now = [re.sub(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|"end_ns": \d+', '', text.stdout) for text in (one, other)]
        if '--svg' not in command and '-o' not in command:
            assert without_now[0] == without_now[1] and one.stdout, command


def test_top(tally, server):
    shown = tally('fleet', 'top', 'service="api"', '--no-children', '-n', *EVER, '--from', server.url, check=0).stdout
    rows = [line.split() for line in shown.splitlines() if line.strip() and not line.startswith('#')]
    assert [(row[1], row[-2]) for row in rows] == [('33', 'work'), ('1', 'rest')]
    assert '34 samples, none lost, 100.0% with symbols' in shown
    report = json.loads(tally('fleet', 'top', '--json', '-g', *EVER, '--from', server.url, check=0).stdout)
    json_schema.check(report, json.loads((ROOT / 'docs/schema/report.json').read_text()))
    assert report['fleet']['samples'] == 134
    shown = tally('fleet', 'top', '--by', 'service', '-s', 'sym', '--no-children', *EVER, '--from', server.url, check=0).stdout
    assert re.search(r'^ +\S+ +db +\[\.\] query', shown, re.M) and "# Command: the label 'service'" in shown


def test_times(tally, server):
    def samples(*options):
        result = tally('fleet', 'top', '--json', '--from', server.url, *options)
        return json.loads(result.stdout)['fleet']['samples'] if result.returncode == 0 else 0
    assert samples('--since', '2025-11-28T07:00:00Z', '--until', '2025-11-28T07:00:30Z') == 104
    assert samples('--since', '2025-11-28T07:00:30Z', '--until', '2025-11-28T07:02:00Z') == 30
    result = tally('fleet', 'top', '--from', server.url, '--since', '1s')
    assert result.returncode == 255 and 'no sample matches' in result.stderr


def test_flame_graphs(tally, server, tmp_path):
    def folded(*options):
        return sorted(tally('fleet', 'flamegraph', '--folded', '--count', *options, *EVER, '--from', server.url, check=0)
                      .stdout.splitlines())
    assert folded('host="b"') == ['program;main;query 100', 'program;main;work 30']
    assert folded('--by', 'host') == ['a;main;rest 1', 'a;main;work 3', 'b;main;query 100', 'b;main;work 30']
    assert folded('host="b" and service="api"', '--baseline', 'host="a"') == ['program;main;rest 1 0', 'program;main;work 3 30']
    assert folded('service="api"', '--since', '2025-11-28T07:00:30Z', '--baseline-since', '2025-11-28T07:00:00Z',
                  '--baseline-until', '2025-11-28T07:00:30Z', *[])[-1].startswith('program;main;work 3 ')
    result = tally('fleet', 'flamegraph', *EVER, '--from', server.url, cwd=tmp_path, check=0)
    assert 'wrote flamegraph.html' in result.stderr and '<html' in (tmp_path / 'flamegraph.html').read_text()
    tally('fleet', 'flamegraph', '--svg', *EVER, '--from', server.url, cwd=tmp_path, check=0)
    assert '<svg' in (tmp_path / 'flamegraph.svg').read_text()


def test_what_is_left_out_is_told(tally, server, tmp_path):
    """Samples of other events than the one in a flame graph, a label that nothing has, and URLs of no store."""
    server.post(make_batch(4, {'host': 'c'}, (('main;work', 5),), event='cpu-clock:ppp'))
    server.post(make_batch(5, {'host': 'c'}, (('main;fault', 7),), event='page-faults'))
    for form in (['--folded'], ['--svg', '-o', tmp_path / 'x.svg'], ['-o', tmp_path / 'x.html']):
        run = tally('fleet', 'flamegraph', *form, '--count', *EVER, '--from', server.url, check=0)
        assert 'only the event cpu-clock is shown; left out: 7 samples of page-faults' in run.stderr, run.stderr
    assert 'left out: 7 samples' in (tmp_path / 'x.html').read_text()
    run = tally('fleet', 'flamegraph', '--folded', '--count', 'host="c"', *EVER, '--from', server.url, check=0)
    assert run.stdout == 'program;main;work 5\n'
    run = tally('fleet', 'flamegraph', '--folded', '-e', 'page-faults', *EVER, '--from', server.url, check=0)
    assert 'left out' not in run.stderr and 'main;fault' in run.stdout
    run = tally('fleet', 'top', '--by', 'nosuch', *EVER, '--from', server.url, check=0)
    assert "no sample has the label 'nosuch'" in run.stderr
    assert 'no sample has' not in tally('fleet', 'top', '--by', 'host', *EVER, '--from', server.url, check=0).stderr
    run = tally('push', '--to', 'nosuch://x', CORPUS / 'deep.data')
    assert run.returncode == 255 and 'otlp+http://' in run.stderr and 'sqlite:' in run.stderr


def test_wrong_command_lines_are_refused(tally, server, tmp_path):
    usage = [[], ['tops'], ['top', 'a="b"', 'c="d"'], ['top', '--svg'], ['diff'], ['flamegraph', '--json'], ['labels', '--by', 'host'],
             ['flamegraph', '--svg', '--folded'], ['top', '--baseline', 'host="a"'], ['flamegraph', '--baseline-until', 'now'],
             ['labels', '-s', 'sym'], ['top', '--percent-limit', 'x']]
    for words in usage:
        assert tally('fleet', *words).returncode == 129, words
    failing = [['top', 'host='], ['top', '--since', 'tomorrow'], ['top', '--since', 'now'], ['top', '-s', 'cpu'], ['top', '-s', 'nokey'],
               ['top', '--by', 'a-b'], ['labels', 'a-b'], ['flamegraph', 'host="none"'], ['flamegraph', '-e', 'none']]
    for words in failing:
        for url in (server.url, f'sqlite:{server.store}'):
            result = tally('fleet', *words[:1], *EVER, *words[1:], '--from', url, cwd=tmp_path)
            assert result.returncode == 255 and len(result.stderr) > 20, (words, result.stderr)
    assert not (tmp_path / 'flamegraph.html').exists()
    for url in ('http://127.0.0.1:1', f'sqlite:{tmp_path}/none.db', 'http://', 'ftp://x'):
        result = tally('fleet', 'labels', '--from', url)
        assert result.returncode == 255 and result.stderr.count('\n') == 1, url
    assert not (tmp_path / 'none.db').exists()


def test_answers_that_are_none_of_a_store_are_refused(tally, tmp_path):
    """Another program answers at that port."""
    import http.server  # pylint: disable=import-outside-toplevel
    import threading  # pylint: disable=import-outside-toplevel

    class Other(http.server.BaseHTTPRequestHandler):
        bodies = [b'', b'<html>', b'{}', b'{"labels": 1}', b'\x28\xb5\x2f\xfd' + b'\0' * 40, b'{"labels": ["a"'] * 3

        def do_GET(self):  # pylint: disable=invalid-name
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.bodies.pop())

        do_POST = do_GET  # pylint: disable=invalid-name

        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass

    other = http.server.HTTPServer(('127.0.0.1', 0), Other)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    url = f'http://127.0.0.1:{other.server_port}'
    for _ in range(6):
        result = tally('fleet', 'labels', '--from', url)
        assert result.returncode == 255 and result.stderr
    for _ in range(6):
        result = tally('fleet', 'flamegraph', '--folded', '--from', url)
        assert result.returncode == 255 and result.stderr
    for _ in range(6):
        result = tally('push', CORPUS / 'deep.data', '--to', url, cwd=tmp_path)
        assert result.returncode == 255 and "as 'tally serve' does" in result.stderr
    other.shutdown()


def host_recording(path, shares, factor):
    """A recording in which so many samples hit each of some libraries; their functions have no names."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME PERIOD')
    r.record(3, 0, r.pack('II', 7, 7) + r.name('program') + r.trailer())
    for index in range(len(shares)):
        r.record(1, 2, r.pack('IIQQQ', 7, 7, 0x400000 + 0x10000 * index, 0x10000, 0) + r.name(f'/bin/part{index}') + r.trailer())
    now = 1
    for index, count in enumerate(shares):
        for _ in range(count * factor):
            r.sample(misc=2, ip=0x400100 + 0x10000 * index, tid=(7, 7), time=now, period=1000)
            now += 1
    r.write(path)


def test_diff_says_of_hosts_what_diff_says_of_recordings(tally, tmp_path):
    url = f'sqlite:{tmp_path}/store.db'
    sides = {'base': [], 'new': []}
    for side, first in (('base', 20), ('new', 35)):
        for host in range(7):
            path = tmp_path / f'{side}{host}.data'
            host_recording(path, (first + host % 3, 40 + host % 2, 30 - host % 4, 10), 1 + host)
            sides[side].append(path)
            tally('push', '-q', path, '--to', url, '-l', f'host=h{host}', '-l', f'release={side}', check=0)
    shown = tally('fleet', 'diff', 'release="new"', '--baseline', 'release="base"', *EVER, '--from', url, check=0).stdout
    told = tally('diff', '--measure', 'share', '-s', 'sym,dso', '--base', *sides['base'], '--new', *sides['new'], check=0).stdout

    def rows(text):
        return [line for line in text.splitlines() if line and not line.startswith('#')]
    assert rows(shown) == rows(told) and len(rows(shown)) == 4
    assert ' more ' in rows(shown)[0] and 'part0' in rows(shown)[0]
    assert '# Baseline: release="base", 2000-01-01 00:00:00 UTC to ' in shown and ', 7 of the label host' in shown
    by_release = tally('fleet', 'diff', '--by', 'release', '--baseline', 'release="base"', *EVER, '--from', url, check=0).stdout
    assert ', 1 of the label release' in by_release and ', 2 of the label release' in by_release
    for words in (['diff', '--baseline', 'release="none"'], ['diff', 'release="none"', '--baseline', ''], ['diff', '--baseline', 'x'],
                  ['diff', '--by', 'team', '--baseline', ''], ['diff', '-s', 'cpu', '--baseline', ''],
                  ['diff', '-e', 'none', '--baseline', 'release="base"']):
        result = tally('fleet', *words, *EVER, '--from', url)
        assert result.returncode == 255 and len(result.stderr) > 20, words
    of_stores = json.loads(tally('fleet', 'diff', '--json', 'release="new"', '--baseline', 'release="base"', *EVER, '--from', url, check=0).stdout)
    of_files = json.loads(tally('diff', '--json', '--measure', 'share', '-s', 'sym,dso', '--base', *sides['base'], '--new', *sides['new'],
                                check=0).stdout)
    assert of_stores['test'] == of_files['test'] and len(of_stores['events']) == 1
    for name in ('totals', 'test', 'untested_rows', 'rows'):
        assert of_stores['events'][0][name] == of_files['events'][0][name], name
    assert [(side['side'], side['query']) for side in of_stores['sides']] == [('base', 'release="base"'), ('new', 'release="new"')]
    assert of_stores['label'] == 'host' and of_stores['replicates'][8] == {'value': 'h1', 'side': 'new'}
    for words in (['diff'], ['diff', '-n', '--baseline', ''], ['diff', '--svg', '--baseline', ''], ['flamegraph', '--json']):
        assert tally('fleet', *words).returncode == 129, words
