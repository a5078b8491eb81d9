# SPDX-License-Identifier: Apache-2.0
"""Options about hardware traces and guests: nothing to do without these, refused by name with them."""
import json

import perfdata_build
import pytest

GUEST_KERNEL = 4
FIELDS = 'IP TID TIME CPU PERIOD IDENTIFIER'


def write(path, trace=None, misc=2):
    built = perfdata_build.Recording()
    built.event(FIELDS, config=0)
    built.name_events('cpu-clock')
    built.text_feature(6, 'x86_64')
    if trace is not None:
        built.record(70, 0, built.pack('IIQ', trace, 0, 0))
    built.comm('worker')
    built.sample(time=1000000000, misc=misc)
    built.sample(time=2000000000, ip=0x405678)
    built.write(path)
    return path


@pytest.fixture
def ordinary(tmp_path):
    return write(tmp_path / 'ordinary.data')


@pytest.mark.parametrize('option', ['--itrace', '--itrace=i100usg16cre+o-l', '--no-itrace', '--guest-code', '--guestmount=/x',
                                    '--guestvmlinux=/x', '--guestkallsyms=/x', '--guestmodules=/x'])
def test_script_has_nothing_to_do_without(tally, ordinary, option):
    plain = tally('script', '-i', ordinary).stdout
    assert plain.count('cpu-clock') == 2
    assert tally('script', '-i', ordinary, option).stdout == plain
    stream = tally('inject', '-i', ordinary, '-o', '-', text=False).stdout
    result = tally('script', '-i', '-', option, stdin=stream, text=False)
    assert result.returncode == 0 and result.stdout.decode().count('cpu-clock') == 2


@pytest.mark.parametrize('option, columns', [
    ('--call-trace', '-ip,-addr,-event,-period,+callindent'),
    ('--call-ret-trace', '-ip,-addr,-event,-period,+callindent,+flags'),
    ('--insn-trace', '+insn,-event,-period'), ('--insn-trace=raw', '+insn,-event,-period'),
    ('--insn-trace=disasm', '+disasm,-event,-period')])
def test_columns_of_traces_are_those_of_samples(tally, perf, ordinary, option, columns):
    shown = tally('script', '-i', ordinary, option).stdout
    assert shown.count('1.000000000: ') == 1 and 'cpu-clock' not in shown
    assert shown == tally('script', '-i', ordinary, '--ns', '-F', columns).stdout
    if 'disasm' not in option:  # which not every perf was built for
        theirs = perf('script', '-i', ordinary, option).stdout
        assert [line.split() for line in shown.splitlines()] == [line.split() for line in theirs.splitlines()]


@pytest.mark.parametrize('words', [(), ('--stats',), ('--total-cycles',), ('-D',)])
def test_report_has_nothing_to_do_without(tally, ordinary, words):
    plain = tally('report', '--stdio', '-i', ordinary, *words)
    assert tally('report', '--stdio', '-i', ordinary, '--itrace', *words).stdout == plain.stdout
    assert plain.returncode == 0 and plain.stdout


@pytest.mark.parametrize('words', [(), ('-D',)])
def test_annotate_has_nothing_to_do_without(tally, ordinary, words):
    plain = tally('annotate', '--stdio', '-i', ordinary, *words)
    result = tally('annotate', '--stdio', '-i', ordinary, '--itrace=cr', *words)
    assert (result.returncode, result.stdout, result.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_inject_has_nothing_to_do_without(tally, ordinary, tmp_path):
    tally('inject', '-i', ordinary, '-o', tmp_path / 'plain.data', check=0)
    tally('inject', '--itrace=i100us', '--guestmount=/x', '-i', ordinary, '-o', tmp_path / 'asked.data', check=0)
    assert (tmp_path / 'asked.data').read_bytes() == (tmp_path / 'plain.data').read_bytes()


def test_inject_decodes_nothing(tally, tmp_path):
    traced, guest = write(tmp_path / 'traced.data', trace=1), write(tmp_path / 'guest.data', misc=GUEST_KERNEL)
    for path, option, said in ((traced, '--itrace', '(intel_pt) is not decoded'), (guest, '--guestmount=/x', 'of a guest')):
        result = tally('inject', option, '-i', path, '-o', tmp_path / 'out.data')
        assert result.returncode == 255 and said in result.stderr and not (tmp_path / 'out.data').exists()


@pytest.mark.parametrize('verb, option', [('report', '--itrace'), ('annotate', '--itrace'), ('script', '--itrace'), ('script', '--call-trace'),
                                          ('script', '--call-ret-trace'), ('script', '--insn-trace')])
@pytest.mark.parametrize('kind, name', [(1, 'intel_pt'), (4, 'arm_spe'), (4321, 'of an unknown kind')])
def test_a_trace_is_named_and_not_passed_over(tally, tmp_path, verb, option, kind, name):
    path = write(tmp_path / 'traced.data', trace=kind)
    said = f"{option} is not supported yet: this recording's hardware trace ({name}) is not decoded\n"
    result = tally(verb, '-i', path, option)
    assert result.returncode == 255 and result.stderr == said and result.stdout == ''
    stream = tally('inject', '-i', path, '-o', '-', text=False).stdout
    result = tally(verb, '-i', '-', option, stdin=stream, text=False)
    assert result.returncode == 255 and result.stderr.decode() == said and result.stdout == b''


def test_all_ways_of_script_look_for_a_trace(tally, tmp_path):
    path = write(tmp_path / 'traced.data', trace=1)
    script = tmp_path / 'script.py'
    script.write_text('def process_event(event):\n    print(event["comm"])\n')
    for words in (['-s', script], ['-g', 'python'], ['--header-only'], ['-D']):
        result = tally('script', '-i', path, '--itrace', *words, cwd=tmp_path)
        assert result.returncode == 255 and '(intel_pt) is not decoded' in result.stderr, words


@pytest.mark.parametrize('option', ['--guest-code', '--guestmount', '--guestvmlinux', '--guestkallsyms', '--guestmodules'])
def test_samples_of_guests_are_not_passed_over(tally, tmp_path, option):
    path = write(tmp_path / 'guest.data', misc=GUEST_KERNEL)
    result = tally('script', '-i', path, *([option] if option == '--guest-code' else [option, '/x']))
    assert result.returncode == 255 and result.stdout == ''
    assert f'{option} is not supported yet: this recording has samples of a guest' in result.stderr


@pytest.mark.parametrize('letters', ['z?', 'g0', 'g1025', 'e+', 's', 'i10msK', 'h'])
def test_wrong_letters_are_told(tally, ordinary, letters):
    for verb in ('report', 'script', 'annotate', 'inject'):
        result = tally(verb, '-i', ordinary, f'--itrace={letters}')
        assert result.returncode == 129 and 'expects letters' in result.stderr


def write_trace(path, kind, payload, order='<'):
    built = perfdata_build.Recording(order)
    built.event(FIELDS, config=0)
    built.name_events('cpu-clock')
    built.record(70, 0, built.pack('IIQ', kind, 0, 0))
    built.comm('worker')
    for _ in range(2):
        built.record(71, 0, built.pack('QQQIIII', len(payload), 0, 0, 0, 1000, 0, 0))
        built.records += payload
    built.sample(time=1000000000)
    built.write(path)
    return path


@pytest.mark.parametrize('verb', ['report', 'script', 'annotate', 'flamegraph'])
@pytest.mark.parametrize('kind, name', [(3, 'cs_etm'), (4321, 'of an unknown kind')])
def test_what_is_not_decoded_is_told(tally, tmp_path, verb, kind, name):
    path = write_trace(tmp_path / 'traced.data', kind, bytes(4096))
    words = ['-o', tmp_path / 'flame.svg'] if verb == 'flamegraph' else []
    said = f"hardware trace ({name}, 8192 bytes) is not decoded: what only the trace holds is missing\n"
    assert said in tally(verb, '-i', path, *words, check=0).stderr
    stream = tally('inject', '-i', path, '-o', '-', text=False).stdout
    assert said in tally(verb, '-i', '-', *words, stdin=stream, text=False).stderr.decode()
    empty = write_trace(tmp_path / 'empty.data', kind, b'')
    assert 'hardware trace' not in tally(verb, '-i', empty, *words, check=0).stderr


@pytest.mark.parametrize('order', '<>')
def test_health_tells_of_a_trace(tally, tmp_path, order):
    path = write_trace(tmp_path / 'traced.data', 4, bytes(4096), order)
    assert '  hardware trace    arm_spe, 8,192 bytes, which are not decoded\n' in tally('health', path, check=0).stdout
    found = json.loads(tally('health', '--json', path, check=0).stdout)
    assert found['undecoded_trace_bytes'] == 8192 and found['verdict'] == 'good'
