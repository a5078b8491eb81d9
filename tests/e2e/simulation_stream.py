# SPDX-License-Identifier: Apache-2.0
"""Reads the streams that the Valgrind tool `tally` writes (simulator/stream.h): Stream(path).counts, .samples, .mappings."""
import pathlib
import re
import struct

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = struct.Struct('<8s10IQ')
SAMPLED_MOST = 8
COMM, EXIT, FORK, SAMPLE, MMAP2, COUNTS, LOST = 3, 4, 7, 9, 10, 0x7001, 0x7002
NAMES = {SAMPLE: 'sample', COMM: 'comm', EXIT: 'exit', FORK: 'fork', MMAP2: 'mmap2', COUNTS: 'counts', LOST: 'lost'}


def event_names():
    text = (ROOT / 'simulator' / 'stream.h').read_text()
    return {int(number): name for number, name in re.findall(r'X\((\d+), \w+, "([\w-]+)"', text)}


class Record:
    """One record: .type and .misc, and what its type has (kind() is its name)."""

    def __init__(self, kind, misc, body, names):
        self.type, self.misc, self.body = kind, misc, body
        parse = getattr(self, '_' + NAMES.get(kind, 'unknown'))
        parse(names)
        if kind not in (SAMPLE, COUNTS, LOST):
            self.pid, self.tid, self.time, self.identifier = struct.unpack('<IIQQ', body[-24:])

    def kind(self):
        return NAMES.get(self.type, hex(self.type))

    def _unknown(self, names):
        pass

    def _comm(self, names):
        self.name = self.body[8:-24].rstrip(b'\0').decode()

    def _mmap2(self, names):
        self.start, self.length, self.offset, self.major, self.minor, self.inode = struct.unpack_from('<QQQIIQ', self.body, 8)
        self.prot, self.flags = struct.unpack_from('<II', self.body, 56)
        self.file = self.body[64:-24].rstrip(b'\0').decode()

    def _fork(self, names):
        self.child, self.parent, self.child_tid, self.parent_tid = struct.unpack_from('<IIII', self.body)

    _exit = _fork

    def _sample(self, names):
        body = self.body
        self.identifier, self.ip, self.pid, self.tid, self.time, self.period, self.abi = struct.unpack_from('<QQIIQQQ', body)
        at = 48
        self.registers = []
        if self.abi:
            self.registers = list(struct.unpack_from('<18Q', body, at))
            at += 18 * 8
        size, = struct.unpack_from('<Q', body, at)
        self.stack = b''
        if size:
            valid, = struct.unpack_from('<Q', body, at + 8 + size)
            self.stack = body[at + 8:at + 8 + valid]

    def _counts(self, names):
        self.time, = struct.unpack_from('<Q', self.body)
        self.is_final = bool(self.misc & 1)
        self.values = {names[event]: value for event, value in struct.iter_unpack('<QQ', self.body[8:])}

    def _lost(self, names):
        self.time, self.records, self.samples = struct.unpack_from('<QQQ', self.body)


class Stream:
    """One file: the header's fields, .model (a dictionary), .records, .tail (bytes of a record cut short)."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        (magic, self.version, size, self.machine, self.pid, self.ppid, self.image, self.flags, self.kinds, sampled,
         self.stack_bytes, self.register_mask) = HEADER.unpack_from(data)
        assert magic == b'TLYSIM1\0', magic
        names = event_names()
        pairs = [struct.unpack_from('<IIQ', data, HEADER.size + 16 * i) for i in range(sampled)]
        self.sampled = [(names[event], period) for event, _, period in pairs]
        text = data[HEADER.size + 16 * SAMPLED_MOST:size].split(b'\0')[0].decode()
        self.model = dict(word.split('=', 1) for word in text.split())
        self.records, at = [], size
        while at + 8 <= len(data):
            kind, misc, length = struct.unpack_from('<IHH', data, at)
            if length < 8 or at + length > len(data):
                break
            self.records.append(Record(kind, misc, data[at + 8:at + length], names))
            at += length
        self.tail = data[at:]

    def of(self, kind):
        return [r for r in self.records if r.type == kind]

    @property
    def counts(self):
        """The last counts by name, or nothing if there are none yet."""
        found = self.of(COUNTS)
        return found[-1].values if found else {}

    @property
    def samples(self):
        return self.of(SAMPLE)

    @property
    def mappings(self):
        return self.of(MMAP2)

    @property
    def is_final(self):
        return any(r.is_final for r in self.of(COUNTS))


def streams(folder):
    """All files of a --stream-dir, in the order of (pid, image)."""
    paths = sorted(pathlib.Path(folder).iterdir(), key=lambda p: [int(n) for n in p.name.split('.')])
    return [Stream(p) for p in paths]
