/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/packing/pack_gather.h"

#include <stdlib.h>
#include <string.h>

#include "abi/branch.h"
#include "analysis/frame_symbol.h"
#include "analysis/store_entry.h"
#include "base/error.h"
#include "base/order.h"
#include "code/pack/pack_dump.h"
#include "code/pack/pack_make.h"
#include "tasks/packing/pack_code.h"

#define WIDEST_INSTRUCTION 16 /* Maximum size of an instruction in bytes on any architecture. */

struct hit {
	uint32_t store_id;
	bool is_leaf; /* Set if a sample was taken at the address; the code of its function is packed. */
	bool is_return; /* Set if the address is one byte before a return address, and so within a call. */
	uint64_t address;
};

struct gather {
	struct data_source *source;
	VEC(struct hit) hits;
	VEC(uint8_t) leaves; /* Indexed by frame: 1 if the frame is a leaf. */
	VEC(uint64_t) addresses; /* Addresses in the current object. */
	/* Return addresses in the current object, in ascending order, that are starts of symbols not preceded by a
	 * call. */
	VEC(uint64_t) starts;
	struct pack_codes codes;
	VEC(struct pack_object) objects;
	struct text text; /* Output of tracepoint_print, which is discarded. */
	struct resolve_where where; /* Context of the current sample. */
	struct pack_sum *sum;
	struct stack_chains *chains;
	struct pack_scrub *scrub; /* NULL if nothing is scrubbed. */
	bool without_code; /* Set to leave code out, because constants in it may be private data. */
	struct arena arena; /* Memory for jitdumps. */
};

/* Called for kernel addresses in the fields of tracepoints, which are printed as names: each address counts as
 * hit. */
static const char *note_kernel_address(void *context, uint64_t *address, const char **module)
{
	struct gather *g = context;
	(void)module;
	(void)resolver_frame(&g->source->pass.resolver, &g->where, MISC_CPUMODE_KERNEL, *address);
	return NULL;
}

static void note_leaf(struct gather *g, uint32_t frame)
{
	while (!g->text.failed && !g->source->pass.resolver.failed && g->leaves.len <= frame)
		g->text.failed = !vec_push(&g->leaves, 0);
	if (frame < g->leaves.len)
		g->leaves.items[frame] = 1;
}

static void pack_gather_note_sample(struct gather *g, const struct data_sample *s)
{
	struct resolver *resolver = &g->source->pass.resolver;
	const struct sample *sample = &s->sample;
	unsigned mode = s->record.misc & MISC_CPUMODE_MASK;
	int32_t pid = sample->present & SAMPLE_TID ? (int32_t)sample->pid : -1;
	struct resolve_where where = g->where = resolver_where(resolver, pid, s->clock);
	if (sample->present & SAMPLE_IP)
		note_leaf(g, resolver_frame(resolver, &where, mode, sample->ip));
	if (sample->present & (SAMPLE_CALLCHAIN | SAMPLE_STACK_USER)) {
		struct sample_array whole = resolver_sample_chain(resolver, &where, &s->event->layout, sample);
		stack_chains_note(g->chains, &s->record, &whole, sample_has_stack(sample));
		(void)resolver_chain_frames(resolver, &where, &whole);
	}
	if (sample->present & SAMPLE_ADDR) {
		(void)resolver_frame(resolver, &where, mode, sample->addr);
		(void)resolver_raw_frame(resolver, &where, RESOLVE_ANY_MODE, 0, sample->addr);
	}
	uint32_t branches = sample->present & SAMPLE_BRANCH_STACK ? sample_branch_count(sample) : 0;
	for (uint32_t i = 0; i < branches; i++) {
		struct sample_branch branch = sample_branch_at(sample, i);
		(void)resolver_raw_frame(resolver, &where, RESOLVE_ANY_MODE, 0, branch.from);
		(void)resolver_raw_frame(resolver, &where, RESOLVE_ANY_MODE, 0, branch.to);
	}
	if ((sample->present & SAMPLE_RAW) && g->source->tracepoints) {
		text_clear(&g->text);
		(void)tracepoint_print(g->source->tracepoints, sample->raw, &g->text);
	}
}

static enum tally_status pack_gather_walk(struct gather *g, struct tally_error *err)
{
	struct data_sample sample;
	enum tally_status status;
	if (g->source->tracepoints)
		tracepoint_printer_set_symbols(g->source->tracepoints, note_kernel_address, g);
	while ((status = data_source_next(g->source, &sample, &g->sum->end)) == TALLY_OK)
		pack_gather_note_sample(g, &sample);
	if (status == TALLY_NOMEM || g->source->pass.resolver.failed || g->text.failed || g->chains->failed)
		return error_nomem(err);
	g->sum->end.status = status == TALLY_END ? TALLY_OK : status;
	return TALLY_OK;
}

static enum tally_status pack_gather_collect(struct gather *g, struct tally_error *err)
{
	const struct machine *machine = g->source->pass.sideband.machine;
	const struct id_table *frames = &g->source->pass.resolver.frames;
	for (size_t i = 0; i < frames->len; i++) {
		struct resolved_frame frame = resolved_frame_get(frames, (uint32_t)i);
		struct hit hit = {.address = frame.address,
			.is_leaf = i < g->leaves.len && g->leaves.items[i],
			.is_return = frame.is_return};
		if (frame.binary == RESOLVE_NONE)
			continue;
		enum tally_status status = store_entry_id(machine, g->source->store, frame.binary, &hit.store_id, err);
		if (status != TALLY_OK)
			return status;
		if (hit.store_id != STORE_ENTRY_NONE && !vec_push(&g->hits, hit))
			return error_nomem(err);
	}
	return TALLY_OK;
}

static int by_entry(const void *left, const void *right)
{
	const struct hit *a = left, *b = right;
	if (a->store_id != b->store_id)
		return a->store_id < b->store_id ? -1 : 1;
	return COMPARE(a->address, b->address);
}

static size_t next_leaf(const struct gather *g, size_t at, size_t last)
{
	while (at < last && !g->hits.items[at].is_leaf)
		at++;
	return at;
}

/* Packs the code of leaves (sampled addresses) outside of functions, from *at on, with WIDEST_INSTRUCTION bytes for
 * each. Overlapping ones become one piece, which ends where the next function begins. Moves *at to the piece's last
 * leaf. */
static bool add_unnamed(struct gather *g, size_t *at, size_t last, struct pack_object *object)
{
	const struct hit *hits = g->hits.items;
	uint32_t id = hits[*at].store_id;
	struct binary_store *store = g->source->store;
	uint64_t start = hits[*at].address, end = start;
	const struct symbol *symbol = NULL;
	for (size_t i = *at; i < last; i = next_leaf(g, i + 1, last)) {
		uint64_t address = hits[i].address;
		symbol = binary_store_find(store, id, address);
		if (symbol || (i != *at && address > end) || address > UINT64_MAX - WIDEST_INSTRUCTION)
			break;
		end = address + WIDEST_INSTRUCTION;
		*at = i;
	}
	if (symbol && symbol->start > start && symbol->start < end)
		end = symbol->start;
	return end == start || pack_code_add_unnamed(&g->codes, store, id, start, end, object);
}

/* Packs the code of all functions with leaves; hits are sorted by address. */
static bool add_codes(struct gather *g, size_t first, size_t last, struct pack_object *object)
{
	uint32_t id = g->hits.items[first].store_id;
	struct binary_store *store = g->source->store;
	const struct symbol *done = NULL;
	for (size_t i = next_leaf(g, first, last); i < last; i = next_leaf(g, i + 1, last)) {
		const struct symbol *symbol = binary_store_find(store, id, g->hits.items[i].address);
		if (symbol && symbol == done)
			continue;
		done = symbol;
		bool is_added =
			symbol ? pack_code_add(&g->codes, store, id, symbol, object) : add_unnamed(g, &i, last, object);
		if (!is_added)
			return false;
	}
	pack_code_finish(object);
	return true;
}

static int by_value(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return COMPARE(*a, *b);
}

/* Collects in g->starts the return addresses at which a symbol starts that no call precedes. The code before a symbol
 * shows whether a call ends at its start; the pack does not have that code, so it stores the answer. */
static bool find_starts(struct gather *g, size_t first, size_t last)
{
	struct binary_store *store = g->source->store;
	g->starts.len = 0;
	for (size_t i = first; i < last; i++) {
		const struct hit *hit = &g->hits.items[i];
		const struct resolved_frame frame = {.address = hit->address, .is_return = true};
		const struct symbol *symbol = hit->is_return ? frame_symbol_find(store, hit->store_id, &frame) : NULL;
		if (symbol && symbol->start > hit->address && !vec_push(&g->starts, symbol->start))
			return false;
	}
	return true;
}

static void mark_starts(const struct gather *g, struct pack_object *object)
{
	for (size_t i = 0, at = 0; i < object->symbols.len; i++) {
		struct symbol *symbol = &object->symbols.items[i];
		while (at < g->starts.len && g->starts.items[at] < symbol->start)
			at++;
		symbol->follows_no_call = at < g->starts.len && g->starts.items[at] == symbol->start;
	}
}

/* Collects in g->addresses the addresses of the hits, of the symbols in g->starts and of the instructions of one entry
 * of the store, sorted and without duplicates. */
static bool take_addresses(struct gather *g, size_t first, size_t last)
{
	size_t kept = 0;
	g->addresses.len = 0;
	for (size_t i = first; i < last; i++)
		if (!vec_push(&g->addresses, g->hits.items[i].address))
			return false;
	if (!find_starts(g, first, last))
		return false;
	for (size_t i = 0; i < g->starts.len; i++)
		if (!vec_push(&g->addresses, g->starts.items[i]))
			return false;
	for (size_t i = 0; i < g->codes.addresses.len; i++)
		if (!vec_push(&g->addresses, g->codes.addresses.items[i]))
			return false;
	qsort(g->addresses.items, g->addresses.len, sizeof(*g->addresses.items), by_value);
	for (size_t i = 0; i < g->addresses.len; i++)
		if (kept == 0 || g->addresses.items[i] != g->addresses.items[kept - 1])
			g->addresses.items[kept++] = g->addresses.items[i];
	g->addresses.len = kept;
	return true;
}

/* Packs the functions of a jitdump that were hit, at their original offsets. */
static enum tally_status make_dump(struct gather *g, uint32_t id, size_t first, size_t last, struct tally_error *err)
{
	struct pack_object object = {0};
	struct writer w = {0};
	const struct pack_dump_hiding hiding = {
		.without_code = g->without_code, .name = g->scrub ? pack_scrub_symbol : NULL, .context = g->scrub};
	g->codes.addresses.len = 0;
	bool ok = take_addresses(g, first, last) && binary_store_describe(g->source->store, id, &object) &&
		  pack_dump_make(binary_store_jitdump(g->source->store, id), g->addresses.items, g->addresses.len,
			  &hiding, &w);
	object.dump = (struct tally_bytes){arena_copy(&g->arena, w.data, w.len), w.len};
	writer_deinit(&w);
	if (!ok || !object.dump.data || !vec_push(&g->objects, object)) {
		pack_object_deinit(&object);
		return error_nomem(err);
	}
	g->sum->files++;
	g->sum->named_files++;
	g->sum->dumps++;
	return TALLY_OK;
}

/* Makes the object for the hits [first, last), which belong to one entry of the store. */
static enum tally_status pack_gather_make_object(struct gather *g, size_t first, size_t last, struct tally_error *err)
{
	struct pack_object object = {0};
	struct binary_store *store = g->source->store;
	uint32_t id = g->hits.items[first].store_id;
	binary_store_load(store, &id, 1);
	if (binary_store_jitdump(store, id))
		return make_dump(g, id, first, last, err);
	enum tally_status status = TALLY_OK;
	g->codes.addresses.len = 0;
	if ((!g->without_code && !add_codes(g, first, last, &object)) || !take_addresses(g, first, last))
		status = error_nomem(err);
	if (status == TALLY_OK)
		status = pack_make(store, id, g->addresses.items, g->addresses.len, &object, err);
	mark_starts(g, &object);
	if (status == TALLY_OK && !vec_push(&g->objects, object))
		status = error_nomem(err);
	if (status != TALLY_OK) {
		pack_object_deinit(&object);
		return status;
	}
	g->sum->files++;
	g->sum->named_files += object.symbols.len > 0;
	g->sum->symbols += object.symbols.len;
	g->sum->places += object.places.len;
	return TALLY_OK;
}

static enum tally_status make_objects(struct gather *g, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (g->hits.len)
		qsort(g->hits.items, g->hits.len, sizeof(*g->hits.items), by_entry);
	for (size_t first = 0, last; first < g->hits.len && status == TALLY_OK; first = last) {
		uint32_t id = g->hits.items[first].store_id;
		for (last = first + 1; last < g->hits.len && g->hits.items[last].store_id == id;)
			last++;
		status = pack_gather_make_object(g, first, last, err);
	}
	return status;
}

enum tally_status pack_gather(struct data_source *source, struct pack_scrub *scrub, struct stack_chains *chains,
	struct writer *section, struct pack_sum *sum, struct tally_error *err)
{
	struct gather g = {
		.source = source, .sum = sum, .chains = chains, .scrub = scrub, .without_code = scrub != NULL};
	arena_init(&g.arena);
	*sum = (struct pack_sum){0};
	enum tally_status status = pack_gather_walk(&g, err);
	if (status == TALLY_OK)
		status = pack_gather_collect(&g, err);
	if (status == TALLY_OK)
		status = make_objects(&g, err);
	sum->functions = g.codes.functions;
	sum->without_code = g.codes.skipped;
	if (status == TALLY_OK && scrub)
		pack_scrub_objects(scrub, g.objects.items, g.objects.len);
	pack_set_order(section);
	if (status == TALLY_OK)
		status = pack_encode(g.objects.items, g.objects.len, section, err);
	for (size_t i = 0; i < g.objects.len; i++)
		pack_object_deinit(&g.objects.items[i]);
	vec_free(&g.objects);
	vec_free(&g.hits);
	vec_free(&g.addresses);
	vec_free(&g.starts);
	vec_free(&g.leaves);
	vec_free(&g.codes.addresses);
	text_deinit(&g.text);
	arena_deinit(&g.arena);
	return status;
}
