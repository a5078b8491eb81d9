# SPDX-License-Identifier: Apache-2.0
"""The page of a store in a browser: time, labels, comparison, downloads. What the server says is never markup."""
import json
import pathlib
import re
import signal
import subprocess

import pytest

import conftest
from devtools import SHIFT, Browser
from page import HOSTILE
from store_server import NOW_NS, SECOND, Server, make_batch

HOSTS, SERVICES, WINDOWS = 3, ('api', 'db'), 12
WIDTH, HEIGHT = 1200, 800
ANSWER_S = 60
EVIL = '"><img src=x onerror=alert(1)>\\'


@pytest.fixture(autouse=True)
def needs_server(tally):
    options = tally('version', '--build-options').stdout
    for name in ('libmicrohttpd', 'sqlite'):
        if not re.search(rf'^ *{name}: \[ on', options, re.M):
            pytest.skip(f'this build has no {name}')


@pytest.fixture(name='server')
def fixture_server(tally, tmp_path):
    """Two minutes of three hosts with two services each; host h2 does more in the second minute."""
    with Server(tally, tmp_path / 'store.db') as running:
        number = 0
        for window in range(WINDOWS):
            for host in range(HOSTS):
                for service in SERVICES:
                    number += 1
                    more = 40 if host == 2 and window >= WINDOWS // 2 else 10
                    samples = (('main;work', more), ('main;idle_loop', 5))
                    status, _ = running.post(make_batch(number, {'host': f'h{host}'}, samples, service=service,
                                                        begin_ns=NOW_NS + window * 10 * SECOND))
                    assert status == 200
        yield running


def address(server, begin=0, end=WINDOWS * 10, more=''):
    return f'{server.url}/#from={NOW_NS + begin * SECOND}&until={NOW_NS + end * SECOND}{more}'


def wait_for(condition):
    return conftest.wait_for(condition, ANSWER_S)


class Page(Browser):
    def __init__(self, folder, url):
        super().__init__(folder, WIDTH, HEIGHT)
        self.go(url)

    def go(self, url):
        self.call('Page.navigate', url='about:blank')
        self.call('Page.navigate', url=url)
        wait_for(lambda: self.value("document.readyState === 'complete' && !!document.getElementById('sum')"))
        self.settled()

    def settled(self):
        """Until the server's answers are shown."""
        wait_for(lambda: self.value("$('state').textContent === '' && $('sum').textContent !== ''"))

    def text(self, name):
        return self.value(f"$('{name}').innerText")

    def functions(self):
        """{name: share of itself in percent}"""
        rows = self.value("[...document.querySelectorAll('#functions tr')].slice(1).map(r => "
                          "[...r.cells].map(c => c.textContent))")
        return {row[-2]: row[:-2] for row in rows}

    def seconds(self):
        return float(re.match(r'([\d.]+) s', self.text('sum'))[1])

    def do(self, script):
        self.value("$('sum').textContent = ''")
        self.value(script)
        self.settled()


def test_a_walk_through_the_page(server, tmp_path):
    """Time, filter with completion, comparison: each sum is the server's."""
    with Page(tmp_path, address(server)) as page:
        every = HOSTS * len(SERVICES) * WINDOWS
        whole = (every * 15 + len(SERVICES) * WINDOWS // 2 * 30) / 1000
        assert page.seconds() == pytest.approx(whole)
        assert sum(server.folded().values()) == round(whole * 1e9)
        shares = page.functions()
        assert set(shares) == {'main', 'work', 'idle_loop'}
        assert shares['main'][:2] == ['0.00 %', '100.00 %']
        wait_for(lambda: page.value("[...$('values').children].map(b => b.textContent).join()") == 'api,db')
        # A click on a value of a label selects it.
        page.do("$('values').children[0].click()")
        assert page.value("$('query').value") == 'service="api"'
        assert page.seconds() == pytest.approx(whole / 2)
        assert set(page.functions()) == {'main', 'work', 'idle_loop'}
        # What was typed stays and applies, whichever control asks next.
        for control in ("$('event').value = 'cpu-clock'; $('event').onchange()", "$('compare').click()",
                        "$('span').value = ''; $('span').onchange()", "$('compare').click()",
                        "$('values').children[0].click()"):
            page.value("""$('query').value = 'service="db"'""")
            page.do(control)
            typed = 'service="api"' if 'values' in control else 'service="db"'
            assert page.value("$('query').value") == typed and page.value('state.query') == typed, control
        page.complaints.clear()  # of times before the first window, which have no samples (404)
        page.value("$('query').value = 'unfinished'")
        page.value("$('tabFunctions').click(); $('tabFlame').click()")
        assert page.value("$('query').value") == 'unfinished'
        page.value("""$('query').value = 'service="api"'; $('baseQuery').value = ''""")
        page.do("$('event').value = ''; $('event').onchange()")
        # Completion: of the name, then of its values.
        page.value("$('query').value += ' and '; $('query').focus(); $('query').setSelectionRange(99, 99)")
        page.call('Input.insertText', text='ho')
        wait_for(lambda: page.text('queryChoices') == 'host')
        page.key('ArrowDown')
        page.key('Enter')
        wait_for(lambda: page.text('queryChoices').split() == ['h0', 'h1', 'h2'])
        for _ in range(3):
            page.key('ArrowDown')
        page.key('Enter')
        assert page.value("$('query').value") == 'service="api" and host="h2"'
        page.do("$('ask').requestSubmit()")
        one = (WINDOWS * 15 + WINDOWS // 2 * 30) / 1000
        assert page.seconds() == pytest.approx(one)
        # The second half of the drawn time, which is twice as wide on both sides as what is selected.
        box = page.value("(() => { const b = $('load').getBoundingClientRect(); return [b.left, b.top, b.width, b.height] })()")
        start, end = box[0] + box[2] / 2, box[0] + box[2] * 2 / 3 + 1
        page.value("$('sum').textContent = ''")
        page.drag((start, box[1] + 40), (end, box[1] + 40))
        page.settled()
        assert page.seconds() == pytest.approx(WINDOWS // 2 * 45 / 1000)
        # The same length of time before it: the host did less.
        page.do("$('compare').click()")
        assert page.text('sum').startswith('0.27 s, compared with 0.09 s')
        change = page.functions()['work']
        assert change[:2] == ['88.89 %', '88.89 %'] and change[2] == '66.67 %' and change[3] == '+22.22 points'
        # The address says it all.
        fragment = page.value('location.hash')
        page.go(server.url + '/' + fragment)
        assert page.text('sum').startswith('0.27 s, compared with 0.09 s')
        # With Shift, what it is compared with is dragged.
        box = page.value("(() => { const b = $('load').getBoundingClientRect(); return [b.left, b.top, b.width, b.height] })()")
        page.value("$('sum').textContent = ''")
        page.drag((box[0] + 1, box[1] + 40), (box[0] + box[2] - 1, box[1] + 40), SHIFT)
        page.settled()
        assert page.value("$('baseSpan').value") == '' and 'compared with 0.36 s' in page.text('sum')
        assert not page.complaints


def test_the_load_of_this_machine_appears(tally, tmp_path, workload, live, system_wide):
    """The two commands of the README: a server and an agent; the page shows what runs here."""
    work = subprocess.Popen([workload('deep').path, '100000000'], stdout=subprocess.DEVNULL)
    with Server(tally, tmp_path / 'store.db') as server, open(tmp_path / 'errors', 'wb') as errors:
        agent = subprocess.Popen([tally.path, 'agent', '--to', server.url, '--window', '1', '--queue', tmp_path / 'queue',
                                  '--max-cpu', '1000', '--max-memory', '4G'], stdout=subprocess.DEVNULL, stderr=errors)
        try:
            wait_for(lambda: server.metrics()['tally_store_batches'] >= 3)
            with Page(tmp_path, f'{server.url}/#last=900&query=process%3D%22deep%22&event=cpu-clock') as page:
                assert 'leaf' in page.functions() and page.seconds() > 0.5
                assert page.value("load.points.some(p => p.running_ns > 0)")
                before = page.seconds()
                stored = server.metrics()['tally_store_batches']
                wait_for(lambda: server.metrics()['tally_store_batches'] >= stored + 2)
                page.do("$('ask').requestSubmit()")
                assert page.seconds() > before
                assert not page.complaints
            agent.send_signal(signal.SIGTERM)
            assert agent.wait(60) == 0
            kept = re.search(r'(\d+) kept', (tmp_path / 'errors').read_text(encoding='utf-8'))[1]
            assert server.metrics()['tally_store_samples'] == int(kept) > 0
        finally:
            for process in (agent, work):
                process.kill()
                process.wait()


def test_files_are_what_the_server_gives(server, tmp_path):
    folder = tmp_path / 'files'
    folder.mkdir()
    with Page(tmp_path, address(server, more='&query=host%3D%22h1%22')) as page:
        page.call('Browser.setDownloadBehavior', behavior='allow', downloadPath=str(folder))
        page.value("$('download').value = 'folded'; $('download').onchange()")
        path = folder / 'stacks.folded'
        wait_for(lambda: path.exists() and path.stat().st_size > 0)
        lines = [line.rsplit(' ', 1) for line in path.read_text(encoding='utf-8').splitlines()]
        assert {stack: int(weight) for stack, weight in lines} == server.folded(query='host="h1"')
        assert not page.complaints


def test_mistakes_are_told(server, tmp_path):
    with Page(tmp_path, address(server)) as page:
        page.value("$('query').value = 'host='; $('ask').requestSubmit()")
        wait_for(lambda: page.text('problem'))
        status, _, body = server.get('/api/v1/profile', query='host=', format='flamegraph')
        assert status == 400 and page.text('problem') == json.loads(body)['error']
        page.value("$('query').value = 'host=\"none\"'; $('ask').requestSubmit()")
        wait_for(lambda: page.text('sum') == 'no sample matches the query in that time')
        assert page.functions() == {}


def test_names_are_not_markup(tally, tmp_path):
    with Server(tally, tmp_path / 'store.db') as server:
        names = [name for name in HOSTILE if '\ud800'.encode('utf-8', 'surrogatepass').decode('latin-1') not in name]
        samples = tuple((name.replace(';', ':'), 3) for name in names)
        status, _ = server.post(make_batch(1, {'host': EVIL}, samples, service='</script><b>', comm='<i>x'))
        assert status == 200
        with Page(tmp_path, address(server)) as page:
            wait_for(lambda: page.value("[...$('values').children].map(b => b.textContent).join()") == '</script><b>')
            page.do("$('values').children[0].click()")
            assert len(page.functions()) == len(set(names))
            page.value("$('name').value = 'host'; $('name').onchange()")
            wait_for(lambda: page.value("$('values').innerText") == EVIL)
            page.do("$('values').children[0].click()")
            assert page.value("$('query').value").endswith('and host="\\"><img src=x onerror=alert(1)>\\\\"')
            assert page.seconds() > 0
            assert page.value("document.querySelectorAll('img, b').length") == 0
            assert not page.complaints


def test_a_token_is_asked_for_once(tally, tmp_path):
    (tmp_path / 'read').write_text('secret-of-readers\n', encoding='utf-8')
    (tmp_path / 'read').chmod(0o600)
    with Server(tally, tmp_path / 'store.db', '--read-token-file', tmp_path / 'read') as server:
        server.post(make_batch(1))
        with Browser(tmp_path, WIDTH, HEIGHT) as page:
            page.call('Page.navigate', url=address(server))
            wait_for(lambda: page.value("!!document.getElementById('ticket') && $('ticket').open"))
            page.value("$('token').value = 'wrong'; $('ticket').close()")
            wait_for(lambda: page.value("sessionStorage.getItem('token') === 'wrong' && $('ticket').open"))
            page.value("$('token').value = 'secret-of-readers'; $('ticket').close()")
            wait_for(lambda: page.value("$('sum').textContent").startswith('0.003 s'))
            assert not page.value("$('ticket').open")
    assert pathlib.Path(tmp_path / 'store.db').exists()
