/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/resolve.h"

#include "unit_test.h"

struct fixture {
	struct machine *machine;
	struct resolver resolver;
	struct resolve_where where;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){.where = {.pid = 1, .user_epoch = 7, .kernel_epoch = 9}};
	assert_int_equal(machine_create(&f->machine, NULL), TALLY_OK);
	assert_true(resolver_init(&f->resolver, f->machine, false));
}

static void tear_down(struct fixture *f)
{
	resolver_deinit(&f->resolver);
	machine_destroy(f->machine);
}

static size_t add_chain(struct fixture *f, const uint64_t *words, uint32_t count)
{
	const struct sample_array chain = {(const uint8_t *)words, count};
	return resolver_chain_add(&f->resolver, &f->where, &chain);
}

static bool put(struct fixture *f, size_t index, unsigned cpumode, uint64_t ip)
{
	return resolver_address_put(&f->resolver, index, &f->where, cpumode, ip);
}

/* Compares the address and level of each frame found, by index of the address. */
static void assert_found(struct fixture *f, const char *expected)
{
	struct text t = {0};
	assert_true(resolver_addresses_find(&f->resolver));
	for (size_t i = 0; i < f->resolver.addresses.len; i++) {
		uint32_t id = f->resolver.found.items[i];
		struct resolved_frame frame = resolved_frame_get(&f->resolver.frames, id);
		text_printf(&t, "%s%u=%lx%c", t.len ? " " : "", id, frame.address, (char)frame.level);
	}
	text_char(&t, 0);
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static const uint64_t chain[] = {CONTEXT_KERNEL, 0x10, CONTEXT_USER, 0x20, 0x30};

static void what_a_chain_begins_with_is_looked_for_once(void **state)
{
	struct fixture f;
	set_up(&f);
	assert_int_equal(add_chain(&f, chain, 5), 3);
	assert_false(put(&f, 0, MISC_CPUMODE_KERNEL, 0x10));
	assert_int_equal(add_chain(&f, chain + 2, 3), 2);
	assert_false(put(&f, 3, MISC_CPUMODE_USER, 0x20));
	assert_found(&f, "0=10k 1=20. 2=2f. 1=20. 2=2f.");
	tear_down(&f);
}

static void callers_are_looked_for_inside_their_calls(void **state)
{
	const uint64_t parts[] = {CONTEXT_KERNEL, 0x10, 0x20, 0x10, CONTEXT_USER, 0x30, 0x40, 0};
	struct fixture f;
	set_up(&f);
	/* The first address of each part is the interrupted one; the same address among callers is a
	 * different frame. */
	assert_int_equal(add_chain(&f, parts, 8), 6);
	assert_found(&f, "0=10k 1=1fk 2=fk 3=30. 4=3f. 5=0.");
	struct resolved_frame caller = resolved_frame_get(&f.resolver.frames, 4);
	assert_true(caller.is_return);
	assert_int_equal(resolved_frame_shown(&caller), 0x40);
	assert_int_equal(f.resolver.first_ips.items[4], 0x40);
	assert_false(resolved_frame_get(&f.resolver.frames, 3).is_return);
	tear_down(&f);
}

static void made_chains_name_the_calls_themselves(void **state)
{
	const uint64_t parts[] = {CONTEXT_KERNEL, 0x10, 0x20, CONTEXT_USER, 0x30, 0x3f};
	struct fixture f;
	set_up(&f);
	f.resolver.names_calls = true;
	assert_int_equal(add_chain(&f, parts, 6), 4);
	assert_found(&f, "0=10k 1=1fk 2=30. 3=3f.");
	resolver_begin_recorded(&f.resolver);
	assert_false(f.resolver.names_calls);
	tear_down(&f);
}

static void another_address_is_put_before_the_chain(void **state)
{
	struct fixture f;
	set_up(&f);
	assert_int_equal(add_chain(&f, chain, 5), 3);
	assert_true(put(&f, 0, MISC_CPUMODE_KERNEL, 0x18));
	assert_found(&f, "0=18k 1=10k 2=20. 3=2f.");
	/* An address in another mode, or in another image of the program, is a different frame. */
	resolver_addresses_clear(&f.resolver);
	assert_int_equal(add_chain(&f, chain, 5), 3);
	assert_true(put(&f, 0, MISC_CPUMODE_USER, 0x10));
	f.where.kernel_epoch++;
	assert_true(put(&f, 1, MISC_CPUMODE_KERNEL, 0x10));
	assert_int_equal(f.resolver.addresses.items[1].epoch, 10);
	assert_int_equal(f.resolver.addresses.items[2].epoch, 9);
	assert_found(&f, "4=10. 1=10k 1=10k 2=20. 3=2f.");
	tear_down(&f);
}

static void without_a_chain_it_stands_alone(void **state)
{
	struct fixture f;
	set_up(&f);
	assert_true(put(&f, 0, MISC_CPUMODE_USER, 0x20));
	assert_true(put(&f, 1, MISC_CPUMODE_USER, 0x20));
	assert_found(&f, "0=20. 0=20.");
	tear_down(&f);
}

static void what_is_expected_needs_no_room_later(void **state)
{
	struct fixture f;
	set_up(&f);
	resolver_expect(&f.resolver, 1000);
	const uint64_t *frames = f.resolver.frames.keys, *ips = f.resolver.first_ips.items;
	const uint32_t *words = f.resolver.stacks.words.items;
	assert_int_equal(f.resolver.frames.len, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t frame = resolver_frame(&f.resolver, &f.where, MISC_CPUMODE_USER, 0x1000 + i);
		assert_int_equal(frame, i);
		assert_int_equal(resolver_stack(&f.resolver, &frame, 1, list_table_hash(&frame, 1)), i);
	}
	assert_ptr_equal(f.resolver.frames.keys, frames);
	assert_ptr_equal(f.resolver.first_ips.items, ips);
	assert_ptr_equal(f.resolver.stacks.words.items, words);
	assert_int_equal(resolver_frame(&f.resolver, &f.where, MISC_CPUMODE_USER, 0x1000), 0);
	tear_down(&f);
}

#define MANY 40000 /* Number of samples, each at a different address. */

static void look_ups_get_room_by_what_came_so_far(void **state)
{
	struct fixture f;
	const uint64_t *slots = NULL;
	set_up(&f);
	resolver_expect(&f.resolver, MANY);
	for (uint64_t i = 0; i < MANY; i++) {
		f.where = resolver_where(&f.resolver, 1, 0);
		resolver_addresses_clear(&f.resolver);
		assert_true(put(&f, 0, MISC_CPUMODE_USER, 0x100000 + i));
		assert_true(resolver_addresses_find(&f.resolver));
		uint32_t frame = f.resolver.found.items[0];
		assert_int_equal(frame, i);
		assert_int_equal(resolver_stack(&f.resolver, &frame, 1, list_table_hash(&frame, 1)), i);
		if (f.resolver.expected > 0)
			slots = NULL;
		else if (!slots)
			slots = f.resolver.frames.slots;
		/* The table has room in proportion to three quarters of the samples so far: enough for all that follow
		 * here. */
		assert_true(!slots || i >= MANY / 4 * 3 || f.resolver.frames.slots == slots);
	}
	assert_non_null(slots);
	assert_int_equal(resolver_frame(&f.resolver, &f.where, MISC_CPUMODE_USER, 0x100000), 0);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_chain_begins_with_is_looked_for_once),
		cmocka_unit_test(callers_are_looked_for_inside_their_calls),
		cmocka_unit_test(made_chains_name_the_calls_themselves),
		cmocka_unit_test(another_address_is_put_before_the_chain),
		cmocka_unit_test(without_a_chain_it_stands_alone),
		cmocka_unit_test(what_is_expected_needs_no_room_later),
		cmocka_unit_test(look_ups_get_room_by_what_came_so_far),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
