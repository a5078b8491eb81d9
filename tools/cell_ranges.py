#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of src/base/text_cells.c from the Unicode version that this Python knows.

usage: tools/cell_ranges.py

Two cells: East_Asian_Width is Wide or Fullwidth, and what Unicode reserves for such characters. No cell: marks that do
not advance (general categories Mn and Me), format controls (Cf) but for the soft hyphen and those of Arabic numbers,
and the vowels and final consonants of Hangul, which join the syllable before them.
"""
import unicodedata

RESERVED_WIDE = [(0x3400, 0x4dbf), (0x4e00, 0x9fff), (0xf900, 0xfaff), (0x20000, 0x2fffd), (0x30000, 0x3fffd)]
SHOWN_FORMATS = {0xad, *range(0x600, 0x606), 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd}
JOINED_HANGUL = [(0x1160, 0x11ff), (0xd7b0, 0xd7ff)]


def is_within(character, ranges):
    return any(first <= character <= last for first, last in ranges)


def cells(character):
    category = unicodedata.category(chr(character))
    if category in ('Mn', 'Me') or is_within(character, JOINED_HANGUL):
        return 0
    if category == 'Cf' and character not in SHOWN_FORMATS:
        return 0
    is_wide = category != 'Cn' and unicodedata.east_asian_width(chr(character)) in 'WF'
    return 2 if is_wide or is_within(character, RESERVED_WIDE) else 1


def ranges_of(wanted):
    ranges = []
    for character in range(0x80, 0x110000):
        if cells(character) != wanted:
            continue
        if ranges and ranges[-1][1] == character - 1:
            ranges[-1][1] = character
        else:
            ranges.append([character, character])
    return ranges


def main():
    print(f'/* tools/cell_ranges.py makes this table and the next from Unicode {unicodedata.unidata_version}. */')
    for name, wanted in (('two_cells', 2), ('no_cell', 0)):
        rows = ', '.join(f'{{0x{first:x}, 0x{last:x}}}' for first, last in ranges_of(wanted))
        print(f'static const struct text_cells_range {name}[] = {{{rows}}};\n')


if __name__ == '__main__':
    main()
