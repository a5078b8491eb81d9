/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cache_lines.h"

#define LINE_KEY_WORDS	2
#define ENTRY_KEY_WORDS 6

/* Bits of union perf_mem_data_src in linux/perf_event.h. */
enum { OPERATION_LOAD = 2, OPERATION_STORE = 4 };
enum {
	LEVEL_NA = 0x1,
	LEVEL_HIT = 0x2,
	LEVEL_MISS = 0x4,
	LEVEL_L1 = 0x8,
	LEVEL_LFB = 0x10,
	LEVEL_L2 = 0x20,
	LEVEL_L3 = 0x40,
	LEVEL_LOCAL_RAM = 0x80,
	LEVEL_REMOTE_RAM = 0x300,
	LEVEL_REMOTE_CACHE = 0xc00,
	LEVEL_IO = 0x1000,
	LEVEL_UNCACHED = 0x2000
};
enum { SNOOP_HIT = 0x4, SNOOP_HITM = 0x10 };
enum { SNOOP_PEER = 2, LOCKED = 2, BLOCKED_DATA = 2, BLOCKED_ADDRESS = 4 };

struct source { /* The fields of a data source. */
	unsigned operation, level, snoop, snoop_more, lock, blocked;
	bool is_remote;
};

static struct source cache_lines_source_of(uint64_t word)
{
	return (struct source){
		.operation = word & 0x1f,
		.level = word >> 5 & 0x3fff,
		.snoop = word >> 19 & 0x1f,
		.lock = word >> 24 & 3,
		/* If the number of hops is recorded, the remote bit may mean another core of the same node; then only
		 * the bits of the level count. */
		.is_remote = word >> 37 & 1 && !(word >> 43 & 7),
		.snoop_more = word >> 38 & 3,
		.blocked = word >> 40 & 7,
	};
}

static void add_memory(struct access_counts *c, const struct source *s, enum access_kind kind)
{
	c->n[kind]++;
	c->n[s->snoop & SNOOP_HIT ? ACCESS_SHARED : ACCESS_EXCLUSIVE]++;
}

/* Counts a hit in a cache that can supply lines modified by other cores. */
static void add_cache(struct access_counts *c, const struct source *s, enum access_kind kind)
{
	c->n[s->snoop & SNOOP_HITM ? ACCESS_LOCAL_HITM : kind]++;
	if (s->snoop_more & SNOOP_PEER)
		c->n[ACCESS_LOCAL_PEER]++;
}

static void add_load(struct access_counts *c, const struct source *s)
{
	if (s->level & LEVEL_HIT) {
		c->n[ACCESS_LOAD_UNCACHED] += (s->level & LEVEL_UNCACHED) != 0;
		c->n[ACCESS_LOAD_IO] += (s->level & LEVEL_IO) != 0;
		c->n[ACCESS_FILL_BUFFER] += (s->level & LEVEL_LFB) != 0;
		c->n[ACCESS_L1] += (s->level & LEVEL_L1) != 0;
		if (s->level & LEVEL_L2)
			add_cache(c, s, ACCESS_L2);
		if (s->level & LEVEL_L3)
			add_cache(c, s, ACCESS_LAST_LEVEL);
		if (s->level & LEVEL_LOCAL_RAM)
			add_memory(c, s, ACCESS_LOCAL_DRAM);
		if (s->level & LEVEL_REMOTE_RAM || s->is_remote)
			add_memory(c, s, ACCESS_REMOTE_DRAM);
	}
	if (s->level & LEVEL_REMOTE_CACHE || s->is_remote) {
		bool is_peer = !(s->snoop & (SNOOP_HIT | SNOOP_HITM)) && s->snoop_more & SNOOP_PEER;
		c->n[ACCESS_REMOTE_HIT] += is_peer || s->snoop & SNOOP_HIT;
		c->n[ACCESS_REMOTE_HITM] += (s->snoop & (SNOOP_HIT | SNOOP_HITM)) == SNOOP_HITM;
		c->n[ACCESS_REMOTE_PEER] += is_peer;
	}
	c->n[ACCESS_LOAD_MISS] += (s->level & LEVEL_MISS) != 0;
}

static void add_store(struct access_counts *c, const struct source *s)
{
	if (s->level & LEVEL_HIT) {
		c->n[ACCESS_STORE_UNCACHED] += (s->level & LEVEL_UNCACHED) != 0;
		c->n[ACCESS_STORE_L1_HIT] += (s->level & LEVEL_L1) != 0;
	}
	c->n[ACCESS_STORE_L1_MISS] += (s->level & LEVEL_MISS) && (s->level & LEVEL_L1);
	c->n[ACCESS_STORE_NO_LEVEL] += (s->level & LEVEL_NA) != 0;
}

void access_counts_add(struct access_counts *c, const struct cache_access *access)
{
	struct source s = cache_lines_source_of(access->data_src);
	bool is_load = s.operation & OPERATION_LOAD, is_store = !is_load && s.operation & OPERATION_STORE;
	c->samples++;
	c->n[ACCESS_LOCKED] += (s.lock & LOCKED) != 0;
	c->n[ACCESS_BLOCKED_BY_DATA] += (s.blocked & BLOCKED_DATA) != 0;
	c->n[ACCESS_BLOCKED_BY_ADDRESS] += (s.blocked & BLOCKED_ADDRESS) != 0;
	c->n[ACCESS_LOAD] += is_load;
	c->n[ACCESS_STORE] += is_store;
	if (!is_load && !is_store) {
		c->n[ACCESS_UNKNOWN]++;
		return;
	}
	if (!access->address) {
		c->n[is_load ? ACCESS_LOAD_NO_ADDRESS : ACCESS_STORE_NO_ADDRESS]++;
		return;
	}
	if (is_load)
		add_load(c, &s);
	else
		add_store(c, &s);
	c->n[ACCESS_NO_MAPPING] += !access->is_mapped;
}

void access_counts_merge(struct access_counts *to, const struct access_counts *from)
{
	for (size_t i = 0; i < ACCESS_KINDS; i++)
		to->n[i] += from->n[i];
	to->samples += from->samples;
}

uint64_t access_counts_hitms(const struct access_counts *c)
{
	return c->n[ACCESS_LOCAL_HITM] + c->n[ACCESS_REMOTE_HITM];
}

uint64_t access_counts_peers(const struct access_counts *c)
{
	return c->n[ACCESS_LOCAL_PEER] + c->n[ACCESS_REMOTE_PEER];
}

uint64_t access_counts_loads(const struct access_counts *c)
{
	return access_counts_hitms(c) + c->n[ACCESS_REMOTE_HIT] + c->n[ACCESS_LAST_LEVEL] + c->n[ACCESS_FILL_BUFFER] +
	       c->n[ACCESS_L1] + c->n[ACCESS_L2] + c->n[ACCESS_LOCAL_DRAM] + c->n[ACCESS_REMOTE_DRAM];
}

uint64_t access_counts_stores(const struct access_counts *c)
{
	return c->n[ACCESS_STORE_L1_HIT] + c->n[ACCESS_STORE_L1_MISS] + c->n[ACCESS_STORE_NO_LEVEL];
}

void cache_lines_init(struct cache_lines *c, const struct cache_lines_options *options)
{
	*c = (struct cache_lines){.options = *options};
	c->line_keys.words = LINE_KEY_WORDS;
	c->entry_keys.words = ENTRY_KEY_WORDS;
	c->use_keys.words = 1;
}

void cache_lines_deinit(struct cache_lines *c)
{
	id_table_deinit(&c->line_keys);
	id_table_deinit(&c->entry_keys);
	id_table_deinit(&c->use_keys);
	vec_free(&c->lines);
	vec_free(&c->entries);
	vec_free(&c->uses);
}

static bool find_line(struct cache_lines *c, const struct cache_access *a, uint32_t *id)
{
	uint64_t mask = ~(c->options.line_bytes - 1);
	uint64_t key[LINE_KEY_WORDS] = {a->place & mask, a->memory};
	bool is_new;
	*id = id_table_add(&c->line_keys, key, &is_new);
	struct cache_line line = {.address = a->address & mask, .is_mapped = a->data_is_mapped, .memory = a->memory};
	return *id != ID_TABLE_NONE && (!is_new || vec_push(&c->lines, line));
}

static bool find_entry(struct cache_lines *c, const struct cache_access *a, uint32_t line, uint32_t *id)
{
	uint64_t offset = a->address & (c->options.line_bytes - 1);
	uint64_t key[ENTRY_KEY_WORDS] = {line, offset, a->code, a->keys[0], a->keys[1], a->keys[2]};
	bool is_new;
	*id = id_table_add(&c->entry_keys, key, &is_new);
	struct cache_entry entry = {
		.line = line, .offset = offset, .code = a->code, .frame = a->frame, .pid = a->pid, .tid = a->tid};
	return *id != ID_TABLE_NONE && (!is_new || vec_push(&c->entries, entry));
}

static bool find_use(struct cache_lines *c, uint32_t entry, uint32_t cpu, uint32_t *id)
{
	uint64_t key = (uint64_t)entry << 32 | cpu;
	bool is_new;
	*id = id_table_add(&c->use_keys, &key, &is_new);
	struct cache_use use = {.entry = entry, .cpu = cpu};
	return *id != ID_TABLE_NONE && (!is_new || vec_push(&c->uses, use));
}

static void add_mean(struct mean *mean, uint64_t value)
{
	mean->count++;
	mean->value += ((double)value - mean->value) / (double)mean->count;
}

static void add_physical(uint64_t *last, uint64_t *changes, uint64_t *nodes, const struct cache_access *a)
{
	if (!a->memory_nodes)
		return; /* The memory behind the address is unknown. */
	*changes += *last != a->physical;
	*last = a->physical;
	*nodes |= a->memory_nodes;
}

bool cache_lines_add(struct cache_lines *c, const struct cache_access *a, uint32_t *entry_of)
{
	struct access_counts one = {0};
	uint32_t line_id, entry_id, use_id = 0;
	access_counts_add(&one, a);
	access_counts_merge(&c->total, &one);
	bool has_cpu = a->cpu != CACHE_NO_CPU;
	if (!find_line(c, a, &line_id) || !find_entry(c, a, line_id, &entry_id) ||
		(has_cpu && !find_use(c, entry_id, a->cpu, &use_id)))
		return false;
	struct cache_line *line = &c->lines.items[line_id];
	struct cache_entry *entry = &c->entries.items[entry_id];
	access_counts_merge(&line->counts, &one);
	access_counts_merge(&entry->counts, &one);
	add_physical(&line->physical, &line->physical_count, &line->memory_nodes, a);
	add_physical(&entry->physical, &entry->physical_count, &entry->memory_nodes, a);
	if (one.n[ACCESS_REMOTE_HITM])
		add_mean(&entry->remote_hitm, a->weight);
	else if (one.n[ACCESS_LOCAL_HITM])
		add_mean(&entry->local_hitm, a->weight);
	else if (one.n[ACCESS_REMOTE_PEER])
		add_mean(&entry->remote_peer, a->weight);
	else if (one.n[ACCESS_LOCAL_PEER])
		add_mean(&entry->local_peer, a->weight);
	else if (one.n[ACCESS_LOAD])
		add_mean(&entry->load, a->weight);
	*entry_of = entry_id;
	if (!has_cpu)
		return true;
	struct cache_use *use = &c->uses.items[use_id];
	use->hitms += access_counts_hitms(&one);
	use->peers += access_counts_peers(&one);
	use->stores += one.n[ACCESS_STORE];
	return true;
}
