#include "unit_test.h"

#include "base/spool.h"

#include <stdlib.h>

static const size_t block = 100003; /* no divisor of a step */

static void put_blocks(struct spool *s, unsigned from, unsigned count)
{
	uint8_t *bytes = malloc(block);
	assert_non_null(bytes);
	for (unsigned i = from; i < from + count; i++) {
		memset(bytes, (int)(i & 0xff), block);
		assert_true(spool_append(s, bytes, block));
	}
	free(bytes);
}

static void check_blocks(const struct spool *s, unsigned from, unsigned count)
{
	for (unsigned i = from; i < from + count; i++) {
		const uint8_t *bytes = spool_view(s).data + i * block;
		assert_int_equal(bytes[0], i & 0xff);
		assert_int_equal(bytes[block - 1], i & 0xff);
	}
}

static void test_bytes_stay_where_they_are(void **state)
{
	struct spool s;
	spool_init(&s);
	assert_int_equal(spool_view(&s).len, 0);
	assert_true(spool_append(&s, "abc", 3));
	const uint8_t *first = spool_view(&s).data;
	uint8_t *room = spool_reserve(&s, 1000);
	assert_non_null(room);
	memcpy(room, "defg", 4);
	spool_commit(&s, 2);
	spool_deinit(&s);
	spool_init(&s);
	put_blocks(&s, 0, 1);
	first = spool_view(&s).data;
	put_blocks(&s, 1, 250);
	assert_ptr_equal(first, spool_view(&s).data);
	assert_int_equal(spool_view(&s).len, 251 * block);
	assert_true(s.fd >= 0); /* beyond the first step it is a file */
	check_blocks(&s, 0, 251);
	spool_deinit(&s);
}

static void test_without_a_folder_memory_is_taken(void **state)
{
	struct spool s;
	const char *before = getenv("TMPDIR");
	char *kept = before ? strdup(before) : NULL;
	setenv("TMPDIR", "/nonexistent", 1);
	spool_init(&s);
	put_blocks(&s, 0, 40);
	assert_int_equal(s.fd, -1);
	check_blocks(&s, 0, 40);
	spool_deinit(&s);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
}

static void test_what_is_forgotten_leaves_the_rest(void **state)
{
	for (int is_passing = 0; is_passing < 2; is_passing++) {
		struct spool s;
		spool_init(&s);
		if (is_passing)
			spool_pass(&s);
		put_blocks(&s, 0, 100);
		spool_forget(&s, 60 * block);
		spool_forget(&s, 10 * block); /* backwards: nothing */
		spool_forget(&s, 1000 * block); /* more than came: nothing */
		assert_true(s.forgotten > 50 * block && s.forgotten <= 60 * block);
		check_blocks(&s, 60, 40);
		put_blocks(&s, 100, 100);
		check_blocks(&s, 60, 140);
		assert_int_equal(s.fd >= 0, !is_passing);
		spool_deinit(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_stay_where_they_are),
		cmocka_unit_test(test_without_a_folder_memory_is_taken),
		cmocka_unit_test(test_what_is_forgotten_leaves_the_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
