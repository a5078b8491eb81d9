/* SPDX-License-Identifier: Apache-2.0 */
/* Tests places of probes and lines with code, in this program itself; line patterns, and names. */
#include "code/probing/probe_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/probing/probe_binary.h"
#include "code/probing/probe_functions.h"
#include "code/probing/probe_rows.h"
#include "code/probing/probe_source.h"
#include "tally_config.h"
#include "unit_test.h"

/* clang-format off */
__attribute__((noinline)) static int places_marked(int x)
{
	__asm__ volatile("nop" ::: "memory");
	return x * 3; /* Line 3 of the function. */
}
enum { MARKED_LINE = __LINE__ - 5 }; /* The line of the function's declaration. */

__attribute__((always_inline)) static inline int places_inlined(int x)
{
	__asm__ volatile("nop" ::: "memory");
	return x + 1;
}

__attribute__((noinline)) static int places_caller(int x)
{
	__asm__ volatile("nop" ::: "memory");
	return places_inlined(x) * places_inlined(x + 2);
}
/* clang-format on */

extern const char __executable_start; /* Defined by the linker. */

static struct probe_binary *places_binary;
static const char *places_missing; /* Reason why places_binary is missing. */

static int open_binary(void **state)
{
	(void)state;
	struct tally_error err;
	int (*volatile calls[])(int) = {places_marked, places_caller};
	if (calls[0](1) != 3 || calls[1](1) != 8)
		return -1;
	if (probe_binary_open(&(struct probe_binary_options){.path = "/proc/self/exe"}, &places_binary, &err) !=
		TALLY_OK)
		return -1;
	if (!places_binary->info)
		places_missing = "this program was built without debug information";
	return 0;
}

static int close_binary(void **state)
{
	(void)state;
	probe_binary_close(places_binary);
	return 0;
}

static uint64_t places_address(int (*function)(int))
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(places_binary->image, &count);
	return (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)&__executable_start + segments[0].vaddr;
}

static enum tally_status places_find(
	const char *text, struct probe_places_options options, struct probe_places *places, struct tally_error *err)
{
	struct arena arena;
	struct probe_point point;
	arena_init(&arena);
	probe_places_init(places);
	assert_int_equal(probe_point_parse(text, &arena, &point, err), TALLY_OK);
	if (options.max == 0)
		options.max = 128;
	enum tally_status status = probe_places_find(places_binary, &point, &options, places, err);
	arena_deinit(&arena);
	return status;
}

static void assert_missing(const char *text, enum tally_status status, const char *words)
{
	struct probe_places places;
	struct tally_error err;
	assert_int_equal(places_find(text, (struct probe_places_options){.max = 128}, &places, &err), status);
	assert_int_equal(places.items.len, 0);
	if (!strstr(err.text, words))
		fail_msg("'%s' says '%s'", text, err.text);
	probe_places_deinit(&places);
}

static void test_function(void **state)
{
	(void)state;
	struct probe_places places;
	struct tally_error err;
	if (places_missing)
		skip_because(places_missing);
	assert_int_equal(
		places_find("places_marked", (struct probe_places_options){.max = 1}, &places, &err), TALLY_OK);
	assert_int_equal(places.items.len, 1);
	const struct probe_place *place = &places.items.items[0];
	assert_int_equal(place->address, places_address(places_marked));
	assert_int_equal(place->file_offset, probe_binary_offset(places_binary, place->address));
	assert_string_equal(place->function, "places_marked");
	assert_int_equal(place->line, MARKED_LINE);
	assert_int_equal(place->declared, MARKED_LINE);
	assert_true(str_ends_with(str_from(place->source), STR("tests/unit/code/probe_places.c")));
	assert_true(place->is_entry && !place->is_inlined && !place->is_return);
	assert_non_null(place->scope.file);
	assert_int_equal(place->scope.inlined, 0);
	uint64_t entry = place->address;
	probe_places_deinit(&places);
	assert_int_equal(places_find("places_marked+1", (struct probe_places_options){0}, &places, &err), TALLY_OK);
	assert_int_equal(places.items.len, 1);
	assert_int_equal(places.items.items[0].address, entry + 1);
	assert_false(places.items.items[0].is_entry);
	probe_places_deinit(&places);
	assert_int_equal(
		places_find("places_m?rked%return", (struct probe_places_options){0}, &places, &err), TALLY_OK);
	assert_int_equal(places.items.len, 1);
	assert_true(places.items.items[0].is_return);
	probe_places_deinit(&places);
	assert_int_equal(
		places_find("places_marked@code/probe_places.c", (struct probe_places_options){0}, &places, &err),
		TALLY_OK);
	assert_int_equal(places.items.len, 1);
	probe_places_deinit(&places);
}

static void test_inlined(void **state)
{
	(void)state;
	struct probe_places places;
	struct tally_error err;
	if (places_missing)
		skip_because(places_missing);
	assert_int_equal(places_find("places_inlined", (struct probe_places_options){0}, &places, &err), TALLY_OK);
	assert_int_equal(places.items.len, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct probe_place *place = &places.items.items[i];
		assert_string_equal(place->function, "places_inlined");
		assert_true(place->is_inlined);
		assert_int_not_equal(place->scope.inlined, 0);
		assert_true(place->address >= places_address(places_caller));
	}
	probe_places_deinit(&places);
	assert_int_equal(
		places_find("places_inlined", (struct probe_places_options){.max = 1}, &places, &err), TALLY_LIMIT);
	assert_non_null(strstr(err.text, "Too many( > 1)"));
	probe_places_deinit(&places);
	assert_int_equal(
		places_find("places_inlined", (struct probe_places_options){.no_inlines = true}, &places, &err),
		TALLY_NOT_FOUND);
	assert_non_null(strstr(err.text, "--no-inlines"));
	probe_places_deinit(&places);
	assert_missing("places_inlined%return", TALLY_UNSUPPORTED, "all calls of it are inlined");
}

static void test_lines(void **state)
{
	(void)state;
	struct probe_places places;
	struct tally_error err;
	char text[128];
	if (places_missing)
		skip_because(places_missing);
	assert_int_equal(places_find("places_marked:3", (struct probe_places_options){0}, &places, &err), TALLY_OK);
	assert_true(places.items.len > 0);
	uint64_t first = places.items.items[0].address;
	assert_int_equal(places.items.items[0].line, MARKED_LINE + 3);
	probe_places_deinit(&places);
	snprintf(text, sizeof(text), "probe_places.c:%d", MARKED_LINE + 3);
	assert_int_equal(places_find(text, (struct probe_places_options){0}, &places, &err), TALLY_OK);
	assert_int_equal(places.items.items[0].address, first);
	assert_string_equal(places.items.items[0].function, "places_marked");
	probe_places_deinit(&places);
	assert_missing("places_marked:4000", TALLY_NOT_FOUND, "Probe point 'places_marked:4000' not found");
	assert_missing("no_such_function", TALLY_NOT_FOUND, "Probe point 'no_such_function' not found.");
	assert_missing("places_marked@other.c", TALLY_NOT_FOUND, "not found");
	assert_missing("places_marked+100000", TALLY_INVALID, "Offset 100000 is bigger than the size of places_marked");
	assert_missing("probe_places.c:100000", TALLY_NOT_FOUND, "not found");
	assert_missing("no_such_file.c:1", TALLY_NOT_FOUND, "not found");
}

static void test_describe(void **state)
{
	(void)state;
	struct arena arena;
	struct probe_place place;
	struct tally_error err;
	if (places_missing)
		skip_because(places_missing);
	arena_init(&arena);
	assert_int_equal(
		probe_places_describe(places_binary, places_address(places_marked), &arena, &place, &err), TALLY_OK);
	assert_string_equal(place.function, "places_marked");
	assert_true(place.is_entry);
	assert_int_equal(place.line, place.declared);
	assert_int_equal(probe_places_describe(places_binary, 1, &arena, &place, &err), TALLY_NOT_FOUND);
	arena_deinit(&arena);
}

static void test_listing(void **state)
{
	(void)state;
	struct tally_error err;
	struct text out = {0};
	struct probe_places_options options = {.max = 128};
	struct probe_line_range range = {.function = STR("places_marked"), .last = 4, .has_lines = true};
	if (places_missing)
		skip_because(places_missing);
	enum tally_status status = probe_lines_print(places_binary, &range, &options, &out, &err);
	if (status == TALLY_NOT_FOUND && access(__FILE__, R_OK) != 0)
		skip_because("the source of this program is not where it was built");
	assert_int_equal(status, TALLY_OK);
	text_char(&out, 0);
	assert_non_null(
		strstr(out.data, "probe_places.c:0>\n      0  __attribute__((noinline)) static int places_marked"));
	assert_non_null(strstr(out.data, "\n      3  \treturn x * 3;"));
	text_clear(&out);
	range.function = STR("no_such_function");
	assert_int_equal(probe_lines_print(places_binary, &range, &options, &out, &err), TALLY_NOT_FOUND);
	assert_non_null(strstr(err.text, "Specified source line(function: no_such_function, line:0) is not found."));
	text_deinit(&out);
}

static void test_names(void **state)
{
	if (!HAVE_DEMANGLE)
		skip_because("this build cannot demangle all names");
	static const struct {
		const char *name, *linkage, *pattern;
		int match; /* -1 if the pattern does not match. */
	} cases[] = {
		{"area", "_ZNK6shapes6Circle4areaEv", "area", PROBE_MATCH_NAME},
		{"area", "_ZNK6shapes6Circle4areaEv", "_ZNK6shapes6Circle4areaEv", PROBE_MATCH_NAME},
		{"area", "_ZNK6shapes6Circle4areaEv", "Circle::area", PROBE_MATCH_QUALIFIED},
		{"area", "_ZNK6shapes6Circle4areaEv", "shapes::Circle::area", PROBE_MATCH_QUALIFIED},
		{"area", "_ZNK6shapes6Circle4areaEv", "shapes::*", PROBE_MATCH_QUALIFIED},
		{"area", "_ZNK6shapes6Circle4areaEv", "ircle::area", -1},
		{"overload", "_Z8overloadi", "overload(int)", PROBE_MATCH_QUALIFIED},
		{"overload", "_Z8overloadi", "overload(double)", -1},
		{"largest<int>", "_Z7largestIiET_RKSt6vectorIS0_SaIS0_EE", "largest<int>", PROBE_MATCH_NAME},
		{"largest<int>", "_Z7largestIiET_RKSt6vectorIS0_SaIS0_EE", "largest", PROBE_MATCH_INSTANCE},
		{"largest<int>", "_Z7largestIiET_RKSt6vectorIS0_SaIS0_EE", "large", -1},
		{"operator()", "_ZZ1fvENKUlvE_clEv", "operator()", PROBE_MATCH_NAME},
		{"operator<", NULL, "operator", -1},
		{"add", "_ZN6twenty3add17hbda65d62db9f1fb0E", "twenty::add", PROBE_MATCH_QUALIFIED},
		{"add", NULL, "a*", PROBE_MATCH_NAME},
	};
	struct probe_functions functions = {0};
	arena_init(&functions.arena);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct probe_root root = {.unit = 0};
		int found = -1;
		root.declaration.name = str_from(cases[i].name);
		root.declaration.linkage = str_from(cases[i].linkage);
		for (int match = PROBE_MATCH_NAME; match <= PROBE_MATCH_QUALIFIED && found < 0; match++)
			if (probe_root_matches(&functions, &root, str_from(cases[i].pattern), (enum probe_match)match))
				found = match;
		if (found != cases[i].match)
			fail_msg("'%s' matches '%s' as %d", cases[i].pattern, cases[i].name, found);
	}
	arena_deinit(&functions.arena);
}

/* gcc split off a part of the function and inlined it again; a recursive call that was inlined is different. */
static void test_continued(void **state)
{
	(void)state;
	struct dwarf_function items[] = {
		{.caller = DWARF_NO_FUNCTION}, {.caller = 0, .call_line = 5}, {.caller = 0, .call_line = 7}};
	struct dwarf_functions all = {.functions = {items, 3, 3}};
	uint32_t roots[] = {0, 0, 0};
	struct probe_root root = {.declaration = {.line = 5}};
	struct probe_unit unit = {.debug = {.functions = &all}, .roots = roots};
	struct probe_functions functions = {.roots = {&root, 1, 1}, .units = &unit, .unit_count = 1};
	assert_false(probe_code_is_continued(&functions, (struct probe_code){0, 0}));
	assert_true(probe_code_is_continued(&functions, (struct probe_code){0, 1}));
	assert_false(probe_code_is_continued(&functions, (struct probe_code){0, 2}));
	roots[0] = PROBE_NO_ROOT;
	assert_false(probe_code_is_continued(&functions, (struct probe_code){0, 1}));
}

static void test_paths(void **state)
{
	(void)state;
	assert_true(probe_path_matches("/src/a/b.c", STR("b.c")));
	assert_true(probe_path_matches("/src/a/b.c", STR("a/b.c")));
	assert_true(probe_path_matches("/src/a/b.c", STR("./a/b.c")));
	assert_true(probe_path_matches("/src/a/b.c", STR("/src/a/b.c")));
	assert_true(probe_path_matches("a/b.c", STR("/src/a/b.c")));
	assert_false(probe_path_matches("/src/ab.c", STR("b.c")));
	assert_false(probe_path_matches("/src/a/b.c", STR("/b.c")));
	assert_false(probe_path_matches("/src/a/b.c", STR("")));
	assert_false(probe_path_matches("", STR("b.c")));
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_patterns(void **state)
{
	(void)state;
	char folder[] = "/tmp/tally-probe-places-XXXXXX";
	char path[64];
	struct probe_source_lines lines = {.items = {0}};
	struct tally_error err;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.c", folder);
	write_file(path, "int a;\n\tsum  += a ;\nreturn sum;\n");
	assert_int_equal(probe_source_match(path, NULL, STR("sum += a*"), &lines, &err), TALLY_OK);
	assert_int_equal(lines.items.len, 1);
	assert_int_equal(lines.items.items[0], 2);
	lines.items.len = 0;
	/* In another directory, the whole path or its last components match. */
	assert_int_equal(probe_source_match("/else/where/a.c", folder, STR("*sum*"), &lines, &err), TALLY_OK);
	assert_int_equal(lines.items.len, 2);
	lines.items.len = 0;
	assert_int_equal(probe_source_match("/else/where/b.c", folder, STR("*"), &lines, &err), TALLY_NOT_FOUND);
	assert_int_equal(probe_source_match("/else/where/b.c", NULL, STR("*"), &lines, &err), TALLY_NOT_FOUND);
	assert_non_null(strstr(err.text, "--source"));
	/* A directory is not a source file. */
	assert_int_equal(probe_source_match(folder, NULL, STR("*"), &lines, &err), TALLY_NOT_FOUND);
	vec_free(&lines.items);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_listing),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_continued),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_patterns),
	};
	return cmocka_run_group_tests(tests, open_binary, close_binary);
}
