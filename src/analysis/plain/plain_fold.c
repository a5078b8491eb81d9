/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/plain/plain_fold.h"

#include <string.h>

#include "base/array.h"
#include "base/slots.h"
#include "base/zeroed.h"

#define KEY_WORDS 2
#define BATCH	  64 /* Samples that are handled together, so that their cache misses overlap. */
/* A spot is the samples of one group at one address. SAMPLES_PER_SPOT, LEAST_BITS and LEAST_SPOTS determine the initial
 * sizes of tables, which grow as needed; SPOTS_PER_LINE spots are in one cache line. */
#define SAMPLES_PER_SPOT 4
#define LEAST_BITS	 6
#define MOST_BITS	 31 /* Limit of spot_bits: a slot holds a spot's number + 1 in fewer than 32 bits. */
#define LEAST_SPOTS	 32
#define SPOTS_PER_LINE	 2

struct spot_key {
	uint64_t address;
	uint32_t group, hash;
};

bool plain_fold_init(struct plain_fold *fold, struct plain_gather_part *part, const struct sample_pass_input *input)
{
	size_t binaries = machine_binary_count(input->sideband->machine);
	*fold = (struct plain_fold){.part = part,
		.input = input,
		.threads = {.words = THREAD_KEY_WORDS},
		.group_ids = {.words = KEY_WORDS}};
	fold->is_hit = calloc(binaries + 1, 1);
	return fold->is_hit;
}

void plain_fold_deinit(struct plain_fold *fold)
{
	vec_free(&fold->states);
	free(fold->is_hit);
	id_table_deinit(&fold->group_ids);
	id_table_deinit(&fold->threads);
	free(fold->spot_slots);
	free(fold->spots);
	vec_free(&fold->first_ips);
	vec_free(&fold->groups);
	vec_free(&fold->binaries);
	*fold = (struct plain_fold){0};
}

static uint64_t plain_fold_pack(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

static uint32_t add_group(struct plain_fold *fold, const struct plain_group *group)
{
	uint64_t words[KEY_WORDS] = {
		plain_fold_pack(group->event, group->thread), plain_fold_pack(group->binary, group->level)};
	uint32_t id = id_table_add(&fold->group_ids, words, NULL);
	if (id == ID_TABLE_NONE || (id == fold->groups.len && !vec_push(&fold->groups, *group)))
		fold->failed = true;
	return fold->failed ? 0 : id;
}

static void note_hit(struct plain_fold *fold, uint32_t binary)
{
	if (fold->is_hit[binary])
		return;
	fold->is_hit[binary] = 1;
	if (!vec_push(&fold->binaries, binary))
		fold->failed = true;
}

/* Resets the state of a context to a time: finds its thread, and the period in which the thread's name and the mappings
 * of its process do not change. */
static void plain_fold_enter(
	struct plain_fold *fold, const struct plain_context *context, uint64_t time_ns, struct plain_state *state)
{
	const struct machine *machine = fold->input->sideband->machine;
	*state = (struct plain_state){.span = {0, UINT64_MAX}};
	const struct sample_thread thread = {context->pid, context->tid, time_ns};
	state->thread = sample_pass_add_thread(fold->input, &thread, &fold->threads, &state->span);
	fold->failed = fold->failed || state->thread == ID_TABLE_NONE;
	if (context->cpumode == MISC_CPUMODE_KERNEL)
		(void)machine_kernel_epoch_during(machine, time_ns, &state->span);
	else
		(void)machine_epoch_during(machine, context->pid, time_ns, &state->span);
}

static const struct plain_range *plain_fold_find_range(struct plain_fold *fold, const struct plain_context *context,
	const struct plain_sample *sample, struct plain_state *state)
{
	const struct machine *machine = fold->input->sideband->machine;
	struct plain_range *range = &state->ranges[state->next++ % PLAIN_RANGES];
	range->range = (struct address_range){0, UINT64_MAX};
	const struct machine_place place = {context->pid, context->cpumode, sample->time_ns, sample->ip};
	const struct mapping *map = machine_find_mapping_range(machine, &place, &range->range);
	struct plain_group group = {.event = context->event,
		.thread = state->thread,
		.binary = map ? map->binary : RESOLVE_NONE,
		.level = resolver_level(context->cpumode)};
	range->delta = map ? machine_address_in_binary(machine, map, VA(sample->ip)) - sample->ip : 0;
	range->group = add_group(fold, &group);
	if (map)
		note_hit(fold, map->binary);
	return range;
}

static bool plain_fold_is_inside(const struct plain_range *range, uint64_t ip)
{
	return range->range.start <= ip && ip < range->range.end;
}

static const struct plain_range *plain_fold_range_of(struct plain_fold *fold, const struct plain_sample *sample)
{
	const struct plain_context *context = &fold->part->contexts.items[sample->context];
	struct plain_state *state = &fold->states.items[sample->context];
	if (sample->time_ns < state->span.from_ns || sample->time_ns >= state->span.to_ns)
		plain_fold_enter(fold, context, sample->time_ns, state);
	if (plain_fold_is_inside(&state->ranges[state->last], sample->ip))
		return &state->ranges[state->last];
	for (unsigned i = 0; i < PLAIN_RANGES; i++) {
		if (plain_fold_is_inside(&state->ranges[i], sample->ip)) {
			state->last = i;
			return &state->ranges[i];
		}
	}
	return plain_fold_find_range(fold, context, sample, state);
}

static void add_spot_sample(struct plain_fold *fold, const struct plain_sample *sample, uint32_t spot)
{
	uint64_t period = sample->period;
	if (period == PLAIN_LARGE_PERIOD)
		period = fold->part->large_periods.items[fold->part->large_taken++];
	struct plain_spot *sum = &fold->spots[spot];
	sum->count++;
	sum->period += period;
	if (sample->time_ns < sum->first_order)
		sum->first_order = sample->time_ns;
}

static uint32_t plain_fold_hash_of(uint64_t address, uint32_t group)
{
	return id_table_hash_words((uint64_t[]){address, group}, 2);
}

/* The lowest spot_bits bits of a slot are a spot's number + 1; the bits above them are those of the spot's hash. */
static uint32_t number_mask(const struct plain_fold *fold)
{
	return (uint32_t)((UINT64_C(1) << fold->spot_bits) - 1);
}

static bool may_be(const struct plain_fold *fold, uint32_t slot, uint32_t hash)
{
	return ((slot ^ hash) & ~number_mask(fold)) == 0;
}

static bool is_spot(const struct plain_fold *fold, uint32_t slot, const struct spot_key *key)
{
	if (!may_be(fold, slot, key->hash))
		return false;
	const struct plain_spot *spot = &fold->spots[(slot & number_mask(fold)) - 1];
	return spot->address == key->address && spot->group == key->group;
}

static void note_spot(struct plain_group *group, uint64_t address)
{
	if (group->spots == 0 || address < group->first)
		group->first = address;
	if (group->spots == 0 || address > group->last)
		group->last = address;
	group->spots++;
}

/* Enlarges the array of spots; realloc would not keep it aligned to cache lines. Returns false if out of memory. */
static bool reserve_spots(struct plain_fold *fold, size_t count)
{
	size_t room = (count + SPOTS_PER_LINE - 1) / SPOTS_PER_LINE * SPOTS_PER_LINE;
	struct plain_spot *spots = aligned_alloc(SPOTS_PER_LINE * sizeof(*spots), room * sizeof(*spots));
	if (!spots || !vec_reserve(&fold->first_ips, room)) {
		free(spots);
		return false;
	}
	if (fold->spot_count > 0)
		memcpy(spots, fold->spots, fold->spot_count * sizeof(*spots));
	free(fold->spots);
	fold->spots = spots;
	fold->spot_room = room;
	return true;
}

/* Returns false if out of memory. */
static bool plain_fold_add_spot(struct plain_fold *fold, const struct spot_key *key, uint64_t ip)
{
	bool has_room = fold->spot_count < fold->spot_room ||
			(fold->spot_count < UINT32_MAX / 2 && reserve_spots(fold, fold->spot_count * 2));
	if (!has_room)
		return false;
	fold->spots[fold->spot_count++] =
		(struct plain_spot){.address = key->address, .group = key->group, .first_order = UINT64_MAX};
	fold->first_ips.items[fold->first_ips.len++] = ip;
	note_spot(&fold->groups.items[key->group], key->address);
	return true;
}

static void plain_fold_put_slot(const struct plain_fold *fold, size_t spot, uint32_t hash)
{
	uint32_t mask = number_mask(fold);
	size_t at = hash & mask;
	while (fold->spot_slots[at])
		at = (at + 1) & mask;
	fold->spot_slots[at] = (hash & ~mask) | (uint32_t)(spot + 1);
}

/* Returns false if out of memory. */
static bool make_slots(struct plain_fold *fold, unsigned bits)
{
	uint32_t *slots = bits <= MOST_BITS ? zeroed_new((size_t)1 << bits, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	free(fold->spot_slots);
	fold->spot_slots = slots;
	fold->spot_bits = bits;
	for (size_t i = 0; i < fold->spot_count; i++)
		plain_fold_put_slot(fold, i, plain_fold_hash_of(fold->spots[i].address, fold->spots[i].group));
	return true;
}

/* Returns false if out of memory. */
static bool find_spot(struct plain_fold *fold, const struct spot_key *key, uint64_t ip, uint32_t *spot)
{
	uint32_t mask = number_mask(fold);
	size_t at = key->hash & mask;
	while (fold->spot_slots[at] && !is_spot(fold, fold->spot_slots[at], key))
		at = (at + 1) & mask;
	if (fold->spot_slots[at]) {
		*spot = (fold->spot_slots[at] & mask) - 1;
		return true;
	}
	if (!plain_fold_add_spot(fold, key, ip))
		return false;
	*spot = (uint32_t)fold->spot_count - 1;
	fold->spot_slots[at] = (key->hash & ~mask) | (uint32_t)fold->spot_count;
	return !slots_are_full(fold->spot_count, (size_t)mask + 1) || make_slots(fold, fold->spot_bits + 1);
}

static void expect_spot(const struct plain_fold *fold, uint32_t hash)
{
	uint32_t slot = fold->spot_slots[hash & number_mask(fold)];
	if (slot && may_be(fold, slot, hash))
		__builtin_prefetch(&fold->spots[(slot & number_mask(fold)) - 1], 1);
}

static void place_batch(struct plain_fold *fold, const struct plain_sample *samples, size_t count)
{
	struct spot_key keys[BATCH];
	for (size_t i = 0; i < count; i++) {
		const struct plain_range *range = plain_fold_range_of(fold, &samples[i]);
		struct spot_key *key = &keys[i];
		key->address = samples[i].ip + range->delta;
		key->group = range->group;
		key->hash = plain_fold_hash_of(key->address, key->group);
		__builtin_prefetch(&fold->spot_slots[key->hash & number_mask(fold)]);
	}
	for (size_t i = 0; i < count; i++)
		expect_spot(fold, keys[i].hash);
	for (size_t i = 0; i < count && !fold->failed; i++) {
		uint32_t spot;
		fold->failed = !find_spot(fold, &keys[i], samples[i].ip, &spot);
		if (!fold->failed)
			add_spot_sample(fold, &samples[i], spot);
	}
}

static bool plain_fold_make_room(struct plain_fold *fold, size_t count)
{
	unsigned bits = LEAST_BITS;
	while (bits < MOST_BITS && slots_are_full(count, (size_t)1 << bits))
		bits++;
	return reserve_spots(fold, MAX(count, LEAST_SPOTS)) && make_slots(fold, bits);
}

/* Adds states for the contexts that came with the last block. */
static bool make_states(struct plain_fold *fold)
{
	size_t count = fold->part->contexts.len;
	if (!vec_reserve(&fold->states, count))
		return false;
	memset(fold->states.items + fold->states.len, 0, (count - fold->states.len) * sizeof(*fold->states.items));
	fold->states.len = count;
	return true;
}

void plain_fold_place(struct plain_fold *fold)
{
	struct plain_gather_part *part = fold->part;
	const struct sample_pass_input *input = fold->input;
	struct plain_block block;
	fold->failed = !plain_fold_make_room(fold, part->sample_count / SAMPLES_PER_SPOT);
	while (!fold->failed && plain_part_next(part, input->reader, input->run, &block)) {
		fold->failed = !make_states(fold);
		for (size_t i = 0; i < block.count && !fold->failed; i += BATCH)
			place_batch(fold, block.items + i, MIN(block.count - i, BATCH));
	}
	fold->failed = fold->failed || part->failed;
}
