# SPDX-License-Identifier: Apache-2.0
"""Programs whose variables are probed: in C, C++ and Rust, with what is asked of them. An argument is its text in a
probe, or a pair of that and gdb's expression."""
import shutil
import subprocess

import pytest

import conftest

C = r'''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned int uid;
enum color { RED, GREEN = 5, BLUE };
struct hidden;
struct inner { int a; short b[4]; char tag[8]; };
struct node { struct node *next; int value; unsigned flags:3; unsigned mode:5; int small:4; const char *name; struct inner in;
	struct inner *pin; double d; enum color col; _Bool ok; union { int ui; float uf; } u; uid id; int mat[2][3];
	struct { int anon_x; long anon_y; }; };
int counter = 7;
static volatile long total_calls = 9;
const char *gname = "global";
struct node *root;
int table[10] = {1, 2, 3};
__thread int own = 3;
__attribute__((noinline)) long sum(struct node *n, int k, const char *text, unsigned char c, uid id, float f, double d,
	enum color col, _Bool b, long long *arr)
{
	long total = k;
	for (struct node *p = n; p; p = p->next) {
		int v = p->value + (int)id;
		total += v * k;
		if (v > 3) {
			char buf[16];
			snprintf(buf, sizeof buf, "%d%s%c", v, text, c);
			total += (long)strlen(buf) + col + b + (long)(f + d) + arr[0];
		}
	}
	counter++;
	own++;
	return total + total_calls++;
}
static inline __attribute__((always_inline)) int square(int x)
{
	int y = x * x;
	return y + counter;
}
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, struct inner whole)
{
	int local = square(a + b);
	printf("%d\n", local);
	return local + c + d + e + f + g + whole.a;
}
__attribute__((noinline)) struct node *find(struct node *n, const char *name)
{
	while (n && strcmp(n->name, name))
		n = n->next;
	return n;
}
struct two { int a, b; };
struct four { short a, b; unsigned char c, d; signed char e; };
struct wide { long x; int y, z; };
struct bits { unsigned p:3, q:7; int r:9; };
__attribute__((noinline)) long pass(struct two t, struct four s, struct wide w, struct bits b)
{
	printf("%d\n", t.a);
	return t.b + s.a + s.b + s.c + s.d + s.e + w.x + w.y + w.z + b.p + b.q + b.r;
}
__attribute__((noinline)) void nothing(void) { counter += 2; }
__attribute__((noinline)) int peek(struct hidden *h) { return h != 0; }
struct hidden *hide(void);
int main(int argc, char **argv)
{
	struct node two = {NULL, 2, 5, 9, 3, "two", {1, {1, 2, 3, 4}, "tag"}, NULL, 2.5, BLUE, 1, {3}, 77, {{1, 2, 3}, {4, 5, 6}}, {8, 9}};
	struct node one = {&two, 10, 3, 17, 1, "one", {2, {5, 6, 7, 8}, "gat"}, &two.in, 1.5, GREEN, 0, {4}, 78,
		{{7, 8, 9}, {10, 11, 12}}, {10, 11}};
	long long arr[3] = {100, 200, 300};
	root = &one;
	for (int i = 0; i < 3; i++)
		printf("%ld\n", sum(i == 2 ? &two : &one, argc + i, i ? "more" : "txt", (unsigned char)('c' + i), 1000, 1.0f, 2.0, GREEN, 1, arr));
	printf("%d\n", many(1, 2, 3, 4, 5, 6, 7, two.in));
	printf("%s\n", find(root, "two")->name);
	printf("%ld\n", pass((struct two){11, 12}, (struct four){1, 2, 3, 4, 5}, (struct wide){21, 22, 23}, (struct bits){5, 77, 100}));
	nothing();
	peek(hide());
	for (int i = 0; i < argc; i++)
		puts(argv[i]);
	return table[argc] > 100;
}
'''

C_HIDDEN = '''
struct hidden { int first, second; };
static struct hidden it = {4, 44};
struct hidden *hide(void) { return &it; }
'''

# Of sum, in every build.
C_SUM = ['k', 'text:string', 'c', 'id', 'col', 'arr[1]', 'n->value', 'n->flags', 'n->mode', 'n->small', 'n->name:string',
         'n->in.a', 'n->in.b', 'n->in.b[1]', 'n->in.tag:string', 'n->col', 'n->ok', 'n->u.ui', 'n->id', 'n->mat[1]',
         'n->mat[1][2]', 'n->anon_x', 'n->anon_y', ('n->d', '*(long *)&n->d'), 'counter', 'gname:string', 'root->value',
         'table', 'table[2]', 'root->next->in.tag:string', 'total_calls', 'n->value:u8', 'k:x', ('n[0].value', 'n->value')]
C_MANY = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'whole.a', 'whole.b', 'whole.b[2]', 'whole.tag:string', 'counter']
# Structures in registers: parts of them.
C_PASS = ['t.a', 't.b', 's.a', 's.b', 's.c', 's.d', 's.e', 'w.x', 'w.y', 'w.z', 'b.p', 'b.q', 'b.r']

CPP = r'''
#include <cstdio>
#include <string>
#include <vector>
struct Base { int base_field; virtual ~Base() {} };
namespace shop {
int total_sales = 3;
struct Item : Base {
	short price; char code[6]; int &ref; Item *next; bool sold:1; int kind:5; static int made;
	Item(int p, int &r) : price((short)p), code{"abc"}, ref(r), next(nullptr), sold(true), kind(2) { base_field = p * 2; }
	__attribute__((noinline)) int cost(int amount, const Item &other, int (&list)[3]) const;
};
int Item::made = 11;
__attribute__((noinline)) int Item::cost(int amount, const Item &other, int (&list)[3]) const
{
	std::printf("%d\n", amount + (next ? next->price : 0) + (sold ? kind : 1));
	return price * amount + other.price + ref + list[1] + total_sales;
}
enum class Mode : unsigned char { off, on = 7 };
__attribute__((noinline)) int pick(Mode m, const std::string &s, long long w, unsigned long u, signed char sc, wchar_t wc,
	char16_t c16, const std::vector<int> &v)
{
	std::printf("%s %d\n", s.c_str(), (int)m);
	return (int)s.size() + (int)w + (int)u + sc + wc + c16 + v[1];
}
}
int main(int argc, char **)
{
	int r = 5, list[3] = {1, 20, 3};
	shop::Item a(7, r), b(9, r);
	a.next = &b;
	std::vector<int> v{1, 2, 3};
	std::printf("%d %d\n", a.cost(argc + 2, b, list), shop::pick(shop::Mode::on, std::string("hello"), -5, 6, -7, L'x', u'y', v));
	return shop::Item::made == 0;
}
'''

CPP_COST = ['amount', 'this->base_field', 'this->price', 'this->code:string', 'this->next->code:string', 'this->sold',
            'this->kind', 'this->ref', 'other.price', 'other.base_field', ('total_sales', 'shop::total_sales'), 'list[1]',
            'list', ('made', 'shop::Item::made')]
CPP_PICK = ['m', 'w', 'u', 'sc', 'wc', 'c16', ('v._M_impl._M_start[1]', 'v._M_impl._M_start[1]')]

RUST = r'''
struct Node { value: i32, tag: u8, next: Option<Box<Node>>, pair: (u16, i64), name: String }
#[inline(never)]
fn visit(n: &Node, depth: usize, text: &str, c: char, flag: bool, arr: &[u32; 4], slice: &[u8]) -> i64 {
    let sum = n.value as i64 + n.pair.1 + depth as i64 + arr[1] as i64 + n.tag as i64;
    println!("{} {} {} {} {:?} {}", text, c, flag, sum, slice, n.name);
    match &n.next { Some(b) => sum + visit(b, depth + 1, text, c, flag, arr, slice), None => sum }
}
fn main() {
    let two = Node { value: 20, tag: 2, next: None, pair: (1, 2), name: "two".into() };
    let one = Node { value: 10, tag: 1, next: Some(Box::new(two)), pair: (3, 4), name: "one".into() };
    println!("{}", visit(&one, std::env::args().count(), "hey", 'q', true, &[1, 2, 3, 4], b"xyz"));
}
'''

RUST_VISIT = ['depth', ('n->value', '(*n).value'), ('n.tag', '(*n).tag'), ('n.pair.__1', '(*n).pair.1')]


def build(folder, compiler, *flags):
    """The program of a compiler: gcc, clang (C), g++, clang++ (C++) or rustc; not position-independent, so that gdb stops
    at addresses of the file."""
    if not shutil.which(compiler):
        pytest.skip(f'{compiler} is not installed')
    if compiler == 'rustc':
        sources = {'app.rs': RUST}
        fixed = ['-g', '-C', 'relocation-model=static', '-A', 'warnings']
    else:
        sources = {'app.cpp': CPP} if '++' in compiler else {'app.c': C, 'hidden.c': C_HIDDEN}
        fixed = ['-g', '-no-pie', '-fno-pie']
    command = [compiler, *fixed, *flags, '-o', 'app', *sources]
    if '-gsplit-dwarf' in flags:  # the program names the folder where its other files are
        for name, text in sources.items():
            (folder / name).write_text(text)
        subprocess.run(command, cwd=folder, check=True, timeout=120)
    else:
        shutil.copytree(conftest.built(sources, command), folder, dirs_exist_ok=True)
    return folder / 'app'
