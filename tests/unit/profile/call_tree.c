/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/rows/call_tree.h"

#include "profile_text.h"
#include "unit_test.h"

static const enum profile_key by_comm[] = {KEY_COMM};

static void print_node(struct text *out, const struct call_tree_builder *b, uint32_t index, size_t depth)
{
	const struct call_tree_node *node = &b->nodes[index];
	const struct profile *p = b->table->profile;
	text_repeat(out, ' ', depth);
	for (uint32_t i = 0; i < node->frame_count; i++) {
		const struct profile_frame *frame = &p->frames[b->frames[node->first_frame + i]];
		text_str(out, i ? ";" : "");
		if (frame->function == PROFILE_NONE)
			text_printf(out, "%lx", frame->raw_address);
		else
			text_str(out, profile_string(p, p->functions[frame->function].name).data);
	}
	text_printf(out, " %lu/%lu+%lu/%lu\n", node->hit_period, node->hit_count, node->children_period,
		node->children_count);
	for (uint32_t i = 0; i < node->child_count; i++)
		print_node(out, b, node->first_child + i, depth + 1);
}

/* Compares the tree of the only row: frames, then the hits of the frame and of its children, as period/count. */
static void assert_tree(const char *profile, struct call_tree_options options, bool by_address, const char *expected)
{
	struct profile *p = profile_from_text(profile);
	struct flat_table table;
	struct call_tree_builder b;
	struct tally_error err;
	struct text out = {0};
	struct flat_options flat = {.keys = by_comm,
		.key_count = 1,
		.member_count = 1,
		.with_chains = true,
		.is_caller_first = true,
		.is_chain_by_address = by_address};
	assert_int_equal(flat_table_init(&table, p, &flat, &err), TALLY_OK);
	assert_int_equal(table.row_count, 1);
	assert_int_equal(call_tree_init(&b, &table, &err), TALLY_OK);
	/* Built twice, because scratch memory of the first build must not affect the second. */
	assert_int_equal(call_tree_build(&b, 0, &options, &err), TALLY_OK);
	assert_int_equal(call_tree_build(&b, 0, &options, &err), TALLY_OK);
	print_node(&out, &b, 0, 0);
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
	call_tree_deinit(&b);
	flat_table_deinit(&table);
	profile_destroy(p);
}

static const char forked[] = "event c\n"
			     "a 1/1 0 0 60 main@x;run@x;hot@x\n"
			     "a 1/1 0 0 30 main@x;run@x;warm@x\n"
			     "a 1/1 0 0 7 main@x;run@x\n"
			     "a 1/1 0 0 3 main@x;init@x\n";

static void chains_share_what_they_can(void **state)
{
	assert_tree(forked, (struct call_tree_options){0}, false,
		" 0/0+100/4\n"
		" main 0/0+100/4\n"
		"  run 7/1+90/2\n"
		"   hot 60/1+0/0\n"
		"   warm 30/1+0/0\n"
		"  init 3/1+0/0\n");
}

static void light_nodes_are_left_out_but_keep_the_shape(void **state)
{
	assert_tree(forked, (struct call_tree_options){.min_period = 31}, false,
		" 0/0+100/4\n"
		" main 0/0+100/4\n"
		"  run 7/1+90/2\n"
		"   hot 60/1+0/0\n");
	assert_tree(forked, (struct call_tree_options){.is_relative = true, .min_share = 0.5}, false,
		" 0/0+100/4\n"
		" main 0/0+100/4\n"
		"  run 7/1+90/2\n"
		"   hot 60/1+0/0\n");
}

static void equal_children_go_by_descending_address(void **state)
{
	static const char text[] = "event c\n"
				   "a 1/1 0 0 5 f@x;\na 1/1 0 0 5 g@x;\na 1/1 0 0 9 h@x;\n"
				   "a 1/1 0 0 5 0x9@x;\n";
	assert_tree(text, (struct call_tree_options){0}, false,
		" 0/0+24/4\n h 9/1+0/0\n 7f0000000009 5/1+0/0\n g 5/1+0/0\n f 5/1+0/0\n");
	assert_tree(text, (struct call_tree_options){.keeps_key_order = true}, false,
		" 0/0+24/4\n 7f0000000009 5/1+0/0\n h 9/1+0/0\n g 5/1+0/0\n f 5/1+0/0\n");
}

static void a_single_long_chain_is_one_node(void **state)
{
	struct text text = {0}, expected = {0};
	text_str(&text, "event c\na 1/1 0 0 5 ");
	text_str(&expected, " 0/0+5/1\n ");
	for (int i = 0; i < 250; i++) {
		text_printf(&text, "f%d@x;", i % 10);
		text_printf(&expected, "%sf%d", i ? ";" : "", i % 10);
	}
	text_str(&expected, " 5/1+0/0\n");
	text_char(&text, 0);
	text_char(&expected, 0);
	assert_tree(text.data, (struct call_tree_options){0}, false, expected.data);
	text_deinit(&text);
	text_deinit(&expected);
}

static void a_row_without_chains_has_an_empty_tree(void **state)
{
	assert_tree("event c\na 1/1 0 0 5 f@x\n", (struct call_tree_options){0}, true, " 0/0+0/0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_share_what_they_can),
		cmocka_unit_test(light_nodes_are_left_out_but_keep_the_shape),
		cmocka_unit_test(equal_children_go_by_descending_address),
		cmocka_unit_test(a_single_long_chain_is_one_node),
		cmocka_unit_test(a_row_without_chains_has_an_empty_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
