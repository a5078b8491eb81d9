#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the system calls that `tally trace` shows of a command with those that strace shows in the same run.

usage: tests/live/trace_truth.py [--tally FILE] [--keep DIR] [-v] COMMAND [ARGUMENT...]

strace runs the command, and tally traces both. For each thread of the command, from its first call on that both have seen,
the calls must be the same, in the same order, with the same results. Arguments are compared one by one: numbers, texts, descriptors
and sets of flags must agree; what one of the two shows as an address, or leaves out of a struct, is not compared. The last line says
how much was compared; the exit status is 1 if anything differs.
"""
import argparse
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

SETTINGS = '[trace]\n\tshow_prefix = true\n\tshow_zeros = true\n\targs_alignment = 0\n'
# Names that strace has for calls whose tables name them otherwise.
SAME = {'umount2': 'umount', 'pread64': 'pread', 'pwrite64': 'pwrite', 'newfstatat': 'fstatat'}
NO_FLAG = {'0', 'AT_STATX_SYNC_AS_STAT'}  # words for 0
FIRST_ONLY = {'futex': 3}  # what the others mean depends on the operation: strace leaves some out, and moves others
GROUPS = {'RLIM64_INFINITY': {'RLIM_INFINITY'}, 'FUTEX_WAKE_PRIVATE': {'FUTEX_WAKE', 'FUTEX_PRIVATE_FLAG'},
          'FUTEX_WAIT_PRIVATE': {'FUTEX_WAIT', 'FUTEX_PRIVATE_FLAG'},
          'FUTEX_WAIT_BITSET_PRIVATE': {'FUTEX_WAIT_BITSET', 'FUTEX_PRIVATE_FLAG'},
          'STATX_BASIC_STATS': {f'STATX_{name}' for name in 'TYPE MODE NLINK UID GID ATIME MTIME CTIME INO SIZE BLOCKS'.split()}}
MODES = {'S_ISVTX': 0o1000, 'S_ISGID': 0o2000, 'S_ISUID': 0o4000}
PRINTABLE_ZERO = {'NULL': '0', '': '0'}


def split(text):
    """The arguments in a text, by commas outside of brackets and quotes."""
    parts, depth, quoted, start, i = [], 0, False, 0, 0
    while i < len(text):
        c = text[i]
        if quoted:
            i += c == '\\'
            quoted = c != '"' if c != '\\' else True
        elif c == '"':
            quoted = True
        elif c in '([{<':
            depth += not (c == '<' and text[i - 1:i] in ('<', ' '))
        elif c in ')]}':
            depth -= 1
        elif c == '>' and depth and text[i - 1:i] != '=':
            depth -= 1
        elif c == ',' and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
        i += 1
    parts.append(text[start:].strip())
    return parts if parts != [''] else []


CALL = re.compile(r'(\w+)\((.*)\) += (.*)$', re.S)


class Call(collections.namedtuple('Call', 'name arguments result text')):
    @classmethod
    def parse(cls, text):
        found = CALL.match(text)
        if not found:
            return None
        name = SAME.get(found[1], found[1])
        return cls(name, split(found[2]), found[3].strip(), text)


def result_of(text):
    """Its number or error: what strace adds in brackets, and tally in words, is left out."""
    error = re.match(r'-1 (E\w+)', text)
    if error:
        return error[1]
    number = re.match(r'(-?0x[0-9a-f]+|-?\d+|\?)', text)
    if not number:
        return text
    return number[1] if number[1] == '?' else int(number[1], 0)


def of_strace(path):
    """Calls by thread, in order; unfinished ones are joined with their ends."""
    threads, open_calls = collections.defaultdict(list), {}
    for line in path.read_text(errors='replace').splitlines():
        found = re.match(r'(\d+) +(.*)$', line)
        if not found or found[2].startswith(('---', '+++', 'strace:')):
            continue
        tid, text = int(found[1]), found[2]
        resumed = re.match(r'<\.\.\. \w+ resumed>(.*)$', text)
        if resumed:
            text = open_calls.pop(tid, '') + resumed[1]
        if text.endswith('<unfinished ...>'):
            open_calls[tid] = text[:-len('<unfinished ...>')]
            continue
        call = Call.parse(text)
        if call:
            threads[tid].append(call)
    for tid, text in open_calls.items():
        threads[tid].append(Call(text.split('(')[0], split(text.split('(', 1)[1].rstrip(' )')), '?', text))
    return threads


def of_tally(path):
    threads = collections.defaultdict(list)
    for line in path.read_text(errors='replace').splitlines():
        found = re.match(r' *[\d.?]+ \([ \d.]+(?:ms)? *\): (\d+) (.*)$', line)
        call = found and Call.parse(found[2])
        if call:
            named = [re.sub(r'^\w+: ', '', argument) for argument in call.arguments]
            threads[int(found[1])].append(call._replace(arguments=named))
        elif 'LOST' in line:
            sys.exit(f'trace lost events: {line}')
    return threads


FLAGS = re.compile(r'(?:[A-Z][A-Za-z0-9_]*|0x[0-9a-f]+|\d+)(?:\|(?:[A-Z][A-Za-z0-9_]*|0x[0-9a-f]+|\d+))+$|[A-Z][A-Z0-9_]+$')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?$', re.S)


def number_of(text):
    text = PRINTABLE_ZERO.get(text, text)
    text = re.sub(r'<.*>$|\(.*\)$| /\*.*\*/$', '', text).strip()
    product = re.fullmatch(r'(\d+)\*(\d+)', text)
    if product:
        return int(product[1]) * int(product[2])
    try:
        return int(text, 8 if re.fullmatch(r'0[0-7]+', text) else 0)
    except ValueError:
        return None


def flags_of(text):
    words = set(text.split('|'))
    for name, group in GROUPS.items():
        words = words - {name} | group if name in words else words
    bits = [word for word in words if word in MODES or re.fullmatch('0[0-7]+', word)]
    mode = sum(MODES.get(word) or int(word, 8) for word in bits)
    return words - NO_FLAG - set(bits) | ({mode} if bits else set())


def members(text, separator):
    """The members of a struct by name; None: it is none."""
    if not (text.startswith('{') and text.endswith('}')):
        return None
    pairs = [part.partition(separator) for part in split(text[1:-1])]
    return {name.lstrip('.').strip(): value.strip() for name, found, value in pairs if found}


ESCAPES = {'n': 10, 't': 9, 'r': 13, 'a': 7, 'b': 8, 'f': 12, 'v': 11, '\\': 92, '"': 34}


def bytes_of(text):
    """What a text in quotes stands for; characters beyond ASCII stand for their UTF-8."""
    made, i = bytearray(), 0
    while i < len(text):
        octal = re.match(r'\\([0-7]{1,3})', text[i:])
        hexadecimal = re.match(r'\\x([0-9a-f]{2})', text[i:])
        if octal or hexadecimal:
            made.append(int(octal[1], 8) & 255 if octal else int(hexadecimal[1], 16))
            i += len((octal or hexadecimal)[0])
        elif text[i] == '\\':
            made.append(ESCAPES.get(text[i + 1:i + 2], 63))
            i += 2
        else:
            made += text[i].encode('utf-8', 'surrogateescape')
            i += 1
    return bytes(made)


def judge(theirs, ours):
    """'same', 'different', or 'unlike': they are not of one form."""
    if theirs == ours:
        return 'same'
    left, right = number_of(theirs), number_of(ours)
    if left is not None and right is not None:
        mask = 0xffffffff if left < 0 or right < 0 or max(left, right) <= 0xffffffff else ~0
        return 'same' if left & mask == right & mask else 'different'
    texts = LITERAL.match(theirs), LITERAL.match(ours)
    if texts[0] and texts[1]:
        left, right = bytes_of(texts[0][1]), bytes_of(texts[1][1])
        if texts[0][2] or texts[1][2]:
            shorter = min(len(left), len(right))
            return 'same' if left[:shorter] == right[:shorter] else 'different'
        return 'same' if left == right else 'different'
    if FLAGS.match(theirs) and FLAGS.match(ours):
        return 'same' if flags_of(theirs) == flags_of(ours) else 'different'
    structs = members(theirs, '='), members(ours, ':')
    if structs[0] and structs[1]:
        verdicts = {judge(value, structs[1][name]) for name, value in structs[0].items() if name in structs[1]}
        return 'different' if 'different' in verdicts else 'same' if 'same' in verdicts else 'unlike'
    fd = re.match(r'(\w+)<', ours)
    if fd and fd[1] == theirs:
        return 'same'
    return 'unlike'


def compare(theirs, ours, counts, differences):
    for index, (left, right) in enumerate(zip(theirs, ours)):
        counts['calls'] += 1
        if left.name != right.name:
            differences.append(('order', left.text, right.text))
            return
        results = result_of(left.result), result_of(right.result)
        is_word = left.result.endswith(f' {right.result})')  # 0x1 (flags FD_CLOEXEC)
        if results[0] != results[1] and not is_word and not left.result.startswith('? ERESTART'):
            differences.append(('result', left.text, right.text))
        for n, argument in enumerate(left.arguments[:FIRST_ONLY.get(left.name, 6)]):
            verdict = judge(argument, right.arguments[n]) if n < len(right.arguments) else 'unlike'
            counts[verdict] += 1
            if verdict == 'different':
                differences.append((f'argument {n}', left.text, right.text))
            elif verdict == 'unlike':
                counts['unlike', left.name, n] += 1
    if len(theirs) != len(ours):
        longer = theirs if len(theirs) > len(ours) else ours
        differences.append(('missing', f'strace has {len(theirs)} calls, tally {len(ours)}', longer[min(len(theirs), len(ours))].text))


def align(theirs, ours):
    """From the first execve of the command, or, of a child, from its first call on: strace attaches later than tally."""
    for start, call in enumerate(ours):
        if theirs and call.name == theirs[0].name and [c.name for c in ours[start:start + 5]] == [c.name for c in theirs[:5]]:
            return theirs, ours[start:]
    return theirs, ours


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--tally', default='build/src/cli/tally')
    parser.add_argument('--keep')
    parser.add_argument('-v', action='store_true', dest='verbose')
    parser.add_argument('command', nargs=argparse.REMAINDER)
    options = parser.parse_args()
    made = None if options.keep else tempfile.TemporaryDirectory(prefix='trace-truth-')
    folder = pathlib.Path(options.keep or made.name)
    folder.mkdir(exist_ok=True)
    (folder / 'perfconfig').write_text(SETTINGS)
    tally = pathlib.Path(options.tally).resolve()
    command = [tally, 'trace', '-m', '64M', '--no-comm', '-o', folder / 'tally.out', 'strace', '-f', '-qq', '-s', '32', '-o', folder / 'strace.out',
               *options.command]
    subprocess.run(command, env={**os.environ, 'PERF_CONFIG': str(folder / 'perfconfig')}, stdout=subprocess.DEVNULL, check=False)
    theirs, ours = of_strace(folder / 'strace.out'), of_tally(folder / 'tally.out')
    counts, differences = collections.Counter(), []
    for tid, calls in theirs.items():
        compare(*align(calls, ours.get(tid, [])), counts, differences)
    kinds = collections.Counter(kind for kind, _, _ in differences)
    for kind, left, right in differences if options.verbose else differences[:20]:
        print(f'{kind}:\n  strace: {left}\n  tally:  {right}')
    if options.verbose:
        for key, count in sorted(((k, v) for k, v in counts.items() if isinstance(k, tuple)), key=lambda item: -item[1]):
            print(f'not compared: {key[1]}, argument {key[2]}: {count}')
    print(f'{counts["calls"]} calls of {len(theirs)} threads; arguments: {counts["same"]} the same, {counts["different"]} different, '
          f'{counts["unlike"]} not of one form; {dict(kinds) or "no difference"}')
    return 1 if differences or not counts['calls'] else 0


if __name__ == '__main__':
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
