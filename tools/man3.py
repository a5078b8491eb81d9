#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages of section 3 from the library's headers: a page per header, one per function that leads to it,
and libtally(3), which lists them. The headers are the only source: their first comment is the description, each function's own its text, and the
line "Threads:" in that its thread safety, which has to be there.

usage: tools/man3.py INCLUDE_FOLDER OUTPUT_FOLDER
"""
import pathlib
import re
import sys

FUNCTION = re.compile(r'\b(tally_\w+)\s*\(')


def paragraphs(comment):
    """A comment's paragraphs as (is_code, lines)."""
    text = re.sub(r'^/\*\s?|\s*\*/$', '', comment.strip())
    result = []
    for line in text.split('\n'):
        line = re.sub(r'^ \* ?', '', line).rstrip() if line.startswith(' *') else line.rstrip()
        is_code = line.startswith('\t')
        if not line.strip():
            result.append(None)
        elif result and result[-1] and result[-1][0] == is_code:
            result[-1][1].append(line)
        else:
            result.append((is_code, [line]))
    return [entry for entry in result if entry]


def split_header(text):
    """The first comment, and pairs of (comment, declaration) of the rest."""
    text = re.sub(r'\A/\* SPDX[^\n]*\n', '', text)
    first = re.match(r'/\*.*?\*/', text, re.S)[0]
    body = re.split(r'extern "C" \{\n#endif\n', text)[1].split('#ifdef __cplusplus')[0]
    items, comment, lines, depth = [], '', [], 0
    for line in body.split('\n'):
        if not lines and not line.strip():
            comment = ''
            continue
        if not lines and line.startswith('/*'):
            comment = line
        elif not lines and comment and not comment.rstrip().endswith('*/'):
            comment += '\n' + line
        elif not lines and line.startswith('#'):
            if 'define' in line:
                items.append(('', line))
        else:
            lines.append(line)
            code = re.sub(r'/\*.*?(\*/|$)', '', line)
            depth += code.count('{') - code.count('}')
            if depth == 0 and (code.rstrip().endswith(';') or code.rstrip().endswith('}')):
                items.append((comment, '\n'.join(lines)))
                comment, lines = '', []
    return first, items


def escape(line):
    line = line.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + line if line[:1] in ('.', "'") else line


def write_text(out, comment, leave_out_first=False):
    for number, (is_code, lines) in enumerate(paragraphs(comment)):
        if leave_out_first and number == 0:
            continue
        out.append('.PP' if not is_code else '.PP\n.RS 4\n.EX')
        out += [escape(line.replace('\t', '', 1).replace('\t', '    ')) if is_code else escape(line) for line in lines]
        if is_code:
            out.append('.EE\n.RE')


def split_threads(name, comment):
    """The text and its thread safety."""
    text = ' '.join(' '.join(line.strip() for line in lines) for _, lines in paragraphs(comment))
    match = re.fullmatch(r'(.*?)\s*Threads: (.*)', text)
    if not match or not match[1]:
        raise SystemExit(f'man3: {name}: its comment lacks a text or the line "Threads:"')
    return match[1], match[2]


def page(header, text):
    """The page's name, its text, and the functions it has."""
    first, items = split_header(text)
    name = f'tally_{header.removesuffix(".h")}'
    summary = re.match(r'\S+ - (.*?)\.(\s|$)', ' '.join(' '.join(paragraphs(first)[0][1]).split()))[1]
    functions = []
    for comment, declaration in items:
        match = FUNCTION.search(declaration)
        is_inline = declaration.startswith('static inline')
        if match and (is_inline or declaration.startswith('TALLY_API')):
            functions.append((match[1], comment, declaration.split('\n{')[0] + ';' if is_inline else declaration))
    out = [f'.TH {name.upper()} 3 "" tally "tally manual"', '.SH NAME',
           f'{", ".join([name] + [entry[0] for entry in functions])} \\- {escape(summary)}',
           '.SH LIBRARY', 'libtally; compile and link with what', '.B pkg\\-config \\-\\-cflags \\-\\-libs tally',
           'prints.', '.SH SYNOPSIS', '.nf', f'.B #include <tally/{header}>', '.PP']
    for comment, declaration in items:
        if not FUNCTION.search(declaration) or declaration.startswith(('struct', 'enum', '#')):
            out += [escape(line.replace('\t', '    ')) for line in declaration.split('\n')] + ['.PP']
    for _, _, declaration in functions:
        plain = re.sub(r'^(TALLY_API|static inline) ', '', re.sub(r'\s+', ' ', declaration)).replace('( ', '(')
        out += ['.PP', f'.B {escape(plain)}']
    out += ['.fi', '.SH DESCRIPTION']
    write_text(out, first, leave_out_first=True)
    safety = []
    if functions:
        out.append('.SH FUNCTIONS')
    for function, comment, _ in functions:
        if function.startswith('tally_branch_is'):  # the name says all
            continue
        described, threads = split_threads(function, comment)
        out += ['.TP', f'.BR {function} ()', escape(described)]
        safety.append((function, threads))
    if safety:
        out.append('.SH ATTRIBUTES')
        out.append('Which threads may call:')
    for function, threads in safety:
        out += ['.TP', f'.BR {function} ()', escape(threads)]
    out += ['.SH SEE ALSO', '.BR perf_event_open (2)']
    return name, escape(summary[0].upper() + summary[1:] + '.'), '\n'.join(out) + '\n', [entry[0] for entry in functions]


OVERVIEW = """.TH LIBTALLY 3 "" tally "tally manual"
.SH NAME
libtally \\- count and sample performance events on Linux
.SH LIBRARY
libtally; compile and link with what
.B pkg\\-config \\-\\-cflags \\-\\-libs tally
prints.
.SH DESCRIPTION
The library opens performance events by the names that
.BR tally\\-stat (1)
takes, and reads them as counts or as samples. Each header has a page, and so has each function.
.PP
.RS 4
.EX
#include <tally/counter.h>

struct tally_counter *c = tally_counter_open("cache\\-misses:u|page\\-faults:u", NULL, NULL);
printf("%llu %s\\en", (unsigned long long)tally_counter_value(c), tally_counter_label(c));
.EE
.RE
.PP
Functions that can fail return an
.B enum tally_status
and describe the failure in a
.BR "struct tally_error" .
Nothing is printed and no signal handler is installed. A structure of options that is all zero asks for the defaults.
.SH HEADERS
"""


def main(include, output):
    folder = pathlib.Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    names, overview = [], OVERVIEW
    for path in sorted((pathlib.Path(include) / 'tally').glob('*.h')):
        name, summary, text, functions = page(path.name, path.read_text())
        names.append(name)
        overview += f'.TP\n.BR {name} (3)\n{summary}\n'
        (folder / f'{name}.3').write_text(text)
        for function in functions:
            if function != name:
                (folder / f'{function}.3').write_text(f'.so man3/{name}.3\n')
    overview += '.SH FILES\nExample programs are in share/doc/tally/examples below the prefix of the installation.\n'
    overview += '.SH SEE ALSO\n.BR tally (1),\n.BR perf_event_open (2)\n'
    (folder / 'libtally.3').write_text(overview)
    for name in names:
        others = ', '.join(f'\n.BR {other} (3)' for other in names if other != name)
        with open(folder / f'{name}.3', 'a', encoding='utf-8') as out:
            out.write(others.replace(', \n', ' ,\n').lstrip('\n').replace(') ,', '),') + '\n')


if __name__ == '__main__':
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
