# SPDX-License-Identifier: Apache-2.0
"""Builds small perf.data files, of either byte order, with every field that a sample can have."""
import struct

SAMPLE = {name: bit for bit, name in enumerate(
    'IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER STACK_USER WEIGHT DATA_SRC '
    'IDENTIFIER TRANSACTION REGS_INTR PHYS_ADDR AUX CGROUP DATA_PAGE_SIZE CODE_PAGE_SIZE WEIGHT_STRUCT'.split())}
# Where they stand in a sample; both forms of the weight have one place.
ORDER = ('IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD READ CALLCHAIN RAW BRANCH_STACK REGS_USER STACK_USER WEIGHT '
         'WEIGHT_STRUCT DATA_SRC TRANSACTION REGS_INTR PHYS_ADDR AUX CGROUP DATA_PAGE_SIZE CODE_PAGE_SIZE').split()
ATTR_BYTES = 128  # what perf 6.1 knows
CHAIN_USER = 0xfffffffffffffe00
BRANCH_USER, BRANCH_ANY, BRANCH_CALL_STACK, BRANCH_HW_INDEX, BRANCH_COUNTERS = 1, 1 << 3, 1 << 11, 1 << 17, 1 << 19


def text_bytes(text):
    """Bytes that are no UTF-8 are surrogates, as in names of files."""
    return text.encode('utf-8', 'surrogateescape')


class Recording:
    """order is '<' or '>'; events are attrs in the order of event(), samples name them by index."""

    def __init__(self, order='<'):
        self.order = order
        self.events = []
        self.records = bytearray()  # grows in place: recordings have thousands of records
        self.features = {}

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def words(self, values):
        return b''.join(self.pack('Q', value & (1 << 64) - 1) for value in values)

    def event(self, fields, kind=1, config=0, period=1000, regs=0, branch=0, flags=0, read_format=0):
        """regs is the mask of both kinds of registers; flags are more bits of the attr, of little-endian files."""
        fields = fields.split()
        mask = sum(1 << SAMPLE[field] for field in fields)
        flags |= 1 << (18 if self.order == '<' else 63 - 18)  # sample_id_all
        attr = self.pack('IIQQQQQIIQQQQIiQ', kind, ATTR_BYTES, config, period, mask, read_format, flags, 0, 0, 0, 0, branch,
                         regs, 0, 0, regs)
        self.events.append((attr + bytes(ATTR_BYTES - len(attr)), fields, branch))

    def record(self, kind, misc, body):
        body += bytes(-len(body) % 8)
        self.records += self.pack('IHH', kind, misc, 8 + len(body)) + body

    def trailer(self):
        """Of the first event, by process 1000 at time 0."""
        fields = self.events[0][1]
        body = self.pack('II', 1000, 1000) if 'TID' in fields else b''
        body += self.pack('Q', 0) if 'TIME' in fields else b''
        body += self.pack('II', 0, 0) if 'CPU' in fields else b''
        return body + (self.pack('Q', 1) if 'IDENTIFIER' in fields else b'')

    def name(self, text):
        data = text_bytes(text) + b'\0'
        return data + bytes(-len(data) % 8)

    def comm(self, name):
        self.record(3, 0, self.pack('II', 1000, 1000) + self.name(name) + self.trailer())

    def mmap(self, start, length, name):
        self.record(1, 2, self.pack('IIQQQ', 1000, 1000, start, length, 0) + self.name(name) + self.trailer())

    def sample(self, event=0, misc=2, **values):
        """Fields by lower-case name; lists of words, or bytes of raw data and stacks."""
        _, fields, branch = self.events[event]
        simple = {'IDENTIFIER': event + 1, 'IP': 0x401234, 'TIME': 5000000000, 'PERIOD': 1000}
        body = b''
        for field in ORDER:
            value = values.get(field.lower(), simple.get(field, 0))
            if field not in fields:
                continue
            if field == 'TID':
                body += self.pack('II', *values.get('tid', (1000, 1000)))
            elif field == 'CPU':
                body += self.pack('II', value, 0)
            elif field == 'CALLCHAIN':
                body += self.words([len(value or ()), *(value or ())])
            elif field == 'BRANCH_STACK':
                body += self.words([len(value or ()) // 3,
                                    *([values.get('hw_idx', 0)] if branch & BRANCH_HW_INDEX else []), *(value or ()),
                                    *(values.get('counters', ()) if branch & BRANCH_COUNTERS else ())])
            elif field == 'READ' and isinstance(value, list):
                body += self.words(value)
            elif field in ('REGS_USER', 'REGS_INTR'):
                body += self.words([2, *value] if value else [0])
            elif field == 'STACK_USER' and value:
                body += self.words([len(value)]) + value + self.words([len(value)])
            elif field == 'RAW':
                value = (value or b'') + bytes(-(len(value or b'') + 4) % 8)
                body += self.pack('I', len(value)) + value
            else:
                body += self.words([value])
        self.record(9, misc, body)

    def feature(self, bit, body):
        self.features[bit] = body

    def name_events(self, *names):
        """The description of events, which is where their names are."""
        body = self.pack('II', len(self.events), ATTR_BYTES)
        for index, (name, (attr, _, _)) in enumerate(zip(names, self.events)):
            text = text_bytes(name) + b'\0'
            text += bytes(-len(text) % 64)
            body += attr + self.pack('II', 1, len(text)) + text + self.pack('Q', index + 1)
        self.feature(12, body)

    def group(self, leader, members):
        self.feature(17, self.pack('I', 1) + self.text('{anon_group}') + self.pack('II', leader, members))

    def cpu_caps(self, **caps):
        self.feature(28, self.pack('I', len(caps)) + b''.join(
            self.text(name) + self.text(value) for name, value in caps.items()))

    def text(self, text):
        data = text_bytes(text) + b'\0'
        data += bytes(-len(data) % 64)
        return self.pack('I', len(data)) + data

    def text_feature(self, bit, text):
        self.feature(bit, self.pack('I', 64) + text.encode().ljust(64, b'\0'))

    def whole(self):
        """The bytes of the file."""
        attrs, data = 104 + 8 * len(self.events), 0
        data = attrs + (ATTR_BYTES + 16) * len(self.events)
        header = b'PERFILE2' if self.order == '<' else b'2ELIFREP'
        bits = [sum(1 << bit % 64 for bit in self.features if bit // 64 == word) for word in range(4)]
        header += self.pack('12Q', 104, ATTR_BYTES + 16, attrs, data - attrs, data, len(self.records), 0, 0, *bits)
        header += self.words(range(1, len(self.events) + 1))
        for index, (attr, _, _) in enumerate(self.events):
            header += attr + self.pack('QQ', 104 + 8 * index, 8)
        table, bodies = b'', b''
        start = data + len(self.records) + 16 * len(self.features)
        for bit in sorted(self.features):
            table += self.pack('QQ', start + len(bodies), len(self.features[bit]))
            bodies += self.features[bit]
        return header + self.records + table + bodies

    def write(self, path):
        path.write_bytes(self.whole())
