/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flame_tree.h"

#include "profile/profile_builder.h"
#include "unit_test.h"
#include "view/flame/flame_page.h"

struct built {
	struct profile_builder *b;
	uint32_t binary, kernel, frames[4], thread;
};

static uint32_t frame_of(struct built *t, const char *name, uint32_t binary, uint8_t level, bool is_inlined)
{
	struct profile_function function = {.name = profile_builder_string(t->b, str_from(name)),
		.binary = binary,
		.start = 0x100,
		.size = 0x10,
		.is_inlined = is_inlined};
	struct profile_frame frame = {.function = *name ? profile_builder_function(t->b, &function) : PROFILE_NONE,
		.binary = binary,
		.level = level};
	frame.own_line.line = frame.own_line.file = frame.innermost_line.line = frame.innermost_line.file =
		function.name;
	return profile_builder_frame(t->b, &frame);
}

static uint32_t stack_of(struct built *t, const uint32_t *outermost_first, size_t count)
{
	uint32_t frames[16];
	assert_true(count <= 16);
	for (size_t i = 0; i < count; i++)
		frames[i] = outermost_first[count - 1 - i];
	return profile_builder_stack(t->b, frames, count);
}

static void add(struct built *t, uint32_t stack, uint32_t leaf, uint64_t period)
{
	struct profile_sample sample = {
		.thread = t->thread, .leaf = leaf, .stack = stack, .cpu = 3, .count = 2, .period = period};
	profile_builder_sample(t->b, &sample);
}

/* Makes main -> z, main -> a (inlined) -> k (kernel), and a leaf without symbol. */
static struct profile *make(void)
{
	struct built t = {.b = profile_builder_create()};
	struct profile_event event = {.name = profile_builder_string(t.b, STR("cycles"))};
	profile_builder_event(t.b, &event);
	struct profile_thread thread = {.pid = 7, .tid = 8, .comm = profile_builder_string(t.b, STR("work;er"))};
	thread.last_comm = thread.comm;
	t.thread = profile_builder_thread(t.b, &thread);
	uint32_t path = profile_builder_string(t.b, STR("prog"));
	t.binary = profile_builder_binary(t.b, &(struct profile_binary){.name = path, .long_name = path});
	path = profile_builder_string(t.b, STR("[kernel.kallsyms]"));
	t.kernel = profile_builder_binary(
		t.b, &(struct profile_binary){.name = path, .long_name = path, .is_kernel = true});
	uint32_t main_frame = frame_of(&t, "main", t.binary, PROFILE_LEVEL_USER, false);
	uint32_t z = frame_of(&t, "z", t.binary, PROFILE_LEVEL_USER, false);
	uint32_t a = frame_of(&t, "a", t.binary, PROFILE_LEVEL_USER, true);
	uint32_t k = frame_of(&t, "k", t.kernel, PROFILE_LEVEL_KERNEL, false);
	uint32_t nameless = frame_of(&t, "", t.binary, PROFILE_LEVEL_USER, false);
	add(&t, stack_of(&t, (uint32_t[]){main_frame, z}, 2), z, 10);
	add(&t, stack_of(&t, (uint32_t[]){main_frame, a, k}, 3), k, 30);
	add(&t, stack_of(&t, (uint32_t[]){main_frame, a}, 2), a, 5);
	add(&t, PROFILE_NONE, nameless, 1);
	struct profile *profile;
	assert_int_equal(profile_builder_finish(t.b, &profile, NULL), TALLY_OK);
	return profile;
}

static void expect_folded(const struct flame_options *options, const char *expected)
{
	struct profile *profile = make();
	struct flame_tree tree;
	struct text text = {0};
	assert_int_equal(flame_tree_init(&tree, profile, options, NULL), TALLY_OK);
	flame_folded_write(&text, &tree, false);
	text_char(&text, 0);
	assert_string_equal(text.data, expected);
	text_deinit(&text);
	flame_tree_deinit(&tree);
	profile_destroy(profile);
}

static void stacks_are_merged_in_order_of_names(void **state)
{
	expect_folded(&(struct flame_options){0},
		"work:er;[prog] 1\nwork:er;main;a 5\nwork:er;main;a;k 30\nwork:er;main;z 10\n");
	expect_folded(&(struct flame_options){.counts_samples = true, .group = FLAME_BY_NOTHING},
		"[prog] 2\nmain;a 2\nmain;a;k 2\nmain;z 2\n");
}

static void roots_are_what_is_asked_for(void **state)
{
	expect_folded(&(struct flame_options){.group = FLAME_BY_THREAD},
		"work:er-7/8;[prog] 1\nwork:er-7/8;main;a 5\nwork:er-7/8;main;a;k 30\nwork:er-7/8;main;z 10\n");
	expect_folded(&(struct flame_options){.group = FLAME_BY_CPU},
		"CPU 3;[prog] 1\nCPU 3;main;a 5\nCPU 3;main;a;k 30\nCPU 3;main;z 10\n");
}

static void reversed_it_begins_at_the_functions(void **state)
{
	expect_folded(&(struct flame_options){.group = FLAME_BY_NOTHING, .is_reversed = true},
		"[prog] 1\na;main 5\nk;a;main 30\nz;main 10\n");
}

/* Properties of a stack belong to the group in which it occurs, and those of a frame to its file. */
static void one_stack_is_of_several_groups(void **state)
{
	struct built t = {.b = profile_builder_create()};
	struct profile_event event = {.name = profile_builder_string(t.b, STR("cycles"))};
	profile_builder_event(t.b, &event);
	uint32_t threads[2], path = profile_builder_string(t.b, STR("one"));
	for (int32_t i = 0; i < 2; i++)
		threads[i] = profile_builder_thread(
			t.b, &(struct profile_thread){
				     .pid = 7, .tid = i, .comm = profile_builder_string(t.b, i ? STR("b") : STR("a"))});
	t.binary = profile_builder_binary(t.b, &(struct profile_binary){.name = path, .long_name = path});
	path = profile_builder_string(t.b, STR("other"));
	t.kernel = profile_builder_binary(t.b, &(struct profile_binary){.name = path, .long_name = path});
	uint32_t main_frame = frame_of(&t, "main", t.binary, PROFILE_LEVEL_USER, false);
	uint32_t nameless = frame_of(&t, "", t.binary, PROFILE_LEVEL_USER, false);
	uint32_t elsewhere = frame_of(&t, "", t.kernel, PROFILE_LEVEL_USER, false);
	uint32_t stack = stack_of(&t, (uint32_t[]){main_frame, nameless}, 2);
	uint32_t other = stack_of(&t, (uint32_t[]){main_frame, elsewhere, nameless}, 3);
	for (uint64_t i = 0; i < 6; i++) {
		t.thread = threads[i % 2];
		add(&t, i < 4 ? stack : other, nameless, UINT64_C(1) << i);
	}
	struct profile *profile;
	assert_int_equal(profile_builder_finish(t.b, &profile, NULL), TALLY_OK);
	struct flame_tree tree;
	struct text text = {0};
	assert_int_equal(flame_tree_init(&tree, profile, &(struct flame_options){0}, NULL), TALLY_OK);
	flame_folded_write(&text, &tree, false);
	text_char(&text, 0);
	assert_string_equal(
		text.data, "a;main;[one] 5\na;main;[other];[one] 16\nb;main;[one] 10\nb;main;[other];[one] 32\n");
	assert_int_equal(tree.nodes[0].total, 21);
	text_deinit(&text);
	flame_tree_deinit(&tree);
	profile_destroy(profile);
}

static void nodes_say_what_they_are(void **state)
{
	struct profile *profile = make();
	struct flame_tree tree;
	assert_int_equal(flame_tree_init(&tree, profile, &(struct flame_options){0}, NULL), TALLY_OK);
	static const enum flame_kind kinds[] = {
		FLAME_GROUP, FLAME_UNKNOWN, FLAME_USER, FLAME_INLINED, FLAME_KERNEL, FLAME_USER};
	static const uint64_t totals[] = {46, 1, 45, 35, 30, 10};
	assert_int_equal(tree.node_count, 6);
	assert_int_equal(tree.total, 46);
	assert_int_equal(tree.sample_count, 8);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(tree.labels[tree.nodes[i].label].kind, kinds[i]);
		assert_int_equal(tree.nodes[i].total, totals[i]);
		assert_true(tree.nodes[i].parent == PROFILE_NONE || tree.nodes[i].parent < i);
	}
	flame_tree_deinit(&tree);
	profile_destroy(profile);
}

static void filters_and_other_events_leave_nothing(void **state)
{
	bool cpus[4] = {true, true, true, false};
	expect_folded(&(struct flame_options){.cpu_passes = cpus, .cpu_limit = 4}, "");
	expect_folded(&(struct flame_options){.event = 1}, "");
}

/* One of two samples waited for a lock, the other has no state. */
static void samples_without_a_state_are_not_known(void **state)
{
	struct built t = {.b = profile_builder_create()};
	struct profile *p;
	struct flame_tree tree;
	struct text out = {0};
	profile_builder_event(t.b, &(struct profile_event){.name = profile_builder_string(t.b, STR("x"))});
	uint32_t name = profile_builder_string(t.b, STR("c"));
	t.thread = profile_builder_thread(t.b, &(struct profile_thread){0, 0, name, name, name, 0});
	t.binary = profile_builder_binary(t.b, &(struct profile_binary){.name = name, .long_name = name});
	uint32_t f = frame_of(&t, "f", t.binary, PROFILE_LEVEL_USER, false);
	uint32_t stack = stack_of(&t, &f, 1);
	profile_builder_keep_facets(t.b, UINT64_C(1) << FACET_STATE);
	static const unsigned states[] = {PROFILE_STATE_RUNNING, PROFILE_STATE_LOCK, PROFILE_STATES};
	static const char *const names[] = {"running", "lock", ""};
	for (unsigned i = 0; i < 3; i++) {
		const struct profile_value value = {.number = states[i],
			.text = profile_builder_string(t.b, str_from(names[i])),
			.frame = PROFILE_NONE};
		profile_builder_sample(t.b, &(struct profile_sample){.thread = t.thread,
						    .leaf = f,
						    .stack = stack,
						    .cpu = -1,
						    .facets = profile_builder_facets(t.b, &value),
						    .count = 1,
						    .period = 10 + i});
	}
	assert_int_equal(profile_builder_finish(t.b, &p, NULL), TALLY_OK);
	const struct flame_options options = {.group = FLAME_BY_COMM, .by_state = true};
	assert_int_equal(flame_tree_init(&tree, p, &options, NULL), TALLY_OK);
	flame_folded_write(&out, &tree, false);
	text_char(&out, '\0');
	assert_string_equal(out.data, "c;f 10\nc;f;[lock] 11\nc;f;[not known] 12\n");
	uint64_t *totals = flame_tree_state_totals(&tree);
	assert_non_null(totals);
	assert_int_equal(totals[FLAME_STATE_NOT_KNOWN], 12); /* Total of the group. */
	assert_int_equal(flame_tree_main_state(totals, true), FLAME_STATE_NOT_KNOWN);
	assert_int_equal(flame_tree_main_state(totals, false), PROFILE_STATE_LOCK);
	free(totals);
	flame_tree_deinit(&tree);
	profile_destroy(p);
	text_deinit(&out);
}

static void a_page_holds_no_markup_of_names(void **state)
{
	struct profile *profile = make();
	struct flame_tree tree;
	struct text text = {0};
	assert_int_equal(flame_tree_init(&tree, profile, &(struct flame_options){0}, NULL), TALLY_OK);
	struct flame_page page = {.title = STR("</script><b>\xff\xe2\x80\xa8"),
		.event = STR("e"),
		.quality = STR(""),
		.program = STR("p")};
	flame_page_write(&text, &tree, &page);
	text_char(&text, 0);
	assert_null(strstr(text.data, "</script><b>"));
	assert_non_null(strstr(text.data, "\"title\":\"\\u003c/script\\u003e\\u003cb\\u003e\\ufffd\\u2028\""));
	text_deinit(&text);
	flame_tree_deinit(&tree);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_merged_in_order_of_names),
		cmocka_unit_test(roots_are_what_is_asked_for),
		cmocka_unit_test(reversed_it_begins_at_the_functions),
		cmocka_unit_test(one_stack_is_of_several_groups),
		cmocka_unit_test(nodes_say_what_they_are),
		cmocka_unit_test(filters_and_other_events_leave_nothing),
		cmocka_unit_test(samples_without_a_state_are_not_known),
		cmocka_unit_test(a_page_holds_no_markup_of_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
