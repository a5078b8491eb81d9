/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include "base/clock.h"
#include "profile/profile_builder.h"
#include "profile_text.h"
#include "store/clickhouse_client.h"
#include "store_maker.h"

#define S UINT64_C(1000000000)

static void a_batch_counts_once(void **state)
{
	struct test_store t = test_store_open();
	struct fleet_batch *batch = batch_make(&(struct batch_recipe){.number = 1, .samples = 50, .labels = "host=a"});
	const struct fleet_batch *twice[] = {batch, batch};
	struct store_receipt receipts[2];
	assert_int_equal(store_ingest(t.store, twice, 2, receipts, NULL), TALLY_OK);
	assert_int_equal(receipts[0].samples, 50);
	assert_false(receipts[0].is_duplicate);
	assert_true(receipts[1].is_duplicate);
	assert_int_equal(receipts[1].samples, 0);
	struct store_receipt third = test_store_ingest(t.store, batch);
	assert_true(third.is_duplicate && third.samples == 0 && !third.lacks_symbols && !third.refused);
	struct store_figures figures = test_store_figures(t.store);
	assert_int_equal(figures.batches, 1);
	assert_int_equal(figures.samples, 50);
	fleet_batch_destroy(batch);
	test_store_close(&t);
}

/* Queries return the sums of the stored batches: by label sets, threads, states, and stacks with inlined frames. */
static void sums_are_exact(void **state)
{
	static const char *const hosts[] = {"host=a kernel=6.1", "host=b kernel=6.1", "host=c kernel=6.1 region=eu"};
	struct test_store t = test_store_open();
	struct batch_lines lines[2] = {0};
	for (unsigned i = 0; i < 24; i++) {
		const struct batch_recipe recipe = {.number = i,
			.begin_ns = i / 3 * 10 * S,
			.labels = hosts[i % 3],
			.sets = "api:service=api,unit=a.service db:service=db idle:host=other",
			.seed = i % 5,
			.samples = 300};
		struct fleet_batch *batch = batch_make(&recipe);
		assert_int_equal(test_store_ingest(t.store, batch).samples, 300);
		for (int by_thread = 0; by_thread < 2; by_thread++)
			batch_lines_add(&lines[by_thread], batch, by_thread);
		fleet_batch_destroy(batch);
	}
	for (int by_thread = 0; by_thread < 2; by_thread++) {
		char *put = batch_lines_text(&lines[by_thread]), *got = test_store_text(t.store, by_thread);
		assert_string_equal(got, put);
		free(put);
		free(got);
		batch_lines_free(&lines[by_thread]);
	}
	test_store_close(&t);
}

static void labels_that_all_have_are_the_batchs(void **state)
{
	struct test_store t = test_store_open();
	test_store_add(&t, &(struct batch_recipe){.number = 1,
				   .labels = "host=a kernel=6.1",
				   .sets = "api:service=api",
				   .profile = "event cycles\napi 1/1 0 0 5 main@x;leaf@x\n"});
	test_store_add(&t, &(struct batch_recipe){.number = 2,
				   .labels = "host=b kernel=6.1 service=api",
				   .profile = "event cycles\nother 1/1 0 0 7 main@x;leaf@x\n"});
	struct fleet_batch *all = test_store_query(t.store, &(struct store_selection){.end_ns = 1});
	assert_int_equal(all->labels.count, 2);
	assert_string_equal(all->labels.items[0].name.data, "kernel");
	assert_string_equal(all->labels.items[1].name.data, "service");
	assert_int_equal(all->set_count, 3); /* The empty one, and two hosts. */
	assert_int_equal(all->profile->thread_count, 2);
	assert_int_equal(all->profile->event_count, 1);
	assert_int_equal(all->profile->events[0].total_period, 12);
	fleet_batch_destroy(all);
	test_store_close(&t);
}

static uint64_t count_of(struct store *store, const char *text, const struct store_selection *like)
{
	struct label_query *query = NULL;
	struct store_selection selection = like ? *like : (struct store_selection){.end_ns = UINT64_MAX};
	assert_int_equal(label_query_parse(str_from(text), &query, NULL), TALLY_OK);
	selection.query = query;
	struct fleet_batch *batch = test_store_query(store, &selection);
	uint64_t count = fleet_batch_sample_count(batch);
	fleet_batch_destroy(batch);
	label_query_destroy(query);
	return count;
}

static struct test_store store_of_two_hosts(void)
{
	struct test_store t = test_store_open();
	for (unsigned i = 0; i < 2; i++)
		test_store_add(&t, &(struct batch_recipe){.number = i,
					   .begin_ns = (100 + 10 * i) * S,
					   .labels = i ? "host=b" : "host=a",
					   .sets = "api:service=api db:service=db",
					   .lost_samples = 3 + i,
					   .profile = "event wall-clock\nevent cycles\n"
						      "api 1/1 0 0 5 main@x;leaf@x\n"
						      "api 1/2 0 0 6 main@x;leaf@x\n"
						      "api 1/2 0 1 9 main@x;leaf@x\n"
						      "db 2/2 0 0 7 main@x;other@x\n"
						      "sh 3/3 0 0 8 main@x;other@x\n"});
	return t;
}

static void queries_select_by_labels_time_and_event(void **state)
{
	struct test_store t = store_of_two_hosts();
	assert_int_equal(count_of(t.store, "", NULL), 10);
	assert_int_equal(count_of(t.store, "service=\"api\"", NULL), 6);
	assert_int_equal(count_of(t.store, "service=\"api\" and host=\"b\"", NULL), 3);
	assert_int_equal(count_of(t.store, "service=\"\"", NULL), 2);
	assert_int_equal(count_of(t.store, "service=~\"api|db\" and not host=\"a\"", NULL), 4);
	assert_int_equal(count_of(t.store, "host=\"c\"", NULL), 0);
	const struct store_selection event = {.end_ns = UINT64_MAX, .event = STR("cycles")};
	assert_int_equal(count_of(t.store, "", &event), 2);
	const struct store_selection first = {.begin_ns = 100 * S, .end_ns = 110 * S};
	assert_int_equal(count_of(t.store, "", &first), 5);
	const struct store_selection none = {.begin_ns = 110 * S + 1, .end_ns = UINT64_MAX};
	assert_int_equal(count_of(t.store, "", &none), 0);
	const struct store_selection before = {.begin_ns = 0, .end_ns = 100 * S};
	assert_int_equal(count_of(t.store, "", &before), 0);
	const struct store_selection backwards = {.begin_ns = 200 * S, .end_ns = 10 * S};
	assert_int_equal(count_of(t.store, "", &backwards), 0);
	test_store_close(&t);
}

static void threads_are_kept_apart_on_request(void **state)
{
	struct test_store t = store_of_two_hosts();
	struct store_selection selection = {.end_ns = UINT64_MAX, .event = STR("wall-clock")};
	struct fleet_batch *merged = test_store_query(t.store, &selection);
	assert_int_equal(merged->profile->thread_count, 6);
	assert_int_equal(merged->profile->threads[0].pid, 0);
	selection.by_thread = true;
	struct fleet_batch *apart = test_store_query(t.store, &selection);
	assert_int_equal(apart->profile->thread_count, 8);
	assert_true(apart->profile->threads[0].pid > 0);
	assert_int_equal(fleet_batch_sample_count(merged), fleet_batch_sample_count(apart));
	fleet_batch_destroy(merged);
	fleet_batch_destroy(apart);
	test_store_close(&t);
}

/* In one store, a label may belong to the batch or to the thread. */
static void labels_are_merged_on_request(void **state)
{
	struct test_store t = store_of_two_hosts();
	struct store_selection selection = {.end_ns = UINT64_MAX, .event = STR("wall-clock"), .merges_labels = true};
	struct fleet_batch *merged = test_store_query(t.store, &selection);
	assert_int_equal(merged->set_count, 1);
	assert_int_equal(merged->profile->thread_count, 3);
	assert_int_equal(merged->profile->sample_count, 3);
	assert_int_equal(fleet_batch_sample_count(merged), 8);
	assert_int_equal(merged->profile->events[0].total_period, 52);
	assert_int_equal(merged->labels.count, 0);
	fleet_batch_destroy(merged);
	selection.kept_label = STR("host");
	merged = test_store_query(t.store, &selection);
	assert_int_equal(merged->set_count, 3);
	assert_int_equal(merged->sets[1].count, 1);
	assert_string_equal(merged->sets[1].items[0].name.data, "host");
	assert_int_equal(merged->profile->thread_count, 6);
	fleet_batch_destroy(merged);
	/* A label that all have in common is returned, although it is not retained. */
	selection.end_ns = 105 * S;
	selection.kept_label = STR("service");
	merged = test_store_query(t.store, &selection);
	assert_int_equal(merged->labels.count, 1);
	assert_string_equal(merged->labels.items[0].value.data, "a");
	assert_int_equal(merged->set_count, 3);
	fleet_batch_destroy(merged);
	test_store_close(&t);
}

static void load_has_a_point_for_each_step(void **state)
{
	struct test_store t = store_of_two_hosts();
	struct store_points points;
	struct store_selection selection = {.begin_ns = 95 * S, .end_ns = 125 * S};
	assert_int_equal(store_load(t.store, &selection, 10 * S, &points, NULL), TALLY_OK);
	assert_int_equal(points.count, 3);
	const uint64_t samples[] = {5, 5, 0}, running[] = {26, 26, 0}, lost[] = {3, 4, 0};
	for (int i = 0; i < 3; i++) {
		assert_int_equal(points.items[i].begin_ns, (95 + 10 * (uint64_t)i) * S);
		assert_int_equal(points.items[i].samples, samples[i]);
		assert_int_equal(points.items[i].running_ns, running[i]);
		assert_int_equal(points.items[i].waiting_ns, 0);
		assert_int_equal(points.items[i].lost_samples, lost[i]);
	}
	free(points.items);
	struct label_query *query;
	assert_int_equal(label_query_parse(STR("host=\"b\" and service=\"db\""), &query, NULL), TALLY_OK);
	selection.query = query;
	assert_int_equal(store_load(t.store, &selection, 100 * S, &points, NULL), TALLY_OK);
	assert_int_equal(points.count, 1);
	assert_int_equal(points.items[0].samples, 1);
	assert_int_equal(points.items[0].running_ns, 7);
	assert_int_equal(points.items[0].lost_samples, 4);
	free(points.items);
	label_query_destroy(query);
	assert_int_equal(store_load(t.store, &selection, 0, &points, NULL), TALLY_INVALID);
	selection = (struct store_selection){.end_ns = UINT64_MAX};
	assert_int_equal(store_load(t.store, &selection, 1, &points, NULL), TALLY_LIMIT);
	test_store_close(&t);
}

/* A constant load is a straight line with any step, and nothing is lost or counted twice. */
static void load_is_spread_over_windows(void **state)
{
	struct test_store t = test_store_open();
	struct store_points points;
	for (unsigned i = 0; i < 9; i++) { /* Windows of 10 ns without a gap. */
		struct batch_recipe recipe = {.number = i + 1,
			.begin_ns = 100 + 10 * (uint64_t)i,
			.profile = "event cpu-clock\na 1/1 0 0 10 f@x\n",
			.labels = "host=a"};
		recipe.lost_samples = 10;
		test_store_add(&t, &recipe);
	}
	static const uint64_t steps[] = {1, 3, 4, 7, 10, 15, 45, 90};
	for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
		const struct store_selection selection = {.begin_ns = 100, .end_ns = 190};
		uint64_t samples = 0, running = 0;
		assert_int_equal(store_load(t.store, &selection, steps[k], &points, NULL), TALLY_OK);
		for (size_t i = 0; i < points.count; i++) {
			uint64_t width = MIN(steps[k], 190 - points.items[i].begin_ns);
			assert_int_equal(points.items[i].running_ns, width);
			assert_int_equal(points.items[i].lost_samples, width);
			samples += points.items[i].samples;
			running += points.items[i].running_ns;
		}
		assert_true(samples == 9 && running == 90);
		free(points.items);
	}
	/* The window that began before the time span, and the one that ends after it, count partially. */
	const struct store_selection middle = {.begin_ns = 105, .end_ns = 123};
	assert_int_equal(store_load(t.store, &middle, 9, &points, NULL), TALLY_OK);
	assert_int_equal(points.count, 2);
	assert_true(points.items[0].running_ns == 9 && points.items[1].running_ns == 9);
	free(points.items);
	/* No window of the series begins in this time span. */
	const struct store_selection last = {.begin_ns = 185, .end_ns = 200};
	assert_int_equal(store_load(t.store, &last, 15, &points, NULL), TALLY_OK);
	assert_true(points.items[0].running_ns == 5);
	free(points.items);
	test_store_close(&t);
}

static struct fleet_losses coverage_of(struct test_store *t, const char *query)
{
	struct label_query *parsed = NULL;
	if (query)
		assert_int_equal(label_query_parse(str_from(query), &parsed, NULL), TALLY_OK);
	const struct store_selection selection = {.end_ns = 1000, .query = parsed};
	struct fleet_batch *batch = test_store_query(t->store, &selection);
	struct fleet_losses losses = batch->losses;
	fleet_batch_destroy(batch);
	label_query_destroy(parsed);
	return losses;
}

/* An agent stops measuring waits to stay within its budget: waits then cover only a part of the time. */
static void answers_say_how_many_windows_have_waits(void **state)
{
	static const char both[] = "event cpu-clock\nevent offcpu-time\n"
				   "a 1/1 0 0 5 f@x\nb 2/2 0 0 5 f@x\nb 2/2 0 1 5 f@x\n";
	static const char running[] = "event cpu-clock\na 1/1 0 0 5 f@x\nb 2/2 0 0 5 f@x\n";
	struct test_store t = test_store_open();
	for (unsigned i = 0; i < 5; i++)
		test_store_add(&t, &(struct batch_recipe){.number = i + 1,
					   .begin_ns = 10 * (uint64_t)i,
					   .labels = "host=a",
					   .sets = "a:service=a b:service=b",
					   .profile = i < 2 ? both : running});
	struct fleet_losses all = coverage_of(&t, NULL);
	assert_true(all.windows == 5 && all.wait_windows == 2);
	struct fleet_losses waiting = coverage_of(&t, "service=\"b\"");
	assert_true(waiting.windows == 5 && waiting.wait_windows == 2);
	/* The service ran all the time: there are no sums of waits that could mislead. */
	struct fleet_losses busy = coverage_of(&t, "service=\"a\"");
	assert_true(busy.windows == 0 && busy.wait_windows == 0);
	test_store_close(&t);
}

/* In the second window the selected service only ran, while others waited. */
static void windows_without_own_waits_were_measured(void **state)
{
	struct test_store t = test_store_open();
	static const char *const profiles[] = {"event cpu-clock\nevent offcpu-time\na 1/1 0 0 5 f@x\na 1/1 0 1 5 f@x\n",
		"event cpu-clock\nevent offcpu-time\na 1/1 0 0 5 f@x\nb 2/2 0 1 5 f@x\n"};
	for (unsigned i = 0; i < 2; i++)
		test_store_add(&t, &(struct batch_recipe){.number = i + 1,
					   .begin_ns = 10 * (uint64_t)i,
					   .labels = "host=a",
					   .sets = "a:service=a b:service=b",
					   .profile = profiles[i]});
	struct fleet_losses a = coverage_of(&t, "service=\"a\"");
	assert_true(a.windows == 2 && a.wait_windows == 2);
	test_store_close(&t);
}

static void assert_events(struct test_store *t, const char *asked, const char *wanted)
{
	struct text text = {0};
	struct fleet_batch *batch =
		test_store_query(t->store, &(struct store_selection){.end_ns = 1000, .event = str_from(asked)});
	const struct profile *p = batch->profile;
	for (size_t i = 0; i < p->event_count; i++)
		text_printf(&text, "%s %llu,", profile_string(p, p->events[i].name).data,
			(unsigned long long)p->events[i].sample_count);
	text_char(&text, '\0');
	assert_string_equal(text.data, wanted);
	text_deinit(&text);
	fleet_batch_destroy(batch);
}

/* An agent samples cpu-clock, record samples cpu-clock:ppp: both are time on the CPU. */
static void names_of_events_differ_in_precision(void **state)
{
	static const char *const names[] = {
		"cpu-clock", "cpu-clock:ppp", "cpu-clock:uppp", "cpu-clock:u", "cycles:P", "irq:p", "cpu-clock:x"};
	struct test_store t = test_store_open();
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		char profile[80];
		snprintf(profile, sizeof(profile), "event %s\na 1/1 0 0 5 f@x\n", names[i]);
		test_store_add(&t, &(struct batch_recipe){.number = i + 1, .begin_ns = i, .profile = profile});
	}
	assert_events(&t, "", "cpu-clock 2,cpu-clock:u 2,cpu-clock:x 1,cycles 1,irq:p 1,");
	assert_events(&t, "cpu-clock", "cpu-clock 2,");
	assert_events(&t, "cpu-clock:ppp", "cpu-clock:ppp 1,");
	test_store_close(&t);
}

/* By states, and by events that measure waiting. */
static void load_tells_running_from_waiting(void **state)
{
	struct test_store t = test_store_open();
	struct store_points points;
	test_store_add(&t, &(struct batch_recipe){.number = 1, .profile = "event offcpu-time\na 1/1 0 0 5 f@x\n"});
	struct fleet_batch *batch = batch_make(&(struct batch_recipe){.number = 2, .samples = 100, .seed = 3});
	uint64_t running = 0, waiting = 5;
	for (size_t i = 0; i < batch->profile->sample_count; i++) {
		const struct profile_sample *s = &batch->profile->samples[i];
		if (s->event == 0)
			*(profile_facet(batch->profile, s->facets, FACET_STATE)->number ? &waiting : &running) +=
				s->period;
	}
	test_store_ingest(t.store, batch);
	fleet_batch_destroy(batch);
	struct store_selection selection = {.end_ns = 10};
	assert_int_equal(store_load(t.store, &selection, 10, &points, NULL), TALLY_OK);
	assert_true(points.items[0].running_ns == running && points.items[0].waiting_ns == waiting);
	free(points.items);
	test_store_close(&t);
}

static void append_text(void *context, struct tally_str text)
{
	struct text *to = context;
	text_bytes(to, text.data, text.len);
	text_char(to, '|');
}

static void labels_and_events_are_listed(void **state)
{
	struct test_store t = store_of_two_hosts();
	struct text text = {0};
	const struct store_selection all = {.end_ns = UINT64_MAX}, first = {.begin_ns = 0, .end_ns = 101 * S};
	assert_int_equal(store_label_values(t.store, &all, STR(""), append_text, &text, NULL), TALLY_OK);
	assert_int_equal(store_label_values(t.store, &all, STR("host"), append_text, &text, NULL), TALLY_OK);
	assert_int_equal(store_label_values(t.store, &first, STR("host"), append_text, &text, NULL), TALLY_OK);
	assert_int_equal(store_label_values(t.store, &all, STR("service"), append_text, &text, NULL), TALLY_OK);
	assert_int_equal(store_label_values(t.store, &all, STR("nothing"), append_text, &text, NULL), TALLY_OK);
	assert_int_equal(store_events(t.store, &all, append_text, &text, NULL), TALLY_OK);
	text_char(&text, '\0');
	assert_string_equal(text.data, "host|service|a|b|a|api|db|cycles|wall-clock|");
	text_deinit(&text);
	test_store_close(&t);
}

static void symbols_that_were_left_out_must_be_there(void **state)
{
	struct test_store t = test_store_open();
	const struct batch_recipe without = {.number = 1, .samples = 40, .leaves_out = true};
	struct store_receipt receipt = test_store_add(&t, &without);
	assert_true(receipt.lacks_symbols && receipt.samples == 0 && !receipt.is_duplicate);
	assert_int_equal(test_store_figures(t.store).batches, 0);
	receipt = test_store_add(&t, &(struct batch_recipe){.number = 1, .samples = 40});
	assert_true(!receipt.lacks_symbols && receipt.samples == 40);
	receipt = test_store_add(&t, &(struct batch_recipe){.number = 2, .samples = 40, .leaves_out = true});
	assert_true(!receipt.lacks_symbols && receipt.samples == 40);
	/* Both batches have the symbols. */
	struct batch_lines lines = {0};
	struct fleet_batch *batch = batch_make(&(struct batch_recipe){.samples = 40});
	batch_lines_add(&lines, batch, false);
	batch_lines_add(&lines, batch, false);
	char *put = batch_lines_text(&lines), *got = test_store_text(t.store, false);
	assert_string_equal(got, put);
	free(put);
	free(got);
	batch_lines_free(&lines);
	fleet_batch_destroy(batch);
	test_store_close(&t);
}

static struct fleet_batch *batch_of_one(
	unsigned number, const char *build_id, bool is_kernel, const char *function, bool leaves_out)
{
	struct profile_builder *b = profile_builder_create();
	struct profile *p;
	uint32_t name = profile_builder_string(b, STR("x")), none = profile_builder_string(b, STR(""));
	profile_builder_event(b, &(struct profile_event){.name = name});
	uint32_t binary = profile_builder_binary(b, &(struct profile_binary){.name = name,
							    .long_name = name,
							    .build_id = profile_builder_string(b, str_from(build_id)),
							    .is_kernel = is_kernel});
	struct profile_frame frame = {.function = PROFILE_NONE,
		.binary = binary,
		.address = 16,
		.own_line = {none, none},
		.innermost_line = {none, none}};
	if (function)
		frame.function = profile_builder_function(
			b, &(struct profile_function){.name = profile_builder_string(b, str_from(function)),
				   .binary = binary,
				   .start = 8,
				   .size = 32});
	profile_builder_sample(b, &(struct profile_sample){.thread = profile_builder_thread(b,
								   &(struct profile_thread){0, 0, name, name, name, 0}),
					  .leaf = profile_builder_frame(b, &frame),
					  .stack = PROFILE_NONE,
					  .count = 1,
					  .period = 1});
	assert_int_equal(profile_builder_finish(b, &p, NULL), TALLY_OK);
	struct fleet_batch *batch;
	struct fleet_batch parts = {.id = {(uint8_t)number}, .symbols_left_out = leaves_out ? &leaves_out : NULL};
	assert_int_equal(fleet_batch_make(&parts, p, &batch, NULL), TALLY_OK);
	return batch;
}

static struct store_receipt add_one(struct test_store *t, unsigned number, const char *build_id, bool is_kernel,
	const char *function, bool leaves_out)
{
	struct fleet_batch *batch = batch_of_one(number, build_id, is_kernel, function, leaves_out);
	struct store_receipt receipt = test_store_ingest(t->store, batch);
	fleet_batch_destroy(batch);
	return receipt;
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* Compares the function names in sorted order, with '-' for none. */
static void assert_functions(struct test_store *t, const char *wanted)
{
	struct text text = {0};
	struct fleet_batch *batch = test_store_query(t->store, &(struct store_selection){.end_ns = 1});
	const struct profile *p = batch->profile;
	char names[8][32];
	assert_true(p->sample_count <= ARRAY_LEN(names));
	for (size_t i = 0; i < p->sample_count; i++) {
		uint32_t function = p->frames[p->samples[i].leaf].function;
		struct tally_str name =
			function == PROFILE_NONE ? STR("-") : profile_string(p, p->functions[function].name);
		snprintf(names[i], sizeof(names[i]), "%.*s %u,", (int)name.len, name.data,
			(unsigned)p->samples[i].count);
	}
	qsort(names, p->sample_count, sizeof(*names), compare_texts);
	for (size_t i = 0; i < p->sample_count; i++)
		text_str(&text, names[i]);
	text_char(&text, '\0');
	assert_string_equal(text.data, wanted);
	text_deinit(&text);
	fleet_batch_destroy(batch);
}

static void symbols_may_come_later_and_the_first_stay(void **state)
{
	struct test_store t = test_store_open();
	add_one(&t, 1, "abcd", false, NULL, false);
	assert_functions(&t, "- 1,");
	add_one(&t, 2, "abcd", false, "first", false);
	add_one(&t, 3, "abcd", false, "second", false);
	assert_functions(&t, "first 3,");
	assert_false(add_one(&t, 4, "abcd", false, NULL, true).lacks_symbols);
	assert_functions(&t, "first 4,");
	test_store_close(&t);
}

/* An address of generated code, or of a kernel that is loaded elsewhere after each boot, is valid only temporarily. */
static void symbols_tell_locations_apart_that_do_not_last(void **state)
{
	struct test_store t = test_store_open();
	add_one(&t, 1, "", false, "jit_one", false);
	add_one(&t, 2, "", false, "jit_two", false);
	add_one(&t, 3, "abcd", true, "boot_one", false);
	add_one(&t, 4, "abcd", true, "boot_two", false);
	add_one(&t, 5, "", false, "jit_one", false);
	assert_functions(&t, "boot_one 1,boot_two 1,jit_one 2,jit_two 1,");
	assert_true(add_one(&t, 6, "", false, NULL, true).lacks_symbols);
	assert_true(add_one(&t, 7, "abcd", true, NULL, true).lacks_symbols);
	test_store_close(&t);
}

static void batches_that_no_store_can_keep_are_refused(void **state)
{
	struct test_store t = test_store_open();
	struct fleet_batch *batches[2] = {batch_make(&(struct batch_recipe){.number = 1,
						  .profile = "event e\na 1/1 0 0 9223372036854775808 f@x\n"}),
		batch_make(&(struct batch_recipe){.number = 2, .samples = 10})};
	struct store_receipt receipts[2];
	assert_int_equal(
		store_ingest(t.store, (const struct fleet_batch *const *)batches, 2, receipts, NULL), TALLY_OK);
	assert_non_null(receipts[0].refused);
	assert_null(receipts[1].refused);
	assert_int_equal(receipts[1].samples, 10);
	assert_int_equal(test_store_figures(t.store).batches, 1);
	for (int i = 0; i < 2; i++)
		fleet_batch_destroy(batches[i]);
	test_store_close(&t);
}

/* Sums that overflow stay at the largest number. */
static void sums_saturate(void **state)
{
	struct test_store t = test_store_open();
	for (unsigned i = 0; i < 3; i++)
		test_store_add(&t,
			&(struct batch_recipe){.number = i, .profile = "event e\na 1/1 0 0 9223372036854775807 f@x\n"});
	struct fleet_batch *batch = test_store_query(t.store, &(struct store_selection){.end_ns = 1});
	assert_true(batch->profile->samples[0].period == UINT64_MAX);
	assert_int_equal(batch->profile->samples[0].count, 3);
	fleet_batch_destroy(batch);
	test_store_close(&t);
}

static struct fleet_batch *hostile_batch(unsigned number, struct tally_str value)
{
	struct profile *p = profile_from_text("event '; DROP-TABLE_batches;--\n"
					      "x');DELETE 1/1 0 0 5 \"main'@x'\\\";l\xff\xfe'@x')--\n");
	struct fleet_label labels[] = {{STR("host"), value}};
	struct fleet_batch *batch;
	struct fleet_batch parts = {.id = {(uint8_t)number}, .labels = {labels, 1}};
	assert_int_equal(fleet_batch_make(&parts, p, &batch, NULL), TALLY_OK);
	return batch;
}

/* Values are bound to statements: they are returned unchanged, and select only themselves. */
static void hostile_texts_are_values(void **state)
{
	struct test_store t = test_store_open();
	static char longest[LABEL_VALUE_BYTES];
	memset(longest, '\'', sizeof(longest));
	const struct tally_str values[] = {STR("'; DROP TABLE batches; --"), STR("\" or 1=1"), STR("%_\\"),
		STR("<script>alert(1)</script>"), STR("\xf0\x9f\x94\xa5"), {longest, sizeof(longest)}, STR("")};
	for (unsigned i = 0; i < ARRAY_LEN(values); i++) {
		struct fleet_batch *batch = hostile_batch(i, values[i]);
		assert_int_equal(test_store_ingest(t.store, batch).samples, 1);
		fleet_batch_destroy(batch);
	}
	assert_int_equal(test_store_figures(t.store).batches, ARRAY_LEN(values));
	struct fleet_batch *all = test_store_query(t.store, &(struct store_selection){.end_ns = 1});
	assert_int_equal(all->set_count, ARRAY_LEN(values) + 1);
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		bool is_there = false;
		for (size_t k = 1; k < all->set_count; k++)
			is_there = is_there || str_equal(all->sets[k].items[0].value, values[i]);
		assert_true(is_there);
	}
	assert_int_equal(all->profile->event_count, 1);
	assert_string_equal(
		profile_string(all->profile, all->profile->events[0].name).data, "'; DROP-TABLE_batches;--");
	/* Invalid UTF-8 is replaced. */
	const struct profile_frame *leaf = &all->profile->frames[all->profile->samples[0].leaf];
	assert_string_equal(profile_string(all->profile, all->profile->functions[leaf->function].name).data,
		"l\xef\xbf\xbd\xef\xbf\xbd'");
	fleet_batch_destroy(all);
	assert_int_equal(count_of(t.store, "host=\"'; DROP TABLE batches; --\"", NULL), 1);
	assert_int_equal(count_of(t.store, "host=\"%\"", NULL), 0);
	const struct store_selection event = {.end_ns = UINT64_MAX, .event = STR("x' OR '1'='1")};
	assert_int_equal(count_of(t.store, "", &event), 0);
	test_store_close(&t);
}

static void queries_end_at_their_deadline(void **state)
{
	struct test_store t = test_store_open();
	struct fleet_batch *batch = NULL;
	struct tally_error err = {0};
	for (unsigned i = 0; i < 3; i++)
		test_store_add(&t, &(struct batch_recipe){.number = i, .samples = 4000, .seed = i});
	struct store_selection selection = {.end_ns = UINT64_MAX, .by_thread = true, .deadline_ns = 1};
	assert_int_equal(store_query(t.store, &selection, &batch, &err), TALLY_LIMIT);
	assert_non_null(strstr(err.text, "longer than it may"));
	/* The store is unchanged. */
	selection.deadline_ns = clock_ns() + 600 * S;
	batch = test_store_query(t.store, &selection);
	assert_int_equal(fleet_batch_sample_count(batch), 12000);
	fleet_batch_destroy(batch);
	test_store_close(&t);
}

static void a_server_ends_statements_at_the_deadline(void **state)
{
	struct clickhouse_client *client = NULL;
	struct tally_error err = {0};
	struct text answer = {0};
	char place[128];
	const char *server = getenv("TALLY_TEST_CLICKHOUSE");
	if (!server)
		skip_because("no ClickHouse server: tests/e2e/test_clickhouse.py runs it on one");
	snprintf(place, sizeof(place), "//%.64s/system", server);
	assert_int_equal(clickhouse_client_open(place, &client, &err), TALLY_OK);
	clickhouse_client_set_deadline(client, clock_ns() + S / 2);
	assert_int_equal(
		clickhouse_client_ask(client, STR("SELECT count() FROM system.numbers"), &answer, &err), TALLY_LIMIT);
	assert_non_null(strstr(err.text, "longer than it may"));
	clickhouse_client_set_deadline(client, 0);
	assert_int_equal(clickhouse_client_ask(client, STR("SELECT toUInt8(7)"), &answer, &err), TALLY_OK);
	assert_true(answer.len == 1 && answer.data[0] == 7);
	text_deinit(&answer);
	clickhouse_client_close(client);
}

static void an_empty_store_answers(void **state)
{
	struct test_store t = test_store_open();
	char *text = test_store_text(t.store, false);
	assert_string_equal(text, "");
	free(text);
	struct store_figures figures = test_store_figures(t.store);
	assert_true(figures.batches == 0 && figures.first_ns == 0 && figures.last_ns == 0 && figures.bytes > 0);
	test_store_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_counts_once),
		cmocka_unit_test(sums_are_exact),
		cmocka_unit_test(labels_that_all_have_are_the_batchs),
		cmocka_unit_test(queries_select_by_labels_time_and_event),
		cmocka_unit_test(threads_are_kept_apart_on_request),
		cmocka_unit_test(labels_are_merged_on_request),
		cmocka_unit_test(load_has_a_point_for_each_step),
		cmocka_unit_test(load_is_spread_over_windows),
		cmocka_unit_test(load_tells_running_from_waiting),
		cmocka_unit_test(answers_say_how_many_windows_have_waits),
		cmocka_unit_test(windows_without_own_waits_were_measured),
		cmocka_unit_test(names_of_events_differ_in_precision),
		cmocka_unit_test(labels_and_events_are_listed),
		cmocka_unit_test(symbols_that_were_left_out_must_be_there),
		cmocka_unit_test(symbols_may_come_later_and_the_first_stay),
		cmocka_unit_test(symbols_tell_locations_apart_that_do_not_last),
		cmocka_unit_test(batches_that_no_store_can_keep_are_refused),
		cmocka_unit_test(sums_saturate),
		cmocka_unit_test(hostile_texts_are_values),
		cmocka_unit_test(queries_end_at_their_deadline),
		cmocka_unit_test(a_server_ends_statements_at_the_deadline),
		cmocka_unit_test(an_empty_store_answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
