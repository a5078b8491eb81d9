# SPDX-License-Identifier: Apache-2.0
"""Reads a perf.data file without help from the program under test: header, records, feature sections."""
import pathlib
import re
import struct

MMAP, LOST, COMM, EXIT, FORK, SAMPLE, MMAP2, LOST_SAMPLES = 1, 2, 3, 4, 7, 9, 10, 13
FINISHED_ROUND, ID_INDEX, THREAD_MAP, CPU_MAP, FINISHED_INIT = 68, 69, 73, 74, 82
FEATURES = {name: bit for bit, name in enumerate(
    'NONE TRACING_DATA BUILD_ID HOSTNAME OSRELEASE VERSION ARCH NRCPUS CPUDESC CPUID TOTAL_MEM CMDLINE EVENT_DESC '
    'CPU_TOPOLOGY NUMA_TOPOLOGY BRANCH_STACK PMU_MAPPINGS GROUP_DESC AUXTRACE STAT CACHE SAMPLE_TIME '
    'MEM_TOPOLOGY CLOCKID'.split())}


class PerfData:
    """One file; records are (type, misc, body) in file order."""

    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        header = struct.unpack_from('=8sQQQQQQQQ4Q', self.data)
        assert header[0] == b'PERFILE2' and header[1] == 104
        self.data_offset, self.data_size = header[5:7]
        self.bits = {bit for bit in range(256) if header[9 + bit // 64] >> (bit % 64) & 1}
        self.records = []
        at, end = self.data_offset, self.data_offset + self.data_size
        assert end <= len(self.data)
        while at < end:
            kind, misc, size = struct.unpack_from('=IHH', self.data, at)
            assert size >= 8 and at + size <= end, f'the record at {at} breaks off'
            self.records.append((kind, misc, self.data[at + 8:at + size]))
            at += size

    def count(self, kind):
        return sum(record[0] == kind for record in self.records)

    def feature(self, name):
        """The section's bytes, None if the file has none."""
        bit = FEATURES[name]
        if bit not in self.bits:
            return None
        table = self.data_offset + self.data_size + 16 * len([b for b in self.bits if b < bit])
        offset, size = struct.unpack_from('=QQ', self.data, table)
        return self.data[offset:offset + size]

    def comms(self):
        return {record[2][8:].split(b'\0')[0].decode() for record in self.records if record[0] == COMM}

    def build_ids(self):
        """{file name: build id in hex}"""
        section, at, found = self.feature('BUILD_ID') or b'', 0, {}
        while at < len(section):
            size = struct.unpack_from('=H', section, at + 6)[0]
            length = section[at + 32]
            name = section[at + 36:at + size].split(b'\0')[0].decode()
            found[name] = section[at + 12:at + 12 + length].hex()
            at += size
        return found


def move_into_first_call(path, tally):
    """Lets ld.so's first call return one byte earlier in a recording by frame pointer: into the call. It is the last
    instruction of _start, and perf looks a caller up where the call returns to: at the function behind it, _dl_start_user."""
    script = tally('script', '--no-inline', '-F', 'ip,sym,symoff,dso', '-i', path, check=0).stdout
    data = path.read_bytes()
    for found in set(re.findall(r'^\s+([0-9a-f]+) _start\+0x8 \(.*/ld[^/]*\.so[^/]*\)$', script, re.M)):
        data = data.replace(struct.pack('=Q', int(found, 16)), struct.pack('=Q', int(found, 16) - 1))
    path.write_bytes(data)


def has_binding_of_libc(path, tally):
    """Whether a sample of a recording is in libc's own PLT. perf 6.1 names these entries in the order of the relocations,
    which is not theirs."""
    return bool(re.search(r'@plt \(.*libc', tally('script', '-F', 'ip,sym,dso', '-i', path, check=0).stdout))


def told_size(path):
    """The data's size as the header of a recording that goes on tells it; None: there is no header yet."""
    try:
        head = (path / 'data' if path.is_dir() else path).read_bytes()[:104]
    except (FileNotFoundError, IsADirectoryError):  # a directory may be made between the question and the reading
        return None
    return struct.unpack_from('<Q', head, 48)[0] if len(head) == 104 else None
