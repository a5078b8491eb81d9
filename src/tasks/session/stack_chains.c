/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/stack_chains.h"

#include "abi/encode.h"
#include "base/error.h"

static bool has_stack(const struct perf_attr *attr)
{
	return attr->sample_type & SAMPLE_STACK_USER;
}

static struct perf_attr with_chains(const void *context, const struct perf_attr *attr)
{
	const struct stack_chains *chains = context;
	struct perf_attr changed = *attr;
	if (!has_stack(attr))
		return changed;
	changed.sample_type |= SAMPLE_CALLCHAIN;
	if (chains->form == STACK_CHAINS_EMPTY_COPIES)
		return changed;
	changed.sample_type &= ~(uint64_t)(SAMPLE_STACK_USER | SAMPLE_REGS_USER);
	changed.flags &= ~ATTR_FLAG(ATTR_BIT_EXCLUDE_CALLCHAIN_USER);
	changed.sample_regs_user = 0;
	changed.sample_stack_user = 0;
	return changed;
}

enum tally_status stack_chains_init(struct stack_chains *chains, const struct perfdata_reader *reader,
	enum stack_chains_form form, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	bool is_wanted = false;
	*chains = (struct stack_chains){.form = form, .reader = reader};
	arena_init(&chains->arena);
	intern_init(&chains->chains);
	for (size_t i = 0; i < count; i++)
		is_wanted = is_wanted || has_stack(&events[i].attr);
	if (!is_wanted)
		return TALLY_OK;
	chains->is_made =
		event_attrs_make(&chains->attrs, &chains->arena, reader, &(struct attr_change){with_chains, chains});
	return chains->is_made ? TALLY_OK : error_nomem(err);
}

void stack_chains_deinit(struct stack_chains *chains)
{
	map_u64_deinit(&chains->by_record);
	intern_deinit(&chains->chains);
	arena_deinit(&chains->arena);
}

/* Remembers the call chain of a sample by the hash of its record, since identical records have the same call chain.
 * is_copied: the record has a stack dump. */
void stack_chains_note(
	struct stack_chains *chains, const struct record *record, const struct sample_array *chain, bool is_copied)
{
	uint32_t id = 0;
	bool is_new;
	if (!stack_chains_are_made(chains))
		return;
	uint64_t *slot = map_u64_at(&chains->by_record, bytes_hash(record->bytes.data, record->bytes.len), &is_new);
	if (!slot || !intern_add(&chains->chains, chain->data ? chain->data : (const uint8_t *)"",
			     (size_t)chain->count * sizeof(uint64_t), &id)) {
		chains->failed = true;
		return;
	}
	*slot = id;
	chains->stacks += is_new && is_copied;
}

void stack_chains_features(struct stack_chains *chains, struct perfdata_features *features)
{
	if (stack_chains_are_made(chains) && !event_attrs_features(&chains->attrs, features))
		chains->failed = true;
}

enum inject_change stack_chains_sample(
	struct stack_chains *chains, const struct record *record, struct tally_bytes bytes, struct writer *out)
{
	const struct perfdata_event *event = perfdata_reader_event_of(chains->reader, record);
	struct record standing = *record;
	struct sample sample;
	uint64_t id;
	standing.bytes = bytes;
	if (!event || !has_stack(&event->attr)) {
		writer_bytes(out, bytes.data, bytes.len);
		return out->failed ? INJECT_NO_MEMORY : INJECT_CHANGED;
	}
	if (!map_u64_find(&chains->by_record, bytes_hash(record->bytes.data, record->bytes.len), &id) ||
		sample_decode(&event->layout, &standing, &sample, NULL) != TALLY_OK)
		return INJECT_DROPPED; /* The record is damaged. */
	struct tally_str chain = intern_get(&chains->chains, (uint32_t)id);
	sample.callchain = (struct sample_array){(const uint8_t *)chain.data, (uint32_t)(chain.len / sizeof(uint64_t))};
	sample.present |= SAMPLE_CALLCHAIN;
	sample.stack_user.bytes.len = 0;
	sample.present &= chains->attrs.layouts[event->index].sample_type;
	out->swap = record->swap;
	if (sample_encode(out, &chains->attrs.layouts[event->index], record->misc, &sample))
		return INJECT_CHANGED;
	return out->failed ? INJECT_NO_MEMORY : INJECT_DROPPED;
}
