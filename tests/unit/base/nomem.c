/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "base/vec.h"
#include "base/writer.h"
#include "failing_malloc.h"
#include "unit_test.h"

/* Returns whether all operations succeeded, and leaves nothing allocated either way. */
typedef bool (*job)(void);

static bool use_arena(void)
{
	struct arena a;
	arena_init(&a);
	bool ok = true;
	for (size_t i = 0; i < 100; i++)
		ok = arena_printf(&a, "%zu", i * 1000) && arena_alloc(&a, 200, 8) && ok;
	arena_deinit(&a);
	return ok;
}

static bool use_vec(void)
{
	VEC(int) v = {0};
	bool ok = true;
	for (int i = 0; i < 100; i++)
		ok = vec_push(&v, i) && ok;
	for (size_t i = 0; ok && i < v.len; i++)
		ok = v.items[i] == (int)i;
	vec_free(&v);
	return ok;
}

static bool use_intern(void)
{
	struct intern in;
	intern_init(&in);
	bool ok = true;
	uint32_t ids[500];
	for (int i = 0; i < 500; i++) {
		char text[20];
		size_t len = (size_t)snprintf(text, sizeof(text), "%d", i);
		ids[i] = INTERN_NONE;
		ok = intern_add(&in, text, len, &ids[i]) && ok;
	}
	/* Entries from before the failed allocation must remain. */
	for (int i = 0; i < 500; i++) {
		char text[20];
		size_t len = (size_t)snprintf(text, sizeof(text), "%d", i);
		if (intern_find(&in, text, len) != ids[i])
			fail_msg("%d is lost", i);
	}
	intern_deinit(&in);
	return ok;
}

static bool use_map(void)
{
	struct map_u64 m = {0};
	bool ok = true;
	size_t added = 0;
	for (uint64_t i = 0; i < 500; i++) {
		bool done = map_u64_set(&m, i, i);
		added += done;
		ok = ok && done;
	}
	assert_int_equal(m.len, added);
	map_u64_deinit(&m);
	return ok;
}

static bool use_text(void)
{
	struct text t = {0};
	for (int i = 0; i < 200; i++)
		text_printf(&t, "%d ", i);
	text_repeat(&t, 'x', 100);
	text_str(&t, "end");
	bool ok = !t.failed;
	text_deinit(&t);
	return ok;
}

static bool use_writer(void)
{
	struct writer w = {0};
	for (unsigned i = 0; i < 200; i++)
		writer_u64(&w, i);
	writer_zeros(&w, 100);
	writer_align(&w, 64);
	bool ok = !w.failed;
	writer_deinit(&w);
	return ok;
}

static bool use_diag(void)
{
	struct diag d;
	diag_init(&d);
	for (int i = 0; i < 50; i++)
		diag_add(&d, DIAG_NOTE, "%d", i);
	bool ok = d.dropped == 0;
	assert_int_equal(d.len + d.dropped, 50);
	diag_deinit(&d);
	return ok;
}

static bool use_file(void)
{
	char *data = NULL;
	size_t len = 0;
	struct tally_error err;
	if (file_read("/proc/self/maps", 1u << 20, &data, &len, &err) != TALLY_OK) {
		assert_int_equal(err.status, TALLY_NOMEM);
		assert_null(data);
		return false;
	}
	free(data);
	if (file_make_parents("/tmp/x", &err) != TALLY_OK) {
		assert_int_equal(err.status, TALLY_NOMEM);
		return false;
	}
	return true;
}

static void fail_at_every_allocation(void **state)
{
	static const job jobs[] = {use_arena, use_vec, use_intern, use_map, use_text, use_writer, use_diag, use_file};
	for (size_t j = 0; j < ARRAY_LEN(jobs); j++) {
		size_t nth = 0;
		for (bool ok = false; !ok; nth++) {
			failing_malloc_begin(nth);
			ok = jobs[j]();
			long held = failing_malloc_held();
			bool failed = failing_malloc_end();
			assert_int_equal(held, 0);
			assert_int_equal(ok, !failed);
			assert_true(nth < 1000);
		}
		assert_true(nth > 1);
	}
}

static void count_up(void *context, size_t index, unsigned worker)
{
	((unsigned char *)context)[index]++;
}

static void a_pool_works_without_memory(void **state)
{
	unsigned char times[100] = {0};
	failing_malloc_begin(0);
	thread_pool_for(100, 4, count_up, times);
	failing_malloc_end();
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(times[i], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_at_every_allocation),
		cmocka_unit_test(a_pool_works_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
