/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tracepoint_fields.h"

#include <stdlib.h>

#include "analysis/trace/trace_format.h"
#include "base/array.h"
#include "tracing_builder.h"
#include "unit_test.h"

#define WAKEUP 300u
#define TIMER  301u
#define PRINT  5u
#define BPRINT 6u

static const char wakeup_fields[] = "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				    "\tfield:u64 bytes;\toffset:32;\tsize:8;\tsigned:0;\n"
				    "\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n";
static const char timer_fields[] = "\tfield:void * function;\toffset:8;\tsize:8;\tsigned:0;\n";
static const char print_fields[] = "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
				   "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n";
static const char bprint_fields[] = "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
				    "\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
				    "\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n";

struct fixture {
	struct writer tracing, raw;
	struct tracepoint_printer *printer;
};

static struct tracepoint_printer *create(struct tally_bytes bytes)
{
	struct tracepoint_printer *printer = NULL;
	struct tally_error err;
	return tracepoint_printer_create(bytes, &printer, &err) == TALLY_OK ? printer : NULL;
}

static void init(struct fixture *f, bool swap)
{
	static char texts[4][2048];
	*f = (struct fixture){0};
	tracing_format(texts[0], sizeof(texts[0]), "sched_wakeup", WAKEUP, wakeup_fields,
		"\"comm=%s pid=%d bytes=%llu name=%s\", REC->comm, REC->pid, (unsigned long long)REC->bytes, "
		"__get_str(name)");
	tracing_format(
		texts[1], sizeof(texts[1]), "timer_start", TIMER, timer_fields, "\"function=%ps\", REC->function");
	tracing_format(
		texts[2], sizeof(texts[2]), "print", PRINT, print_fields, "\"%ps: %s\", (void *)REC->ip, REC->buf");
	tracing_format(
		texts[3], sizeof(texts[3]), "bprint", BPRINT, bprint_fields, "\"%ps: %s\", (void *)REC->ip, REC->fmt");
	struct tracing_source source = {
		.swap = swap,
		.ftrace = {texts[2], texts[3]},
		.system = "sched",
		.formats = {texts[0], texts[1]},
		.kallsyms = "ffffffff81000000 T start_here\nffffffff81000100 t end_here\t[mod]\n",
		.printk_formats = "0xffffffff82000000 : \"number %d of %s\\n\"\n",
	};
	tracing_build(&f->tracing, &source);
	f->printer = create((struct tally_bytes){f->tracing.data, f->tracing.len});
	assert_non_null(f->printer);
	f->raw.swap = swap;
}

static void deinit(struct fixture *f)
{
	tracepoint_printer_destroy(f->printer);
	writer_deinit(&f->tracing);
	writer_deinit(&f->raw);
}

static void begin(struct fixture *f, unsigned id)
{
	writer_clear(&f->raw);
	writer_u16(&f->raw, (uint16_t)id);
	writer_u16(&f->raw, 0);
	writer_u32(&f->raw, 77);
}

static void assert_text(struct fixture *f, const char *expected)
{
	struct text t = {0};
	assert_true(tracepoint_print(f->printer, (struct tally_bytes){f->raw.data, f->raw.len}, &t));
	text_char(&t, '\0');
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static void fields(bool swap)
{
	struct fixture f;
	init(&f, swap);
	begin(&f, WAKEUP);
	writer_bytes(&f.raw, "prog\0\0\0\0\0\0\0\0\0\0\0", 16);
	writer_u32(&f.raw, (uint32_t)-5);
	writer_u32(&f.raw, 0);
	writer_u64(&f.raw, UINT64_C(1) << 40);
	writer_u32(&f.raw, 6u << 16 | 44);
	writer_bytes(&f.raw, "hello", 6);
	assert_text(&f, "comm=prog pid=-5 bytes=1099511627776 name=hello");
	/* Each field alone: a cast applies only to its operand. */
	static const char *const alone[] = {"prog", "-5", "1099511627776", "hello"};
	for (unsigned i = 0; i < 4; i++) {
		struct text t = {0};
		struct tally_bytes raw = {f.raw.data, f.raw.len};
		assert_true(tracepoint_field_print(f.printer, raw, TRACEPOINT_OWN, i, &t));
		text_char(&t, '\0');
		assert_string_equal(t.data, alone[i]);
		text_deinit(&t);
	}
	deinit(&f);
}

/* Compares each field of { unsigned a; void *b; int c; } = 7, 0x10, -3. */
static void assert_values(const char *format, const char *const *expected)
{
	static const char three_fields[] = "\tfield:unsigned int a;\toffset:8;\tsize:4;\tsigned:0;\n"
					   "\tfield:void * b;\toffset:16;\tsize:8;\tsigned:0;\n"
					   "\tfield:int c;\toffset:24;\tsize:4;\tsigned:1;\n";
	char text[2048];
	tracing_format(text, sizeof(text), "three", TIMER, three_fields, format);
	struct tracing_source source = {.system = "sched", .formats = {text}};
	struct writer tracing = {0}, payload = {0};
	tracing_build(&tracing, &source);
	writer_u16(&payload, TIMER);
	writer_u16(&payload, 0);
	writer_u32(&payload, 77);
	writer_u64(&payload, 7);
	writer_u64(&payload, 0x10);
	writer_u32(&payload, (uint32_t)-3);
	struct tracepoint_printer *printer = create((struct tally_bytes){tracing.data, tracing.len});
	assert_non_null(printer);
	for (unsigned i = 0; i < 3; i++) {
		struct text t = {0};
		struct tally_bytes raw = {payload.data, payload.len};
		assert_true(tracepoint_field_print(printer, raw, TRACEPOINT_OWN, i, &t));
		text_char(&t, '\0');
		assert_string_equal(t.data, expected[i]);
		text_deinit(&t);
	}
	tracepoint_printer_destroy(printer);
	writer_deinit(&tracing);
	writer_deinit(&payload);
}

static void test_a_value_is_what_follows_a_fields_name(void **state)
{
	(void)state;
	assert_values("\"a=0x%x b=%p c=%d\", REC->a, REC->b, REC->c", (const char *const[]){"0x7", "0x10", "-3"});
	assert_values(
		"\"a: 0x%08x, b %d,%d c:\", REC->a, REC->c, REC->a", (const char *const[]){"0x00000007", "-3,7", "-3"});
	assert_values("\"aa=%d (b=1%d) c more %d\", REC->c, REC->c, REC->a", (const char *const[]){"7", "0x10", "-3"});
	assert_values("\"%dc=%d a=%s%d|%d a=1\", REC->c, REC->c, __print_flags(REC->a, \"|\", { 7, \"x y\" }), REC->c, "
		      "REC->a",
		(const char *const[]){"x y-3|7", "0x10", "-3"});
	assert_values("\"a struct=%d b c=%d\", REC->c, REC->a", (const char *const[]){"7", "0x10", "7"});
	assert_values("\"%%\"", (const char *const[]){"7", "0x10", "-3"});
}

static void fields_by_name(bool swap)
{
	struct fixture f;
	unsigned index = 77;
	uint64_t number;
	init(&f, swap);
	begin(&f, WAKEUP);
	writer_bytes(&f.raw, "prog\0\0\0\0\0\0\0\0\0\0\0", 16);
	writer_u32(&f.raw, (uint32_t)-5);
	writer_u32(&f.raw, 0);
	struct tally_bytes raw = {f.raw.data, f.raw.len};
	assert_true(tracepoint_find(f.printer, raw, TRACEPOINT_OWN, STR("bytes"), &index));
	assert_int_equal(index, 2);
	assert_false(tracepoint_find(f.printer, raw, TRACEPOINT_OWN, STR("common_pid"), &index));
	assert_true(tracepoint_find(f.printer, raw, TRACEPOINT_COMMON, STR("common_pid"), &index));
	assert_int_equal(index, 3);
	assert_true(tracepoint_number_of(f.printer, raw, TRACEPOINT_COMMON, STR("common_pid"), &number));
	assert_int_equal(number, 77);
	assert_true(tracepoint_number_of(f.printer, raw, TRACEPOINT_OWN, STR("pid"), &number));
	assert_int_equal((int64_t)number, -5);
	/* The payload ends before the field. */
	assert_true(tracepoint_number_of(f.printer, raw, TRACEPOINT_OWN, STR("bytes"), &number));
	assert_int_equal(number, 0);
	/* The field is a text; there is no field of that name; there is no such event. */
	number = 1;
	assert_false(tracepoint_number_of(f.printer, raw, TRACEPOINT_OWN, STR("comm"), &number));
	assert_int_equal(number, 0);
	assert_false(tracepoint_number_of(f.printer, raw, TRACEPOINT_OWN, STR("nothing"), &number));
	begin(&f, 999);
	raw = (struct tally_bytes){f.raw.data, f.raw.len};
	assert_false(tracepoint_find(f.printer, raw, TRACEPOINT_OWN, STR("pid"), &index));
	assert_false(tracepoint_number_of(f.printer, raw, TRACEPOINT_OWN, STR("pid"), &number));
	deinit(&f);
}

static const char *find(void *context, uint64_t *address, const char **module)
{
	(void)context;
	if (*address < 0x5000)
		return NULL;
	*address = 0x5000;
	*module = NULL;
	return "my_timer";
}

static void kernel_symbols(bool swap)
{
	struct fixture f;
	init(&f, swap);
	begin(&f, TIMER);
	writer_u64(&f.raw, UINT64_C(0xffffffff81000008));
	assert_text(&f, "function=start_here");
	tracepoint_printer_set_symbols(f.printer, find, NULL);
	assert_text(&f, "function=my_timer");
	begin(&f, TIMER);
	writer_u64(&f.raw, 0x10);
	assert_text(&f, "function=0x10");
	begin(&f, TIMER);
	writer_u64(&f.raw, 0);
	assert_text(&f, "function=0x0");
	deinit(&f);
}

static void trace_printk(bool swap)
{
	struct fixture f;
	init(&f, swap);
	begin(&f, PRINT);
	writer_u64(&f.raw, UINT64_C(0xffffffff81000000));
	writer_bytes(&f.raw, "some words", 11);
	assert_text(&f, "start_here: some words");
	begin(&f, BPRINT);
	writer_u64(&f.raw, UINT64_C(0xffffffff81000000));
	writer_u64(&f.raw, UINT64_C(0xffffffff82000000));
	writer_u32(&f.raw, 42);
	writer_bytes(&f.raw, "many", 5);
	assert_text(&f, "start_here: number 42 of many");
	deinit(&f);
}

static void unknown_and_short(bool swap)
{
	struct fixture f;
	struct text t = {0};
	init(&f, swap);
	begin(&f, 999);
	assert_false(tracepoint_print(f.printer, (struct tally_bytes){f.raw.data, f.raw.len}, &t));
	begin(&f, WAKEUP);
	for (size_t len = 0; len <= f.raw.len; len++)
		(void)tracepoint_print(f.printer, (struct tally_bytes){f.raw.data, len}, &t);
	text_deinit(&t);
	for (size_t len = 0; len < f.tracing.len; len++) {
		struct tracepoint_printer *printer = create((struct tally_bytes){f.tracing.data, len});
		tracepoint_printer_destroy(printer);
	}
	deinit(&f);
}

/* Compares the output of a print format for 4-byte a = -3, 8-byte b = 5 << 40, array v = {1, 2, 0x30, 4} and text s =
 * "word". */
static void assert_printed(bool swap, const char *print, const char *expected)
{
	static const char declared[] = "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
				       "\tfield:unsigned long b;\toffset:16;\tsize:8;\tsigned:0;\n"
				       "\tfield:u16 v[4];\toffset:24;\tsize:8;\tsigned:0;\n"
				       "\tfield:char s[8];\toffset:32;\tsize:8;\tsigned:0;\n"
				       "\tfield:__data_loc u8[] d;\toffset:40;\tsize:4;\tsigned:0;\n"
				       "\tfield:__rel_loc char[] r;\toffset:44;\tsize:4;\tsigned:0;\n";
	char format[4096];
	struct fixture f = {.raw.swap = swap};
	tracing_format(format, sizeof(format), "x", 7, declared, print);
	struct tracing_source source = {.swap = swap, .system = "test", .formats = {format}};
	tracing_build(&f.tracing, &source);
	f.printer = create((struct tally_bytes){f.tracing.data, f.tracing.len});
	assert_non_null(f.printer);
	begin(&f, 7);
	writer_u32(&f.raw, (uint32_t)-3);
	writer_u32(&f.raw, 0);
	writer_u64(&f.raw, UINT64_C(5) << 40);
	for (unsigned i = 0; i < 4; i++)
		writer_u16(&f.raw, (uint16_t)(i == 2 ? 0x30 : i + 1));
	writer_bytes(&f.raw, "word\0\0\0\0", 8);
	writer_u32(&f.raw, 6u << 16 | 53);
	writer_u32(&f.raw, 5u << 16 | 0);
	writer_bytes(&f.raw, "tail\0\x0a\0\0\x1b\xff\x7f", 11);
	assert_text(&f, expected);
	deinit(&f);
}

static void expressions(bool swap)
{
	assert_printed(swap, "\"%d %d %d\", 1 + 2 * 3 - 4, (1 | 6) & 3 << 1, 7 / 2 % 2", "3 6 1");
	assert_printed(swap, "\"%d %d %d\", REC->a < 0, REC->b > -1, (long)REC->b >= -1", "1 0 1");
	assert_printed(swap, "\"%d %d\", REC->a ? 1 ? 2 : 3 : 4, !REC->a || ~REC->a == 2 && 1", "2 1");
	/* Truths are of type int, also those of unsigned operands; a shift has the type of its left operand. */
	assert_printed(
		swap, "\"%d %d %d\", (REC->b == 1) - 2 < 0, !REC->b - 1 < 0, (REC->a >> (REC->b >> 42)) / 2", "1 1 -1");
	assert_printed(swap, "\"%x %u %d\", (u8)REC->a, (unsigned short)REC->a, (signed char)0x180", "fd 65533 -128");
	assert_printed(swap, "\"%llu %lx\", 1ULL << 40, (unsigned long)(( gfp_t)(((1UL)) << 3))", "1099511627776 8");
	assert_printed(swap, "\"%d %d %d\", REC->v[2], REC->v[9], ((u16 *)REC->v)[3]", "48 0 4");
	assert_printed(swap, "\"%d %d %zu\", 5 / (REC->a + 3), 5 % 0, sizeof(unsigned long)", "0 0 8");
	assert_printed(swap, "\"%d %d\", 'a', '\\n'", "97 10");
	assert_printed(swap, "\"%d\", __builtin_expect(!!(REC->a), 0)", "1");
	assert_printed(swap, "\"%d %d\", 0 == NOBODY_KNOWS, NOBODY_KNOWS != 0", "0 1");
	assert_printed(swap, "\"%d %d\", __get_dynamic_array_len(d), ((u8 *)__get_dynamic_array(d))[3]", "6 27");
}

static void texts(bool swap)
{
	assert_printed(swap, "\"%s|%6s|%-6s|%.2s|%*s\", REC->s, REC->s, REC->s, REC->s, 5, REC->s",
		"word|  word|word  |wo| word");
	assert_printed(swap, "\"%s %s\" \" tail%%\", __get_str(r), 0 ? \"x\" : \"y\" \"z\"", "tail yz tail%");
	assert_printed(swap,
		"\"%s %s %s\", __print_flags(6, \"|\", { 2, \"B\" }, { 4, \"C\" }), "
		"__print_flags(9, \"|\", { 1, \"A\" }), __print_flags(0, \"|\", { 0, \"none\" })",
		"B|C A|0x8 none");
	assert_printed(swap,
		"\"%s %s %s\", __print_symbolic(1, { 0, \"zero\" }, { 1, \"one\" }), "
		"__print_symbolic(0, { NOBODY_KNOWS, \"x\" }), __print_symbolic(2, {2, (\"two\")}, {0, ((void *)0)})",
		"one 0x0 two");
	assert_printed(swap,
		"\"%s %s\", __print_hex(__get_dynamic_array(d), 3), __print_hex_str(__get_dynamic_array(d), 9)",
		"0a 00 00 0a00001bff7f");
	assert_printed(swap, "\"%s %c\", __print_array(REC->v, 4, 2), 'q'", "{0x1,0x2,0x30,0x4} q");
}

static void numbers(bool swap)
{
	assert_printed(swap, "\"%5d|%-5d|%05d|%+d|% d|%.3d\", 42, 42, -42, 42, 42, 7", "   42|42   |-0042|+42| 42|007");
	assert_printed(swap, "\"%#x %#X %#o %08lx %hhu %hd\", 255, 255, 8, REC->b, 511, 65535",
		"0xff 0XFF 010 50000000000 255 -1");
	assert_printed(swap, "\"%d %ld %lld\", REC->b, REC->b, REC->a", "0 5497558138880 -3");
	assert_printed(swap, "\"%p %16p\", REC->b, 16", "0x50000000000             0x10");
}

static void addresses(bool swap)
{
	assert_printed(swap,
		"\"%pI4 %pi4 %pM %pm\", __get_dynamic_array(d), __get_dynamic_array(d), "
		"__get_dynamic_array(d), __get_dynamic_array(d)",
		"10.0.0.27 10.0.0.27 0a:00:00:1b:ff:7f 0a00001bff7f");
	assert_printed(swap, "\"%pI6\", REC->a", "");
}

static void ipv6_addresses(bool swap)
{
	static const struct {
		uint8_t bytes[16];
		const char *text;
	} addresses[] = {
		{{[15] = 1}, "::1"},
		{{0x20, 1, 0xd, 0xb8, [7] = 2, [15] = 3}, "2001:db8:0:2::3"},
		{{[10] = 0xff, 0xff, 10, 1, 2, 3}, "::ffff:10.1.2.3"},
		{{[10] = 0xff, 0xff}, "::ffff:0.0.0.0"},
		{{[9] = 0xff, 0xff, 0xff, 10, 1, 2, 3}, "::ff:ffff:a01:203"},
		{{0xfe, 0x80, [8] = 2, 0, 0x5e, 0xfe, 10, 1, 2, 3}, "fe80::200:5efe:10.1.2.3"},
		{{0xfe, 0x80, [10] = 0x5e, 0xfe, 10, 1, 2, 3}, "fe80::5efe:10.1.2.3"},
		{{0xfe, 0x80, [9] = 1, 0x5e, 0xfe, 10, 1, 2, 3}, "fe80::1:5efe:a01:203"},
	};
	char format[1024];
	struct fixture f = {.raw.swap = swap};
	tracing_format(format, sizeof(format), "x", 7, "\tfield:__u8 a[16];\toffset:8;\tsize:16;\tsigned:0;\n",
		"\"%pI6c\", REC->a");
	struct tracing_source source = {.swap = swap, .system = "test", .formats = {format}};
	tracing_build(&f.tracing, &source);
	f.printer = create((struct tally_bytes){f.tracing.data, f.tracing.len});
	assert_non_null(f.printer);
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
		begin(&f, 7);
		writer_bytes(&f.raw, addresses[i].bytes, 16);
		assert_text(&f, addresses[i].text);
	}
	deinit(&f);
}

/* Events with an unsupported format are shown field by field. */
static void unknown_formats(bool swap)
{
	const char *fields_shown = "[FAILED TO PARSE] a=-3 b=0x50000000000 v=ARRAY[";
	struct text t = {0};
	const char *const prints[] = {"\"%d\", jiffies_to_msecs(REC->a)", "\"%d\", ({ int x; })", "\"%d\", REC->none",
		"\"%d\", (1", "\"%d\", \"open", "\"%d\", 1 2", "REC->a"};
	for (size_t i = 0; i < ARRAY_LEN(prints); i++) {
		struct fixture f = {.raw.swap = swap};
		char format[2048];
		tracing_format(format, sizeof(format), "x", 7,
			"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
			"\tfield:unsigned long b;\toffset:16;\tsize:8;\tsigned:0;\n"
			"\tfield:u16 v[4];\toffset:24;\tsize:8;\tsigned:0;\n",
			prints[i]);
		struct tracing_source source = {.swap = swap, .system = "test", .formats = {format}};
		tracing_build(&f.tracing, &source);
		f.printer = create((struct tally_bytes){f.tracing.data, f.tracing.len});
		begin(&f, 7);
		writer_u32(&f.raw, (uint32_t)-3);
		writer_u32(&f.raw, 0);
		writer_u64(&f.raw, UINT64_C(5) << 40);
		writer_u64(&f.raw, 0);
		text_clear(&t);
		assert_true(tracepoint_print(f.printer, (struct tally_bytes){f.raw.data, f.raw.len}, &t));
		assert_true(t.len > strlen(fields_shown) && memcmp(t.data, fields_shown, strlen(fields_shown)) == 0);
		deinit(&f);
	}
	text_deinit(&t);
}

/* Deeply nested expressions are rejected without exhausting the stack. */
static void deep_nesting(bool swap)
{
	static char print[200000];
	memset(print, '(', sizeof(print) - 1);
	memcpy(print, "\"%d\", ", 6);
	assert_int_equal(print[sizeof(print) - 1], '\0');
	struct arena arena;
	struct trace_event event = {0};
	arena_init(&arena);
	assert_false(trace_print_parse(str_from(print), 8, &arena, &event));
	memset(print + 6, '-', sizeof(print) - 7);
	assert_false(trace_print_parse(str_from(print), 8, &arena, &event));
	(void)swap;
	arena_deinit(&arena);
}

static void both_byte_orders(void **state)
{
	void (*const cases[])(bool) = {fields, fields_by_name, kernel_symbols, trace_printk, unknown_and_short,
		expressions, texts, numbers, addresses, ipv6_addresses, unknown_formats, deep_nesting};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cases[i](false);
		cases[i](true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_value_is_what_follows_a_fields_name), cmocka_unit_test(both_byte_orders)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
