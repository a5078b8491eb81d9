/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "profile/profile_builder.h"
#include "profile_text.h"
#include "unit_test.h"

static const enum profile_key by_symbol[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
static const enum profile_key by_comm[] = {KEY_COMM};
static const enum profile_key children_first[] = {KEY_OVERHEAD_CHILDREN, KEY_OVERHEAD, KEY_COMM, KEY_DSO, KEY_SYMBOL};

static void print_row(struct text *out, const struct flat_table *t, uint32_t row)
{
	const struct profile *p = t->profile;
	const struct flat_row *r = &t->rows[row];
	const struct profile_frame *frame = &p->frames[r->frame];
	text_printf(out, "%s ", profile_string(p, p->threads[r->thread].comm).data);
	if (frame->function != PROFILE_NONE)
		text_str(out, profile_string(p, p->functions[frame->function].name).data);
	else
		text_printf(out, "%lx", r->address);
	for (uint32_t m = 0; m < t->options.member_count; m++) {
		const struct flat_stat *stat = flat_table_stat(t, row, m);
		text_printf(out, " %lu/%lu/%lu", stat->children_period, stat->period, stat->count);
	}
	text_printf(out, " %c%u\n", r->level, r->max_depth);
}

/* Compares the rows as text: comm, symbol, children/self/samples of each member, level and depth. */
static void assert_rows_of(struct profile *p, struct flat_options options, const char *expected)
{
	struct flat_table table;
	struct tally_error err;
	struct text out = {0};
	if (!options.keys) {
		options.keys = by_symbol;
		options.key_count = 3;
	}
	if (!options.member_count)
		options.member_count = 1;
	assert_int_equal(flat_table_init(&table, p, &options, &err), TALLY_OK);
	assert_int_equal(flat_table_sort(&table, children_first, 5, &err), TALLY_OK);
	for (size_t i = 0; i < table.shown_count; i++)
		print_row(&out, &table, table.order[i]);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
	flat_table_deinit(&table);
	profile_destroy(p);
}

static void assert_rows(const char *profile, struct flat_options options, const char *expected)
{
	assert_rows_of(profile_from_text(profile), options, expected);
}

static void self_sums_and_order(void **state)
{
	assert_rows("event c\n"
		    "b 1/1 0 0 5 f@x\nb 1/1 0 0 5 f@x\na 2/2 0 0 10 g@x\na 2/2 0 0 10 f@x\na 2/2 0 0 30 f@y\n",
		(struct flat_options){0},
		"a f 30/30/1 .0\n"
		"a f 10/10/1 .0\n"
		"a g 10/10/1 .0\n"
		"b f 10/10/2 .0\n");
}

static void recursion_counts_once(void **state)
{
	assert_rows("event c\na 1/1 0 0 10 main@x;f@x;g@x;f@x;f@x\na 1/1 0 0 1 main@x;g@x\n",
		(struct flat_options){.with_children = true, .with_chains = true, .is_caller_first = true},
		"a main 11/0/0 .5\n"
		"a g 11/1/1 .3\n"
		"a f 10/10/1 .5\n");
}

static void callers_stand_above_callees_of_equal_weight(void **state)
{
	static const char text[] = "event c\na 1/1 0 0 10 zz@x;mm@x;aa@x;\n";
	assert_rows(text, (struct flat_options){.with_children = true, .with_chains = true, .is_caller_first = true},
		"a aa 10/10/1 .3\na zz 10/0/0 .3\na mm 10/0/0 .2\n");
	assert_rows(text, (struct flat_options){.with_children = true, .is_caller_first = true},
		"a aa 10/10/1 .3\na mm 10/0/0 .2\na zz 10/0/0 .3\n");
}

static void frames_without_symbol_go_by_address(void **state)
{
	assert_rows("event c\na 1/1 0 0 1 0x30@x;0x20@x\na 1/1 0 0 1 0x20@x;\na 1/1 0 0 1 0x77;f@x\n",
		(struct flat_options){.with_children = true},
		"a 20 2/2/2 .2\n"
		"a 7f0000000020 2/0/0 .2\n"
		"a f 1/1/1 .2\n"
		"a 7f0000000030 1/0/0 .1\n"
		"a 77 1/0/0 .1\n");
}

static void unmapped_frames_show_the_level_before_them(void **state)
{
	assert_rows("event c\na 1/1 0 0 1 0x77;f@x;g@[k]\n",
		(struct flat_options){.with_children = true, .is_caller_first = true},
		"a g 1/1/1 k3\na f 1/0/0 .2\na 77 1/0/0 k3\n");
}

static void keys_decide_what_merges(void **state)
{
	assert_rows("event c\na 1/1 0 0 1 f@x\na 1/2 0 0 1 g@x\nb 3/3 0 0 1 g@y\n",
		(struct flat_options){.keys = by_comm, .key_count = 1}, "a f 2/2/2 .0\nb g 1/1/1 .0\n");
}

static void members_stand_side_by_side(void **state)
{
	assert_rows("group c d\na 1/1 0 0 1 f@x\na 1/1 0 1 5 g@x\na 1/1 0 1 2 f@x\n",
		(struct flat_options){.member_count = 2}, "a f 1/1/1 2/2/1 .0\na g 0/0/0 5/5/1 .0\n");
}

static void bounds_of_chains(void **state)
{
	static const char text[] = "event c\na 1/1 0 0 1 main@x;f@x;0x5@x;g@x\n";
	assert_rows(text, (struct flat_options){.with_children = true, .max_stack = 2, .is_caller_first = true},
		"a g 1/1/1 .2\na f 1/0/0 .1\na main 1/0/0 .2\n");
	assert_rows(text, (struct flat_options){.with_children = true, .max_stack = 2},
		"a g 1/1/1 .2\na 7f0000000005 1/0/0 .1\n");
	assert_rows(text, (struct flat_options){.with_children = true, .hides_unresolved = true},
		"a g 1/1/1 .3\na f 1/0/0 .2\na main 1/0/0 .1\n");
}

/* Callers from a stack dump have the same depth limit as the kernel part of the chain. */
static void kernels_have_a_bound_of_their_own(void **state)
{
	static const char text[] = "event c\na 1/1 0 0 1 main@x;f@x;g@x;sys@[k];read@[k];copy@[k]\n";
	/* The kernel part is counted from the beginning of the chain; user callers are found one by one from the
	 * innermost. */
	static const char *const rows[] = {"a copy 1/1/1 k4\na read 1/0/0 k3\na f 1/0/0 .1\na g 1/0/0 .2\n",
		"a copy 1/1/1 k4\na read 1/0/0 k1\na sys 1/0/0 k2\na f 1/0/0 .4\na g 1/0/0 .3\n"};
	for (unsigned is_caller_first = 0; is_caller_first < 2; is_caller_first++) {
		struct profile *p = profile_from_text(text);
		p->events[0].has_copied_stacks = true;
		assert_rows_of(p,
			(struct flat_options){
				.with_children = true, .max_stack = 2, .is_caller_first = is_caller_first},
			rows[is_caller_first]);
	}
	assert_rows(text, (struct flat_options){.with_children = true, .max_stack = 2},
		"a copy 1/1/1 k2\na read 1/0/0 k1\n");
}

static void filters_keep_totals(void **state)
{
	struct profile *p = profile_from_text("event c\na 1/1 0 0 1 m@x;f@x\nb 2/2 1 0 5 m@x;g@x\n");
	struct profile_filter filter;
	struct flat_table table;
	struct tally_error err;
	static const bool cpus[] = {true, false};
	assert_int_equal(profile_filter_init(&filter, p, &(struct profile_filter_lists){.comms = "b"}, &err), TALLY_OK);
	struct flat_options options = {.keys = by_comm, .key_count = 1, .member_count = 1, .filter = &filter};
	assert_int_equal(flat_table_init(&table, p, &options, &err), TALLY_OK);
	assert_int_equal(table.row_count, 1);
	assert_int_equal(table.totals[0].period, 6);
	assert_int_equal(table.totals[0].count, 2);
	assert_int_equal(table.totals[0].passed_period, 5);
	assert_int_equal(table.totals[0].passed_count, 1);
	flat_table_deinit(&table);
	options.filter = NULL;
	options.cpu_passes = cpus;
	options.cpu_limit = 2;
	assert_int_equal(flat_table_init(&table, p, &options, &err), TALLY_OK);
	assert_int_equal(table.totals[0].period, 1);
	flat_table_deinit(&table);
	profile_filter_deinit(&filter);
	profile_destroy(p);
}

static void parents_group_by_their_caller(void **state)
{
	static const char text[] = "event c\na 1/1 0 0 5 main@x;sys_read@x;f@x\na 1/1 0 0 3 main@x;sys_open@x;f@x\n"
				   "a 1/1 0 0 1 main@x;f@x\n";
	static const enum profile_key by_parent[] = {KEY_PARENT};
	struct profile *p = profile_from_text(text);
	struct profile_filter filter;
	struct flat_table table;
	struct tally_error err;
	struct profile_filter_lists lists = {.parent = "^sys_"};
	struct flat_options options = {.keys = by_parent, .key_count = 1, .member_count = 1, .filter = &filter};
	assert_int_equal(profile_filter_init(&filter, p, &lists, &err), TALLY_OK);
	assert_int_equal(flat_table_init(&table, p, &options, &err), TALLY_OK);
	assert_int_equal(flat_table_sort(&table, by_parent, 1, &err), TALLY_OK);
	assert_int_equal(table.shown_count, 3);
	static const char *const names[] = {"sys_open", "sys_read"};
	static const uint64_t periods[] = {3, 5, 1};
	for (size_t i = 0; i < 3; i++) {
		const struct flat_row *row = &table.rows[table.order[i]];
		assert_int_equal(flat_table_stat(&table, table.order[i], 0)->period, periods[i]);
		if (i < 2)
			assert_string_equal(profile_string(p, p->functions[row->parent].name).data, names[i]);
		else
			assert_int_equal(row->parent, PROFILE_NONE);
	}
	flat_table_deinit(&table);
	filter.excludes_other = true;
	assert_int_equal(flat_table_init(&table, p, &options, &err), TALLY_OK);
	assert_int_equal(table.shown_count, 2);
	assert_int_equal(table.totals[0].passed_period, 8);
	assert_int_equal(table.totals[0].period, 9);
	flat_table_deinit(&table);
	profile_filter_deinit(&filter);
	lists.parent = "(";
	assert_int_equal(profile_filter_init(&filter, p, &lists, &err), TALLY_INVALID);
	profile_destroy(p);
}

/* In chain order (innermost first), the last such function becomes the leaf, and its callees are dropped. */
static void callees_are_ignored(void **state)
{
	static const char text[] = "event c\na 1/1 0 0 5 main@x;work@x;f@x\na 1/1 0 0 3 main@x;work@x;work@x;g@x\n"
				   "a 1/1 0 0 2 main@x;g@x\na 1/1 0 0 1 work@x\n";
	struct profile *p = profile_from_text(text);
	struct profile_filter filter;
	struct tally_error err;
	struct profile_filter_lists lists = {.ignored_callees = "^wo.k$"};
	assert_int_equal(profile_filter_init(&filter, p, &lists, &err), TALLY_OK);
	assert_rows(
		text, (struct flat_options){.filter = &filter, .with_chains = true}, "a work 9/9/3 .2\na g 2/2/1 .2\n");
	profile_filter_deinit(&filter);
	lists.ignored_callees = "[";
	assert_int_equal(profile_filter_init(&filter, p, &lists, &err), TALLY_INVALID);
	profile_destroy(p);
}

static void lines_and_files_group_and_sort(void **state)
{
	static const char text[] = "event c\na 1/1 0 0 5 main@x#b.c:1;f@x#a.c:20\na 1/1 0 0 3 main@x#b.c:1;f@x#a.c:3\n"
				   "a 1/1 0 0 2 main@x#b.c:2;g@x#a.c:3\n";
	static const struct {
		enum profile_key key;
		const char *rows[4];
	} cases[] = {{KEY_SRCLINE, {"a.c:20 5", "a.c:3 5", "b.c:1 8", "b.c:2 2"}}, {KEY_SRCFILE, {"a.c 10", "b.c 10"}}};
	struct profile *p = profile_from_text(text);
	for (size_t i = 0; i < 2; i++) {
		struct flat_options options = {
			.keys = &cases[i].key, .key_count = 1, .member_count = 1, .with_children = true};
		struct flat_table table;
		assert_int_equal(flat_table_init(&table, p, &options, NULL), TALLY_OK);
		assert_int_equal(flat_table_sort(&table, &cases[i].key, 1, NULL), TALLY_OK);
		assert_int_equal(table.shown_count, i == 0 ? 4 : 2);
		for (size_t row = 0; row < table.shown_count; row++) {
			const struct profile_place *place = &table.rows[table.order[row]].place;
			char shown[40];
			snprintf(shown, sizeof(shown), "%s %lu",
				profile_string(p, i == 0 ? place->line : place->file).data,
				flat_table_stat(&table, table.order[row], 0)->children_period);
			assert_string_equal(shown, cases[i].rows[row]);
		}
		flat_table_deinit(&table);
	}
	profile_destroy(p);
}

static void no_samples_and_no_such_event(void **state)
{
	struct profile *p = profile_from_text("event c\n");
	struct flat_table table;
	struct tally_error err;
	struct flat_options options = {.keys = by_symbol, .key_count = 3, .member_count = 1};
	assert_int_equal(flat_table_init(&table, p, &options, &err), TALLY_OK);
	assert_int_equal(table.shown_count, 0);
	assert_int_equal(flat_table_sort(&table, children_first, 5, &err), TALLY_OK);
	flat_table_deinit(&table);
	options.first_event = 1;
	assert_int_equal(flat_table_init(&table, p, &options, &err), TALLY_INVALID);
	options.first_event = 0;
	options.member_count = 0;
	assert_int_equal(flat_table_init(&table, p, &options, &err), TALLY_INVALID);
	profile_destroy(p);
}

static void events_without_samples_have_no_rows_of_others_frames(void **state)
{
	static const char text[] = "event c\nevent d\na 1/1 0 0 10 main@x;f@x;0x9@x\na 1/1 0 0 1 main@x;g@x\n";
	assert_rows(text, (struct flat_options){.first_event = 1, .with_children = true, .with_chains = true}, "");
}

#define MANY_SAMPLES 70000
#define FUNCTIONS    400
#define COMMS	     3

static uint32_t add_function(struct profile_builder *b, unsigned number)
{
	char name[16];
	size_t len = (size_t)snprintf(name, sizeof(name), "f%u", number);
	struct profile_function function = {.name = profile_builder_string(b, (struct tally_str){name, len}),
		.binary = 0,
		.start = number * 16,
		.size = 16};
	struct profile_frame frame = {.function = profile_builder_function(b, &function),
		.binary = 0,
		.address = function.start,
		.level = PROFILE_LEVEL_USER};
	return profile_builder_frame(b, &frame);
}

/* Makes a profile of two events and a few programs, with some recursion, so that different parts of the samples give
 * the same rows. */
static struct profile *make_large_profile(void)
{
	struct profile_builder *b = profile_builder_create();
	struct profile_binary binary = {.name = profile_builder_string(b, str_from("x"))};
	uint32_t frames[FUNCTIONS], threads[COMMS];
	binary.long_name = binary.build_id = binary.name;
	for (uint32_t i = 0; i < 2; i++)
		profile_builder_event(b, &(struct profile_event){.name = binary.name, .member_count = 2 - i});
	profile_builder_binary(b, &binary);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		frames[i] = add_function(b, i);
	for (int32_t i = 0; i < COMMS; i++) {
		uint32_t comm = profile_builder_string(b, str_from((const char *[]){"cc", "ld", "sh"}[i]));
		threads[i] = profile_builder_thread(
			b, &(struct profile_thread){.pid = i, .tid = i, .comm = comm, .last_comm = comm});
	}
	uint64_t random = 1;
	for (uint64_t i = 0; i < MANY_SAMPLES; i++) {
		uint32_t chain[6];
		for (size_t k = 0; k < 6; k++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			chain[k] = frames[(random >> 33) % FUNCTIONS >> k];
		}
		struct profile_sample sample = {.event = (uint32_t)(random >> 40) % 8 == 0,
			.thread = threads[(random >> 50) % 16 ? 0 : (random >> 54) % COMMS],
			.leaf = chain[0],
			.stack = profile_builder_stack(b, chain, 2 + (random >> 60) % 5),
			.cpu = -1,
			.count = 1,
			.period = 1 + (random >> 35) % 100,
			.first_order = i};
		profile_builder_sample(b, &sample);
	}
	struct profile *p;
	struct tally_error err;
	assert_int_equal(profile_builder_finish(b, &p, &err), TALLY_OK);
	return p;
}

static void assert_same_tables(const struct flat_table *a, const struct flat_table *b)
{
	size_t instances = 0;
	assert_int_equal(a->row_count, b->row_count);
	assert_int_equal(a->shown_count, b->shown_count);
	assert_memory_equal(a->order, b->order, a->shown_count * sizeof(*a->order));
	assert_memory_equal(a->stats, b->stats, a->row_count * flat_row_words(a) * sizeof(*a->stats));
	for (size_t i = 0; i < a->row_count; i++) {
		const struct flat_row *row = &a->rows[i], *other = &b->rows[i];
		assert_int_equal(row->frame, other->frame);
		assert_int_equal(row->thread, other->thread);
		assert_int_equal(row->number, other->number);
		assert_int_equal(row->max_depth, other->max_depth);
		assert_int_equal(row->first_instance, other->first_instance);
		assert_int_equal(row->instance_count, other->instance_count);
		instances += row->instance_count;
	}
	assert_memory_equal(a->instances, b->instances, instances * sizeof(*a->instances));
}

static void any_number_of_workers_makes_the_same_rows(void **state)
{
	struct profile *p = make_large_profile();
	struct flat_options options = {.keys = by_symbol,
		.key_count = 3,
		.member_count = 2,
		.with_children = true,
		.with_chains = true,
		.is_caller_first = true,
		.threads = 1};
	struct flat_table alone, together;
	struct tally_error err;
	assert_int_equal(flat_table_init(&alone, p, &options, &err), TALLY_OK);
	assert_true(alone.row_count > FUNCTIONS);
	for (options.threads = 2; options.threads <= 4; options.threads++) {
		assert_int_equal(flat_table_init(&together, p, &options, &err), TALLY_OK);
		assert_same_tables(&alone, &together);
		flat_table_deinit(&together);
	}
	flat_table_deinit(&alone);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(self_sums_and_order),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(callers_stand_above_callees_of_equal_weight),
		cmocka_unit_test(frames_without_symbol_go_by_address),
		cmocka_unit_test(unmapped_frames_show_the_level_before_them),
		cmocka_unit_test(keys_decide_what_merges),
		cmocka_unit_test(members_stand_side_by_side),
		cmocka_unit_test(bounds_of_chains),
		cmocka_unit_test(kernels_have_a_bound_of_their_own),
		cmocka_unit_test(filters_keep_totals),
		cmocka_unit_test(parents_group_by_their_caller),
		cmocka_unit_test(callees_are_ignored),
		cmocka_unit_test(lines_and_files_group_and_sort),
		cmocka_unit_test(no_samples_and_no_such_event),
		cmocka_unit_test(events_without_samples_have_no_rows_of_others_frames),
		cmocka_unit_test(any_number_of_workers_makes_the_same_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
