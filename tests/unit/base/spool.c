/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit_test.h"

static const size_t block = 100003; /* Not a divisor of the growth step. */

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
	assert_int_equal(s.fd, -1); /* 25 MB are held in memory. */
	put_blocks(&s, 251, 250);
	assert_ptr_equal(first, spool_view(&s).data);
	assert_int_equal(spool_view(&s).len, 501 * block);
	assert_true(s.fd >= 0); /* A large spool is in a file. */
	check_blocks(&s, 0, 501);
	spool_deinit(&s);
}

/* With few addresses left (RLIMIT_AS), several spools reserve only what they need, and grow in place. */
static void test_few_addresses_are_enough_for_several(void **state)
{
	struct spool spools[4];
	struct rlimit before, tight;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	FILE *status = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;
	if (!status || fscanf(status, "%lu", &pages) != 1)
		skip_because("/proc/self/statm is not readable");
	fclose(status);
	tight = (struct rlimit){pages * (rlim_t)sysconf(_SC_PAGESIZE) + (160u << 20), before.rlim_max};
	if (tight.rlim_cur > (rlim_t)1 << 40)
		skip_because("a sanitizer takes all addresses");
	assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
	for (size_t i = 0; i < 4; i++)
		spool_init(&spools[i]);
	for (unsigned round = 0; round < 4; round++)
		for (size_t i = 0; i < 4; i++)
			put_blocks(&spools[i], 50 * round, 50); /* 20 MB each in the end. */
	for (size_t i = 0; i < 4; i++) {
		check_blocks(&spools[i], 0, 200);
		assert_true(spools[i].reserved < (size_t)32 << 20);
	}
	/* A larger reservation fails, and the contents remain. */
	assert_null(spool_reserve(&spools[0], (size_t)1 << 30));
	check_blocks(&spools[0], 0, 200);
	for (size_t i = 0; i < 4; i++)
		spool_deinit(&spools[i]);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

/* Returns the bytes of the spool that are resident in memory. */
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

static void test_without_a_folder_memory_is_taken(void **state)
{
	struct spool s;
	const char *before = getenv("TMPDIR");
	char *kept = before ? strdup(before) : NULL;
	setenv("TMPDIR", "/nonexistent", 1);
	spool_init(&s);
	put_blocks(&s, 0, 400);
	assert_int_equal(s.fd, -1);
	check_blocks(&s, 0, 400);
	/* When a directory becomes available late, all but the first step moves to a file, at the same addresses. */
	setenv("TMPDIR", "/tmp", 1);
	const uint8_t *first = spool_view(&s).data;
	put_blocks(&s, 400, 400);
	assert_true(s.fd >= 0);
	assert_ptr_equal(first, spool_view(&s).data);
	spool_drop(&s, spool_view(&s));
	assert_in_range(resident(&s), 1, 3 << 20);
	check_blocks(&s, 0, 800);
	spool_deinit(&s);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
}

static void test_growing_and_dropping_bound_memory(void **state)
{
	struct spool s;
	spool_init(&s);
	put_blocks(&s, 0, 1500);
	assert_in_range(resident(&s), 1, 50 << 20); /* Of 150 MB. */
	check_blocks(&s, 0, 1500);
	struct tally_bytes behind = {s.base + s.backed, (size_t)8 << 20}, whole = spool_view(&s);
	size_t before = resident(&s);
	spool_drop(&s, behind); /* The range is outside the spool. */
	assert_int_equal(resident(&s), before);
	spool_drop(&s, whole);
	assert_in_range(resident(&s), 1, 3 << 20);
	check_blocks(&s, 0, 1500);
	spool_deinit(&s);
}

/* Tests each length around the one at which a file is created. */
static void test_what_is_in_memory_goes_to_the_file_whole(void **state)
{
	for (size_t bytes = SPOOL_MEMORY_BYTES - 2; bytes < SPOOL_MEMORY_BYTES + 3; bytes++) {
		struct spool s;
		spool_init(&s);
		for (size_t i = 0; i < bytes; i += 1 << 12) {
			size_t len = bytes - i < 1 << 12 ? bytes - i : 1 << 12;
			uint8_t *room = spool_reserve(&s, len);
			assert_non_null(room);
			memset(room, (int)(i >> 12 & 0xff), len);
			spool_commit(&s, len);
		}
		assert_int_equal(s.fd >= 0, bytes > SPOOL_MEMORY_BYTES);
		spool_drop(&s, spool_view(&s)); /* Without a file, nothing may be dropped. */
		for (size_t i = 0; i < bytes; i++)
			if (spool_view(&s).data[i] != (i >> 12 & 0xff))
				fail_msg("byte %zu of %zu", i, bytes);
		spool_deinit(&s);
	}
}

/* Reserved bytes that were written, but not yet committed, remain. */
static void test_room_is_kept(void **state)
{
	struct spool s;
	spool_init(&s);
	uint8_t *room = spool_reserve(&s, 20 << 20);
	assert_non_null(room);
	memset(room, 7, 20 << 20);
	assert_ptr_equal(spool_reserve(&s, 60 << 20), room);
	assert_true(s.fd >= 0);
	spool_drop(&s, (struct tally_bytes){room, 60 << 20});
	spool_commit(&s, 20 << 20);
	for (size_t i = 0; i < 20 << 20; i += 4096)
		assert_int_equal(spool_view(&s).data[i], 7);
	spool_deinit(&s);
}

static void test_what_will_be_long_is_a_file_at_once(void **state)
{
	struct spool s;
	spool_init(&s);
	spool_expect(&s, SPOOL_MEMORY_BYTES);
	put_blocks(&s, 0, 29);
	assert_int_equal(s.fd, -1);
	spool_deinit(&s);
	spool_expect(&s, SPOOL_MEMORY_BYTES + 1);
	put_blocks(&s, 0, 9);
	assert_int_equal(s.fd, -1); /* The first step is always in memory. */
	put_blocks(&s, 9, 20);
	assert_true(s.fd >= 0);
	check_blocks(&s, 0, 29);
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
		spool_forget(&s, 10 * block); /* Earlier offsets have no effect. */
		spool_forget(&s, 1000 * block); /* Offsets beyond the end have no effect. */
		assert_true(s.forgotten > 50 * block && s.forgotten <= 60 * block);
		check_blocks(&s, 60, 40);
		assert_int_equal(s.fd, -1);
		put_blocks(&s, 100, 400);
		check_blocks(&s, 60, 440);
		assert_int_equal(s.fd >= 0, !is_passing);
		spool_forget(&s, 450 * block);
		put_blocks(&s, 500, 200);
		check_blocks(&s, 450, 250);
		spool_deinit(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_stay_where_they_are),
		cmocka_unit_test(test_few_addresses_are_enough_for_several),
		cmocka_unit_test(test_without_a_folder_memory_is_taken),
		cmocka_unit_test(test_growing_and_dropping_bound_memory),
		cmocka_unit_test(test_what_is_in_memory_goes_to_the_file_whole),
		cmocka_unit_test(test_room_is_kept),
		cmocka_unit_test(test_what_will_be_long_is_a_file_at_once),
		cmocka_unit_test(test_what_is_forgotten_leaves_the_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
