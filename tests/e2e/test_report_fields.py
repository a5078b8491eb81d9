# SPDX-License-Identifier: Apache-2.0
"""Fields of tracepoints as sort keys of `report`: what stands in their columns, and whose tables have them."""
import json

import perfdata_build
import pytest

from tracing_build import Tracepoint, tracing_data

SOFTIRQ = Tracepoint('irq', 'softirq_entry', 7, [('unsigned int', 'vec', 4), ('int', 'cookie', 4)],
                     '"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 1, "TIMER" }, { 9, "RCU" })')
RETURN = Tracepoint('syscalls', 'sys_exit_read', 8, [('int', 'ret', 4), ('unsigned int', 'vec', 4), ('unsigned int', 'dev', 4)],
                    '"0x%x [vec=0x%x] dev %d:%d end dfd: %x, after", REC->ret, REC->vec, REC->dev >> 20, REC->dev & 255, REC->ret')


def begin(*tracepoints):
    """A recording of these, without samples."""
    r = perfdata_build.Recording()
    for tracepoint in tracepoints:
        r.event('IP TID TIME PERIOD RAW IDENTIFIER', kind=2, config=tracepoint.number, period=1)
    r.name_events(*(f'{tracepoint.system}:{tracepoint.name}' for tracepoint in tracepoints))
    r.feature(1, tracing_data(list(tracepoints)))
    r.comm('prog')
    return r


def record(path):
    r = begin(SOFTIRQ, RETURN)
    for index in range(4):
        r.sample(0, ip=0x400010, time=10**9 + index, raw=SOFTIRQ.payload(vec=9 if index else 1, cookie=-index))
        r.sample(1, ip=0x400020, time=10**9 + index, raw=RETURN.payload(ret=index // 3 * -14, vec=16 + index, dev=254 << 20 | 3))
    r.write(path)


def test_events_that_only_their_formats_name(tally, perf, tmp_path):
    """As before perf described events, or where that part is cut off."""
    path = tmp_path / 'nameless.data'
    r = begin(SOFTIRQ, RETURN)
    del r.features[12]
    for event, tracepoint in enumerate((SOFTIRQ, RETURN)):
        r.sample(event, raw=tracepoint.payload(vec=9))
    r.write(path)
    shown = tally('report', '--stdio', '-i', path).stdout
    assert "of event 'irq:softirq_entry'" in shown and "of event 'syscalls:sys_exit_read'" in shown
    ours, theirs = ([line.split() for line in program('script', '-F', 'comm,event,trace', '-i', path).stdout.splitlines()]
                    for program in (tally, perf))
    assert ours == theirs and len(ours) == 2 and ours[0][1] == 'irq:softirq_entry:'


def tables(program, path, *options):
    """Cells of each event's rows."""
    text = program('report', '--stdio', '-i', path, *options, check=0).stdout
    return [[row.split() for row in table.splitlines()[1:] if row[:1] == ' '] for table in text.split('# Samples:')[1:]]


EXPECTED = {
    'vec': [[['75.00%', '9'], ['25.00%', '1']], [['25.00%', str(vec)] for vec in (16, 17, 18, 19)]],
    'softirq_entry.vec': [[['75.00%', '9'], ['25.00%', '1']], [['100.00%']]],
    'irq:softirq_entry.vec,cookie': [
        [['25.00%', '1', '0'], ['25.00%', '9', '-3'], ['25.00%', '9', '-2'], ['25.00%', '9', '-1']], [['100.00%']]],
}


@pytest.mark.parametrize('keys', EXPECTED)
def test_a_field_is_the_value_behind_its_name(tally, tmp_path, keys):
    """Not what else the format says of it, and only where it is asked for."""
    record(tmp_path / 'perf.data')
    found = tables(tally, tmp_path / 'perf.data', '-s', keys)
    assert [sorted(table) for table in found] == [sorted(table) for table in EXPECTED[keys]]


@pytest.mark.parametrize('keys', [*EXPECTED, 'softirq_entry.cookie'])
def test_fields_are_perfs(tally, perf, tmp_path, keys):
    record(tmp_path / 'perf.data')
    ours, theirs = ([sorted(table) for table in tables(program, tmp_path / 'perf.data', '-s', keys)] for program in (tally, perf))
    assert ours == theirs


def test_a_field_has_all_of_its_value_in_the_format(tally, tmp_path):
    record(tmp_path / 'perf.data')
    assert tables(tally, tmp_path / 'perf.data', '-s', 'dev')[1] == [['100.00%', '254:3']]
    assert tables(tally, tmp_path / 'perf.data', '-s', 'dev', '--raw-trace')[1] == [['100.00%', str(254 << 20 | 3)]]


def test_raw_traces_are_rows_of_fields(tally, perf, tmp_path):
    """Unless it is said what to sort by."""
    record(tmp_path / 'perf.data')
    ours, theirs = (tables(program, tmp_path / 'perf.data', '--raw-trace', '--no-children') for program in (tally, perf))
    assert sorted(ours[0]) == sorted(theirs[0])
    assert ours == tables(tally, tmp_path / 'perf.data', '-s', 'trace_fields', '--raw-trace', '--no-children')
    assert [len(row) for row in tables(tally, tmp_path / 'perf.data', '--no-children')[0]] != [len(row) for row in ours[0]]


def test_a_fields_name_comes_before_what_begins_a_keys(tally, tmp_path):
    record(tmp_path / 'perf.data')
    assert tables(tally, tmp_path / 'perf.data', '-s', 'ret') == [[['100.00%']], [['75.00%', '0'], ['25.00%', '-14']]]
    assert tables(tally, tmp_path / 'perf.data', '-s', 'sym')[0] == [['100.00%', '[.]', '0x0000000000400010']]
    assert tables(tally, tmp_path / 'perf.data', '-s', 'com')[0] == [['100.00%', 'prog']]


def test_an_array_of_numbers_is_told_by_its_bytes(tally, tmp_path):
    entry = Tracepoint('raw_syscalls', 'sys_enter', 9, [('int', 'id', 8), ('unsigned long', 'args[2]', 16)],
                       '"NR %ld (%lx, %lx)", REC->id, REC->args[0], REC->args[1]')
    r = begin(entry)
    r.sample(ip=0x400010, raw=entry.payload(id=1, args=b'\x05\0\0\0\0\0\0\0\x10'))
    r.write(tmp_path / 'perf.data')
    cells = tables(tally, tmp_path / 'perf.data', '-s', 'id,args')[0][0]
    assert ' '.join(cells[2:]) == f"ARRAY[{', '.join(['05'] + ['00'] * 7 + ['10'] + ['00'] * 7)}]"
    assert cells[1] == '1'  # "NR 1" does not name it


def test_an_address_is_as_the_format_has_it(tally, tmp_path):
    """Bytes that look like no text, or like an empty one."""
    closed = Tracepoint('tcp', 'tcp_destroy_sock', 10, [('__u8', 'saddr[4]', 4), ('__u8', 'daddr[4]', 4), ('char', 'name[8]', 8)],
                        '"saddr=%pI4 daddr=%pI4 name=%s", REC->saddr, REC->daddr, REC->name')
    r = begin(closed)
    r.sample(ip=0x400010, raw=closed.payload(saddr=b'\x7f\0\1', daddr=b'', name='two it'))
    r.write(tmp_path / 'perf.data')
    rows = tables(tally, tmp_path / 'perf.data', '-s', 'saddr,daddr,name')
    assert rows == [[['100.00%', '127.0.1.0', '0.0.0.0', 'two', 'it']]]


@pytest.mark.parametrize('options', [['-s', 'name'], ['-s', 'comm,name'], ['-s', 'name', '--raw-trace'],
                                     ['-s', 'name', '-t', '|'], ['--hierarchy', '-s', 'name,comm']], ids=' '.join)
def test_columns_have_room_for_the_end_of_texts_of_any_length(tally, perf, tmp_path, options):
    handler = Tracepoint('irq', 'irq_handler_entry', 7, [('int', 'irq', 4), ('__data_loc char[]', 'name', 4)],
                         '"irq=%d name=%s", REC->irq, __get_str(name)')
    r = begin(handler)
    for index, name in enumerate((b'virtio1-req.0\0', b'disk\0')):
        r.sample(0, ip=0x400010, time=10**9 + index, raw=handler.payload(irq=index, name=16 | len(name) << 16) + name)
    r.write(tmp_path / 'perf.data')
    ours, theirs = ([row.rstrip() for row in program('report', '--stdio', '-i', tmp_path / 'perf.data', *options, check=0).stdout.splitlines()
                     if '(Tip' not in row and '(Cannot' not in row] for program in (tally, perf))
    shown = [row for row in ours if 'virtio1-req.0' in row]
    assert len(shown) == 1
    if '--hierarchy' not in options and '-t' not in options:
        assert any(row.startswith('# ....') and '.' * 14 in row.split() for row in ours)
    assert [row for row in ours if 'virtio' in row or '....' in row] == [row for row in theirs if 'virtio' in row or '....' in row]


def test_json_has_the_whole_name_of_before_an_exec(tally, tmp_path):
    """Text cuts a thread's earlier name to the width of its last one, as perf does; JSON and filters have all of it."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME PERIOD IDENTIFIER')
    r.comm('long-starter')
    r.sample(ip=0x1000, time=1000)
    r.record(3, 0x2000, r.pack('II', 1000, 1000) + r.name('job') + r.pack('IIQQ', 1000, 1000, 2000, 1))
    r.sample(ip=0x1000, time=3000)
    r.write(tmp_path / 'perf.data')
    whole = json.loads(tally('report', '--json', '-s', 'comm', '-i', tmp_path / 'perf.data', check=0).stdout)
    names = {row['comm'] for row in whole['tables'][0]['rows']}
    assert len(names) == 2 and 'long-starter' in names
    for name in names:
        chosen = json.loads(tally('report', '--json', '-s', 'comm', '--comms', name, '-i', tmp_path / 'perf.data', check=0).stdout)
        assert [row['comm'] for row in chosen['tables'][0]['rows']] == [name]
