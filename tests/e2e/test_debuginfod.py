# SPDX-License-Identifier: Apache-2.0
"""--debuginfod against a local server: fetched in the background, by heat, within a budget, and checked."""
import ctypes
import http.server
import shutil
import subprocess
import threading

import pytest

import kernel_build as k
import perfdata_build
import test_symbols

MISSING = 'debuginfod: '
DEADLINE_S = 60


class Server:
    """Serves /buildid/ID/KIND from a table; hangs where the content is None."""

    def __init__(self):
        self.files, self.asked, self.ended = {}, [], threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self, with_body=True):
                outer.asked.append(self.path)
                if self.path not in outer.files:
                    self.send_error(404)
                    return
                content = outer.files[self.path]
                if content is None:
                    outer.ended.wait(DEADLINE_S)
                    return
                self.send_response(200)
                self.send_header('Content-Length', str(len(content)))
                self.send_header('X-DEBUGINFOD-SIZE', str(len(content)))
                self.end_headers()
                if with_body:
                    self.wfile.write(content)

            def do_HEAD(self):
                self.do_GET(with_body=False)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.http.server_address[1]}'
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.ended.set()
        self.http.shutdown()


def has_library():
    try:
        ctypes.CDLL('libdebuginfod.so.1')
    except OSError:
        return False
    return True


@pytest.fixture
def server():
    found = Server()
    yield found
    found.close()


@pytest.fixture
def job(tmp_path):
    """A recording of a stripped program, and its debug file."""
    if not has_library():
        pytest.skip('libdebuginfod1 is not installed')
    if not all(shutil.which(tool) for tool in ('gcc', 'objcopy', 'strip', 'flock')):
        pytest.skip('gcc, binutils or flock is not installed')
    program = tmp_path / 'program'
    (tmp_path / 'p.c').write_text('static __attribute__((noinline)) int hot_one(int x) { return x * 3; }\n'
                                  'int main(int n, char **v) { (void)v; return hot_one(n); }\n')
    build_id = 'ab' * 20
    subprocess.run(['gcc', '-g', '-O2', f'-Wl,--build-id=0x{build_id}', '-o', program, tmp_path / 'p.c'], check=True)
    offset = test_symbols.to_offset(test_symbols.segments(program), k.symbols(program)['hot_one'][0])
    subprocess.run(['objcopy', '--only-keep-debug', program, tmp_path / 'program.debug'], check=True)
    subprocess.run(['strip', program], check=True)
    data = tmp_path / 'p.data'
    test_symbols.write_recording(data, [test_symbols.BASE + offset], test_symbols.user_mapping(program))
    return data, f'/buildid/{build_id}/debuginfo', (tmp_path / 'program.debug').read_bytes()


def report(tally, data, *arguments, **kwargs):
    return tally('report', '--stdio', '-i', data, *arguments, check=0, **kwargs)


def wait_for_the_fetcher(tmp_path):
    """It holds a lock as long as it lives."""
    lock = tmp_path / '.cache/debuginfod_client/.tally.lock'
    subprocess.run(['flock', '-w', str(DEADLINE_S), lock, 'true'], check=True)


def test_fetched_for_the_next_report(tally, server, job, tmp_path):
    data, path, content = job
    server.files[path] = content
    first = report(tally, data, f'--debuginfod={server.url}')
    assert 'hot_one' not in first.stdout and MISSING in first.stderr and 'program' in first.stderr
    wait_for_the_fetcher(tmp_path)
    assert 'hot_one' in report(tally, data).stdout  # also without the option: the file is there
    assert 'cache of debuginfod' in tally('report', '--missing', '-v', '-i', data).stdout


def test_the_variable_alone_fetches_nothing(tally, server, job):
    data, path, content = job
    server.files[path] = content
    environment = {'DEBUGINFOD_URLS': server.url}
    assert MISSING not in report(tally, data, env=environment).stderr
    assert server.asked == []
    assert MISSING in report(tally, data, '--debuginfod', env=environment).stderr


def test_script_asks_too(tally, server, job, tmp_path):
    data, path, content = job
    server.files[path] = content
    assert MISSING in tally('script', '-i', data, f'--debuginfod={server.url}', check=0).stderr
    wait_for_the_fetcher(tmp_path)
    assert 'hot_one' in tally('script', '-i', data, check=0).stdout


def test_a_server_that_hangs_delays_nothing(tally, server, job, tmp_path):
    data, path, _ = job
    server.files[path] = None
    out = report(tally, data, f'--debuginfod={server.url}', '--debuginfod-time=4')
    assert 'still being fetched in the background, for the next report: program' in out.stderr
    again = report(tally, data, f'--debuginfod={server.url}')
    assert "an earlier report's debuginfod is still fetching" in again.stderr
    wait_for_the_fetcher(tmp_path)  # its budget of time ends it


def test_no_server_answers(tally, job, tmp_path):
    data = job[0]
    report(tally, data, '--debuginfod=http://127.0.0.1:1')
    wait_for_the_fetcher(tmp_path)
    assert 'hot_one' not in report(tally, data).stdout


@pytest.mark.parametrize('spoil', ['other build id', 'no ELF file'])
def test_wrong_content_is_removed(tally, server, job, tmp_path, spoil):
    data, path, content = job
    server.files[path] = content.replace(b'\xab' * 20, b'\xcd' * 20) if spoil == 'other build id' else b'x' * 1000
    report(tally, data, f'--debuginfod={server.url}')
    wait_for_the_fetcher(tmp_path)
    assert server.asked
    assert list((tmp_path / '.cache/debuginfod_client').glob('*/debuginfo')) == []
    assert 'hot_one' not in report(tally, data).stdout


def test_a_file_over_the_budget_is_not_kept(tally, server, job, tmp_path):
    data, path, content = job
    server.files[path] = content + bytes(20 << 20)
    report(tally, data, f'--debuginfod={server.url}', '--debuginfod-size=1M')
    wait_for_the_fetcher(tmp_path)
    assert server.asked
    assert [file for file in (tmp_path / '.cache/debuginfod_client').glob('*/debuginfo') if file.stat().st_size] == []
    assert 'hot_one' not in report(tally, data).stdout


def test_hottest_objects_first(tally, server, job, tmp_path):
    """Two programs: the one with more samples is asked for first."""
    data = tmp_path / 'two.data'
    programs = []
    for index, samples in enumerate((1, 3)):
        program = tmp_path / f'program{index}'
        subprocess.run(['gcc', '-s', f'-Wl,--build-id=0x{index + 1:02x}{"00" * 19}', '-o', program, tmp_path / 'p.c'],
                       check=True)
        programs.append((program, samples))
    recording = perfdata_build.Recording()
    recording.event('IDENTIFIER IP TID TIME')
    for index, (program, samples) in enumerate(programs):
        base = 0x10000000 * (index + 1)
        recording.mmap(base, 0x10000, str(program))
        for _ in range(samples):
            recording.sample(ip=base + 0x1000)
    recording.write(data)
    report(tally, data, f'--debuginfod={server.url}')
    wait_for_the_fetcher(tmp_path)
    asked = list(dict.fromkeys(server.asked))
    assert asked == [f'/buildid/{index + 1:02x}{"00" * 19}/debuginfo' for index in (1, 0)]


def test_without_a_server_it_says_so(tally, job):
    assert 'no server is named' in report(tally, job[0], '--debuginfod').stderr


def test_the_report_ends_before_the_fetching(tally, server, job, tmp_path):
    """The fetcher holds neither its standard output nor its standard error."""
    data, path, _ = job
    server.files[path] = None
    report(tally, data, f'--debuginfod={server.url}', '--debuginfod-time=20')
    lock = tmp_path / '.cache/debuginfod_client/.tally.lock'
    assert subprocess.run(['flock', '-n', lock, 'true'], check=False).returncode == 1


def test_what_lacks_nothing_is_not_asked_for(tally, server, job, tmp_path):
    """Lines are lacking only where they were looked for: -F srcline."""
    data = job[0]
    build_id = 'ab' * 20
    subprocess.run(['gcc', '-O2', f'-Wl,--build-id=0x{build_id}', '-o', tmp_path / 'program', tmp_path / 'p.c'],
                   check=True)  # has names now, no lines
    assert MISSING not in tally('script', '-i', data, f'--debuginfod={server.url}', check=0).stderr
    assert server.asked == []
    out = tally('script', '-F', 'ip,sym,srcline', '-i', data, f'--debuginfod={server.url}', check=0)
    assert MISSING in out.stderr and 'program' in out.stderr
