/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/resolve.h"

#include "base/array.h"
#include "base/hash.h"

/* Maximum number of frames of an unwound stack: as many as a stack dump of 64 KiB holds if all are as small as
 * compilers make them. */
#define UNWOUND_MAX 2048
#define CACHE_SLOTS (1u << 15) /* 768 KiB per worker: hot code is far smaller, and a miss costs a binary search. */

bool resolver_init(struct resolver *r, const struct machine *machine, bool swap)
{
	*r = (struct resolver){.machine = machine, .swap = swap};
	r->frames.words = RESOLVED_FRAME_WORDS;
	r->cache = calloc(CACHE_SLOTS, sizeof(*r->cache));
	return r->cache != NULL;
}

#define EXPECTED_WORDS 4 /* Estimated size of a stack in stacks.words, for reserving room. */

void resolver_expect(struct resolver *r, size_t stacks)
{
	/* These are only hints: tables without reserved room grow as needed. */
	r->expected = stacks;
	(void)id_table_expect_keys(&r->frames, stacks);
	(void)vec_reserve(&r->first_ips, stacks);
	(void)vec_reserve(&r->stacks.starts, stacks);
	(void)vec_reserve(&r->stacks.words, stacks * EXPECTED_WORDS);
}

#define TELLING_FRAMES 16384 /* With so many frames, the final number can be estimated. */

/* When the first samples show how many frames and stacks there will be, the tables are enlarged once for all of them
 * instead of being doubled several times. Later samples bring fewer new ones, hence the factor 3/4. */
static void expect_lookups(struct resolver *r)
{
	double more = (double)r->expected / (double)r->samples * 3 / 4;
	size_t frames = (size_t)((double)r->frames.len * more);
	size_t stacks = (size_t)((double)list_table_len(&r->stacks) * more);
	(void)id_table_reserve(&r->frames, MIN(frames, r->expected));
	(void)list_table_reserve(&r->stacks, MIN(stacks, r->expected));
	r->expected = 0;
}

static void free_scratch(struct resolver *r)
{
	vec_free(&r->addresses);
	vec_free(&r->found);
	vec_free(&r->stack_scratch);
	vec_free(&r->ip_scratch);
	vec_free(&r->chain_scratch);
	vec_free(&r->unwind_scratch);
	vec_free(&r->queries);
	free(r->cache);
	r->cache = NULL;
}

void resolver_deinit(struct resolver *r)
{
	free_scratch(r);
	id_table_deinit(&r->frames);
	vec_free(&r->first_ips);
	list_table_deinit(&r->stacks);
}

void resolver_end_lookups(struct resolver *r)
{
	free_scratch(r);
	id_table_end_lookups(&r->frames);
	list_table_end_lookups(&r->stacks);
}

void resolver_forget_epochs(struct resolver *r)
{
	memset(r->cache, 0, CACHE_SLOTS * sizeof(*r->cache));
	memset(r->epochs, 0, sizeof(r->epochs));
	memset(&r->kernel_epoch, 0, sizeof(r->kernel_epoch));
	memset(r->ranges, 0, sizeof(r->ranges));
	if (r->unwinder)
		sample_unwinder_forget(r->unwinder);
}

static bool is_within(const struct valid_span *span, uint64_t time_ns)
{
	return span->from_ns <= time_ns && time_ns < span->to_ns;
}

struct resolve_where resolver_where(struct resolver *r, int32_t pid, uint64_t time_ns)
{
	const struct valid_span always = {0, UINT64_MAX};
	r->samples++;
	struct resolve_epoch *user = &r->epochs[(uint32_t)pid % RESOLVE_EPOCHS], *kernel = &r->kernel_epoch;
	if (user->pid != pid || !is_within(&user->span, time_ns)) {
		*user = (struct resolve_epoch){.pid = pid, .span = always};
		user->epoch = machine_epoch_during(r->machine, pid, time_ns, &user->span);
	}
	if (!is_within(&kernel->span, time_ns)) {
		kernel->span = always;
		kernel->epoch = machine_kernel_epoch_during(r->machine, time_ns, &kernel->span);
	}
	return (struct resolve_where){
		.pid = pid, .time_ns = time_ns, .user_epoch = user->epoch, .kernel_epoch = kernel->epoch};
}

static struct resolve_cache_slot *cache_slot(const struct resolver *r, uint64_t ip, uint32_t epoch)
{
	uint64_t hash = (ip ^ ((uint64_t)epoch << 40)) * HASH_FACTOR;
	return &r->cache[hash >> 49];
}

/* Returns RESOLVE_NONE if the frame is not in the cache. */
static uint32_t find_cached(const struct resolver *r, uint64_t ip, uint32_t epoch, uint32_t cpumode)
{
	const struct resolve_cache_slot *slot = cache_slot(r, ip, epoch);
	bool is_cached = slot->frame != 0 && slot->address == ip && slot->epoch == epoch && slot->cpumode == cpumode;
	return is_cached ? slot->frame - 1 : RESOLVE_NONE;
}

static uint32_t epoch_of(const struct resolve_where *where, unsigned cpumode)
{
	return (cpumode & ~RESOLVE_RETURN) == MISC_CPUMODE_KERNEL ? where->kernel_epoch : where->user_epoch;
}

/* For a return address, returns an address in the call before it. */
static uint64_t code_address(const struct resolve_frame_query *query)
{
	return query->ip - ((query->cpumode & RESOLVE_RETURN) && query->ip > 0);
}

/* Finds the binary at the query's address. The result is valid for all addresses in its range. */
static const struct resolve_range *resolve_find_range(
	struct resolver *r, const struct resolve_where *where, const struct resolve_frame_query *query)
{
	uint32_t cpumode = query->cpumode & ~RESOLVE_RETURN;
	uint64_t ip = code_address(query);
	struct resolve_ranges *known = &r->ranges[(query->epoch * 2 + cpumode) % RESOLVE_EPOCHS];
	if (known->epoch != query->epoch || known->cpumode != cpumode)
		*known = (struct resolve_ranges){.epoch = query->epoch, .cpumode = cpumode};
	for (unsigned i = 0; i < RESOLVE_RANGES && i < known->count; i++)
		if (known->items[i].range.start <= ip && ip < known->items[i].range.end)
			return &known->items[i];
	struct resolve_range *range = &known->items[known->count++ % RESOLVE_RANGES];
	range->range = (struct address_range){0, UINT64_MAX};
	const struct machine_place place = {where->pid, cpumode, where->time_ns, ip};
	const struct mapping *map = machine_find_mapping_range(r->machine, &place, &range->range);
	range->binary = map ? map->binary : RESOLVE_NONE;
	range->delta = map ? machine_address_in_binary(r->machine, map, VA(ip)) - ip : 0;
	return range;
}

static void find_mapped(struct resolver *r, const struct resolve_where *where, struct resolve_frame_query *query)
{
	const struct resolve_range *range = resolve_find_range(r, where, query);
	uint64_t ip = code_address(query);
	const struct resolved_frame frame = {.address = ip + range->delta,
		.raw_address = r->keep_raw ? query->ip : 0,
		.binary = range->binary,
		.level = resolver_level(query->cpumode & ~RESOLVE_RETURN),
		.is_return = ip != query->ip};
	resolved_frame_pack(&frame, query->words);
	query->hash = id_table_hash(&r->frames, query->words);
	id_table_expect(&r->frames, query->hash);
}

/* Adds the frame of a query, also to the cache. */
static uint32_t resolve_add_mapped(struct resolver *r, const struct resolve_frame_query *query)
{
	uint32_t id = id_table_add_hashed(&r->frames, query->words, query->hash, NULL);
	if (id == ID_TABLE_NONE || (id == r->first_ips.len && !vec_push(&r->first_ips, query->ip))) {
		r->failed = true;
		return 0;
	}
	*cache_slot(r, query->ip, query->epoch) = (struct resolve_cache_slot){
		.address = query->ip, .epoch = query->epoch, .frame = id + 1, .cpumode = query->cpumode};
	return id;
}

uint32_t resolver_frame(struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint64_t ip)
{
	struct resolve_frame_query query = {.ip = ip, .epoch = epoch_of(where, cpumode), .cpumode = cpumode};
	uint32_t cached = find_cached(r, ip, query.epoch, cpumode);
	if (cached != RESOLVE_NONE)
		return cached;
	find_mapped(r, where, &query);
	return resolve_add_mapped(r, &query);
}

void resolver_addresses_clear(struct resolver *r)
{
	r->addresses.len = 0;
}

bool resolver_address_put(
	struct resolver *r, size_t index, const struct resolve_where *where, unsigned cpumode, uint64_t ip)
{
	uint32_t epoch = epoch_of(where, cpumode);
	size_t behind = r->addresses.len - index;
	if (!vec_reserve(&r->addresses, r->addresses.len + 1)) {
		r->failed = true;
		return false;
	}
	struct resolve_address *at = r->addresses.items + index;
	if (behind > 0 && at->ip == ip && at->epoch == epoch && at->cpumode == cpumode)
		return false;
	memmove(at + 1, at, behind * sizeof(*at));
	__builtin_prefetch(cache_slot(r, ip, epoch));
	*at = (struct resolve_address){where, ip, epoch, cpumode};
	r->addresses.len++;
	return true;
}

size_t resolver_chain_add(struct resolver *r, const struct resolve_where *where, const struct sample_array *chain)
{
	struct chain_modes modes = chain_modes_of(r);
	size_t first = r->addresses.len;
	struct chain_bound bound = chain_bound_of(r);
	if (!vec_reserve(&r->addresses, first + chain->count)) {
		r->failed = true;
		return 0;
	}
	for (uint32_t i = 0; i < chain->count; i++) {
		uint64_t ip = sample_u64_at(chain->data, i, r->swap);
		if (ip < CONTEXT_MAX) {
			if (chain_bound_is_over(&bound))
				break;
			unsigned cpumode = chain_modes_next(&modes);
			if (!chain_bound_takes(&bound))
				continue;
			uint32_t epoch = epoch_of(where, cpumode);
			__builtin_prefetch(cache_slot(r, ip, epoch));
			r->addresses.items[r->addresses.len++] = (struct resolve_address){where, ip, epoch, cpumode};
		} else if (!chain_modes_mark(&modes, ip)) {
			r->addresses.len = first;
			break;
		} else {
			chain_bound_mark(&bound, ip);
		}
	}
	return r->addresses.len - first;
}

bool resolver_addresses_find(struct resolver *r)
{
	size_t count = r->addresses.len;
	if (!vec_reserve(&r->found, count) || !vec_reserve(&r->queries, count)) {
		r->failed = true;
		return false;
	}
	struct resolve_frame_query *queries = r->queries.items;
	size_t missing = 0;
	for (size_t i = 0; i < count; i++) {
		const struct resolve_address *a = &r->addresses.items[i];
		r->found.items[i] = find_cached(r, a->ip, a->epoch, a->cpumode);
		if (r->found.items[i] != RESOLVE_NONE)
			continue;
		struct resolve_frame_query *query = &queries[missing++];
		query->ip = a->ip;
		query->epoch = a->epoch;
		query->cpumode = a->cpumode;
		query->address = (uint32_t)i;
		find_mapped(r, a->where, query);
	}
	if (r->frames.len >= TELLING_FRAMES && r->samples > 0 && r->samples < r->expected)
		expect_lookups(r);
	for (size_t i = 0; i < missing; i++)
		(void)id_table_guess(&r->frames, queries[i].hash);
	for (size_t i = 0; i < missing; i++)
		r->found.items[queries[i].address] = resolve_add_mapped(r, &queries[i]);
	return !r->failed;
}

/* In the cache, the cpumode of an address that was looked up in all CPU modes is ANY_MODE | kernel epoch <<
 * ANY_EPOCH_SHIFT | level. Kernel epochs from ANY_EPOCHS on do not fit and are not cached. */
#define ANY_MODE	(1u << 31)
#define ANY_EPOCH_SHIFT 8
#define ANY_EPOCHS	(1u << 23)

/* Sets the frame to what one CPU mode has mapped at the address. Returns false if nothing is mapped there. */
static bool map_raw(const struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint64_t ip,
	struct resolved_frame *frame)
{
	const struct mapping *map = machine_find_mapping(r->machine, where->pid, where->time_ns, cpumode, VA(ip));
	if (!map)
		return false;
	frame->binary = map->binary;
	frame->address = machine_address_in_binary(r->machine, map, VA(ip));
	frame->level = resolver_level(cpumode);
	return true;
}

uint32_t resolver_raw_frame(
	struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint32_t level, uint64_t ip)
{
	bool is_any = cpumode == RESOLVE_ANY_MODE;
	bool is_cached = is_any && where->kernel_epoch < ANY_EPOCHS;
	struct resolve_frame_query query = {.ip = ip,
		.epoch = where->user_epoch,
		.cpumode = ANY_MODE | where->kernel_epoch << ANY_EPOCH_SHIFT | level};
	uint32_t cached = is_cached ? find_cached(r, ip, query.epoch, query.cpumode) : RESOLVE_NONE;
	if (cached != RESOLVE_NONE)
		return cached;
	struct resolved_frame frame = {.address = ip, .raw_address = ip, .binary = RESOLVE_NONE};
	frame.level = resolver_level(is_any ? MISC_CPUMODE_HYPERVISOR : cpumode);
	if (!is_any)
		(void)map_raw(r, where, cpumode, ip, &frame);
	else if (!map_raw(r, where, MISC_CPUMODE_USER, ip, &frame))
		(void)map_raw(r, where, MISC_CPUMODE_KERNEL, ip, &frame);
	if (level)
		frame.level = level;
	resolved_frame_pack(&frame, query.words);
	query.hash = id_table_hash(&r->frames, query.words);
	uint32_t id = resolve_add_mapped(r, &query);
	if (!is_cached)
		cache_slot(r, ip, query.epoch)->frame = 0;
	return id;
}

static uint32_t resolve_add_frame(struct resolver *r, const struct resolved_frame *frame, uint64_t ip)
{
	uint64_t words[RESOLVED_FRAME_WORDS];
	resolved_frame_pack(frame, words);
	uint32_t id = id_table_add(&r->frames, words, NULL);
	if (id == ID_TABLE_NONE || (id == r->first_ips.len && !vec_push(&r->first_ips, ip))) {
		r->failed = true;
		return 0;
	}
	return id;
}

uint32_t resolver_marked_frame(struct resolver *r, uint32_t frame, uint64_t ip, uint32_t branch)
{
	if (r->failed)
		return 0;
	struct resolved_frame marked = resolved_frame_get(&r->frames, frame);
	marked.branch = branch;
	return resolve_add_frame(r, &marked, ip);
}

uint32_t resolver_named_frame(struct resolver *r, uint32_t number, uint32_t branch)
{
	const struct resolved_frame named = {.address = number, .binary = RESOLVE_NONE, .branch = branch};
	return resolve_add_frame(r, &named, 0);
}

uint32_t resolver_earlier_frame(struct resolver *r, uint32_t frame, uint64_t bytes)
{
	if (r->failed)
		return 0;
	struct resolved_frame earlier = resolved_frame_get(&r->frames, frame);
	earlier.address -= bytes;
	earlier.raw_address -= earlier.raw_address ? bytes : 0;
	return resolve_add_frame(r, &earlier, r->first_ips.items[frame] - bytes);
}

uint32_t resolver_stack(struct resolver *r, const uint32_t *frames, size_t count, uint32_t hash)
{
	uint32_t id = list_table_add_hashed(&r->stacks, frames, count, hash);
	r->failed = r->failed || id == LIST_TABLE_NONE;
	return id;
}

bool chain_modes_mark(struct chain_modes *modes, uint64_t mark)
{
	switch (mark) {
	case CONTEXT_HV:
		chain_modes_begin(modes, MISC_CPUMODE_HYPERVISOR);
		return true;
	case CONTEXT_KERNEL:
		chain_modes_begin(modes, MISC_CPUMODE_KERNEL);
		return true;
	case CONTEXT_USER:
	case CONTEXT_USER_DEFERRED:
		chain_modes_begin(modes, MISC_CPUMODE_USER);
		return true;
	default: /* Includes guests, as in perf: code in guests is not looked up. */
		return false;
	}
}

#define BRANCH_WORDS 3 /* Words per branch: from, to, flags. */

static uint64_t resolve_stored(const struct resolver *r, uint64_t word)
{
	return r->swap ? __builtin_bswap64(word) : word;
}

void resolver_begin_recorded(struct resolver *r)
{
	r->is_unwound = false;
	r->names_calls = false;
}

struct sample_array resolver_whole_chain(struct resolver *r, const struct sample_array *chain)
{
	uint64_t cookie;
	resolver_begin_recorded(r);
	if (r->keeps_cookies || !deferred_chains_cookie(chain, r->swap, &cookie))
		return *chain;
	struct sample_array later = deferred_chains_find(r->deferred, cookie);
	uint32_t kept = chain->count - DEFERRED_WORDS;
	if (later.count == 0)
		return (struct sample_array){chain->data, kept};
	uint32_t len = kept + 1 + later.count;
	if (!vec_reserve(&r->chain_scratch, len)) {
		r->failed = true;
		return (struct sample_array){NULL, 0};
	}
	uint64_t *words = r->chain_scratch.items;
	if (kept > 0)
		memcpy(words, chain->data, kept * sizeof(*words));
	words[kept] = resolve_stored(r, CONTEXT_USER);
	memcpy(words + kept + 1, later.data, later.count * sizeof(*words));
	return (struct sample_array){(const uint8_t *)words, len};
}

/* Returns the number of words before the context marker of the user part. */
static uint32_t kernel_words(const struct resolver *r, const struct sample_array *chain)
{
	uint32_t kept = 0;
	for (; kept < chain->count; kept++) {
		uint64_t word = sample_u64_at(chain->data, kept, r->swap);
		if (word == CONTEXT_USER || word == CONTEXT_USER_DEFERRED)
			break;
	}
	return kept;
}

static struct sample_array lbr_chain(struct resolver *r, const struct sample *sample)
{
	const struct sample_array *chain = &sample->callchain;
	const uint8_t *branches = sample->branches.entries.data;
	uint32_t count = sample->branches.entries.count / BRANCH_WORDS;
	uint32_t kept = kernel_words(r, chain);
	struct lbr_older older = {NULL, 0};
	if (r->stitcher && !lbr_stitch(r->stitcher, sample, &older))
		r->failed = true;
	uint32_t len = kept + count + 2 + (uint32_t)older.count;
	if (!vec_reserve(&r->chain_scratch, len)) {
		r->failed = true;
		return (struct sample_array){NULL, 0};
	}
	uint64_t *words = r->chain_scratch.items;
	if (kept > 0)
		memcpy(words, chain->data, kept * sizeof(*words));
	words[kept] = resolve_stored(r, CONTEXT_USER);
	/* The target of the newest branch is in the sampled function; the source of each branch is in a caller. */
	words[kept + 1] = sample_u64_at(branches, 1, false);
	for (uint32_t i = 0; i < count; i++)
		words[kept + 2 + i] = sample_u64_at(branches, (size_t)i * BRANCH_WORDS, false);
	for (size_t i = 0; i < older.count; i++)
		words[kept + 2 + count + i] = resolve_stored(r, older.sources[i]);
	return (struct sample_array){(const uint8_t *)words, len};
}

/* Returns whether the chain that the kernel recorded is better than the unwound one: the latter is empty, or is
 * incomplete and has no more frames. */
static bool is_worthless(const struct unwind_result *result, uint32_t kernel, const struct sample_array *recorded)
{
	uint32_t others = recorded->count > kernel ? recorded->count - kernel - 1 : 0;
	return result->count == 0 || (result->end != UNWIND_ROOT && result->count <= others);
}

/* A caller's address is its return address minus one, which lies in the call, as in the chains that perf unwinds. */
static struct sample_array unwound_chain(struct resolver *r, const struct resolve_where *where,
	const struct sample *sample, struct sample_array recorded)
{
	uint32_t kept = kernel_words(r, &recorded);
	size_t max = r->max_stack > 0 && r->max_stack < UNWOUND_MAX ? r->max_stack : UNWOUND_MAX;
	if (!vec_reserve(&r->unwind_scratch, kept + 1 + max)) {
		r->failed = true;
		return (struct sample_array){NULL, 0};
	}
	uint64_t *words = r->unwind_scratch.items;
	uint64_t *ips = words + kept + 1;
	const struct unwind_where at = {where->pid, where->time_ns, where->user_epoch};
	struct unwind_result result = sample_unwind(r->unwinder, &at, sample, ips, max);
	r->failed = r->failed || r->unwinder->failed;
	if (is_worthless(&result, kept, &recorded))
		return recorded;
	if (kept > 0)
		memcpy(words, recorded.data, kept * sizeof(*words));
	words[kept] = resolve_stored(r, CONTEXT_USER);
	for (size_t i = 0; i < result.count; i++)
		ips[i] = resolve_stored(r, ips[i] - !unwind_is_exact(&result, i));
	r->is_unwound = true;
	r->names_calls = true;
	return (struct sample_array){(const uint8_t *)words, kept + 1 + (uint32_t)result.count};
}

struct sample_array resolver_sample_chain(struct resolver *r, const struct resolve_where *where,
	const struct record_layout *layout, const struct sample *sample)
{
	if ((layout->branch_sample_type & BRANCH_CALL_STACK) && sample->branches.entries.count >= BRANCH_WORDS) {
		resolver_begin_recorded(r);
		r->names_calls = true; /* The sources of branches are the calls themselves. */
		return lbr_chain(r, sample);
	}
	struct sample_array recorded = resolver_whole_chain(r, &sample->callchain);
	r->names_calls = layout->has_call_chains;
	if (!r->unwinder || !sample_has_stack(sample))
		return recorded;
	return unwound_chain(r, where, sample, recorded);
}

struct resolved_chain resolver_chain_frames(
	struct resolver *r, const struct resolve_where *where, const struct sample_array *chain)
{
	const struct resolved_chain none = {NULL, NULL, 0};
	resolver_addresses_clear(r);
	size_t count = resolver_chain_add(r, where, chain);
	if (r->failed || !resolver_addresses_find(r) || !vec_reserve(&r->ip_scratch, count)) {
		r->failed = true;
		return none;
	}
	for (size_t i = 0; i < count; i++)
		r->ip_scratch.items[i] = r->addresses.items[i].ip;
	return (struct resolved_chain){r->found.items, r->ip_scratch.items, count};
}
