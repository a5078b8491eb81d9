#include "analysis/resolve.h"

#define UNWOUND_MAX 2048 /* frames of a stack: a copy of 64 KiB with the smallest frames that compilers make */
#define CACHE_SLOTS (1u << 15) /* 768 KiB a worker: hot code is far smaller; a miss costs a binary search */

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
	map_u64_deinit(&r->stack_ids);
	vec_free(&r->first_ips);
	vec_free(&r->stacks);
	vec_free(&r->chain_stacks);
	vec_free(&r->scratch);
	vec_free(&r->frame_scratch);
	vec_free(&r->ip_scratch);
	vec_free(&r->chain_scratch);
	vec_free(&r->unwind_scratch);
	free(r->cache);
	r->cache = NULL;
}

void resolver_forget_epochs(struct resolver *r)
{
	memset(r->cache, 0, CACHE_SLOTS * sizeof(*r->cache));
	intern_deinit(&r->chains);
	intern_init(&r->chains);
	r->chain_stacks.len = 0;
	if (r->unwinder)
		sample_unwinder_forget(r->unwinder);
}

struct resolve_where resolver_where(const struct resolver *r, int32_t pid, uint64_t time_ns)
{
	return (struct resolve_where){
		.pid = pid,
		.time_ns = time_ns,
		.user_epoch = machine_epoch_at(r->machine, pid, time_ns),
		.kernel_epoch = machine_kernel_epoch_at(r->machine, time_ns),
	};
}

static uint32_t level_of(unsigned cpumode)
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

static uint32_t frame_lookup(struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint64_t ip)
{
	struct resolved_frame frame = {.level = level_of(cpumode)};
	frame.raw_address = r->keep_raw ? ip : 0;
	const struct mapping *map = machine_find_mapping(r->machine, where->pid, where->time_ns, cpumode, VA(ip));
	if (map) {
		frame.binary = map->binary;
		frame.address = machine_address_in_binary(r->machine, map, VA(ip));
	} else {
		frame.binary = RESOLVE_NONE;
		frame.address = ip;
	}
	uint64_t words[RESOLVED_FRAME_WORDS];
	resolved_frame_pack(&frame, words);
	uint32_t id = id_table_add(&r->frames, words, NULL);
	if (id == ID_TABLE_NONE || (id == r->first_ips.len && !vec_push(&r->first_ips, ip))) {
		r->failed = true;
		return 0;
	}
	return id;
}

uint32_t resolver_frame(struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint64_t ip)
{
	uint32_t epoch = cpumode == MISC_CPUMODE_KERNEL ? where->kernel_epoch : where->user_epoch;
	uint64_t hash = (ip ^ ((uint64_t)epoch << 40)) * UINT64_C(0x9e3779b97f4a7c15);
	struct resolve_cache_slot *slot = &r->cache[hash >> 49];
	if (slot->frame != 0 && slot->address == ip && slot->epoch == epoch && slot->cpumode == cpumode)
		return slot->frame - 1;
	uint32_t frame = frame_lookup(r, where, cpumode, ip);
	if (!r->failed)
		*slot = (struct resolve_cache_slot){
			.address = ip, .epoch = epoch, .frame = frame + 1, .cpumode = cpumode};
	return frame;
}

uint32_t resolver_stack(struct resolver *r, uint32_t parent, uint32_t frame)
{
	bool is_new;
	uint64_t *id = map_u64_at(&r->stack_ids, (uint64_t)parent << 32 | frame, &is_new);
	if (!id) {
		r->failed = true;
		return RESOLVE_NONE;
	}
	if (is_new) {
		*id = r->stacks.len;
		struct resolved_stack node = {.parent = parent, .frame = frame};
		if (!vec_push(&r->stacks, node))
			r->failed = true;
	}
	return (uint32_t)*id;
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
	if (!vec_reserve(&r->frame_scratch, chain->count) || !vec_reserve(&r->ip_scratch, chain->count)) {
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
		r->frame_scratch.items[count] = resolver_frame(r, where, cpumode, ip);
		r->ip_scratch.items[count++] = ip;
	}
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

uint32_t resolver_chain(struct resolver *r, const struct resolve_where *where, const struct sample_array *chain)
{
	if (chain->count == 0)
		return RESOLVE_NONE;
	size_t words = (size_t)chain->count + 1;
	if (!vec_reserve(&r->scratch, words)) {
		r->failed = true;
		return RESOLVE_NONE;
	}
	r->scratch.items[0] = (uint64_t)where->user_epoch << 32 | where->kernel_epoch;
	memcpy(r->scratch.items + 1, chain->data, (size_t)chain->count * sizeof(uint64_t));
	uint32_t id;
	if (!intern_add(&r->chains, r->scratch.items, words * sizeof(uint64_t), &id)) {
		r->failed = true;
		return RESOLVE_NONE;
	}
	if (id < r->chain_stacks.len)
		return r->chain_stacks.items[id];
	uint32_t stack = chain_build(r, where, chain);
	if (!vec_push(&r->chain_stacks, stack))
		r->failed = true;
	return stack;
}
