/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/memory/c2c_chains.h"

#include <stdlib.h>

#include "base/error.h"
#include "profile/profile_builder.h"

bool c2c_chains_note(
	struct c2c_chains *chains, const struct data_sample *s, const struct resolve_where *where, uint32_t entry)
{
	struct resolver *resolver = &chains->source->pass.resolver;
	unsigned mode = s->record.misc & MISC_CPUMODE_MASK;
	struct c2c_chain noted = {.entry = entry, .stack = RESOLVE_NONE, .period = s->sample.period};
	noted.leaf = resolver_frame(resolver, where, mode, s->sample.ip);
	if (s->sample.present & (SAMPLE_CALLCHAIN | SAMPLE_STACK_USER)) {
		struct sample_array whole = resolver_sample_chain(resolver, where, &s->event->layout, &s->sample);
		struct resolved_chain chain = resolver_chain_frames(resolver, where, &whole);
		if (chain.count > 0)
			noted.stack = resolver_stack(
				resolver, chain.frames, chain.count, list_table_hash(chain.frames, chain.count));
	}
	return !resolver->failed && vec_push(&chains->noted, noted);
}

/* Adds a frame to the profile, or finds the one that was added for it. Returns PROFILE_NONE if out of memory. */
static uint32_t c2c_chains_add_frame(
	struct c2c_chains *chains, struct profile_builder *b, uint32_t frame, struct tally_error *err)
{
	while (chains->frames.len <= frame)
		if (!vec_push(&chains->frames, 0))
			return PROFILE_NONE;
	if (chains->frames.items[frame])
		return chains->frames.items[frame] - 1;
	const struct resolver *resolver = &chains->source->pass.resolver;
	const struct frame_name *name = frame_names_get(&chains->source->names, frame, err);
	if (!name)
		return PROFILE_NONE;
	struct resolved_frame resolved = resolved_frame_get(&resolver->frames, frame);
	struct profile_frame to = {.function = PROFILE_NONE,
		.binary = PROFILE_NONE,
		.address = resolved.address,
		.raw_address = name->symbol ? 0 : resolver->first_ips.items[frame],
		.level = (uint8_t)resolved.level};
	if (resolved.binary != RESOLVE_NONE) {
		struct profile_binary binary = {.name = profile_builder_string(b, name->shown),
			.long_name = profile_builder_string(b, name->path),
			.is_kernel = name->is_kernel};
		to.binary = profile_builder_binary(b, &binary);
	}
	if (name->symbol) {
		struct profile_function function = {.name = profile_builder_string(b, str_from(name->symbol)),
			.binary = to.binary,
			.start = resolved_frame_shown(&resolved) - name->symbol_offset,
			.size = name->symbol_size};
		to.function = profile_builder_function(b, &function);
	}
	uint32_t id = profile_builder_frame(b, &to);
	chains->frames.items[frame] = id + 1;
	return id;
}

static enum tally_status c2c_chains_add_chain(
	struct c2c_chains *chains, struct profile_builder *b, const struct c2c_chain *noted, struct tally_error *err)
{
	VEC(uint32_t) frames = {0};
	struct list stack = {0};
	if (noted->stack != RESOLVE_NONE)
		stack = list_table_get(&chains->source->pass.resolver.stacks, noted->stack);
	bool is_done = vec_reserve(&frames, stack.count + 1);
	for (uint32_t i = 0; i < stack.count && is_done; i++) {
		uint32_t frame = c2c_chains_add_frame(chains, b, stack.items[i], err);
		is_done = frame != PROFILE_NONE;
		frames.items[frames.len++] = frame;
	}
	struct profile_thread thread = {
		.tid = (int32_t)noted->entry, .comm = profile_builder_string(b, STR("")), .last_comm = 0};
	struct profile_sample sample = {.thread = profile_builder_thread(b, &thread),
		.leaf = c2c_chains_add_frame(chains, b, noted->leaf, err),
		.stack = stack.count > 0 && is_done ? profile_builder_stack(b, frames.items, frames.len) : PROFILE_NONE,
		.cpu = -1,
		.count = 1,
		.period = noted->period};
	is_done = is_done && sample.leaf != PROFILE_NONE;
	if (is_done)
		profile_builder_sample(b, &sample);
	vec_free(&frames);
	return is_done ? TALLY_OK : error_nomem(err);
}

static enum tally_status make_profile(struct c2c_chains *chains, struct tally_error *err)
{
	struct profile_builder *b = profile_builder_create();
	enum tally_status status = TALLY_OK;
	if (!b)
		return error_nomem(err);
	struct profile_event event = {.name = profile_builder_string(b, STR("accesses")), .member_count = 1};
	profile_builder_event(b, &event);
	for (size_t i = 0; i < chains->noted.len && status == TALLY_OK; i++)
		status = c2c_chains_add_chain(chains, b, &chains->noted.items[i], err);
	if (status == TALLY_OK)
		return profile_builder_finish(b, &chains->profile, err);
	profile_builder_destroy(b);
	return status;
}

static enum tally_status index_entries(
	struct c2c_chains *chains, const struct cache_lines *lines, struct tally_error *err)
{
	const struct flat_table *table = &chains->table;
	uint64_t *of_line = calloc(lines->lines.len + 1, sizeof(*of_line));
	chains->row_of_entry = calloc(lines->entries.len + 1, sizeof(*chains->row_of_entry));
	chains->total_of_entry = calloc(lines->entries.len + 1, sizeof(*chains->total_of_entry));
	bool is_done = of_line && chains->row_of_entry && chains->total_of_entry;
	for (size_t i = 0; is_done && i < table->row_count; i++) {
		int32_t entry = chains->profile->threads[table->rows[i].thread].tid;
		chains->row_of_entry[entry] = (uint32_t)i + 1;
		of_line[lines->entries.items[entry].line] += flat_table_stat(table, i, 0)->period;
	}
	for (size_t i = 0; is_done && i < lines->entries.len; i++)
		chains->total_of_entry[i] = of_line[lines->entries.items[i].line];
	free(of_line);
	return is_done ? TALLY_OK : error_nomem(err);
}

enum tally_status c2c_chains_finish(struct c2c_chains *chains, const struct cache_lines *lines, struct tally_error *err)
{
	/* Each cache line entry is represented by a thread of the profile. */
	static const enum profile_key keys[] = {KEY_PID};
	const struct flat_options options = {.keys = keys,
		.key_count = 1,
		.member_count = 1,
		.with_chains = true,
		.is_caller_first = chains->is_caller_first,
		.is_chain_by_address = chains->is_by_address};
	enum tally_status status = make_profile(chains, err);
	if (status == TALLY_OK)
		status = flat_table_init(&chains->table, chains->profile, &options, err);
	chains->has_table = status == TALLY_OK;
	if (status == TALLY_OK)
		status = chain_printer_init(&chains->printer, &chains->table, &chains->options, 0, err);
	chains->has_printer = status == TALLY_OK;
	return status == TALLY_OK ? index_entries(chains, lines, err) : status;
}

enum tally_status c2c_chains_print(struct c2c_chains *chains, struct text *out, uint32_t entry, struct tally_error *err)
{
	uint32_t row = chains->row_of_entry[entry];
	if (row == 0)
		return TALLY_OK;
	chains->printer.total_period = chains->total_of_entry[entry];
	return chain_print(&chains->printer, out, row - 1, flat_table_stat(&chains->table, row - 1, 0)->period, err);
}

void c2c_chains_deinit(struct c2c_chains *chains)
{
	if (chains->has_printer)
		chain_printer_deinit(&chains->printer);
	if (chains->has_table)
		flat_table_deinit(&chains->table);
	profile_destroy(chains->profile);
	vec_free(&chains->noted);
	vec_free(&chains->frames);
	free(chains->row_of_entry);
	free(chains->total_of_entry);
}
