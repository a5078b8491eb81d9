/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that every field of a caller's struct perf_event_attr reaches the kernel unchanged. */
#include "kernel/events/attr_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unit_test.h"

/* Returns whether the byte is in __reserved_2, which must be 0. */
static bool is_reserved(size_t at)
{
	return at == 110 || at == 111;
}

static void each_byte_comes_through_at_every_size(void **state)
{
	for (uint32_t size = ATTR_SIZE_VER0; size <= ATTR_SIZE_KNOWN; size += 8) {
		uint8_t *bytes = malloc(size); /* Exact size, so that the sanitizer detects a read past the end. */
		struct perf_attr attr;
		struct writer w = {0};
		for (size_t i = 0; i < size; i++)
			bytes[i] = is_reserved(i) ? 0 : (uint8_t)(i * 37 + 11);
		memcpy(bytes + 4, &size, sizeof(size));
		assert_int_equal(attr_from_bytes(bytes, &attr, NULL), TALLY_OK);
		attr_encode(&w, &attr);
		assert_int_equal(w.len, size);
		assert_memory_equal(w.data, bytes, size);
		writer_deinit(&w);
		free(bytes);
	}
}

static void newer_attrs_pass_while_their_new_fields_are_0(void **state)
{
	uint8_t bytes[256] = {0};
	struct perf_attr attr = {.config = 77};
	struct tally_error err;
	uint32_t size = sizeof(bytes);
	memcpy(bytes + 4, &size, sizeof(size));
	assert_int_equal(attr_from_bytes(bytes, &attr, &err), TALLY_OK);
	assert_int_equal(attr.size, ATTR_SIZE_KNOWN);
	bytes[200] = 1;
	attr.config = 77;
	assert_int_equal(attr_from_bytes(bytes, &attr, &err), TALLY_UNSUPPORTED);
	assert_int_equal(attr.config, 77);
}

static void sizes_that_are_none_are_refused(void **state)
{
	static const uint32_t sizes[] = {0, 8, 63, 65, 4104, UINT32_MAX};
	uint64_t bytes[8] = {0};
	struct perf_attr attr;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		memcpy((uint8_t *)bytes + 4, &sizes[i], sizeof(sizes[i]));
		assert_int_equal(attr_from_bytes(bytes, &attr, NULL), TALLY_INVALID);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_comes_through_at_every_size),
		cmocka_unit_test(newer_attrs_pass_while_their_new_fields_are_0),
		cmocka_unit_test(sizes_that_are_none_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
