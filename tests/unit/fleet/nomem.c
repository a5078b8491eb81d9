/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "batch_example.h"
#include "failing_malloc.h"
#include "fleet/batch_pack.h"
#include "fleet/batch_queue.h"
#include "unit_test.h"

static struct text example; /* An encoded batch. */
static char folder[64];

static enum tally_status read_batch(void)
{
	struct fleet_batch *batch = NULL;
	enum tally_status status =
		fleet_batch_read((struct tally_bytes){(const uint8_t *)example.data, example.len}, &batch, NULL);
	fleet_batch_destroy(batch);
	return status;
}

static const struct fleet_batch *to_write;

static enum tally_status write_batch(void)
{
	struct text bytes = {0};
	enum tally_status status = fleet_batch_write(to_write, NULL, &bytes, NULL);
	if (status == TALLY_OK && bytes.len != example.len)
		fail_msg("%zu bytes", bytes.len);
	text_deinit(&bytes);
	return status;
}

static enum tally_status parse_query(void)
{
	struct label_query *query = NULL;
	enum tally_status status =
		label_query_parse(STR("a=\"b\" and not (c=~\"d\" or e!=\"f\" and g=\"h\")"), &query, NULL);
	label_query_destroy(query);
	return status;
}

static enum tally_status pack(void)
{
	struct text packed = {0}, raw = {0};
	enum tally_status status =
		fleet_batch_compress((struct tally_bytes){(const uint8_t *)example.data, example.len}, &packed, NULL);
	if (status == TALLY_OK)
		status = fleet_batch_decompress(
			(struct tally_bytes){(const uint8_t *)packed.data, packed.len}, 10000, &raw, NULL);
	text_deinit(&packed);
	text_deinit(&raw);
	return status;
}

/* fdopendir reports lack of memory like a system call. */
static enum tally_status use_queue(void)
{
	struct batch_queue *q;
	struct batch_queue_item item = {.id = {1}, .samples = 3};
	struct text bytes = {0};
	enum tally_status status = batch_queue_open(folder, &(struct batch_queue_limits){.max_bytes = 1000}, &q, NULL);
	if (status != TALLY_OK)
		return TALLY_NOMEM;
	status = batch_queue_add(q, &item, (struct tally_bytes){(const uint8_t *)"x", 1}, NULL);
	bool is_counted = batch_queue_pending(q).samples >= 3;
	if (is_counted != (status != TALLY_OK))
		fail_msg("a batch was lost, and was not counted");
	item.reported = batch_queue_pending(q);
	item.id[0]++;
	if (status == TALLY_OK)
		status = batch_queue_oldest(q, &item, &bytes, NULL);
	if (status == TALLY_OK)
		batch_queue_sent(q, item.id);
	batch_queue_close(q);
	text_deinit(&bytes);
	return status;
}

static void check_job(enum tally_status (*job)(void))
{
	bool has_failed = true;
	for (size_t n = 0; has_failed; n++) {
		assert_true(n < 10000);
		failing_malloc_begin(n);
		enum tally_status status = job();
		has_failed = failing_malloc_end();
		assert_int_equal(failing_malloc_held(), 0);
		assert_int_equal(status, has_failed ? TALLY_NOMEM : TALLY_OK);
	}
}

static void codec(void **state)
{
	check_job(read_batch);
	check_job(write_batch);
}

static void queries(void **state)
{
	check_job(parse_query);
}

static void compression(void **state)
{
	if (!fleet_batch_can_compress())
		skip_because("this build has no zstd");
	check_job(pack);
}

static void queues(void **state)
{
	char command[100];
	bool has_failed = true;
	for (size_t n = 0; has_failed; n++) {
		snprintf(folder, sizeof(folder), "/tmp/tally-queue-XXXXXX");
		assert_non_null(mkdtemp(folder));
		failing_malloc_begin(n);
		enum tally_status status = use_queue();
		has_failed = failing_malloc_end();
		assert_int_equal(failing_malloc_held(), 0);
		assert_int_equal(status, has_failed ? TALLY_NOMEM : TALLY_OK);
		snprintf(command, sizeof(command), "rm -rf %s", folder);
		assert_int_equal(system(command), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codec),
		cmocka_unit_test(queries),
		cmocka_unit_test(compression),
		cmocka_unit_test(queues),
	};
	struct fleet_batch *batch = batch_example();
	if (!batch || fleet_batch_write(batch, NULL, &example, NULL) != TALLY_OK)
		return 1;
	to_write = batch;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	fleet_batch_destroy(batch);
	text_deinit(&example);
	return failed;
}
