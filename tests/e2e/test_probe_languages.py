# SPDX-License-Identifier: Apache-2.0
"""Probes of functions whose results and texts are other than C's."""
import os
import re
import shutil
import subprocess

import pytest

C_PLUS_PLUS = '''
#include <cstdio>
#include <string>
#include <string_view>
#define KEPT __attribute__((noinline))
KEPT int work(const std::string &by, std::string_view view, std::string whole) { return printf("%s%d%s", by.c_str(), (int)view.size(), whole.c_str()); }
KEPT const char *name(int n) { static char text[20]; snprintf(text, sizeof(text), "name-%d", n); return text; }
KEPT int negative(int n) { return -n; }
int main() { std::string text = "a much longer string than sixteen"; puts(name(3)); return work("short", std::string_view(text).substr(2, 4), text) == negative(5); }
'''

GO = '''package main
import "os"
//go:noinline
func deep(n int) int { var b [512]byte; b[n%512] = 1; if n == 0 { return int(b[0]) }; return deep(n-1) + int(b[n%512]) }
//go:noinline
func serve(who string, n int) int { return deep(n) + len(who) }
func main() { c := make(chan int); go func() { c <- serve("someone", 2000) }(); if <-c == 0 { os.Exit(1) } }
'''


def build(tmp_path, compiler, source, name, *words):
    if not shutil.which(compiler):
        pytest.skip(f'{compiler} is absent')
    (tmp_path / name).write_text(source)
    environment = {**os.environ, 'GOCACHE': str(tmp_path / 'cache'), 'GO111MODULE': 'off'}
    made = subprocess.run([compiler, *words, name], cwd=tmp_path, env=environment, capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f'{compiler}: {made.stderr[-200:]}')


@pytest.fixture
def program(live, tmp_path):
    if os.geteuid() != 0:
        pytest.skip('probes need root here')
    build(tmp_path, 'g++', C_PLUS_PLUS, 'app.cc', '-g', '-O1', '-o', 'app')


@pytest.fixture
def go_program(live, tmp_path):
    if os.geteuid() != 0:
        pytest.skip('probes need root here')
    build(tmp_path, 'go', GO, 'app.go', 'build', '-o', 'app')


def fetched(tally, tmp_path, probe):
    tally('record', '-q', '-o', 'data', '-e', f'uprobe:./app:{probe}', '--', './app', cwd=tmp_path, check=0)
    return tally('script', '-i', 'data', '-F', 'trace', cwd=tmp_path, check=0).stdout


def refused(tally, tmp_path, probe):
    return tally('record', '-q', '-o', 'data', '-e', f'uprobe:./app:{probe}', '--', './app', cwd=tmp_path, check=129).stderr


def test_results_have_the_type_of_the_function(tally, program, tmp_path):
    assert 'r="name-3"' in fetched(tally, tmp_path, 'name%return(r=$retval:string)')
    assert 'r=-5' in fetched(tally, tmp_path, 'negative%return(r=$retval)')
    assert 'r=0xfffffffb' in fetched(tally, tmp_path, 'negative%return(r=$retval:x32)')
    assert 'it is int' in refused(tally, tmp_path, 'negative%return($retval:string)')


def test_strings_of_the_standard_library(tally, program, tmp_path):
    assert 's="short"' in fetched(tally, tmp_path, 'work(s=by:string)')
    assert 's="a much longer string than sixteen"' in fetched(tally, tmp_path, 'work(s=whole:string)')
    assert 'text of C++, which has a length' in refused(tally, tmp_path, 'work(view:string)')
    assert 'text of C++, which has a length' in refused(tally, tmp_path, 'work(view._M_str:string)')


def test_return_probes_of_go_are_refused(tally, go_program, tmp_path):
    why = refused(tally, tmp_path, 'main.serve%return($retval)')
    instead = re.search(r'is a Go program.*return instructions of main.serve instead: (main\.serve\+\d+)', why)
    assert re.search('Go program', tally('probe', '-x', './app', '--add', 'main.deep%return', cwd=tmp_path, check=None).stderr)
    assert 'r=0x7d8' in fetched(tally, tmp_path, f'{instead[1]}(r=%ax)') or os.uname().machine != 'x86_64'


def test_texts_of_go_are_refused(tally, go_program, tmp_path):
    for text in ('who', 'who.str'):
        why = refused(tally, tmp_path, f'main.serve({text}:string)')
        assert 'text of Go, which has a length and no zero byte' in why
    assert 'b={0x73,0x6f,0x6d,0x65,0x6f,0x6e,0x65} len=7' in fetched(tally, tmp_path, 'main.serve(b=who.str[0]:x8[7],who.len)')


def test_notes_of_several_lines(tally, live, tmp_path):
    if os.geteuid() != 0:
        pytest.skip('probes need root here')
    build(tmp_path, 'gcc', 'int work(int n) { volatile int i = n; return i; }\nint main(void) { return work(0); }\n', 'app.c', '-g', '-O0', '-o', 'app')
    notes = tally('record', '-q', '-o', 'data', '-e', 'uprobe:./app:work(n)', '--', './app', cwd=tmp_path, check=0).stderr
    assert notes.splitlines()[0].endswith('Skipping prologue.') and r'\x0a' not in notes
