/* SPDX-License-Identifier: Apache-2.0 */
/* Tests source places of addresses through the store, with this program's own debug information. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/binary_store.h"
#include "object/elf/elf_image.h"
#include "unit_test.h"

extern const char __executable_start; /* Defined by the linker. */

static inline __attribute__((always_inline)) int innermost(int x)
{
	return x * x % 7;
}

static inline __attribute__((always_inline)) int between(int x)
{
	return innermost(x + 1) + 2;
}

__attribute__((noinline)) static int outermost(int x)
{
	return between(x) * 5;
}

static bool has_debug_info(const char *path)
{
	struct elf_image *image;
	assert_int_equal(elf_image_open(path, &image, NULL), TALLY_OK);
	bool has = elf_image_section(image, ".debug_info").len > 0;
	elf_image_close(image);
	return has;
}

/* Some address of outermost is in innermost, which is inlined into between, which is inlined into outermost. */
static void names_inlined_calls(void **state)
{
	(void)state;
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	assert_true(length > 0);
	path[length] = '\0';
	if (!has_debug_info(path))
		skip_because("this program was built without debug information");
	int (*volatile call)(int) = outermost;
	assert_int_equal(call(2), 20);
	struct binary_store *store;
	uint32_t id;
	uint64_t start = (uint64_t)(uintptr_t)call - (uint64_t)(uintptr_t)&__executable_start;
	assert_int_equal(binary_store_create(&(struct binary_store_options){0}, &store, NULL), TALLY_OK);
	struct binary_key key = {.kind = BINARY_USER, .path = str_from(path), .pid = -1};
	assert_int_equal(binary_store_add(store, &key, &id, NULL), TALLY_OK);
	struct source_place places[8];
	assert_int_equal(binary_store_places(store, id, start, places, 8), 0); /* The binary is not loaded yet. */
	binary_store_load(store, &id, 1);
	const struct symbol *symbol = binary_store_find(store, id, start);
	assert_non_null(symbol);
	assert_int_equal(binary_store_load_places(store, id, &start, 1, NULL), TALLY_OK);
	assert_non_null(binary_store_places_path(store, id));
	bool found = false;
	for (uint64_t at = symbol->start; at < symbol->end; at++) {
		size_t count = binary_store_places(store, id, at, places, 8);
		assert_true(count > 0);
		assert_string_equal(places[count - 1].function, "outermost");
		assert_false(places[count - 1].is_inlined);
		if (count < 3)
			continue;
		found = true;
		assert_string_equal(places[0].function, "innermost");
		assert_string_equal(places[1].function, "between");
		assert_true(places[0].is_inlined && places[1].is_inlined);
		assert_non_null(strstr(places[1].path, "source_lines.c"));
		assert_true(places[0].line < places[1].line); /* Line 0 is code without a line of its own. */
		assert_true(places[1].line < places[2].line);
	}
	assert_true(found);
	assert_int_equal(binary_store_places(store, id, symbol->end + (UINT64_C(1) << 40), places, 8), 0);
	binary_store_destroy(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names_inlined_calls)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
