#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the text of every instruction of program files with what objdump says of the same bytes.

usage: disassembly.py DISASSEMBLE [-M intel] [-n SHOWN] [--objdump OBJDUMP] [--allow SHARE] [--one-of N] FILE...

DISASSEMBLE is build/tests/live/disassemble. Names of addresses (<write+0x10>) are left out: they are compared in
tests/e2e/test_annotate.py. Instructions that objdump itself calls (bad) are not counted. Prints the share of equal texts and the
kinds that differ; exits 1 if a larger share than SHARE (default 0) differs. With --one-of N, it looks at an Nth of the functions of
.text, which are spread over it."""
import argparse
import collections
import re
import subprocess
import sys

PARTS = 8
MACHINES = {"x86-64": "62", "i386": "3", "aarch64": "183", "arm": "40"}


def machine_of(path, objdump):
    text = subprocess.run([objdump, "-f", path], capture_output=True, text=True, check=True).stdout
    name = re.search(r"architecture: ([^,\s]+)", text).group(1)
    return next((number for key, number in MACHINES.items() if key in name), "62")


def parts_of(path, objdump, one_of):
    """Options of objdump that choose the code: all of it, or PARTS runs of functions, which are an Nth of all functions."""
    if one_of == 1:
        return [[]]
    symbols = subprocess.run([objdump, "-t", "-j", ".text", path], capture_output=True, text=True, check=True).stdout
    starts = sorted({int(at, 16) for at in re.findall(r"^([0-9a-f]+) .{6}F", symbols, re.M)})
    firsts = [len(starts) * part // PARTS for part in range(PARTS)]
    length = len(starts) // PARTS // one_of
    return [["--start-address=%d" % starts[first], "--stop-address=%d" % starts[first + length]] for first in firsts]


def lines_of(path, objdump, style, one_of):
    for part in parts_of(path, objdump, one_of):
        yield from lines_of_part(path, objdump, style, part)


def lines_of_part(path, objdump, style, part):
    command = [objdump, "-d", "-w", "--insn-width=15", *part, path] + (["-M", style] if style else [])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout:
            match = re.match(r"^ *([0-9a-f]+):\t([0-9a-f ]+)\t(.*)$", line)
            if match and "(bad)" not in match.group(3) and not match.group(3).startswith((".inst", ".word", "udf")):
                yield match.groups()


def plain(text):
    text = re.sub(r" <[^>]*(<[^>]*>)*[^>]*>", "", text)
    # Of a file without symbols objdump writes addresses with 0x.
    text = re.sub(r"(\b(?:call|xbegin|loop\w*|j\w+)(?:,p[nt])? +|# )0x(?=[0-9a-f]+$)", r"\1", text)
    return re.sub(r"\s+", " ", text.replace("\t", " ")).strip()


def compare(arguments, path):
    lines = list(lines_of(path, arguments.objdump, arguments.style, arguments.one_of))
    given = "".join("%s: %s\n" % (address, words(path, data)) for address, data, _ in lines)
    command = [arguments.disassemble, machine_of(path, arguments.objdump)] + ([arguments.style] if arguments.style else [])
    ours = subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout.splitlines()
    kinds = collections.defaultdict(list)
    for (address, data, theirs), mine in zip(lines, ours):
        if plain(theirs) != plain(mine):
            kinds[plain(theirs).split()[0]].append((address, data.strip(), plain(theirs), plain(mine)))
    different = sum(len(found) for found in kinds.values())
    print("%s: %d of %d instructions differ" % (path, different, len(lines)))
    for kind, found in sorted(kinds.items(), key=lambda item: -len(item[1]))[: arguments.shown]:
        print("  %-12s %d" % (kind, len(found)))
        for row in found[:2]:
            print("      %s: %s\n          %s\n          %s" % row)
    return len(lines) == len(ours) and different <= arguments.allow * len(lines)


def words(path, data):
    """Machines of fixed width have their instructions as one number, the first byte last."""
    parts = data.split()
    if len(parts) == 1 and len(parts[0]) in (4, 8):
        return " ".join(reversed([parts[0][i : i + 2] for i in range(0, len(parts[0]), 2)]))
    return data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("disassemble")
    parser.add_argument("files", nargs="+")
    parser.add_argument("-M", dest="style", default="")
    parser.add_argument("-n", dest="shown", type=int, default=20)
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("--one-of", type=int, default=1)
    parser.add_argument("--allow", type=float, default=0)
    arguments = parser.parse_args()
    results = [compare(arguments, path) for path in arguments.files]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
