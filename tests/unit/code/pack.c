/* SPDX-License-Identifier: Apache-2.0 */
#include "code/pack/pack.h"

#include <string.h>
#include <zlib.h>

#include "code/pack/pack_form.h"
#include "unit_test.h"

struct fixture {
	struct pack_object objects[2];
	struct writer bytes;
};

static void fill(struct fixture *f)
{
	struct pack_object *user = &f->objects[0], *kernel = &f->objects[1];
	user->key = (struct binary_key){
		.kind = BINARY_USER, .path = STR("/bin/true"), .pid = 7, .build_id_size = 3, .build_id = {1, 2, 3}};
	user->status = BINARY_OK;
	user->used_path = "/usr/lib/debug/true";
	user->symbol_count = 99;
	user->lacks = 1U << BINARY_LACKS_SPLITS;
	assert_true(vec_push(&user->segments, ((struct pack_segment){0x1000, 0x401000, 0x500})));
	assert_true(vec_push(&user->symbols, ((struct symbol){0x1010, 0x1020, "one", 'l', false, true})));
	assert_true(vec_push(&user->symbols, ((struct symbol){0x1020, 0x1080, "two", 'g', true, false})));
	assert_true(vec_push(&user->ranges, ((struct pack_range){0x1014, 1, 0, 2})));
	assert_true(vec_push(&user->ranges, ((struct pack_range){0x1020, 4, 0, 0})));
	assert_true(vec_push(&user->places, ((struct source_place){"in", "a.h", 3, 5, true})));
	assert_true(vec_push(&user->places, ((struct source_place){"one", NULL, 0, 0, false})));
	struct binary_code code = {.bytes = {(const uint8_t *)"\x90\x90\xc3", 3},
		.address = 0x401010,
		.elf_machine = 62,
		.is_64 = true,
		.section = ".text",
		.path = "/bin/true"};
	assert_true(vec_push(&user->codes, ((struct pack_code){0x1010, code})));
	code.bytes.len = 1;
	code.is_64 = false;
	code.is_big_endian = true;
	code.path = NULL;
	assert_true(vec_push(&user->codes, ((struct pack_code){0x1020, code})));
	assert_true(vec_push(&user->names, ((struct pack_name){0x401010, {"one", 0, false}})));
	assert_true(vec_push(&user->names, ((struct pack_name){0x402000, {"puts", 8, true}})));
	kernel->key = (struct binary_key){
		.kind = BINARY_KERNEL, .path = STR("[kernel.kallsyms]"), .pid = -1, .start = UINT64_C(1) << 63};
	kernel->status = BINARY_HIDDEN;
	kernel->text = "hidden";
}

static void drop(struct fixture *f)
{
	pack_object_deinit(&f->objects[0]);
	pack_object_deinit(&f->objects[1]);
	writer_deinit(&f->bytes);
}

static void encode(struct fixture *f, bool swap)
{
	fill(f);
	f->bytes.swap = swap;
	assert_int_equal(pack_encode(f->objects, 2, &f->bytes, NULL), TALLY_OK);
}

static void check_code(const struct pack_object *user)
{
	struct binary_code code;
	assert_true(pack_code_find(user, 0x1011, 0x1020, &code));
	assert_int_equal(code.bytes.len, 2);
	assert_int_equal(code.bytes.data[1], 0xc3);
	assert_int_equal(code.address, 0x401011);
	assert_int_equal(code.elf_machine, 62);
	assert_true(code.is_64 && !code.is_big_endian);
	assert_string_equal(code.section, ".text");
	assert_true(pack_code_find(user, 0x1020, 0x1021, &code));
	assert_true(!code.is_64 && code.is_big_endian && !code.path);
	assert_false(pack_code_find(user, 0x1013, 0x1020, &code));
	assert_false(pack_code_find(user, 0x100f, 0x1020, &code));
	assert_string_equal(pack_name_find(user, 0x402000)->name, "puts");
	assert_int_equal(pack_name_find(user, 0x402000)->offset, 8);
	assert_true(pack_name_find(user, 0x402000)->is_plt);
	assert_null(pack_name_find(user, 0x401011));
}

static void check(const struct fixture *f)
{
	struct pack *pack;
	assert_int_equal(pack_open(writer_view(&f->bytes), &pack, NULL), TALLY_OK);
	assert_int_equal(pack_count(pack), 2);
	const struct pack_object *user = pack_find(pack, &f->objects[0].key);
	const struct pack_object *kernel = pack_find(pack, &f->objects[1].key);
	assert_ptr_equal(user, pack_get(pack, 0));
	assert_ptr_equal(kernel, pack_get(pack, 1));
	assert_string_equal(user->used_path, "/usr/lib/debug/true");
	assert_null(user->text);
	assert_int_equal(user->symbol_count, 99);
	assert_int_equal(user->lacks, 1U << BINARY_LACKS_SPLITS);
	assert_int_equal(user->segments.items[0].vaddr, 0x401000);
	assert_int_equal(user->symbols.len, 2);
	assert_string_equal(user->symbols.items[1].name, "two");
	assert_int_equal(user->symbols.items[1].end, 0x1080);
	assert_int_equal(user->symbols.items[0].binding, 'l');
	assert_false(user->symbols.items[0].is_object);
	assert_true(user->symbols.items[0].follows_no_call);
	assert_int_equal(user->symbols.items[1].binding, 'g');
	assert_true(user->symbols.items[1].is_object);
	assert_false(user->symbols.items[1].follows_no_call);
	const struct pack_range *range = pack_range_find(user, 0x1014);
	assert_int_equal(range->count, 2);
	assert_string_equal(user->places.items[range->first].path, "a.h");
	assert_true(user->places.items[range->first].is_inlined);
	assert_null(user->places.items[range->first + 1].path);
	assert_int_equal(pack_range_find(user, 0x1023)->count, 0);
	assert_null(pack_range_find(user, 0x1013));
	assert_null(pack_range_find(user, 0x1015));
	assert_null(pack_range_find(user, 0x1024));
	check_code(user);
	assert_int_equal(kernel->status, BINARY_HIDDEN);
	assert_string_equal(kernel->text, "hidden");
	assert_int_equal(kernel->key.start, UINT64_C(1) << 63);
	pack_close(pack);
}

static void what_is_packed_comes_out(void **state)
{
	struct fixture little = {0}, other = {0};
	encode(&little, false);
	check(&little);
	encode(&other, true);
	check(&other);
	assert_memory_not_equal(little.bytes.data, other.bytes.data, PACK_HEADER_BYTES);
	drop(&little);
	drop(&other);
}

static void packs_are_little_endian(void **state)
{
	struct fixture f = {0};
	pack_set_order(&f.bytes);
	encode(&f, f.bytes.swap);
	assert_memory_equal(f.bytes.data, "TALLYPCK\4\3\2\1\1\0\0\0", 16);
	drop(&f);
}

static void keys_tell_files_apart(void **state)
{
	struct fixture f = {0};
	struct pack *pack;
	encode(&f, false);
	assert_int_equal(pack_open(writer_view(&f.bytes), &pack, NULL), TALLY_OK);
	struct binary_key key = f.objects[0].key;
	key.pid = 8; /* The PID matters only for generated code. */
	assert_non_null(pack_find(pack, &key));
	key.build_id[2] = 9;
	assert_null(pack_find(pack, &key));
	key = f.objects[0].key;
	key.build_id_size = 0;
	assert_null(pack_find(pack, &key));
	key = f.objects[0].key;
	key.path = STR("/bin/tru");
	assert_null(pack_find(pack, &key));
	key = f.objects[0].key;
	key.kind = BINARY_VDSO;
	assert_null(pack_find(pack, &key));
	pack_close(pack);
	drop(&f);
}

static void mend(uint8_t *bytes, size_t len)
{
	uint32_t sum = (uint32_t)crc32_z(0, bytes + PACK_SUMMED_FROM, len - PACK_SUMMED_FROM);
	memcpy(bytes + PACK_CHECKSUM_AT, &sum, sizeof(sum));
}

static void every_cut_is_refused(void **state)
{
	struct fixture f = {0};
	encode(&f, false);
	for (size_t len = 0; len < f.bytes.len; len++) {
		struct pack *pack = NULL;
		struct tally_error err;
		assert_int_equal(pack_open((struct tally_bytes){f.bytes.data, len}, &pack, &err), TALLY_CORRUPT);
	}
	drop(&f);
}

static void every_flip_is_refused(void **state)
{
	struct fixture f = {0};
	encode(&f, false);
	for (size_t at = 0; at < f.bytes.len; at++) {
		struct pack *pack = NULL;
		struct tally_error err;
		f.bytes.data[at] ^= 0x40;
		if (at < PACK_SUMMED_FROM + 8 || at >= PACK_HEADER_BYTES)
			assert_int_not_equal(pack_open(writer_view(&f.bytes), &pack, &err), TALLY_OK);
		f.bytes.data[at] ^= 0x40;
	}
	drop(&f);
}

/* With a valid checksum, each byte may have any value: nothing is read out of bounds, and accepted packs are
 * consistent. */
static void what_lies_is_refused_or_harmless(void **state)
{
	struct fixture f = {0};
	size_t refused = 0;
	encode(&f, false);
	for (size_t at = PACK_SUMMED_FROM; at < f.bytes.len; at++) {
		struct pack *pack = NULL;
		uint8_t kept = f.bytes.data[at];
		f.bytes.data[at] = 0xff;
		mend(f.bytes.data, f.bytes.len);
		if (pack_open(writer_view(&f.bytes), &pack, NULL) == TALLY_OK)
			(void)pack_find(pack, &f.objects[0].key);
		else
			refused++;
		pack_close(pack);
		f.bytes.data[at] = kept;
	}
	assert_true(refused > 50);
	drop(&f);
}

static void another_version_is_told(void **state)
{
	struct fixture f = {0};
	struct pack *pack;
	struct tally_error err;
	encode(&f, false);
	f.bytes.data[12]++;
	f.bytes.data[13]++;
	assert_int_equal(pack_open(writer_view(&f.bytes), &pack, &err), TALLY_UNSUPPORTED);
	assert_non_null(strstr(err.text, "version"));
	drop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_packed_comes_out),
		cmocka_unit_test(packs_are_little_endian),
		cmocka_unit_test(keys_tell_files_apart),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(every_flip_is_refused),
		cmocka_unit_test(what_lies_is_refused_or_harmless),
		cmocka_unit_test(another_version_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
