/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "perfdata/time_order.h"
#include "unit_test.h"

/* Returns the directory of recordings from many kernels, tools and machines, which are not in the source tree. */
static const char *corpus_dir(void)
{
	static char path[4096];
	const char *data = getenv("TALLY_TEST_DATA");
	if (!data)
		skip_because("TALLY_TEST_DATA is not set");
	snprintf(path, sizeof(path), "%s/corpus", data);
	return path;
}

enum column { FILE_NAME = 1, RECORDS_BY_TYPE = 15, VERDICT_61 = 16, VERDICT_73 = 17, COLUMNS };

static void split(struct tally_str line, struct tally_str columns[COLUMNS])
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (!str_next(&line, '\t', &columns[i]))
			columns[i] = (struct tally_str){"", 0};
}

#define LISTED_TYPES 14 /* The list has only the most frequent types. */

/* Finds a count in "SAMPLE:26,MMAP2:8", most frequent first. Returns false if the list does not determine it. */
static bool expected_count(struct tally_str counts, const char *name, uint64_t *count)
{
	struct tally_str part, type;
	size_t listed = 0;
	*count = 0;
	for (; str_next(&counts, ',', &part); listed++)
		if (str_next(&part, ':', &type) && str_equal(type, str_from(name)))
			return str_to_u64(part, 10, count);
	return listed < LISTED_TYPES;
}

/* Counts of types below 128; unnamed ones belong to other tools. */
struct counts {
	uint64_t by_type[128];
};

static enum tally_status count_records(struct perfdata_reader *r, struct counts *counts, struct tally_error *err)
{
	struct record record;
	struct record_fields fields;
	struct sample sample;
	enum tally_status status;
	while ((status = perfdata_reader_next(r, &record, err)) == TALLY_OK) {
		if (record.type < 128)
			counts->by_type[record.type]++;
		const struct perfdata_event *event = perfdata_reader_event_of(r, &record);
		if (record.type == RECORD_SAMPLE && event)
			(void)!sample_decode(&event->layout, &record, &sample, NULL);
		else
			(void)!record_decode(&record, &fields, NULL);
	}
	return status;
}

static size_t order_records(struct perfdata_reader *r)
{
	struct time_order *order;
	struct time_order_item item;
	size_t count = 0;
	perfdata_reader_rewind(r);
	assert_int_equal(time_order_create(r, &order, NULL), TALLY_OK);
	while (time_order_next(order, &item, NULL) == TALLY_OK)
		count++;
	time_order_destroy(order);
	return count;
}

/* Returns the number of types that differ from the list. */
static unsigned differing_types(const struct counts *counts, struct tally_str expected, struct tally_str name)
{
	unsigned differing = 0;
	for (uint32_t type = 0; type < 128; type++) {
		const char *type_name = record_type_name(type);
		if (!type_name || type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2)
			continue; /* Compressed records are replaced by their contents. */
		const char *listed = type == RECORD_HEADER_ATTR ? "HEADER_ATTR" : type_name;
		uint64_t want;
		if (!expected_count(expected, listed, &want) || counts->by_type[type] == want)
			continue;
		print_message("%.*s: %s: %llu records, the list says %llu\n", (int)name.len, name.data, listed,
			(unsigned long long)counts->by_type[type], (unsigned long long)want);
		differing++;
	}
	return differing;
}

static void test_every_recording(void **state)
{
	char path[8192];
	char *manifest;
	size_t len;
	snprintf(path, sizeof(path), "%s/MANIFEST.tsv", corpus_dir());
	if (!file_exists(path))
		skip_because("TALLY_TEST_DATA/corpus is absent");
	assert_int_equal(file_read(path, 1 << 20, &manifest, &len, NULL), TALLY_OK);
	struct tally_str rest = {manifest, len}, line, columns[COLUMNS];
	unsigned files = 0, refused = 0, differing = 0;
	(void)str_next(&rest, '\n', &line);
	while (str_next(&rest, '\n', &line)) {
		split(line, columns);
		if (columns[FILE_NAME].len == 0)
			continue;
		struct perfdata_reader *r;
		struct tally_error err;
		struct counts counts = {0};
		bool is_good = str_equal(columns[VERDICT_61], STR("ok")) || str_equal(columns[VERDICT_73], STR("ok"));
		snprintf(path, sizeof(path), "%s/files/%.*s", corpus_dir(), (int)columns[FILE_NAME].len,
			columns[FILE_NAME].data);
		files++;
		if (perfdata_reader_open(path, &r, &err) != TALLY_OK) {
			print_message("%s: %s\n", path, err.text);
			refused += is_good;
			continue;
		}
		(void)!count_records(r, &counts, &err);
		differing += differing_types(&counts, columns[RECORDS_BY_TYPE], columns[FILE_NAME]);
		assert_true(order_records(r) >= perfdata_reader_health(r)->samples);
		perfdata_reader_destroy(r);
	}
	assert_int_equal(files, 64);
	assert_int_equal(refused, 0);
	assert_int_equal(differing, 0);
	free(manifest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_recording)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
