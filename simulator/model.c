/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "counting.h"
#include "options.h"
#include "sampling.h"

#define MODEL_INLINE static inline __attribute__((always_inline))

/* One cache or TLB. Each set lists its lines, most recently used first, as line number + 1; 0 means empty. */
struct model_level {
	ULong *lines;
	ULong sets;
	ULong mask; /* Mask that gives the index of the set; 0 if the number of sets is not a power of two. */
	UInt ways, shift;
};

#define MODEL_CONDITIONAL_BITS 14
#define MODEL_INDIRECT_BITS    12

ULong sim_fetched;

static Bool model_is_sampled[SIM_EVENT_COUNT];

static struct model_level model_i1, model_d1, model_l2, model_ll, model_itlb, model_dtlb;
/* Two-bit counters: 0 and 1 predict that the branch falls through, 2 and 3 that it is taken. */
static UChar model_conditional[1u << MODEL_CONDITIONAL_BITS];
static ULong model_targets[1u << MODEL_INDIRECT_BITS];
static ULong model_history; /* Directions of the last conditional branches; bit 0 is the latest. */
static ULong model_path; /* Hash of the last targets of indirect branches. */

MODEL_INLINE ULong *model_set(const struct model_level *level, ULong line, Bool is_power)
{
	ULong set = is_power || level->mask ? (line - 1) & level->mask : (line - 1) % level->sets;
	return level->lines + set * level->ways;
}

/* Makes the line the most recently used of its set. Returns True if it was not there. The caller has already checked
 * the first way. */
static Bool model_move(ULong *set, UInt ways, ULong line)
{
	ULong carried = set[0];
	for (UInt way = 1; way < ways; way++) {
		ULong here = set[way];
		set[way] = carried;
		if (here == line) {
			set[0] = line;
			return False;
		}
		carried = here;
	}
	set[0] = line;
	return True;
}

MODEL_INLINE Bool model_touch(const struct model_level *level, ULong line, Bool is_power)
{
	ULong *set = model_set(level, line, is_power);
	if (LIKELY(set[0] == line))
		return False;
	return model_move(set, level->ways, line);
}

static Bool model_straddling(const struct model_level *level, ULong line, ULong last)
{
	Bool misses = False;
	for (; line <= last; line++)
		misses |= model_touch(level, line, False);
	return misses;
}

MODEL_INLINE Bool model_misses(const struct model_level *level, Addr address, UWord bytes, Bool is_power)
{
	ULong line = (address >> level->shift) + 1, last = ((address + bytes - 1) >> level->shift) + 1;
	if (LIKELY(line == last))
		return model_touch(level, line, is_power);
	return model_straddling(level, line, last);
}

/* Position in the program at which an event happens. */
struct model_place {
	Addr ip, sp;
};

MODEL_INLINE void model_count(enum sim_event event, struct model_place place)
{
	if (UNLIKELY(++sim_raw[event] >= sim_next[event]))
		sim_sampling_due(event, place.ip, place.sp);
}

/* Events of one kind of access, below the first level. */
struct model_events {
	enum sim_event l1_misses, l2, l2_misses, ll, ll_misses;
};

static const struct model_events model_events_of_loads = {
	SIM_L1D_LOAD_MISSES, SIM_L2_LOADS, SIM_L2_LOAD_MISSES, SIM_LLC_LOADS, SIM_LLC_LOAD_MISSES};
static const struct model_events model_events_of_stores = {
	SIM_L1D_STORE_MISSES, SIM_L2_STORES, SIM_L2_STORE_MISSES, SIM_LLC_STORES, SIM_LLC_STORE_MISSES};
/* Code loads have no events of their own below the first level: their number is the misses of the level above. */
static const struct model_events model_events_of_code = {
	SIM_L1I_LOAD_MISSES, SIM_EVENT_COUNT, SIM_L2_CODE_MISSES, SIM_EVENT_COUNT, SIM_LLC_CODE_MISSES};

static __attribute__((noinline)) void model_below_l1(
	const struct model_events *events, Addr address, UWord bytes, struct model_place place)
{
	model_count(events->l1_misses, place);
	if (model_l2.lines) {
		if (events->l2 != SIM_EVENT_COUNT)
			model_count(events->l2, place);
		if (!model_misses(&model_l2, address, bytes, False))
			return;
		model_count(events->l2_misses, place);
	}
	if (events->ll != SIM_EVENT_COUNT)
		model_count(events->ll, place);
	if (model_misses(&model_ll, address, bytes, False))
		model_count(events->ll_misses, place);
}

MODEL_INLINE void model_data(Addr address, UWord bytes, Bool is_store, UInt kinds, struct model_place place)
{
	if (kinds & SIM_KIND_CACHES && model_misses(&model_d1, address, bytes, True))
		model_below_l1(is_store ? &model_events_of_stores : &model_events_of_loads, address, bytes, place);
	if (kinds & SIM_KIND_TLB && model_misses(&model_dtlb, address, bytes, False))
		model_count(is_store ? SIM_DTLB_STORE_MISSES : SIM_DTLB_LOAD_MISSES, place);
}

MODEL_INLINE void model_code(Addr address, UWord bytes, UInt kinds, struct model_place place)
{
	const struct model_level *level = kinds & SIM_KIND_CACHES ? &model_i1 : &model_itlb;
	sim_fetched = (address + bytes - 1) >> level->shift;
	if (kinds & SIM_KIND_CACHES && model_misses(&model_i1, address, bytes, True))
		model_below_l1(&model_events_of_code, address, bytes, place);
	if (kinds & SIM_KIND_TLB && model_misses(&model_itlb, address, bytes, False))
		model_count(SIM_ITLB_LOAD_MISSES, place);
}

/* Counts an event that translated code counts itself unless it is sampled. */
MODEL_INLINE void model_count_sampled(enum sim_event event, struct model_place place)
{
	if (UNLIKELY(model_is_sampled[event]))
		model_count(event, place);
}

MODEL_INLINE void model_sampled_data(Addr address, UWord bytes, Bool is_store, UInt kinds, struct model_place place)
{
	model_count_sampled(is_store ? SIM_L1D_STORES : SIM_L1D_LOADS, place);
	model_count_sampled(is_store ? SIM_DTLB_STORES : SIM_DTLB_LOADS, place);
	model_data(address, bytes, is_store, kinds, place);
}

MODEL_INLINE void model_sampled_code(Addr address, UWord bytes, UInt kinds, struct model_place place)
{
	model_count_sampled(SIM_L1I_LOADS, place);
	model_count_sampled(SIM_ITLB_LOADS, place);
	model_code(address, bytes, kinds, place);
}

/* The gshare predictor: the address of the branch and the last directions select a counter. */
MODEL_INLINE Bool model_mispredicts(Addr ip, Bool taken)
{
	UChar *counter = &model_conditional[(ip ^ model_history) & ((1u << MODEL_CONDITIONAL_BITS) - 1)];
	Bool misses = taken != (*counter >> 1);
	if (taken)
		*counter = (UChar)(*counter + (*counter < 3));
	else
		*counter = (UChar)(*counter - (*counter > 0));
	model_history = model_history << 1 | taken;
	return misses;
}

/* The address of the branch and the path of the last targets select the predicted target, which is the last one seen
 * there. */
MODEL_INLINE Bool model_mispredicts_target(Addr ip, Addr target)
{
	const ULong mask = (1u << MODEL_INDIRECT_BITS) - 1;
	ULong *seen = &model_targets[(ip ^ model_path) & mask];
	Bool misses = *seen != target;
	*seen = target;
	model_path = ((model_path << 4) ^ (target >> 2) ^ target) & mask;
	return misses;
}

#define MODEL_NOWHERE ((struct model_place){0, 0})

/* Defines the functions for a set of kinds, without and with samples. */
#define MODEL_FUNCTIONS(name, kinds)                                                            \
	static void model_load_##name(Addr address, UWord bytes)                                \
	{                                                                                       \
		model_data(address, bytes, False, kinds, MODEL_NOWHERE);                        \
	}                                                                                       \
	static void model_store_##name(Addr address, UWord bytes)                               \
	{                                                                                       \
		model_data(address, bytes, True, kinds, MODEL_NOWHERE);                         \
	}                                                                                       \
	static void model_fetch_##name(Addr address, UWord bytes)                               \
	{                                                                                       \
		model_code(address, bytes, kinds, MODEL_NOWHERE);                               \
	}                                                                                       \
	static void model_sampled_load_##name(Addr address, UWord bytes, Addr ip, Addr sp)      \
	{                                                                                       \
		model_sampled_data(address, bytes, False, kinds, (struct model_place){ip, sp}); \
	}                                                                                       \
	static void model_sampled_store_##name(Addr address, UWord bytes, Addr ip, Addr sp)     \
	{                                                                                       \
		model_sampled_data(address, bytes, True, kinds, (struct model_place){ip, sp});  \
	}                                                                                       \
	static void model_sampled_fetch_##name(Addr address, UWord bytes, Addr ip, Addr sp)     \
	{                                                                                       \
		model_sampled_code(address, bytes, kinds, (struct model_place){ip, sp});        \
	}

MODEL_FUNCTIONS(caches, SIM_KIND_CACHES)
MODEL_FUNCTIONS(tlb, SIM_KIND_TLB)
MODEL_FUNCTIONS(both, SIM_KIND_CACHES | SIM_KIND_TLB)

static void model_branch(Addr ip, UWord taken)
{
	if (model_mispredicts(ip, taken != 0))
		sim_raw[SIM_CONDITIONAL_BRANCH_MISSES]++;
}

static void model_jump(Addr ip, Addr target)
{
	if (model_mispredicts_target(ip, target))
		sim_raw[SIM_INDIRECT_BRANCH_MISSES]++;
}

static void model_sampled_branch(Addr ip, UWord taken)
{
	struct model_place place = {ip, 0};
	model_count_sampled(SIM_CONDITIONAL_BRANCHES, place);
	model_count_sampled(SIM_BRANCHES, place);
	if (model_mispredicts(ip, taken != 0)) {
		model_count(SIM_CONDITIONAL_BRANCH_MISSES, place);
		model_count_sampled(SIM_BRANCH_MISSES, place);
	}
}

static void model_sampled_jump(Addr ip, Addr target, Addr sp)
{
	struct model_place place = {ip, sp};
	model_count_sampled(SIM_INDIRECT_BRANCHES, place);
	model_count_sampled(SIM_BRANCHES, place);
	if (model_mispredicts_target(ip, target)) {
		model_count(SIM_INDIRECT_BRANCH_MISSES, place);
		model_count_sampled(SIM_BRANCH_MISSES, place);
	}
}

static void model_level_init(struct model_level *level, const struct sim_geometry *geometry)
{
	if (!geometry->entries)
		return;
	level->ways = geometry->ways;
	level->shift = geometry->shift;
	level->sets = geometry->entries / geometry->ways;
	level->mask = level->sets & (level->sets - 1) ? 0 : level->sets - 1;
	level->lines = VG_(calloc)("tally.level", geometry->entries, sizeof(ULong));
}

static struct sim_model model_chosen(Bool is_sampled)
{
	struct sim_model model = {.is_sampled = is_sampled};
	model.conditional = is_sampled ? (void *)model_sampled_branch : (void *)model_branch;
	model.indirect = is_sampled ? (void *)model_sampled_jump : (void *)model_jump;
#define MODEL_CHOOSE(name)                                                                          \
	model.load = is_sampled ? (void *)model_sampled_load_##name : (void *)model_load_##name;    \
	model.store = is_sampled ? (void *)model_sampled_store_##name : (void *)model_store_##name; \
	model.fetch = is_sampled ? (void *)model_sampled_fetch_##name : (void *)model_fetch_##name
	if (!(sim_options.kinds & SIM_KIND_TLB)) {
		MODEL_CHOOSE(caches);
	} else if (!(sim_options.kinds & SIM_KIND_CACHES)) {
		MODEL_CHOOSE(tlb);
	} else {
		MODEL_CHOOSE(both);
	}
#undef MODEL_CHOOSE
	return model;
}

const struct sim_model *sim_model_init(void)
{
	static struct sim_model model;
	Bool is_sampled = False;
	if (sim_options.kinds & SIM_KIND_CACHES) {
		model_level_init(&model_i1, &sim_options.i1);
		model_level_init(&model_d1, &sim_options.d1);
		model_level_init(&model_l2, &sim_options.l2);
		model_level_init(&model_ll, &sim_options.ll);
	}
	if (sim_options.kinds & SIM_KIND_TLB) {
		model_level_init(&model_itlb, &sim_options.itlb);
		model_level_init(&model_dtlb, &sim_options.dtlb);
	}
	for (UInt e = SIM_INSTRUCTIONS + 1; e < SIM_EVENT_COUNT; e++)
		is_sampled |= model_is_sampled[e] = sim_options_samples((enum sim_event)e);
	VG_(memset)(model_conditional, 1, sizeof model_conditional);
	sim_fetched = ~0ull;
	model = model_chosen(is_sampled);
	return &model;
}
