# SPDX-License-Identifier: Apache-2.0
"""trace's calls, arguments and results, beside strace's of the same run."""
import collections
import re
import shutil
import subprocess

import pytest

OURS = re.compile(r'.*?/(\d+) (?: \.\.\. \[continued\]: )?(\w+)\((.*)\) += (.*)$')
STRACES = re.compile(r'(\w+)\((.*)\) += (.*)$')
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?')
RANDOM = {'getrandom', 'uname'}  # strace shows bytes in hex, and fewer fields

# As they are made in tests/workloads/calls.c.
LINES = [
    r'openat\(dfd: CWD, filename: "file", flags: RDWR\|CLOEXEC\|CREAT\|TRUNC, mode: 0640\) += \d+',
    r'write\(fd: \d+\S*, buf: "hello\\n\\"q\\\\\\1\\377", count: 11\) += 11',
    r'pread64\(fd: \d+\S*, buf: "llo\\n\\"q\\\\\\1\\377", count: 4096, pos: 2\) += 9',
    r'lseek\(fd: \d+\S*, whence: END\) += 11',
    r'ftruncate\(fd: \d+\S*, length: 5\) += 0',
    r'fallocate\(fd: \d+\S*, mode: KEEP_SIZE, len: 8192\) += ',
    r'flock\(fd: \d+\S*, cmd: EX\|NB\) += 0',
    r'fcntl\(fd: \d+\S*, cmd: GETFL\) += RDWR',
    r'fcntl\(fd: \d+\S*, cmd: SETFD, arg: CLOEXEC\) += 0',
    r'fchmod\(fd: \d+\S*, mode: 0600\) += 0',
    r'utimensat\(dfd: \d+\S*, utimes: \[\{ \.tv_sec: 5, \.tv_nsec: 6 \}, UTIME_OMIT\]\) += 0',
    r'fsetxattr\(fd: \d+\S*, name: "user.x", value: "val", size: 3, flags: CREATE\) += ',
    r'newfstatat\(dfd: CWD, filename: "file", statbuf: \{ \.st_mode: S_IFREG\|0600, \.st_size: 5, \.\.\. \}\) += 0',
    r'newfstatat\(dfd: CWD, filename: "/dev/null", statbuf: \{ \.st_mode: S_IFCHR\|\d+, \.st_rdev: makedev\(0x1, 0x3\), \.\.\. \}\) += 0',
    r'newfstatat\(dfd: CWD, filename: "no\\tfile", statbuf: 0x[0-9a-f]+, flag: SYMLINK_NOFOLLOW\) += -1 ENOENT \(No such file or directory\)',
    r'readlinkat\(dfd: CWD, pathname: "link", buf: "file", bufsiz: 4096\) += 4',
    r'renameat2\(olddfd: CWD, oldname: "folder", newdfd: CWD, newname: "file", flags: NOREPLACE\) += -1 EEXIST \(File exists\)',
    r'unlinkat\(dfd: CWD, pathname: "folder", flag: REMOVEDIR\) += 0',
    r'close\(fd: -1\) += -1 EBADF \(Bad file descriptor\)',
    r'socket\(family: INET, type: STREAM\|CLOEXEC, protocol: TCP\) += \d+',
    r'setsockopt\(fd: \d+\S*, level: SOCKET, optname: REUSEADDR, optval: \[1\], optlen: 4\) += 0',
    r'bind\(fd: \d+\S*, umyaddr: \{ \.family: INET, \.port: 0, \.addr: 127\.0\.0\.1 \}, addrlen: 16\) += 0',
    r'accept4\(fd: \d+\S*, upeer_sockaddr: \{ \.family: INET, \.port: \d+, \.addr: 127\.0\.0\.1 \}, upeer_addrlen: \[16\], flags: CLOEXEC\) += \d+',
    r'sendmsg\(.*\.msg_iov: \[\{ \.iov_base: "one", \.iov_len: 3 \}, \{ \.iov_base: "a text of more than thirty-two b"\.\.\., \.iov_len: 41 \}\]'
    r'.*flags: NOSIGNAL\) += 44',
    r'readv\(fd: \d+\S*, vec: \[\{ \.iov_base: "onea", \.iov_len: 4 \}, \{ \.iov_base: " text of more than thirty-two by"\.\.\., \.iov_len: 60 \}\]'
    r', vlen: 2\) += 44',
    r'ppoll\(ufds: \[\{ \.fd: \d+\S*, \.events: IN\|PRI, \.revents: IN \}, \{ \.fd: \d+\S*, \.events: IN \}\], nfds: 2, tsp: \{ \.tv_sec: \d+.*\) += 1',
    r'epoll_ctl\(epfd: \d+\S*, op: ADD, fd: \d+\S*, event: \{ \.events: IN\|ET, \.data: 77 \}\) += 0',
    r'epoll_p?wait\(epfd: \d+\S*, events: \[\{ \.events: IN, \.data: 77 \}\], maxevents: 4, timeout: 1000.*\) += 1',
    r'connect\(fd: \d+\S*, uservaddr: \{ \.family: UNIX, \.path: "no-socket" \}, addrlen: 110\) += -1 ENOENT',
    r'rt_sigaction\(sig: USR1, act: \{ \.sa_handler: 0x[0-9a-f]+, \.sa_mask: \[USR2\], \.sa_flags: [A-Z|]*RESTART.*sigsetsize: 8\) += 0',
    r'kill\(pid: \d+.*, sig: USR1\) += 0',
    r'rt_sigprocmask\(how: BLOCK, nset: \[TERM\], sigsetsize: 8\) += 0',
    r'pipe2\(fildes: \[\d+\S*, \d+\S*\], flags: NONBLOCK\) += 0',
    r'read\(fd: \d+\S*, buf: 0x[0-9a-f]+, count: 10\) += -1 EAGAIN \(Resource temporarily unavailable\)',
    r'timerfd_settime\(ufd: \d+\S*, utmr: \{ \.it_interval: \{ \.tv_sec: 0, \.tv_nsec: 0 \}, \.it_value: \{ \.tv_sec: 2, \.tv_nsec: 7 \} \}\) += 0',
    r'eventfd2\(count: 3, flags: SEMAPHORE\|CLOEXEC\) += \d+',
    r'prlimit64\(resource: NOFILE, old_rlim: \{ \.rlim_cur: \w+, \.rlim_max: \w+ \}\) += 0',
    r'prctl\(option: SET_NAME, arg2: "calls"\) += 0',
    r'mmap\(len: 8192, prot: READ\|WRITE, flags: PRIVATE\|ANONYMOUS\) += 0x[0-9a-f]+',
    r'madvise\(start: 0x[0-9a-f]+, len_in: 4096, behavior: DONTNEED\) += 0',
    r'clock_nanosleep\(which_clock: REALTIME, rqtp: \{ \.tv_sec: 0, \.tv_nsec: 1000 \}\) += 0',
    r'futex\(uaddr: 0x[0-9a-f]+, op: WAIT\|PRIVATE_FLAG, val: 2\) += -1 EAGAIN',
    r'syscall_999\(arg0: 0x1, arg1: 0x2.*\) += -1 ENOSYS \(Function not implemented\)',
    r'wait4\(upid: \d+.*, stat_addr: \[WIFEXITED\(s\) && WEXITSTATUS\(s\) == 3\].*\) += \d+',
]


def test_arguments_as_people_read_them(tally, traces_by_bpf, workload, tmp_path):
    lines = tally('trace', '-o', 'out', workload('calls').path, cwd=tmp_path, check=0)
    text = (tmp_path / 'out').read_text()
    missing = [line for line in LINES if not re.search(line, text)]
    assert not missing, f'{missing}\n{text}{lines.stderr}'


def plain(text):
    """The bytes of a string with C's escapes."""
    letters = {b'n': b'\n', b't': b'\t', b'r': b'\r', b'v': b'\v', b'f': b'\f', b'a': b'\a', b'b': b'\b'}

    def escaped(match):
        word = match[1]
        return bytes([int(word, 8)]) if word.isdigit() else letters.get(word, word)

    return re.sub(rb'\\([0-7]{1,3}|.)', escaped, text.encode('utf-8', 'surrogateescape'))


def test_exec_of_strings_in_untouched_memory(tally, traces_by_bpf, workload, tmp_path):
    """They cannot be read when the call begins; afterwards the program that had them is gone."""
    tally('trace', '-e', 'execve', '-o', 'out', workload('calls').path, 'exec', cwd=tmp_path, check=0)
    text = (tmp_path / 'out').read_text()
    assert re.search(r'execve\(filename: "/bin/true", argv: \["true", "an argument"\], envp: 0x[0-9a-f]+\) += 0', text), text


def result_of(text):
    """The number and the error's name."""
    found = re.match(r'(-?\d+|0x[0-9a-f]+)(?: (E\w+))?', text)
    return (int(found[1], 0), found[2]) if found else (text.split(' ')[0], None)


def calls_of_strace(text):
    calls, unfinished = collections.defaultdict(list), {}
    for line in text.splitlines():
        pid, rest = line.split(maxsplit=1)
        resumed = re.match(r'<\.\.\. \w+ resumed>(.*)', rest)
        if rest.endswith('<unfinished ...>'):
            unfinished[pid] = rest[:-len('<unfinished ...>')]
            continue
        rest = unfinished.pop(pid, '') + resumed[1] if resumed else rest
        call = STRACES.match(rest)
        if call:
            calls[pid].append(call.groups())
    return calls


def calls_of_ours(text):
    calls = collections.defaultdict(list)
    for line in text.splitlines():
        call = OURS.match(line)
        if call:
            calls[call[1]].append(call.groups()[1:])
    return calls


def ended(calls):
    return [call for call in calls if not call[2].startswith('?')]


def from_first(calls, name):
    """Without the child's half of a fork, and what strace did before."""
    return next((calls[i:] for i, call in enumerate(calls) if call[0] == name), [])


COMMANDS = {'ls': ['ls', '-l', '/etc'], 'shell': ['sh', '-c', 'for i in 1 2 3; do cat /dev/null | cat; done; echo done; ls /nonexistent || true'],
            'git': ['git', '--version'], 'python': ['/usr/bin/python3', '-c', 'import json, os; os.listdir("/")'], 'calls': None}


@pytest.mark.parametrize('name', COMMANDS)
def test_calls_are_straces_of_the_same_run(tally, traces_by_bpf, workload, name, tmp_path):
    command = COMMANDS[name] or [workload('calls').path]
    if not shutil.which('strace'):
        pytest.skip('strace is not installed')
    if not shutil.which(command[0]):
        pytest.skip(f'{command[0]} is not installed')
    if subprocess.run(['strace', '-o', '/dev/null', 'true'], capture_output=True, check=False).returncode:
        pytest.skip('strace cannot trace here')
    tally('trace', '-m', '4096', '-o', 'ours', 'strace', '-f', '-s', '32', '-o', 'straces', *command, cwd=tmp_path, check=0)
    theirs = calls_of_strace((tmp_path / 'straces').read_text(errors='surrogateescape'))
    ours = calls_of_ours((tmp_path / 'ours').read_text(errors='surrogateescape'))
    compared = 0
    for pid, expected in theirs.items():
        expected = ended(expected)
        if not expected:
            continue
        found = from_first(ended(ours[pid]), expected[0][0])
        assert [call[0] for call in found if not call[0].startswith('syscall_')] == \
            [call[0] for call in expected if not call[0].startswith('syscall_')], pid
        for mine, other in zip(found, expected):
            number, error = result_of(mine[2])
            assert isinstance(number, str) or (number, error) == result_of(other[2]), (mine, other)
            if other[0] in RANDOM or '/* ' in other[1]:
                continue
            # strace cuts the strings of argv, too; we show those as they are.
            for (text, _), (prefix, cut) in zip(QUOTED.findall(mine[1]), QUOTED.findall(other[1])):
                assert plain(text).startswith(plain(prefix)) if cut else plain(text) == plain(prefix), (mine, other)
            compared += 1
    assert compared > 20
