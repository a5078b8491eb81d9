/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that an index of this program's debug information gives the same results as the debug information, and that
 * damage is detected. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "code/symbols/line_index_form.h"
#include "object/elf/elf_image.h"
#include "unit_test.h"

extern const char __executable_start; /* Defined by the linker. */

static inline __attribute__((always_inline)) int inlined(int x)
{
	return x * x % 7;
}

__attribute__((noinline)) static int function(int x)
{
	return inlined(x + 1) * 5;
}

struct fixture {
	struct elf_image *image;
	struct debug_info *info;
	struct elf_build_id id;
	uint64_t here, there; /* Addresses in two units. */
	char path[4096];
};

/* Returns the link-time address of a function of this program, which may be a PIE. */
static uint64_t index_address(const struct elf_image *image, uint64_t function)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);
	return function - (uint64_t)(uintptr_t)&__executable_start + segments[0].vaddr;
}

static void setup(struct fixture *f)
{
	int (*volatile call)(int) = function;
	bool (*volatile other)(struct line_index *, uint64_t) = line_index_has;
	ssize_t length = readlink("/proc/self/exe", f->path, sizeof(f->path) - 1);
	assert_true(length > 0);
	f->path[length] = '\0';
	assert_int_equal(elf_image_open(f->path, &f->image, NULL), TALLY_OK);
	f->id = (struct elf_build_id){.size = 3, .bytes = {1, 2, 3}};
	f->here = index_address(f->image, (uint64_t)(uintptr_t)call);
	f->there = index_address(f->image, (uint64_t)(uintptr_t)other);
	if (debug_info_open(f->image, &(struct debug_info_options){0}, &f->info, NULL) != TALLY_OK) {
		elf_image_close(f->image);
		skip_because("this program was built without debug information");
	}
}

static void teardown(struct fixture *f)
{
	debug_info_close(f->info);
	elf_image_close(f->image);
}

/* Writes to memory that is aligned like a mapping. */
static enum tally_status put(void *context, uint64_t offset, struct tally_bytes bytes, struct tally_error *err)
{
	struct writer *out = context;
	(void)err;
	if (offset + bytes.len > out->len)
		writer_zeros(out, (size_t)(offset + bytes.len - out->len));
	assert_false(out->failed);
	if (bytes.len > 0)
		memcpy(out->data + offset, bytes.data, bytes.len);
	return TALLY_OK;
}

static struct writer build(const struct fixture *f, struct line_index *older)
{
	struct writer out = {0};
	const struct line_index_source source = {.info = f->info, .path = f->path, .id = f->id, .threads = 1};
	assert_int_equal(line_index_build(&source, older, &(struct line_index_sink){put, &out}, NULL), TALLY_OK);
	return out;
}

static bool same_text(const char *a, struct tally_str b)
{
	return a ? str_equal(str_from(a), b) : b.len == 0;
}

static void compare_at(const struct fixture *f, struct line_index *index, uint64_t address)
{
	struct debug_place expected[8];
	struct source_place places[8];
	assert_true(line_index_has(index, address));
	size_t count = debug_info_find(f->info, address, expected, 8);
	assert_int_equal(line_index_find(index, address, places, 8), count);
	for (size_t i = 0; i < count; i++) {
		struct arena arena;
		arena_init(&arena);
		const char *path = debug_info_path(f->info, &expected[i], &arena);
		assert_int_equal(places[i].line, expected[i].line);
		assert_int_equal(places[i].discriminator, expected[i].discriminator);
		assert_int_equal(places[i].is_inlined, expected[i].is_inlined);
		assert_true(same_text(places[i].path, path ? str_from(path) : (struct tally_str){"", 0}));
		arena_deinit(&arena);
	}
}

static void says_what_the_debug_information_says(void **state)
{
	(void)state;
	struct fixture f;
	struct line_index none = {0}, index, both;
	setup(&f);
	assert_int_equal(debug_info_load(f.info, &f.here, 1, 1, NULL), TALLY_OK);
	struct writer first = build(&f, &none);
	assert_true(line_index_open(&index, writer_view(&first), &f.id));
	assert_string_equal(index.source, f.path);
	for (uint64_t at = f.here; at < f.here + 32; at++)
		compare_at(&f, &index, at);
	struct source_place places[8];
	size_t count = line_index_find(&index, f.here, places, 8);
	assert_true(count > 0);
	assert_string_equal(places[count - 1].function, "function");
	assert_true(line_index_has(&index, UINT64_C(1) << 60)); /* It is known that no unit contains the address. */
	assert_int_equal(line_index_find(&index, UINT64_C(1) << 60, places, 8), 0);
	/* A unit that was not loaded is missing from the index and is added later; without new units, nothing is
	 * written. */
	assert_false(line_index_has(&index, f.there));
	struct writer again = {0};
	const struct line_index_source source = {.info = f.info, .path = f.path, .id = f.id};
	assert_int_equal(
		line_index_build(&source, &index, &(struct line_index_sink){put, &again}, NULL), TALLY_NOT_FOUND);
	struct fixture later;
	setup(&later);
	assert_int_equal(debug_info_load(later.info, &later.there, 1, 1, NULL), TALLY_OK);
	struct writer second = build(&later, &index);
	assert_true(line_index_open(&both, writer_view(&second), &f.id));
	compare_at(&f, &both, f.here);
	compare_at(&later, &both, f.there);
	line_index_deinit(&both);
	line_index_deinit(&index);
	writer_deinit(&second);
	writer_deinit(&first);
	teardown(&later);
	teardown(&f);
}

/* With any wrong byte, the index is refused, or it gives the same result as before or none. */
static void damage_is_found(void **state)
{
	(void)state;
	struct fixture f;
	struct line_index none = {0}, index;
	setup(&f);
	assert_int_equal(debug_info_load(f.info, &f.here, 1, 1, NULL), TALLY_OK);
	struct writer bytes = build(&f, &none);
	struct elf_build_id other = {.size = 3, .bytes = {1, 2, 4}};
	assert_false(line_index_open(&index, writer_view(&bytes), &other));
	assert_false(line_index_open(&index, writer_view(&bytes), &(struct elf_build_id){0}));
	for (size_t len = 0; len < bytes.len; len += 1 + bytes.len / 997)
		assert_false(line_index_open(&index, (struct tally_bytes){bytes.data, len}, &f.id));
	size_t refused = 0, kept = 0;
	for (size_t at = 0; at < bytes.len; at += at < 512 ? 1 : 1 + bytes.len / 997) {
		bytes.data[at] ^= 0x41;
		if (!line_index_open(&index, writer_view(&bytes), &f.id)) {
			refused++;
		} else {
			if (line_index_has(&index, f.here)) {
				compare_at(&f, &index, f.here); /* The byte is padding between blocks. */
				kept++;
			}
			line_index_deinit(&index);
		}
		bytes.data[at] ^= 0x41;
	}
	assert_true(refused >= 60 && kept < 8);
	writer_deinit(&bytes);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_the_debug_information_says),
		cmocka_unit_test(damage_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
