/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_counts.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

#define MODEL "valgrind=3.19.0 i1=32768,8,64" /* 32 bytes with its NUL and padding. */

struct stream {
	uint8_t bytes[1024];
	size_t len;
};

static void append(struct stream *s, const void *bytes, size_t len)
{
	assert_true(s->len + len <= sizeof(s->bytes));
	memcpy(s->bytes + s->len, bytes, len);
	s->len += len;
}

static void begin(struct stream *s, uint32_t pid, uint32_t image)
{
	char model[32] = MODEL;
	const struct sim_header header = {.magic = SIM_MAGIC,
		.version = SIM_VERSION,
		.size = sizeof(header) + sizeof(model),
		.pid = pid,
		.image = image,
		.kinds = SIM_KIND_BRANCHES};
	s->len = 0;
	append(s, &header, sizeof(header));
	append(s, model, sizeof(model));
}

static void append_counts(struct stream *s, const struct sim_count *counts, size_t count, uint16_t misc)
{
	struct sim_counts record = {
		.type = SIM_RECORD_COUNTS, .misc = misc, .size = (uint16_t)(16 + count * sizeof(*counts)), .time = 7};
	memcpy(record.counts, counts, count * sizeof(*counts));
	append(s, &record, record.size);
}

static void append_pair(struct stream *s, uint64_t instructions, uint64_t branches, uint16_t misc)
{
	const struct sim_count counts[] = {{SIM_INSTRUCTIONS, instructions}, {SIM_BRANCHES, branches}};
	append_counts(s, counts, 2, misc);
}

static enum tally_status decode(const struct stream *s, struct simulation_image *image, struct tally_error *err)
{
	return simulation_image_decode((struct tally_bytes){s->bytes, s->len}, image, err);
}

static void the_last_counts_hold(void **state)
{
	struct stream s;
	struct simulation_image image;
	struct tally_error err;
	const uint32_t other[] = {9, 16u << 16, 1, 2};
	begin(&s, 17, 2);
	append_pair(&s, 100, 20, 0);
	append(&s, other, sizeof(other)); /* A record of another type. */
	append_pair(&s, 200, 30, SIM_COUNTS_FINAL);
	assert_int_equal(decode(&s, &image, &err), TALLY_OK);
	assert_int_equal(image.pid, 17);
	assert_int_equal(image.number, 2);
	assert_true(str_equal(image.model, STR(MODEL)));
	assert_int_equal(image.values[SIM_INSTRUCTIONS], 200);
	assert_int_equal(image.values[SIM_BRANCHES], 30);
	assert_true(image.is_final);
	assert_true(image.is_counted[SIM_BRANCHES]);
	assert_false(image.is_counted[SIM_L1D_LOADS]);
}

static void a_record_that_is_cut_short_is_ignored(void **state)
{
	struct stream s;
	struct simulation_image image;
	struct tally_error err;
	begin(&s, 17, 0);
	append_pair(&s, 100, 20, 0);
	append_pair(&s, 200, 30, SIM_COUNTS_FINAL);
	s.len -= 3;
	assert_int_equal(decode(&s, &image, &err), TALLY_OK);
	assert_int_equal(image.values[SIM_INSTRUCTIONS], 100);
	assert_false(image.is_final);
}

static void expect_corrupt(const struct stream *s, const char *words)
{
	struct simulation_image image;
	struct tally_error err;
	assert_int_equal(decode(s, &image, &err), TALLY_CORRUPT);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
}

static void damaged_streams_are_refused(void **state)
{
	struct stream s;
	const struct sim_count unknown = {SIM_EVENT_COUNT, 1}, twice[] = {{SIM_BRANCHES, 1}, {SIM_BRANCHES, 2}};
	const uint32_t tiny[] = {9, 4u << 16};
	begin(&s, 1, 0);
	s.len = sizeof(struct sim_header) - 1;
	expect_corrupt(&s, "shorter than a header");
	begin(&s, 1, 0);
	s.bytes[0] = 'X';
	expect_corrupt(&s, "does not begin");
	begin(&s, 1, 0);
	s.bytes[8] = 77;
	expect_corrupt(&s, "different builds");
	begin(&s, 1, 0);
	s.bytes[12]++;
	expect_corrupt(&s, "size of its header");
	begin(&s, 1, 0);
	s.len -= 8;
	expect_corrupt(&s, "size of its header");
	begin(&s, 1, 0);
	memset(s.bytes + sizeof(struct sim_header), 'm', 32);
	expect_corrupt(&s, "model has no end");
	begin(&s, 1, 0);
	append_counts(&s, &unknown, 1, 0);
	expect_corrupt(&s, "not known");
	begin(&s, 1, 0);
	append_counts(&s, twice, 2, 0);
	expect_corrupt(&s, "twice");
	begin(&s, 1, 0);
	append(&s, tiny, sizeof(tiny));
	expect_corrupt(&s, "shorter than its header");
}

static void write_stream(const char *folder, const char *name, const struct stream *s)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(s->bytes, 1, s->len, file), s->len);
	fclose(file);
}

static void remove_stream(const char *folder, const char *name)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

static void all_images_are_added_up(void **state)
{
	static const char *const names[] = {"17.0", "17.1", "18.0", "19.0", "messages.17"};
	struct simulation_counts counts;
	struct tally_error err;
	struct stream s;
	struct diag notes;
	char folder[64];
	snprintf(folder, sizeof(folder), "/tmp/tally-counts-%d", (int)getpid());
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(simulation_counts_read(folder, 0, &counts, &err), TALLY_NOT_FOUND);
	begin(&s, 17, 0);
	append_pair(&s, 100, 20, SIM_COUNTS_FINAL);
	write_stream(folder, names[0], &s);
	begin(&s, 17, 1);
	append_pair(&s, 1000, 200, SIM_COUNTS_FINAL);
	write_stream(folder, names[1], &s);
	begin(&s, 18, 0);
	append_pair(&s, UINT64_MAX, 2000, 0);
	write_stream(folder, names[2], &s);
	write_stream(folder, names[3], &s); /* The file of another process. */
	write_stream(folder, names[4], &s); /* Not a stream. */
	assert_int_equal(simulation_counts_read(folder, 0, &counts, &err), TALLY_OK);
	assert_int_equal(counts.images, 3);
	assert_int_equal(counts.processes, 2);
	assert_int_equal(counts.unfinished, 1);
	assert_int_equal(counts.damaged, 1);
	assert_string_equal(counts.model, MODEL);
	assert_true(counts.values[SIM_INSTRUCTIONS] == UINT64_MAX);
	assert_int_equal(counts.values[SIM_BRANCHES], 2220);
	assert_true(counts.is_counted[SIM_BRANCHES]);
	assert_false(counts.is_counted[SIM_L1D_LOADS]);
	diag_init(&notes);
	simulation_counts_note(&counts, &notes);
	assert_int_equal(notes.len, 2);
	assert_string_equal(notes.entries[1].text,
		"the counts of 1 of 4 process images cannot be read: '19.0': it is the stream of another process");
	diag_deinit(&notes);
	assert_int_equal(simulation_counts_read(folder, 17, &counts, &err), TALLY_OK);
	assert_int_equal(counts.values[SIM_INSTRUCTIONS], 1100);
	assert_int_equal(counts.toggles_ran, 0);
	/* Any image can report which functions of --toggle ran; one that never wrote counts has nothing to show. */
	begin(&s, 17, 1);
	append_pair(&s, 1000, 200, SIM_COUNTS_FINAL | SIM_COUNTS_TOGGLE(1));
	write_stream(folder, names[1], &s);
	begin(&s, 20, 0);
	write_stream(folder, "20.0", &s);
	assert_int_equal(simulation_counts_read(folder, 17, &counts, &err), TALLY_OK);
	assert_int_equal(counts.toggles_ran, 2);
	assert_int_equal(counts.unfinished, 0);
	diag_init(&notes);
	simulation_counts_note_nothing(&counts, (const char *const[]){"a", "b"}, 2, false, &notes);
	assert_int_equal(notes.len, 1);
	assert_non_null(strstr(notes.entries[0].text, "names as 'a' has run"));
	diag_deinit(&notes);
	assert_int_equal(simulation_counts_read(folder, 20, &counts, &err), TALLY_OK);
	assert_false(counts.is_counted[SIM_INSTRUCTIONS]);
	remove_stream(folder, "20.0");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		remove_stream(folder, names[i]);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_counts_hold),
		cmocka_unit_test(a_record_that_is_cut_short_is_ignored),
		cmocka_unit_test(damaged_streams_are_refused),
		cmocka_unit_test(all_images_are_added_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
