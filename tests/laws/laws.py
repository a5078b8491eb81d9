# SPDX-License-Identifier: Apache-2.0
"""What holds for every recording, in every view.

A law is one function with a name and a sentence. It gets a Look, what the views say of one recording, and raises Broken (or an
AssertionError) when it does not hold; NotHere says that the recording has nothing that the law is about.

    for law in laws.of_recordings():
        laws.check(law, look)
"""
import collections
import json
import pathlib
import re
import shutil

import test_export

LAWS = []


class Broken(AssertionError):
    """The law does not hold."""


class NotHere(Exception):
    """The recording has nothing that the law is about."""


def law(sentence, truth=False, slow=False):
    def add(function):
        LAWS.append((function, function.__name__, sentence, truth, slow))
        return function
    return add


def expect(condition, text):
    if not condition:
        raise Broken(text)


class Look:
    """What views say of one recording; each is asked once."""

    def __init__(self, tally, path, folder, truth=None, way='', program=None):
        self.tally, self.path, self.folder, self.truth, self.way, self.program = tally, pathlib.Path(path), pathlib.Path(folder), truth, way, program
        self.known = {}

    def run(self, *words, status=0, prefix=()):
        self.tally.prefix, before = list(prefix), self.tally.prefix
        try:
            done = self.tally(*words, cwd=self.folder)
        finally:
            self.tally.prefix = before
        if status is not None and done.returncode != status:
            raise Broken(f'{" ".join(map(str, words))}: exit status {done.returncode}: {done.stderr[-300:]}')
        return done

    def once(self, key, make):
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def tables(self, keys, *options, path=None):
        """[(names of its events, rows)] of the tables of report --json; a group of events is one table."""
        def ask():
            done = self.run('report', '--json', '--no-branch-stack', '-s', keys, *options, '-i', path or self.path, status=None)
            if done.returncode and not path and keys == 'comm':
                raise NotHere(f'not read to its end: {done.stderr.strip()[-200:]}')
            expect(done.returncode == 0, f'report -s {keys} {" ".join(options)}: exit status {done.returncode}: {done.stderr[-300:]}')
            whole = json.loads(done.stdout)
            return [([e['name'] for e in t['events']], t['rows']) for t in whole['tables']]
        return self.once(('tables', keys, options, path), ask)

    def sums(self, keys, *options, path=None):
        """{(event, value of each key ...): (samples, period)}; rows of one name are added up."""
        found = collections.defaultdict(lambda: [0, 0])
        names = [{'sym': 'symbol', 'pid': 'tid'}.get(key, key) for key in keys.split(',')]
        for events, rows in self.tables(keys, '--no-children', *options, path=path):
            for row in rows:
                for event, value in zip(events, row['values']):
                    cell = found[(event, *(str(row.get(name)) for name in names))]
                    cell[0] += value['samples']
                    cell[1] += value['period']
        return {key: tuple(cell) for key, cell in found.items() if cell[0] or cell[1]}

    def totals(self, keys='comm', *options, path=None):
        """{event: (samples, period)}"""
        return fold(self.sums(keys, *options, path=path), 1)

    def all_samples(self):
        """What export --format json says: (events, threads, frames, stacks, samples)."""
        def ask():
            self.run('export', '-F', 'json', '-i', self.path, '-o', self.folder / 'all.json')
            return json.loads((self.folder / 'all.json').read_text())
        return self.once('samples', ask)

    def script(self):
        """The samples of script --json."""
        return self.once('script', lambda: json.loads(self.run('script', '--json', '-i', self.path).stdout)['samples'])

    def query(self, text):
        def ask():
            if not (self.folder / 'all.db').exists():
                self.run('export', '-F', 'sqlite', '-i', self.path, '-o', self.folder / 'all.db')
            return json.loads(self.run('query', self.folder / 'all.db', '--json', text).stdout or '[]')
        return self.once(('query', text), ask)

    def chains(self):
        """The options of report for whole call trees, where the recording has any."""
        whole = self.all_samples()
        has_callers = self.once('chains', lambda: any(stack.get('parent') is not None for stack in whole['stacks']) and
                                self.run('report', '--json', '-g', 'graph,0', '-i', self.path, status=None).returncode == 0)
        return ['-g', 'graph,0', '--max-stack', '1000'] if has_callers else []

    def self_kind(self):
        """Whose self time exports have: frames of inlined calls are in call chains only."""
        return ['--self', 'inlined' if self.chains() else 'symbol']

    def need_samples(self):
        sums = self.totals()
        if not sums:
            raise NotHere('no samples')
        return sums


def fold(sums, parts):
    """Sums by the first parts of their keys."""
    found = collections.defaultdict(lambda: [0, 0])
    for key, (samples, period) in sums.items():
        short = key[0] if parts == 1 else key[:parts]
        found[short][0] += samples
        found[short][1] += period
    return {key: tuple(value) for key, value in found.items()}


def differences(one, other, most=3):
    keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    return '; '.join(f'{key}: {one.get(key)} and {other.get(key)}' for key in keys[:most]) + (f' ... {len(keys)} in all' if len(keys) > most else '')


def same(one, other, what):
    expect(one == other, f'{what}: {differences(one, other)}')


@law('the text table and the JSON table of report have the same sums')
def table_is_json(look):
    sums = look.need_samples()
    if any(len(events) > 1 for events, _ in look.tables('comm', '--no-children')):
        raise NotHere('the text has one table for a group')
    text = test_export.report_sums(look.tally, look.path)
    expect({tuple(v) for v in text.values()} <= {tuple(v) for v in sums.values()} and sum(v[0] for v in text.values()) ==
           sum(v[0] for v in sums.values()), f'text {text}, JSON {sums}')


FORMS = ['folded', 'pprof', 'otlp-json', 'speedscope', 'chrome', 'json', 'csv', 'sqlite', 'callgrind', 'perfetto', 'html']


@law('every export has the sums of report')
def exports_are_report(look):
    wanted = look.need_samples()
    offset = sum(look.path.name.encode()) + (look.program.seed if look.program else 0)
    for number in range(look.forms):
        form = FORMS[(offset + number * 4) % len(FORMS)]
        output = look.folder / f'export.{form}'
        look.run('export', '-F', form, '-i', look.path, '-o', output)
        try:
            if form == 'pprof' and list(wanted) == ['wall-clock']:
                # Waits and time on the CPU are two types of values there.
                found = test_export.sums_of(form, output).values()
                expect((sum(n for n, _ in found), sum(v for _, v in found)) == wanted['wall-clock'], f'pprof has {list(found)}')
            else:
                test_export.check_sums(form, output, wanted)
        except AssertionError as wrong:
            raise Broken(f'{form}: report has {wanted}: {str(wrong)[:300]}') from wrong


@law('self time of each function is the same in report and in a query')
def self_is_query(look):
    look.need_samples()
    ours = {key[:2]: value for key, value in look.sums('sym', *look.self_kind()).items()}
    rows = look.query("select event, case when kind = 'unknown' then '?' else symbol end as symbol, count(*) as n, sum(period) as p from hits group by 1, 2")
    named = {(row['event'], row['symbol']): (row['n'], row['p']) for row in rows if row['symbol'] != '?'}
    mine = {key: value for key, value in ours.items() if key in named}
    if '--wall' in look.way or any('+' in key[0] or key[0] == 'wall-clock' for key in ours):
        mine, named = by_name(ours, {key[1] for key in named}), by_name(named, None)
    same(mine, named, 'report and query')


def by_name(sums, names):
    found = collections.defaultdict(lambda: [0, 0])
    for (_, symbol), (samples, period) in sums.items():
        if names is None or symbol in names:
            found[symbol][0] += samples
            found[symbol][1] += period
    return {key: tuple(value) for key, value in found.items()}


@law('what a finer grouping adds up to is the coarser grouping')
def refining(look):
    look.need_samples()
    fine = look.sums('comm,dso,sym')
    same(fold(fine, 2), look.sums('comm'), 'comm,dso,sym and comm')
    same(fold(fine, 3), look.sums('comm,dso'), 'comm,dso,sym and comm,dso')
    same(fold(look.sums('pid,comm'), 2), look.sums('pid'), 'pid,comm and pid')


@law('no share is above the whole, children hold self, and callers add up to at most their callee')
def trees_add_up(look):
    sums = look.need_samples()
    for (event, *_), rows in look.tables('sym', '--children', *look.chains()):
        whole = sums[event][1] if event in sums else 0
        for row in rows:
            value = row['values'][0]
            inclusive = value.get('children_period', value['period'])
            expect(value['period'] <= inclusive <= whole, f'{event} {row.get("symbol")}: self {value["period"]}, with children {inclusive}, whole {whole}')
            walk_chains(row.get('chains') or [], inclusive, f'{event} {row.get("symbol")}')


def walk_chains(nodes, limit, where):
    expect(sum(node['period'] for node in nodes) <= limit, f'{where}: callers have {sum(node["period"] for node in nodes)} of {limit}')
    for node in nodes:
        walk_chains(node.get('children') or [], node['period'], where + ' <- ' + str(node['frames'][-1].get('symbol')))


@law('children of each function are the samples that have it anywhere in their stack')
def children_are_stacks(look):
    look.need_samples()
    whole = look.all_samples()
    names = collections.defaultdict(set)
    for frame in whole['frames']:
        if frame['kind'] != 'unknown':
            names[frame['symbol']].add(frame['function'])
    functions = [frame['symbol'] if frame['kind'] != 'unknown' and len(names[frame['symbol']]) == 1 else None for frame in whole['frames']]
    cache = {}

    def held(stack):
        if stack not in cache:
            found, at = set(), stack
            while at is not None and at >= 0:
                found.add(functions[whole['stacks'][at]['frame']])
                at = whole['stacks'][at].get('parent')
            cache[stack] = found - {None}
        return cache[stack]

    sums = collections.Counter()
    for sample in whole['samples']:
        for name in held(sample.get('stack')):
            sums[name] += sample['period']
    if len(look.path.read_bytes()[:16]) > 8 and look.path.read_bytes()[8:16] in (b'\x10' + bytes(7), bytes(7) + b'\x10'):
        raise NotHere('report of a pipe has no children')
    found = collections.Counter()
    for _, rows in look.tables('sym', '--children', *look.self_kind(), *look.chains()):
        for row in rows:
            if row.get('symbol') in sums:
                found[row['symbol']] += sum(value.get('children_period', value['period']) for value in row['values'])
    same({k: v for k, v in found.items() if v}, {k: v for k, v in sums.items() if v}, 'report and the stacks of its samples')


def split(look, key, option, whole, values):
    """Two filters that hold all values."""
    values = sorted(value for value in values if value and '\n' not in value and value != 'None')
    if len(values) < 2:
        return False
    halves = [values[:1], values[1:]]
    found = collections.Counter()
    for number, half in enumerate(halves):
        if option in ('--comms', '--dsos', '--symbols'):
            (look.folder / f'filter-{number}').write_text('\n'.join(half) + '\n', encoding='utf-8', errors='surrogateescape')
            words = [option, f'file://{look.folder / f"filter-{number}"}']
        else:
            words = [option, ','.join(half)]
        for event, (samples, period) in look.totals('comm', *words).items():
            found[event, 0] += samples
            found[event, 1] += period
    wanted = {(event, n): value[n] for event, value in whole.items() for n in range(2)}
    same(dict(found), wanted, f'filters by {key} ({halves[0]} and the rest) and all')
    return True


@law('a filter and its opposite add up to all')
def filters_add_up(look):
    whole = look.need_samples()
    tried = split(look, 'tid', '--tid', whole, {key[1] for key in look.sums('pid') if key[1].isdigit()})
    comms = {key[1] for key in look.sums('comm')}
    tried = (not any(comm != comm.strip() or '\t' in comm or '\ufffd' in comm for comm in comms) and
             split(look, 'comm', '--comms', whole, comms)) or tried
    if look.thorough:
        tried = split(look, 'cpu', '--cpu', whole, {key[1] for key in look.sums('cpu') if key[1].isdigit()}) or tried
    if not tried:
        raise NotHere('one thread only')


@law('two halves of the time are the whole')
def halves_are_the_whole(look):
    whole = look.need_samples()
    times = sorted({sample['time'] for sample in look.all_samples()['samples'] if sample.get('time')})
    if len(times) < 2:
        raise NotHere('no times')
    middle = times[len(times) // 2]
    # Both ends of a span belong to it, so the second one begins a nanosecond later.
    spans = [f',{middle // 10**9}.{middle % 10**9:09}', f'{(middle + 1) // 10**9}.{(middle + 1) % 10**9:09},']
    found = collections.Counter()
    for span in spans:
        for event, (samples, period) in look.totals('comm', '--time', span).items():
            found[event, 0] += samples
            found[event, 1] += period
    same(dict(found), {(event, n): value[n] for event, value in whole.items() for n in range(2)}, f'spans {spans} and all')


@law('windows of time add up to the whole')
def windows_add_up(look):
    whole = look.need_samples()
    if not any(sample.get('time') for sample in look.all_samples()['samples']):
        raise NotHere('no times')
    same(look.totals('time', '--time-quantum', '10ms'), whole, 'windows of 10 ms and all')


@law('one worker says what many say')
def one_worker_is_many(look):
    look.need_samples()
    if not shutil.which('taskset'):
        raise NotHere('no taskset')
    words = ['report', '--json', '-s', 'comm,dso,sym', '-i', look.path]
    expect(look.run(*words).stdout == look.run(*words, prefix=['taskset', '-c', '0']).stdout, 'outputs differ')


@law('a copy by inject is the recording')
def a_copy_is_the_recording(look):
    look.need_samples()
    copy = look.folder / 'copy.data'
    look.run('inject', '-i', look.path, '-o', copy)
    same(look.sums('comm,dso,sym', path=copy), look.sums('comm,dso,sym'), 'copy and recording')


@law('the samples of report, script and --stats are as many, and the lost ones are said')
def samples_are_counted(look):
    sums = look.need_samples()
    stats = look.run('report', '--stats', '-i', look.path)
    counted = int((re.search(r'^\s*SAMPLE events:\s+(\d+)', stats.stdout, re.M) or [0, '0'])[1])
    shown = sum(value[0] for value in sums.values())
    lines = len(look.script())
    expect(lines == len(look.all_samples()['samples']), f'script has {lines} samples, export {len(look.all_samples()["samples"])}')
    # A record with the counts of a whole group is a sample of each member.
    of_members = sum(map(int, re.findall(r' stats:\n\s*SAMPLE events:\s+(\d+)', stats.stdout)))
    expect(lines in (counted, of_members) or 'left out' in stats.stderr, f'--stats has {counted} samples, script {lines}')
    expect(shown <= lines, f'report has {shown} samples, script {lines}')


@law('a thread and a CPU are at most 100 % busy')
def at_most_busy(look):
    look.need_samples()
    whole = look.all_samples()
    clocks = {i for i, event in enumerate(whole['events']) if re.match(r'(cpu|task)-clock', event['name'])}
    spans = {}
    for sample in whole['samples']:
        if sample['event'] not in clocks or not sample.get('time'):
            continue
        for key in (('thread', whole['threads'][sample['thread']]['tid']), ('CPU', sample.get('cpu'))):
            if key[1] in (None, 0) and key[0] == 'thread' or key[1] is None:
                continue
            one = spans.setdefault((sample['event'], *key), [sample['time'], sample['time'], 0, 0])
            one[0], one[1] = min(one[0], sample['time']), max(one[1], sample['time'])
            one[2] += sample['period']
            one[3] = max(one[3], sample['period'])
    if not spans:
        raise NotHere('no CPU clock')
    for (event, kind, number), (first, last, busy, most) in spans.items():
        expect(busy <= (last - first) * 1.02 + 2 * most + 2_000_000, f'{kind} {number}: {busy} ns busy in {last - first} ns ({whole["events"][event]["name"]})')


@law('timechart draws no CPU above 100 %, and no task longer than the recording')
def timechart_fits(look):
    done = look.run('timechart', '--json', '-i', look.path, status=None)
    if done.returncode or not done.stdout:
        raise NotHere('no timechart')
    chart = json.loads(done.stdout)
    span = chart['end_ns'] - chart['start_ns']
    for kind in ('cpus', 'tasks'):
        for row in chart[kind]:
            busy = sum(one['ns'] for one in row['sums'] if kind == 'tasks' or one['state'] == 'running')
            expect(busy <= span, f'{kind}: {row.get("cpu", row.get("comm"))} has {busy} ns of {span}')


@law('summary has the samples of report')
def summary_is_report(look):
    sums = look.need_samples()
    said = json.loads(look.run('summary', '--json', '-i', look.path, status=None).stdout or '{}')
    if 'samples' not in said:
        raise NotHere('no summary')
    expect((said['samples'], said['period']) in sums.values(), f'summary {said["event"]}: {said["samples"]}, {said["period"]}; report {sums}')


@law('a store has the sums of report')
def store_is_report(look):
    sums = look.need_samples()
    store = look.folder / 'store.db'
    pushed = look.run('push', '--to', f'sqlite:{store}', look.path, status=None)
    if pushed.returncode:
        raise NotHere(pushed.stderr.strip())
    rows = json.loads(look.run('query', store, '--json', 'select event, sum(count) as n, sum(value) as v from samples group by 1').stdout or '[]')
    stored = {row['event']: (row['n'], row['v']) for row in rows}
    if 'wall-clock' in sums and len(sums) == 1:
        stored = {'wall-clock': (sum(n for n, _ in stored.values()), sum(v for _, v in stored.values()))}
    same(stored, sums, 'store and report')


@law('a recording does not differ from itself')
def no_difference_to_itself(look):
    look.need_samples()
    done = look.run('diff', '--json', look.path, look.path, status=None)
    if done.returncode or not done.stdout:
        raise NotHere('diff refuses it')
    changed = [row for row in find_rows(json.loads(done.stdout)) if row.get('delta') not in (None, 0, 0.0)]
    expect(not changed, f'changed: {changed[:3]}')


def find_rows(whole):
    if isinstance(whole, dict):
        if 'delta' in whole:
            yield whole
        for value in whole.values():
            yield from find_rows(value)
    elif isinstance(whole, list):
        for value in whole:
            yield from find_rows(value)


def of_recordings():
    return [one for one in LAWS if not one[3]]


def of_truth():
    return [one for one in LAWS if one[3]]


def check(one, look):
    """None, or what is wrong; '-' and a reason where the law does not apply."""
    function, name, *_ = one
    try:
        function(look)
    except NotHere as why:
        return f'- {why}'
    except AssertionError as wrong:
        return f'{name}: {wrong}'
    return None
