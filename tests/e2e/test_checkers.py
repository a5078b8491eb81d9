# SPDX-License-Identifier: Apache-2.0
"""The checks of layers, sizes and format refuse a tree that breaks each rule, and pass ours."""
import shutil
import subprocess

import check_format
import check_layers
import check_names
import check_sizes
import check_words
import figures
import pytest
from conftest import ROOT

TABLE = 'base:\nabi: base\nview: base\n'


@pytest.fixture
def tree(tmp_path):
    """tree({path: text}) writes a source tree with the table above and returns its root."""

    def write(files):
        for name, text in {'src/layers.txt': TABLE, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def test_layers_accept_what_the_table_allows(tree):
    root = tree({'src/base/a.h': '', 'include/tally/t.h': '', 'src/abi/b.h': '#include "base/a.h"\n',
                 'src/abi/b.c': '#include "abi/b.h"\n#include "tally/t.h"\n#include <stdio.h>\n'})
    assert check_layers.check(root) == []


@pytest.mark.parametrize('files, complaint', [
    ({'src/abi/b.h': '', 'src/base/a.c': '#include "abi/b.h"\n'}, 'src/base/a.c:1: base may not include abi'),
    ({'src/abi/b.h': '', 'src/view/v.c': '\n  # include  "abi/b.h"\n'}, 'src/view/v.c:2: view may not include abi'),
    ({'src/base/a.h': '', 'src/view/v.h': '', 'src/base/a.c': '#include "../view/v.h"\n'}, 'base may not include view'),
    ({'src/base/a.c': '#include "nowhere.h"\n'}, 'neither in src/ nor in include/'),
    ({'src/core/a.c': ''}, 'folder core is not in src/layers.txt'),
    ({'src/layers.txt': 'base: view\nview: base\n'}, 'base may use view, which is not above it'),
    ({'src/layers.txt': 'base\n'}, 'expected "folder: folders"'),
])
def test_layers_refuse(tree, files, complaint):
    problems = check_layers.check(tree(files))
    assert len(problems) == 1 and complaint in problems[0]


def test_layers_refuse_a_circle_of_modules(tree):
    root = tree({'src/base/a.h': '#include "base/b.h"\n', 'src/base/b.h': '', 'src/base/b.c': '#include "c.h"\n',
                 'src/base/c.h': '#include "base/a.h"\n', 'src/base/c.c': ''})
    assert check_layers.check(root) == [
        'src/base: modules include each other in a circle: base/a -> base/b -> base/c -> base/a']


def test_layers_refuse_a_circle_of_folders(tree):
    root = tree({'src/base/a/x.h': '#include "base/b/y.h"\n', 'src/base/b/y.h': '', 'src/base/b/z.h': '#include "base/a/w.h"\n',
                 'src/base/a/w.h': ''})
    assert check_layers.check(root) == ['src: folders include each other in a circle: base/a -> base/b -> base/a']


def test_layers_refuse_a_verb_that_includes_another(tree):
    root = tree({'src/layers.txt': 'verbs:\n', 'src/verbs/a/a.c': '#include "verbs/b/b.h"\n', 'src/verbs/b/b.h': ''})
    assert check_layers.check(root) == ['src/verbs/a/a.c:1: a verb may not include another ("verbs/b/b.h")']


def test_layers_let_a_source_include_its_own_header(tree):
    root = tree({'src/base/a.h': '', 'src/base/a.c': '#include "base/a.h"\n'})
    assert check_layers.check(root) == []


def test_layers_let_the_parts_of_a_module_share_a_private_header(tree):
    root = tree({'src/base/a.h': '', 'src/base/a_internal.h': '#include "base/a.h"\n',
                 'src/base/a.c': '#include "base/a_internal.h"\n', 'src/base/a_more.c': '#include "base/a_internal.h"\n'})
    assert check_layers.check(root) == []


def function(lines, parameters='void', body=''):
    return f'static int f({parameters})\n{{\n{body}' + '\tg();\n' * (lines - 3 - body.count('\n')) + '}\n'


def nest(depth):
    return ''.join('\t' * i + 'if (x) {\n' for i in range(1, depth + 1)) + 'y();\n' + '}\n' * depth


@pytest.mark.parametrize('text, complaint', [
    (function(101), 'f has 101 lines, limit 100'),
    ('int x;\n' * 1001, '1001 lines, limit 1000'),
    (function(10, 'int a, int b, int c, int d, int e, int f, int g'), 'f has 7 parameters, limit 6'),
    (function(30, body=nest(7)), 'f nests 7 deep, limit 6'),
])
def test_sizes_refuse(tree, text, complaint):
    problems, _ = check_sizes.check(tree({'src/base/a.c': text}))
    assert len(problems) == 1 and problems[0].endswith(complaint)


@pytest.mark.parametrize('text, complaint', [
    ('int x;\n' * 401, '401 lines, limit 400'),
    ('int f(int a, int b, int c,\n\tint d, int e, int f,\n\tint g);\n', 'f has 7 parameters, limit 6'),
])
def test_sizes_refuse_in_headers(tree, text, complaint):
    problems, _ = check_sizes.check(tree({'src/base/a.h': text}))
    assert len(problems) == 1 and problems[0].endswith(complaint)


@pytest.mark.parametrize('text', [
    function(100),
    function(20, 'int a, int (*b)(int, int, int), struct c d[3], int e'),
    'static const struct row table[] = {\n' + '{"{{{{{{{", {{{{{{{1}}}}}}}},\n' * 900 + '};\n',
    '#define F(x) { { { { { { { {\n' + function(100),
    '/* { */ // {\n' + function(100) + 'char c = \'{\';\n' + function(100),
    'struct s {\n' + '\tint x;\n' * 300 + '};\n' + function(100),
])
def test_sizes_accept(tree, text):
    assert check_sizes.check(tree({'src/base/a.c': text}))[0] == []


def test_sizes_note_what_is_wanted(tree):
    problems, notes = check_sizes.check(tree({'src/base/a.c': function(61) + function(20, body=nest(5))}))
    assert problems == []
    assert [note.split(': ', 1)[1] for note in notes] == ['f has 61 lines, wanted 60', 'f nests 5 deep, wanted 4']


MADE = '''int f(void)
{
	int x = 1;
	x++;

	int y = 2;
	return x + y;
}
'''
STYLE = (ROOT / '.clang-format').read_text()
LICENSED = f'/* {check_format.LICENSE} */\n'


@pytest.mark.skipif(not shutil.which('clang-format'), reason='clang-format is not installed')
@pytest.mark.parametrize('files, complaint', [
    ({'src/base/a.c': LICENSED + 'int  x;\n'}, 'code should be clang-formatted'),
    ({'.clang-format': STYLE, 'src/base/a.c': LICENSED + '#include "a.h"\n\n#include "b.h"\n#include <stdio.h>\n'}, 'code should be clang-formatted'),
    ({'tests/e2e/a.py': 'x = 1\n'}, 'tests/e2e/a.py:1: the first lines lack SPDX-License-Identifier'),
    ({'src/base/a.c': 'int x;\n'}, 'src/base/a.c:1: the first lines lack SPDX-License-Identifier'),
    ({'.clang-format': STYLE, 'src/base/a.c': LICENSED + 'int f(void)\n{\n\tint x = 1;\n\n\treturn x;\n}\n'},
     'src/base/a.c:5: blank line behind declarations'),
    ({'src/base/a.c': LICENSED + 'enum tally_status st;\n'}, 'src/base/a.c: enum tally_status st: call it status'),
    ({'docs/a.md': 'text \n'}, 'docs/a.md:1: trailing blanks'),
    ({'docs/a.md': 'text'}, 'docs/a.md: no newline at the end'),
])
def test_format_refuses(tree, files, complaint):
    problems = check_format.check(tree(files))
    assert len(problems) == 1 and complaint in problems[0]


@pytest.mark.skipif(not shutil.which('clang-format'), reason='clang-format is not installed')
def test_format_accepts(tree):
    assert check_format.check(tree({'.clang-format': STYLE, 'src/base/a.c': LICENSED + MADE, 'tests/golden/a.txt': 'kept \n'})) == []


@pytest.mark.parametrize('second, complaint', [
    ('static int b_open(int x)\n{\n}\n', None),
    ('static int a_open(int x)\n{\n}\n', 'shared: a_open: src/base/a.c src/base/b.c'),
    ('static int open(int x)\n{\n}\n', 'one word: open: src/base/b.c'),
    ('struct a_row {\n\tint x;\n};\n', 'struct: a_row: src/base/a.c src/base/b.c'),
    ('/* static int a_open(int x) */\nstruct a_row;\n', None),
])
def test_names_find_themselves(tree, capsys, second, complaint):
    first = 'struct a_row {\n\tint x;\n};\nstatic int a_open(int x)\n{\n}\n'
    root = tree({'src/base/a.c': first, 'src/base/b.c': second})
    assert check_names.main([str(root)]) == (complaint is not None)
    assert complaint is None or complaint in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize('second, complains', [
    ('#define ROWS 4\n', True),
    ('#define ROWS 4\n#undef ROWS\n', False),
    ('#undef ROWS\n#define ROWS 4\n', True),
    ('enum kind { OTHER, ROWS };\n', True),
    ('static const int *const ROWS[3] = {NULL};\n', True),
    ('static struct {\n\tint x;\n} ROWS[] = {{1}};\n', True),
    ('static int ROWS(int x)\n{\n}\n', True),
    ('static int b_find(int x)\n{\n\tint ROWS = 3;\n\treturn ROWS;\n}\n/* #define ROWS */\n', False),
])
def test_names_are_unique_in_a_folder(tree, capsys, second, complains):
    files = {'src/base/one/a.c': '#define ROWS 3\n', 'src/base/b.c': second}
    assert check_names.main([str(tree(files))]) == complains
    assert ('folder: base/ROWS: src/base/b.c src/base/one/a.c' in capsys.readouterr().out) == complains


def test_names_of_two_folders_and_of_bpf_programs_may_be_the_same(tree):
    files = {f'src/{name}': '#define ROWS 3\n' for name in ['base/a.c', 'abi/a.c', 'abi/a.bpf.c', 'abi/b.bpf.c']}
    assert check_names.main([str(tree(files))]) == 0


def test_figures_count_copies_of_option_rows(tree):
    one = """
#define ROW(member) .offset = offsetof(struct s, member)
#define MADE(n, words) \\
	{ \\
		.name = (n), .kind = OPTION_FLAG, .help = (words) \\
	}
static const struct option a_rows[] = {
	{"input", 'i', OPTION_STRING, "file", ROW(input), .help = "read {this} file"}, /* {"no", 0, OPTION_FLAG} */
	MADE("force", "read it, "
				  "whoever owns it"),
};
"""
    two = """
static const struct option b_rows[] = {
	{.name = "input", .letter = 'i', .kind = OPTION_STRING, .argument = "file", .help = "another file"},
	{"force", 'f', OPTION_FLAG, 0, .help = "read it, whoever owns it"},
};
"""
    root = tree({'src/base/a.c': one, 'src/view/b.c': two, 'src/view/c.h': 'enum kind {\n\tOPTION_FLAG,\n\tOPTION_CALL,\n};\n'})
    assert sorted(figures.option_rows(root)) == [
        ('force', 'read it, whoever owns it', 'src/base/a.c'), ('force', 'read it, whoever owns it', 'src/view/b.c'),
        ('input', 'another file', 'src/view/b.c'), ('input', 'read {this} file', 'src/base/a.c')]


def test_figures_find_circles_of_folders(tree):
    root = tree({'src/base/x.h': '#include "abi/x.h"\n', 'src/abi/x.h': '#include "view/x.h"\n', 'src/view/x.h': '#include "base/x.h"\n',
                 'src/arch/y.h': '#include "base/x.h"\n'})
    assert figures.circles(check_layers.folder_graph(root)) == [['abi', 'base', 'view']]


@pytest.mark.parametrize('name, text, phrase', [
    ('src/base/a.h', '/* NULL: memory is\n * out. */\n', 'memory is'),
    ('src/base/a.c', 'f("%s takes no words");\n', 'takes no words'),
    ('docs/a.md', 'This is for who\nasks.\n', 'for who'),
    ('tests/a.py', "assert 'they exclude each other'\n", 'exclude each other'),
    ('docs/a.md', 'It says nothing for a minute.\n', 'says nothing for')])
def test_words_refuse_phrases(tree, name, text, phrase):
    root = tree({name: text})
    subprocess.run('git init -q && git add -A', shell=True, cwd=root, check=True)
    (complaint,) = check_words.find_phrases(root)
    assert complaint.startswith(f'{name}:1: "{phrase}') and ': write: ' in complaint


def test_words_leave_code_alone(tree):
    root = tree({'src/base/a.c': 'int at_hand(int is)\n{\n\treturn is at hand;\n}\n',
                 'tests/a.py': 'for who in range(3):\n    print(who)\n'})
    subprocess.run('git init -q && git add -A', shell=True, cwd=root, check=True)
    assert check_words.find_phrases(root) == []
