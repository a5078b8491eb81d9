/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_text.h"

#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

struct probe_text_case {
	const char *text;
	const char *shown; /* The output of probe_text_describe, or the error message. */
};

static void describe_argument(const struct probe_argument *a, struct text *out)
{
	static const char kinds[] = {'v', 'k', 'V', 'P'};
	text_printf(
		out, " %c[%.*s=%.*s", kinds[a->kind], (int)a->name.len, a->name.data, (int)a->value.len, a->value.data);
	if (a->kind == PROBE_ARGUMENT_VARIABLE)
		text_printf(out, " %.*s", (int)a->variable.len, a->variable.data);
	for (size_t i = 0; i < a->field_count; i++) {
		const struct probe_field *f = &a->fields[i];
		if (f->kind == PROBE_FIELD_INDEX)
			text_printf(out, "[%d]", (int)f->index);
		else
			text_printf(out, "%s%.*s", f->kind == PROBE_FIELD_ARROW ? "->" : ".", (int)f->name.len,
				f->name.data);
	}
	text_printf(out, ":%.*s%s]", (int)a->type.len, a->type.data, a->is_user ? " user" : "");
}

static void describe(const struct probe_definition *d, struct text *out)
{
	text_printf(out, "%.*s/%.*s%s ", (int)d->group.len, d->group.data, (int)d->event.len, d->event.data,
		d->is_named_event ? " named" : "");
	probe_point_print(&d->point, out);
	if (d->point.lazy.len > 0)
		text_printf(out, ";%.*s", (int)d->point.lazy.len, d->point.lazy.data);
	for (size_t i = 0; i < d->argument_count; i++)
		describe_argument(&d->arguments[i], out);
}

static void check_definition(const struct probe_text_case *c)
{
	struct arena arena;
	arena_init(&arena);
	struct text out = {0};
	struct tally_error err;
	struct probe_definition definition;
	if (probe_definition_parse(c->text, &arena, &definition, &err) == TALLY_OK)
		describe(&definition, &out);
	else
		text_str(&out, err.text);
	text_char(&out, 0);
	assert_string_equal(out.data, c->shown);
	text_deinit(&out);
	arena_deinit(&arena);
}

static void places(void **state)
{
	static const struct probe_text_case cases[] = {
		{"add", "/ add"},
		{"  add  ", "/ add"},
		{"add+4", "/ add+4"},
		{"add+0x10", "/ add+16"},
		{"add+", "/ add"},
		{"add:3", "/ add:3"},
		{"add:", "/ add"},
		{"add%return", "/ add%return"},
		{"add@a.c", "/ add@a.c"},
		{"add@/a/folder/with-a-long-name/sub/a.c", "/ add@with-a-long-name/sub/a.c"},
		{"add@/a/file_with_a_name_of_more_than_thirty.c", "/ add@file_with_a_name_of_more_than_thirty.c"},
		{"add@dir/a.c:3", "/ add:3@dir/a.c"},
		{"add@a.c%return", "/ add%return@a.c"},
		{"add@*", "/ add"},
		{"a.c@*", "/ a.c"},
		{"printf@plt", "/ printf@plt"},
		{"a.c:14", "/ @a.c:14"},
		{"a.c;sum=*", "/ @a.c;sum=*"},
		{"walk;\"x = y:3+4@z%q*\"", "/ walk;x = y:3+4@z%q*"},
		{"foo.isra.0", "/ foo.isra.0"},
		{"ns::type::method", "/ ns::type::method"},
		{"ns::type::method:2", "/ ns::type::method:2"},
		{"operator\\+", "/ operator+"},
		{"get\\@GLIBC_2.2.5", "/ get@GLIBC_2.2.5"},
		{"foo\\+bar.c:4", "/ @foo+bar.c:4"},
		{"'f(int, char)'", "/ f(int, char)"},
		{"0x1139", "/ 0x1139"},
		{"0x1139+4", "/ 0x113d"},
		{"0x1139%return", "/ 0x1139%return"},
		{"my=add", "/my add"},
		{"g:my=add%return", "g/my add%return"},
		{"%sdt_x:y", "sdt_x/y named "},
		{"%y", "/y named "},
		{"sdt_x:y", "sdt_x/y named "},
		{"sdt_x:y=add", "sdt_x/y add"},
		{"add\\:2", "/ add:2"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_definition(&cases[i]);
}

static void arguments(void **state)
{
	static const struct probe_text_case cases[] = {
		{"f x", "/ f v[=x x:]"},
		{"f x y:u8", "/ f v[=x x:] v[=y y:u8]"},
		{"f n=x:u8@user", "/ f v[n=x x:u8 user]"},
		{"f o->p->arr[1].q", "/ f v[=o->p->arr[1].q o->p->arr[1].q:]"},
		{"f o[-2]", "/ f v[=o[-2] o[-2]:]"},
		{"f o[0x10]", "/ f v[=o[0x10] o[16]:]"},
		{"f ns::x:s32", "/ f v[=ns::x ns::x:s32]"},
		{"f %di a=%si:x8", "/ f k[=%di:] k[a=%si:x8]"},
		{"f +8(%sp):u64", "/ f k[=+8(%sp):u64]"},
		{"f -4(%bp) @sym+4:string", "/ f k[=-4(%bp):] k[=@sym+4:string]"},
		{"f \\1 \\\"a=b\"", "/ f k[=\\1:] k[=\\\"a=b\":]"},
		{"f $vars $params $comm", "/ f V[=$vars:] P[=$params:] k[=$comm:]"},
		{"f%return $retval:s32", "/ f%return k[=$retval:s32]"},
		{"f x:b3@1/32 y:u8[4]", "/ f v[=x x:b3@1/32] v[=y y:u8[4]]"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_definition(&cases[i]);
}

static void refusals(void **state)
{
	static const struct probe_text_case cases[] = {
		{"", "It names no function, file or address."},
		{"g:b=", "It names no function, file or address."},
		{"1a=add", "1a is bad for event name -it must follow C symbol-naming rule."},
		{":b=add", " is bad for group name -it must follow C symbol-naming rule."},
		{"a:b:c=add", "b:c is bad for event name -it must follow C symbol-naming rule."},
		{"add:x", "There is non-digit char in line number 'x'."},
		{"add:-1", "There is non-digit char in line number '-1'."},
		{"add:99999999999", "The line number '99999999999' is too large."},
		{"add+x", "There is non-digit character in offset 'x'."},
		{"add+99999999999999999999", "There is non-digit character in offset '99999999999999999999'."},
		{"add%foo", "%foo is not supported: only %return is."},
		{"add@a@b", "SRC@SRC is not allowed."},
		{"add:1+3", "Offset can't be used with line number."},
		{"add+3;x", "Lazy pattern can't be used with offset."},
		{"add:2;x", "Lazy pattern can't be used with line number."},
		{"a.c:", "File always requires line number or lazy pattern."},
		{"@a.c", "File always requires line number or lazy pattern."},
		{"+4", "Offset requires an entry function."},
		{":3", "It names no function, file or address."},
		{"add%return+4", "Offset/Line/Lazy pattern can't be used with return probe."},
		{"0xzz", "Invalid absolute address '0xzz'."},
		{"add%return x", "You can't specify local variable for kretprobe."},
		{"add x=", "The argument 'x=' has no value."},
		{"add x:", "The argument 'x:' has no type behind its colon."},
		{"walk;x = y", " is bad for argument name -it must follow C symbol-naming rule."},
		{"add =x", " is bad for argument name -it must follow C symbol-naming rule."},
		{"add o->", "Argument parse error: no name follows '->'."},
		{"add o..x", "Argument parse error: no name follows '.'."},
		{"add o[x]", "Array index must be a number."},
		{"add o[1", "Array index must be a number."},
		{"add o[1]x", "Argument parse error at 'x'."},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_definition(&cases[i]);
}

static void check_range(const struct probe_text_case *c)
{
	struct arena arena;
	arena_init(&arena);
	struct text out = {0};
	struct tally_error err;
	struct probe_line_range range;
	if (probe_line_range_parse(c->text, &arena, &range, &err) == TALLY_OK)
		text_printf(&out, "%.*s@%.*s %u %u%s", (int)range.function.len, range.function.data,
			(int)range.file.len, range.file.data, range.first, range.last, range.has_lines ? "" : " all");
	else
		text_str(&out, err.text);
	text_char(&out, 0);
	assert_string_equal(out.data, c->shown);
	text_deinit(&out);
	arena_deinit(&arena);
}

static void line_ranges(void **state)
{
	static const struct probe_text_case cases[] = {
		{"func", "func@ 0 4294967295 all"},
		{"func:10", "func@ 10 2147483647"},
		{"func:0-10", "func@ 0 10"},
		{"func:2+10", "func@ 2 11"},
		{"func:2+0", "func@ 2 2"},
		{"func@source.c", "func@source.c 0 4294967295 all"},
		{"func@source.c:1", "func@source.c 1 2147483647"},
		{"ns::func:3-4", "ns::func@ 3 4"},
		{"source.c", "@source.c 0 4294967295 all"},
		{"dir/source:1", "@dir/source 1 2147483647"},
		{"source.c:1+1", "@source.c 1 1"},
		{"source.c:1-10", "@source.c 1 10"},
		{"func:foo", "'start line' is not a valid number."},
		{"func:1-foo", "'end line' is not a valid number."},
		{"func:1+foo", "'end line' is not a valid number."},
		{"func:5-3", "Start line must be smaller than end line."},
		{"func;lazy*pattern", "'func;lazy*pattern' is not a valid function name."},
		{"func%return", "'func%return' is not a valid function name."},
		{"", "'' is not a valid function name."},
		{":3", "No file/function name in ':3'."},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_range(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(arguments),
		cmocka_unit_test(refusals), cmocka_unit_test(line_ranges)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
