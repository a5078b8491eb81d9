#include "analysis/resolve.h"

#define UNWOUND_MAX   2048 /* frames of a stack: a copy of 64 KiB with the smallest frames that compilers make */
#define CHAINS_JUDGED (1u << 16) /* with fewer, it is too early to say whether they return */
#define CACHE_SLOTS   (1u << 15) /* 768 KiB a worker: hot code is far smaller; a miss costs a binary search */

bool resolver_init(struct resolver *r, const struct machine *machine, bool swap)
{
	*r = (struct resolver){.machine = machine, .swap = swap};
	r->frames.words = RESOLVED_FRAME_WORDS;
	intern_init(&r->chains);
	r->cache = calloc(CACHE_SLOTS, sizeof(*r->cache));
	return r->cache != NULL;
}

void resolver_deinit(struct resolver *r)
{
	id_table_deinit(&r->frames);
	intern_deinit(&r->chains);
	vec_free(&r->first_ips);
	path_tree_deinit(&r->stacks);
	vec_free(&r->chain_stacks);
	vec_free(&r->scratch);
	vec_free(&r->frame_scratch);
	vec_free(&r->ip_scratch);
	vec_free(&r->chain_scratch);
	vec_free(&r->unwind_scratch);
	vec_free(&r->queries);
	free(r->cache);
	r->cache = NULL;
}

void resolver_forget_epochs(struct resolver *r)
{
	memset(r->cache, 0, CACHE_SLOTS * sizeof(*r->cache));
	memset(r->epochs, 0, sizeof(r->epochs));
	memset(&r->kernel_epoch, 0, sizeof(r->kernel_epoch));
	intern_deinit(&r->chains);
	intern_init(&r->chains);
	r->chain_stacks.len = 0;
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

uint32_t resolver_level(unsigned cpumode)
{
	switch (cpumode) {
	case MISC_CPUMODE_KERNEL:
		return 'k';
	case MISC_CPUMODE_USER:
		return '.';
	case MISC_CPUMODE_HYPERVISOR:
		return 'H';
	case MISC_CPUMODE_GUEST_KERNEL:
		return 'g';
	case MISC_CPUMODE_GUEST_USER:
		return 'u';
	default:
		return 0;
	}
}

static struct resolve_cache_slot *cache_slot(const struct resolver *r, const struct resolve_frame_query *query)
{
	uint64_t hash = (query->ip ^ ((uint64_t)query->epoch << 40)) * UINT64_C(0x9e3779b97f4a7c15);
	return &r->cache[hash >> 49];
}

static void find_mapped(const struct resolver *r, const struct resolve_where *where, struct resolve_frame_query *query)
{
	uint64_t ip = query->ip;
	struct resolved_frame frame = {.level = resolver_level(query->cpumode)};
	frame.raw_address = r->keep_raw ? ip : 0;
	const struct mapping *map =
		machine_find_mapping(r->machine, where->pid, where->time_ns, query->cpumode, VA(ip));
	if (map) {
		frame.binary = map->binary;
		frame.address = machine_address_in_binary(r->machine, map, VA(ip));
	} else {
		frame.binary = RESOLVE_NONE;
		frame.address = ip;
	}
	resolved_frame_pack(&frame, query->words);
}

void resolver_frame_begin(const struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint64_t ip,
	struct resolve_frame_query *query)
{
	query->ip = ip;
	query->cpumode = cpumode;
	query->epoch = cpumode == MISC_CPUMODE_KERNEL ? where->kernel_epoch : where->user_epoch;
	__builtin_prefetch(cache_slot(r, query));
}

void resolver_frame_step(const struct resolver *r, const struct resolve_where *where, struct resolve_frame_query *query)
{
	const struct resolve_cache_slot *slot = cache_slot(r, query);
	query->frame = RESOLVE_NONE;
	if (slot->frame != 0 && slot->address == query->ip && slot->epoch == query->epoch &&
		slot->cpumode == query->cpumode) {
		query->frame = slot->frame - 1;
		return;
	}
	find_mapped(r, where, query);
	query->hash = id_table_hash(&r->frames, query->words);
	id_table_expect(&r->frames, query->hash);
}

uint32_t resolver_frame_end(struct resolver *r, const struct resolve_frame_query *query)
{
	if (query->frame != RESOLVE_NONE)
		return query->frame;
	uint32_t id = id_table_add_hashed(&r->frames, query->words, query->hash, NULL);
	if (id == ID_TABLE_NONE || (id == r->first_ips.len && !vec_push(&r->first_ips, query->ip))) {
		r->failed = true;
		return 0;
	}
	*cache_slot(r, query) = (struct resolve_cache_slot){
		.address = query->ip, .epoch = query->epoch, .frame = id + 1, .cpumode = query->cpumode};
	return id;
}

uint32_t resolver_frame(struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint64_t ip)
{
	struct resolve_frame_query query;
	resolver_frame_begin(r, where, cpumode, ip, &query);
	resolver_frame_step(r, where, &query);
	return resolver_frame_end(r, &query);
}

#define ANY_MODE	(1u << 31) /* of cache slots: with the kernel's epoch and the level, whose bits these are */
#define ANY_EPOCH_SHIFT 8
#define ANY_EPOCHS	(1u << 23)

/* What is mapped at the address by one mode: into the frame. */
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
		.cpumode = ANY_MODE | where->kernel_epoch << ANY_EPOCH_SHIFT | level,
		.frame = RESOLVE_NONE};
	struct resolve_cache_slot *slot = cache_slot(r, &query);
	if (is_cached && slot->frame != 0 && slot->address == ip && slot->epoch == query.epoch &&
		slot->cpumode == query.cpumode)
		return slot->frame - 1;
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
	uint32_t id = resolver_frame_end(r, &query);
	if (!is_cached)
		slot->frame = 0;
	return id;
}

static uint32_t add_frame(struct resolver *r, const struct resolved_frame *frame, uint64_t ip)
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
	return add_frame(r, &marked, ip);
}

uint32_t resolver_earlier_frame(struct resolver *r, uint32_t frame, uint64_t bytes)
{
	if (r->failed)
		return 0;
	struct resolved_frame earlier = resolved_frame_get(&r->frames, frame);
	earlier.address -= bytes;
	earlier.raw_address -= earlier.raw_address ? bytes : 0;
	return add_frame(r, &earlier, r->first_ips.items[frame] - bytes);
}

uint32_t resolver_stack(struct resolver *r, uint32_t parent, uint32_t frame)
{
	uint32_t id = path_tree_add(&r->stacks, parent, frame);
	r->failed = r->failed || id == PATH_TREE_NONE;
	return id;
}

bool resolver_context(uint64_t marker, unsigned *cpumode)
{
	switch (marker) {
	case CONTEXT_HV:
		*cpumode = MISC_CPUMODE_HYPERVISOR;
		return true;
	case CONTEXT_KERNEL:
		*cpumode = MISC_CPUMODE_KERNEL;
		return true;
	case CONTEXT_USER:
	case CONTEXT_USER_DEFERRED:
		*cpumode = MISC_CPUMODE_USER;
		return true;
	case CONTEXT_GUEST:
	case CONTEXT_GUEST_KERNEL:
		*cpumode = MISC_CPUMODE_GUEST_KERNEL;
		return true;
	case CONTEXT_GUEST_USER:
		*cpumode = MISC_CPUMODE_GUEST_USER;
		return true;
	default:
		return false;
	}
}

#define BRANCH_WORDS 3 /* from, to, flags */

static uint64_t stored(const struct resolver *r, uint64_t word)
{
	return r->swap ? __builtin_bswap64(word) : word;
}

struct sample_array resolver_whole_chain(struct resolver *r, const struct sample_array *chain)
{
	uint64_t cookie;
	if (!deferred_chains_cookie(chain, r->swap, &cookie))
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
	words[kept] = stored(r, CONTEXT_USER);
	memcpy(words + kept + 1, later.data, later.count * sizeof(*words));
	return (struct sample_array){(const uint8_t *)words, len};
}

/* How much of it is the kernel's: what comes before the mark of the user part. */
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
	uint32_t len = kept + count + 2;
	if (!vec_reserve(&r->chain_scratch, len)) {
		r->failed = true;
		return (struct sample_array){NULL, 0};
	}
	uint64_t *words = r->chain_scratch.items;
	if (kept > 0)
		memcpy(words, chain->data, kept * sizeof(*words));
	words[kept] = stored(r, CONTEXT_USER);
	/* The newest call leads to where the sample is; each came from inside its caller. */
	words[kept + 1] = sample_u64_at(branches, 1, false);
	for (uint32_t i = 0; i < count; i++)
		words[kept + 2 + i] = sample_u64_at(branches, (size_t)i * BRANCH_WORDS, false);
	return (struct sample_array){(const uint8_t *)words, len};
}

/* The kernel, which follows frame pointers, may know more. */
static bool is_worthless(const struct unwind_result *result, uint32_t kernel, const struct sample_array *recorded)
{
	uint32_t others = recorded->count > kernel ? recorded->count - kernel - 1 : 0;
	return result->count == 0 || (result->end != UNWIND_ROOT && result->count <= others);
}

/* A caller's address is that of its return address minus one, which lies in the call: so perf's chains from stacks. */
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
	words[kept] = stored(r, CONTEXT_USER);
	for (size_t i = 0; i < result.count; i++)
		ips[i] = stored(r, ips[i] - !unwind_is_exact(&result, i));
	return (struct sample_array){(const uint8_t *)words, kept + 1 + (uint32_t)result.count};
}

struct sample_array resolver_sample_chain(struct resolver *r, const struct resolve_where *where,
	const struct record_layout *layout, const struct sample *sample)
{
	if ((layout->branch_sample_type & BRANCH_CALL_STACK) && sample->branches.entries.count >= BRANCH_WORDS)
		return lbr_chain(r, sample);
	struct sample_array recorded = resolver_whole_chain(r, &sample->callchain);
	if (!r->unwinder || !sample_has_stack(sample))
		return recorded;
	return unwound_chain(r, where, sample, recorded);
}

struct resolved_chain resolver_chain_frames(
	struct resolver *r, const struct resolve_where *where, const struct sample_array *chain)
{
	const struct resolved_chain none = {NULL, NULL, 0};
	unsigned cpumode = MISC_CPUMODE_USER;
	size_t count = 0;
	if (!vec_reserve(&r->frame_scratch, chain->count) || !vec_reserve(&r->ip_scratch, chain->count) ||
		!vec_reserve(&r->queries, chain->count)) {
		r->failed = true;
		return none;
	}
	for (uint32_t i = 0; i < chain->count; i++) {
		uint64_t ip = sample_u64_at(chain->data, i, r->swap);
		if (ip >= CONTEXT_MAX) {
			if (!resolver_context(ip, &cpumode))
				return none;
			continue;
		}
		if (r->max_stack > 0 && count >= r->max_stack)
			break;
		r->ip_scratch.items[count] = ip;
		resolver_frame_begin(r, where, cpumode, ip, &r->queries.items[count++]);
	}
	for (size_t i = 0; i < count; i++)
		resolver_frame_step(r, where, &r->queries.items[i]);
	for (size_t i = 0; i < count; i++)
		resolver_frame_guess(r, &r->queries.items[i]);
	for (size_t i = 0; i < count; i++)
		r->frame_scratch.items[i] = resolver_frame_end(r, &r->queries.items[i]);
	return r->failed ? none : (struct resolved_chain){r->frame_scratch.items, r->ip_scratch.items, count};
}

static uint32_t chain_build(struct resolver *r, const struct resolve_where *where, const struct sample_array *chain)
{
	struct resolved_chain resolved = resolver_chain_frames(r, where, chain);
	uint32_t stack = RESOLVE_NONE;
	for (size_t i = resolved.count; i-- > 0;)
		stack = resolver_stack(r, stack, resolved.frames[i]);
	return stack;
}

void resolver_chains_clear(struct resolver *r)
{
	r->scratch.len = 0;
}

void resolver_chain_begin(struct resolver *r, const struct resolve_where *where, const struct sample_array *chain,
	struct resolve_chain_query *query)
{
	*query = (struct resolve_chain_query){.first = r->scratch.len};
	if (chain->count == 0)
		return;
	size_t words = (size_t)chain->count + 1;
	if (!vec_reserve(&r->scratch, r->scratch.len + words)) {
		r->failed = true;
		return;
	}
	uint64_t *copy = r->scratch.items + query->first;
	copy[0] = (uint64_t)where->user_epoch << 32 | where->kernel_epoch;
	memcpy(copy + 1, chain->data, (size_t)chain->count * sizeof(uint64_t));
	r->scratch.len += words;
	query->words = words;
	if (r->forgets_chains)
		return;
	query->hash = bytes_hash(copy, words * sizeof(uint64_t));
	intern_expect(&r->chains, query->hash);
}

void resolver_chain_step(const struct resolver *r, const struct resolve_chain_query *query)
{
	uint32_t id = query->words && !r->forgets_chains ? intern_guess(&r->chains, query->hash) : INTERN_NONE;
	if (id != INTERN_NONE && id < r->chain_stacks.len)
		__builtin_prefetch(&r->chain_stacks.items[id]);
}

/* Chains of short-lived programs hardly ever return: each has its own addresses. */
static void judge_chains(struct resolver *r)
{
	if (r->chains.len < CHAINS_JUDGED || r->known_chains > r->chains.len)
		return;
	r->forgets_chains = true;
	intern_deinit(&r->chains);
	intern_init(&r->chains);
	r->chain_stacks.len = 0;
}

uint32_t resolver_chain_end(
	struct resolver *r, const struct resolve_where *where, const struct resolve_chain_query *query)
{
	if (query->words == 0)
		return RESOLVE_NONE;
	const uint64_t *words = r->scratch.items + query->first;
	struct sample_array chain = {(const uint8_t *)(words + 1), (uint32_t)query->words - 1};
	if (r->forgets_chains)
		return chain_build(r, where, &chain);
	uint32_t id;
	if (!intern_add_hashed(&r->chains, words, query->words * sizeof(*words), query->hash, &id)) {
		r->failed = true;
		return RESOLVE_NONE;
	}
	if (id < r->chain_stacks.len) {
		r->known_chains++;
		return r->chain_stacks.items[id];
	}
	uint32_t stack = chain_build(r, where, &chain);
	if (!vec_push(&r->chain_stacks, stack))
		r->failed = true;
	judge_chains(r);
	return stack;
}

uint32_t resolver_chain(struct resolver *r, const struct resolve_where *where, const struct sample_array *chain)
{
	struct resolve_chain_query query;
	resolver_chains_clear(r);
	resolver_chain_begin(r, where, chain, &query);
	return resolver_chain_end(r, where, &query);
}
