#include "analysis/flat_fold.h"

#include <string.h>

#include "base/slots.h"

#define KEY_WORDS 2
#define BATCH	  64 /* samples whose waits for memory overlap */
/* As a start: tables grow where there is more. */
#define SAMPLES_PER_SPOT 4
#define SPOTS_PER_PLACE	 2
#define LEAST_SLOTS	 64

struct spot_key {
	uint64_t address;
	uint32_t group, hash;
};

struct summing {
	struct flat_fold *fold;
	const struct binary_store *store;
	const uint32_t *store_ids;
	struct id_table places; /* group, address or start of the function */
	VEC(uint64_t) first_ips; /* by place */
};

bool flat_fold_init(struct flat_fold *fold, struct flat_part *part, struct sample_pass *pass)
{
	size_t binaries = machine_binary_count(pass->input.sideband->machine);
	*fold = (struct flat_fold){.part = part, .pass = pass, .group_ids = {.words = KEY_WORDS}};
	fold->is_hit = calloc(binaries + 1, 1);
	return fold->is_hit;
}

static void free_spots(struct flat_fold *fold)
{
	free(fold->spot_slots);
	fold->spot_slots = NULL;
	fold->spot_slot_count = 0;
	vec_free(&fold->spots);
}

void flat_fold_deinit(struct flat_fold *fold)
{
	vec_free(&fold->states);
	free(fold->is_hit);
	id_table_deinit(&fold->group_ids);
	free_spots(fold);
	vec_free(&fold->groups);
	vec_free(&fold->binaries);
	*fold = (struct flat_fold){0};
}

static uint64_t pack(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

static uint32_t add_group(struct flat_fold *fold, const struct flat_group *group)
{
	uint64_t words[KEY_WORDS] = {pack(group->event, group->thread), pack(group->binary, group->level)};
	uint32_t id = id_table_add(&fold->group_ids, words, NULL);
	if (id == ID_TABLE_NONE || (id == fold->groups.len && !vec_push(&fold->groups, *group)))
		fold->failed = true;
	return fold->failed ? 0 : id;
}

static void note_hit(struct flat_fold *fold, uint32_t binary)
{
	if (fold->is_hit[binary])
		return;
	fold->is_hit[binary] = 1;
	if (!vec_push(&fold->binaries, binary))
		fold->failed = true;
}

/* What holds for the context at that time: its name and its mappings. */
static void enter(
	struct flat_fold *fold, const struct flat_context *context, uint64_t time_ns, struct flat_state *state)
{
	const struct machine *machine = fold->pass->input.sideband->machine;
	*state = (struct flat_state){.span = {0, UINT64_MAX}};
	state->thread = sample_pass_add_thread(fold->pass, context->pid, context->tid, time_ns, &state->span);
	if (context->cpumode == MISC_CPUMODE_KERNEL)
		(void)machine_kernel_epoch_during(machine, time_ns, &state->span);
	else
		(void)machine_epoch_during(machine, context->pid, time_ns, &state->span);
}

static const struct flat_range *find_range(struct flat_fold *fold, const struct flat_context *context,
	const struct flat_sample *sample, struct flat_state *state)
{
	const struct machine *machine = fold->pass->input.sideband->machine;
	struct flat_range *range = &state->ranges[state->next++ % FLAT_RANGES];
	range->range = (struct address_range){0, UINT64_MAX};
	const struct machine_place place = {context->pid, context->cpumode, sample->time_ns, sample->ip};
	const struct mapping *map = machine_find_mapping_range(machine, &place, &range->range);
	struct flat_group group = {.event = context->event,
		.thread = state->thread,
		.binary = map ? map->binary : RESOLVE_NONE,
		.level = resolver_level(context->cpumode)};
	range->delta = map ? machine_address_in_binary(machine, map, VA(sample->ip)) - sample->ip : 0;
	range->group = add_group(fold, &group);
	if (map)
		note_hit(fold, map->binary);
	return range;
}

static bool is_inside(const struct flat_range *range, uint64_t ip)
{
	return range->range.start <= ip && ip < range->range.end;
}

static const struct flat_range *range_of(struct flat_fold *fold, const struct flat_sample *sample)
{
	const struct flat_context *context = &fold->part->contexts.items[sample->context];
	struct flat_state *state = &fold->states.items[sample->context];
	if (sample->time_ns < state->span.from_ns || sample->time_ns >= state->span.to_ns)
		enter(fold, context, sample->time_ns, state);
	if (is_inside(&state->ranges[state->last], sample->ip))
		return &state->ranges[state->last];
	for (unsigned i = 0; i < FLAT_RANGES; i++) {
		if (is_inside(&state->ranges[i], sample->ip)) {
			state->last = i;
			return &state->ranges[i];
		}
	}
	return find_range(fold, context, sample, state);
}

static void add_spot_sample(struct flat_fold *fold, const struct flat_sample *sample, uint32_t spot)
{
	uint64_t period = sample->period;
	if (period == FLAT_LARGE_PERIOD)
		period = fold->part->large_periods.items[fold->part->large_taken++];
	struct sample_sum *sum = &fold->spots.items[spot].sum;
	sum->count++;
	sum->period += period;
	if (sample->time_ns < sum->first_order)
		sum->first_order = sample->time_ns;
}

static bool is_spot(const struct flat_fold *fold, uint64_t slot, const struct spot_key *key)
{
	if (slot >> 32 != key->hash)
		return false;
	const struct flat_spot *spot = &fold->spots.items[(uint32_t)slot - 1];
	return spot->address == key->address && spot->group == key->group;
}

/* False: out of memory. */
static bool find_spot(struct flat_fold *fold, const struct spot_key *key, uint64_t ip, uint32_t *spot)
{
	size_t mask = fold->spot_slot_count - 1, at = key->hash & mask;
	while (fold->spot_slots[at] && !is_spot(fold, fold->spot_slots[at], key))
		at = (at + 1) & mask;
	if (fold->spot_slots[at]) {
		*spot = (uint32_t)fold->spot_slots[at] - 1;
		return true;
	}
	const struct flat_spot added = {key->address, key->group, ip, {.first_order = UINT64_MAX}};
	if (fold->spots.len >= UINT32_MAX - 1 || !vec_push(&fold->spots, added))
		return false;
	*spot = (uint32_t)fold->spots.len - 1;
	fold->spot_slots[at] = (uint64_t)key->hash << 32 | fold->spots.len;
	return !slots_are_full(fold->spots.len, fold->spot_slot_count) ||
	       slots_grow(&fold->spot_slots, &fold->spot_slot_count);
}

static void expect_spot(const struct flat_fold *fold, uint32_t hash)
{
	uint64_t slot = fold->spot_slots[hash & (fold->spot_slot_count - 1)];
	if (slot && slot >> 32 == hash)
		__builtin_prefetch(&fold->spots.items[(uint32_t)slot - 1], 1);
}

static void place_batch(struct flat_fold *fold, const struct flat_sample *samples, size_t count)
{
	struct spot_key keys[BATCH];
	for (size_t i = 0; i < count; i++) {
		const struct flat_range *range = range_of(fold, &samples[i]);
		struct spot_key *key = &keys[i];
		key->address = samples[i].ip + range->delta;
		key->group = range->group;
		key->hash = id_table_hash_words((uint64_t[]){key->address, key->group}, 2);
		__builtin_prefetch(&fold->spot_slots[key->hash & (fold->spot_slot_count - 1)]);
	}
	for (size_t i = 0; i < count; i++)
		expect_spot(fold, keys[i].hash);
	for (size_t i = 0; i < count && !fold->failed; i++) {
		uint32_t spot;
		fold->failed = !find_spot(fold, &keys[i], samples[i].ip, &spot);
		if (!fold->failed)
			add_spot_sample(fold, &samples[i], spot);
	}
	fold->failed = fold->failed || fold->pass->failed;
}

static bool reserve_spots(struct flat_fold *fold, size_t count)
{
	size_t slots = LEAST_SLOTS;
	while (slots * 3 < count * 4)
		slots *= 2;
	return vec_reserve(&fold->spots, count) && slots_grow_to(&fold->spot_slots, &fold->spot_slot_count, slots);
}

/* For the contexts that came with the last block. */
static bool make_states(struct flat_fold *fold)
{
	size_t count = fold->part->contexts.len;
	if (!vec_reserve(&fold->states, count))
		return false;
	memset(fold->states.items + fold->states.len, 0, (count - fold->states.len) * sizeof(*fold->states.items));
	fold->states.len = count;
	return true;
}

void flat_fold_place(struct flat_fold *fold)
{
	struct flat_part *part = fold->part;
	const struct sample_pass_input *input = &fold->pass->input;
	struct flat_block block;
	fold->failed = !reserve_spots(fold, part->sample_count / SAMPLES_PER_SPOT);
	while (!fold->failed && flat_part_next(part, input->reader, input->run, &block)) {
		fold->failed = !make_states(fold);
		for (size_t i = 0; i < block.count && !fold->failed; i += BATCH)
			place_batch(fold, block.items + i, block.count - i < BATCH ? block.count - i : BATCH);
	}
	fold->failed = fold->failed || part->failed;
}

/* Where the function begins that the address lies in; the address itself where none is known. */
static uint64_t function_start(const struct summing *s, uint32_t binary, uint64_t address)
{
	if (binary == RESOLVE_NONE)
		return address;
	if (s->store_ids[binary] != RESOLVE_NONE) {
		const struct symbol *symbol = binary_store_find(s->store, s->store_ids[binary], address);
		return symbol ? symbol->start : address;
	}
	const struct machine_binary *known = machine_binary_get(s->fold->pass->input.sideband->machine, binary);
	return known->kind == MACHINE_BPF ? known->start : address;
}

static void add_spot(struct summing *s, const struct flat_spot *spot, const uint64_t *words, uint32_t hash)
{
	struct sample_pass *pass = s->fold->pass;
	uint32_t id = id_table_add_hashed(&s->places, words, hash, NULL);
	if (id == ID_TABLE_NONE) {
		s->fold->failed = true;
		return;
	}
	if (id == pass->sums.len) {
		if (!vec_push(&pass->sums, spot->sum) || !vec_push(&s->first_ips, spot->first_ip))
			s->fold->failed = true;
		return;
	}
	struct sample_sum *sum = &pass->sums.items[id];
	sum->count += spot->sum.count;
	sum->period += spot->sum.period;
	if (spot->sum.first_order < sum->first_order)
		sum->first_order = spot->sum.first_order;
}

static void sum_batch(struct summing *s, size_t first, size_t count)
{
	const struct flat_fold *fold = s->fold;
	uint64_t words[BATCH][KEY_WORDS];
	uint32_t binaries[BATCH], hashes[BATCH];
	for (size_t i = 0; i < count; i++) {
		const struct flat_spot *spot = &fold->spots.items[first + i];
		words[i][0] = spot->group;
		words[i][1] = spot->address;
		binaries[i] = fold->groups.items[spot->group].binary;
		if (binaries[i] != RESOLVE_NONE && s->store_ids[binaries[i]] != RESOLVE_NONE)
			binary_store_expect(s->store, s->store_ids[binaries[i]], words[i][1]);
	}
	for (size_t i = 0; i < count; i++)
		if (binaries[i] != RESOLVE_NONE && s->store_ids[binaries[i]] != RESOLVE_NONE)
			binary_store_guess(s->store, s->store_ids[binaries[i]], words[i][1]);
	for (size_t i = 0; i < count; i++) {
		words[i][1] = function_start(s, binaries[i], words[i][1]);
		hashes[i] = id_table_hash_words(words[i], KEY_WORDS);
		id_table_expect(&s->places, hashes[i]);
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t id = id_table_guess(&s->places, hashes[i]);
		if (id != ID_TABLE_NONE)
			__builtin_prefetch(&fold->pass->sums.items[id]);
	}
	for (size_t i = 0; i < count && !fold->failed; i++)
		add_spot(s, &fold->spots.items[first + i], words[i], hashes[i]);
}

/* Some places as frames and keys of the pass. */
static bool add_places(const struct summing *s, size_t first, size_t count)
{
	struct sample_pass *pass = s->fold->pass;
	struct id_table *frames = &pass->resolver.frames;
	uint64_t packed[BATCH * RESOLVED_FRAME_WORDS], words[SAMPLE_KEY_WORDS];
	uint32_t leaves[BATCH];
	for (size_t i = 0; i < count; i++) {
		const uint64_t *place = id_table_key(&s->places, (uint32_t)(first + i));
		const struct flat_group *group = &s->fold->groups.items[place[0]];
		const struct resolved_frame frame = {
			.address = place[1], .binary = group->binary, .level = group->level};
		resolved_frame_pack(&frame, words);
		memcpy(packed + i * frames->words, words, frames->words * sizeof(*words));
	}
	if (!id_table_add_many(frames, packed, count, leaves) || !vec_reserve(&pass->resolver.first_ips, frames->len))
		return false;
	for (size_t i = 0; i < count; i++) {
		const uint64_t *place = id_table_key(&s->places, (uint32_t)(first + i));
		const struct flat_group *group = &s->fold->groups.items[place[0]];
		const struct sample_key key = {.event = group->event,
			.thread = group->thread,
			.leaf = leaves[i],
			.stack = RESOLVE_NONE,
			.cpu = -1};
		if (key.leaf == pass->resolver.first_ips.len)
			pass->resolver.first_ips.items[pass->resolver.first_ips.len++] = s->first_ips.items[first + i];
		sample_key_pack(&key, words);
		if (id_table_append(&pass->keys, words) == ID_TABLE_NONE)
			return false;
	}
	return true;
}

static bool fill_pass(const struct summing *s)
{
	struct sample_pass *pass = s->fold->pass;
	size_t count = s->places.len;
	bool is_done = id_table_reserve(&pass->resolver.frames, count);
	for (size_t i = 0; i < count && is_done; i += BATCH)
		is_done = add_places(s, i, count - i < BATCH ? count - i : BATCH);
	return is_done;
}

static bool reserve(struct summing *s, size_t count)
{
	return id_table_reserve(&s->places, count) && vec_reserve(&s->first_ips, count) &&
	       vec_reserve(&s->fold->pass->sums, count);
}

void flat_fold_sum(struct flat_fold *fold, const struct binary_store *store, const uint32_t *store_ids)
{
	struct summing s = {.fold = fold, .store = store, .store_ids = store_ids, .places = {.words = KEY_WORDS}};
	size_t count = fold->spots.len;
	fold->failed = fold->failed || !reserve(&s, count / SPOTS_PER_PLACE);
	for (size_t i = 0; i < count && !fold->failed; i += BATCH)
		sum_batch(&s, i, count - i < BATCH ? count - i : BATCH);
	free_spots(fold);
	fold->failed = fold->failed || !fill_pass(&s);
	resolver_end_lookups(&fold->pass->resolver);
	fold->pass->damaged = fold->part->damaged;
	fold->pass->unattributed = fold->part->unattributed;
	id_table_deinit(&s.places);
	vec_free(&s.first_ips);
}
