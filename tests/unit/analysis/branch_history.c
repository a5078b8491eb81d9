/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/branch_history.h"

#include "base/limits.h"
#include "profile/profile.h"
#include "unit_test.h"

#define MAX_WORDS 400

struct fixture {
	struct machine *machine;
	struct resolver resolver;
	uint64_t words[MAX_WORDS];
	struct sample sample;
	struct branch_history history;
};

/* Sets branches, newest first, from pairs of source and target; each is marked as predicted and has its index as
 * cycles. */
static void set_up(struct fixture *f, const uint64_t *pairs, size_t count)
{
	*f = (struct fixture){0};
	assert_int_equal(machine_create(&f->machine, NULL), TALLY_OK);
	assert_true(resolver_init(&f->resolver, f->machine, false));
	for (size_t i = 0; i < count; i++) {
		f->words[3 * i] = pairs[2 * i];
		f->words[3 * i + 1] = pairs[2 * i + 1];
		f->words[3 * i + 2] = 2 | (i + 1) << 4;
	}
	f->sample.present = SAMPLE_BRANCH_STACK;
	f->sample.branches.entries = (struct sample_array){(const uint8_t *)f->words, (uint32_t)count * 3};
	f->history = (struct branch_history){.where = {.pid = 1}, .sample = &f->sample};
}

static void tear_down(struct fixture *f)
{
	resolver_deinit(&f->resolver);
	machine_destroy(f->machine);
}

/* Compares the addresses from the innermost frame on; those of branches are followed by t or f and the cycles. */
static void assert_stack(struct fixture *f, const char *expected)
{
	struct text t = {0};
	uint32_t id = branch_history_stack(&f->resolver, &f->history);
	struct list stack = list_table_get(&f->resolver.stacks, id);
	for (uint32_t i = 0; i < stack.count; i++) {
		struct resolved_frame frame = resolved_frame_get(&f->resolver.frames, stack.items[i]);
		struct profile_branch branch = profile_branch_get(frame.branch);
		text_printf(&t, "%s%lx", t.len ? " " : "", frame.address);
		if (branch.end != BRANCH_END_NONE)
			text_printf(&t, "%c%u", branch.end == BRANCH_END_TO ? 't' : 'f', branch.cycles);
	}
	text_char(&t, 0);
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static const uint64_t path[] = {0x30, 0x40, 0x20, 0x30, 0x10, 0x20};

static void each_branch_is_target_and_source(void **state)
{
	struct fixture f;
	set_up(&f, path, 3);
	assert_stack(&f, "40t1 30f1 30t2 20f2 20t3 10f3");
	f.history.is_oldest_first = true;
	assert_stack(&f, "30f1 40t1 20f2 30t2 10f3 20t3");
	tear_down(&f);
}

static void a_bound_keeps_those_that_are_shown_first(void **state)
{
	struct fixture f;
	set_up(&f, path, 3);
	f.history.max_branches = 1;
	assert_stack(&f, "40t1 30f1");
	f.history.is_oldest_first = true;
	assert_stack(&f, "10f3 20t3");
	tear_down(&f);
}

static void what_repeats_is_kept_once(void **state)
{
	const uint64_t loop[] = {0x20, 0x10, 0x10, 0x20, 0x20, 0x10, 0x10, 0x20, 0x5, 0x10};
	struct fixture f;
	set_up(&f, loop, 5);
	assert_stack(&f, "10t1 20f1 20t2 10f2 10t5 5f5");
	tear_down(&f);
}

static void more_than_any_cpu_keeps_is_cut(void **state)
{
	uint64_t many[2 * (LIMIT_BRANCH_HISTORY + 3)];
	struct fixture f;
	for (size_t i = 0; i < LIMIT_BRANCH_HISTORY + 3; i++)
		many[2 * i] = many[2 * i + 1] = 0x1000 + i;
	set_up(&f, many, LIMIT_BRANCH_HISTORY + 3);
	uint32_t stack = branch_history_stack(&f.resolver, &f.history);
	assert_int_equal(list_table_get(&f.resolver.stacks, stack).count, 2 * LIMIT_BRANCH_HISTORY);
	tear_down(&f);
}

static void callers_follow_without_calls_that_are_branches(void **state)
{
	/* The newest branch is a call from 0x101, which returns to 0x106. */
	const uint64_t call[] = {0x101, 0x40, 0x90, 0x100};
	uint64_t chain[] = {CONTEXT_USER, 0x44, 0x106, 0x206};
	struct fixture f;
	set_up(&f, call, 2);
	f.sample.ip = 0x44;
	const struct sample_array recorded = {(const uint8_t *)chain, 4};
	size_t count = resolver_chain_add(&f.resolver, &f.history.where, &recorded);
	assert_true(resolver_addresses_find(&f.resolver));
	f.history.chain = (struct list){f.resolver.found.items, (uint32_t)count};
	f.history.addresses = f.resolver.addresses.items;
	assert_stack(&f, "40t1 101f1 100t2 90f2 205");
	tear_down(&f);
}

static void no_branches_are_no_stack(void **state)
{
	struct fixture f;
	set_up(&f, path, 0);
	assert_int_equal(branch_history_stack(&f.resolver, &f.history), RESOLVE_NONE);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_branch_is_target_and_source),
		cmocka_unit_test(a_bound_keeps_those_that_are_shown_first),
		cmocka_unit_test(what_repeats_is_kept_once),
		cmocka_unit_test(more_than_any_cpu_keeps_is_cut),
		cmocka_unit_test(callers_follow_without_calls_that_are_branches),
		cmocka_unit_test(no_branches_are_no_stack),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
