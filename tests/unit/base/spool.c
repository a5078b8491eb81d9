#include "unit_test.h"

#include "base/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Bytes that this process has of it in memory. */
static size_t resident(const struct spool *s)
{
	size_t pages = 0, page = (size_t)sysconf(_SC_PAGESIZE);
	FILE *maps = fopen("/proc/self/smaps", "re");
	char line[512];
	assert_non_null(maps);
	for (bool is_in = false; fgets(line, sizeof(line), maps);) {
		unsigned long begin, end, kb;
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			is_in = begin >= (uintptr_t)s->base && end <= (uintptr_t)s->base + s->backed;
		else if (is_in && sscanf(line, "Rss: %lu kB", &kb) == 1)
			pages += kb * 1024 / page;
	}
	fclose(maps);
	return pages * page;
}

static void test_growing_and_dropping_bound_memory(void **state)
{
	struct spool s;
	spool_init(&s);
	put_blocks(&s, 0, 1500);
	assert_in_range(resident(&s), 1, 50 << 20); /* of 150 MB */
	check_blocks(&s, 0, 1500);
	spool_drop(&s, spool_view(&s));
	assert_in_range(resident(&s), 1, 3 << 20);
	check_blocks(&s, 0, 1500);
	spool_deinit(&s);
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
		cmocka_unit_test(test_growing_and_dropping_bound_memory),
		cmocka_unit_test(test_what_is_forgotten_leaves_the_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
