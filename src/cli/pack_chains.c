#include "cli/pack_chains.h"

#include "abi/encode.h"
#include "base/error.h"
#include "perfdata/feature_encode.h"

#define SAMPLE_TYPE_AT 24 /* in an attr */
#define FLAGS_AT       40
#define STACK_BYTES_AT 88
#define STACK_BYTES_TO 92
#define NO_CHAIN       2 /* words: where the sample was */

static bool has_stack(const struct perf_attr *attr)
{
	return attr->sample_type & SAMPLE_STACK_USER;
}

/* The registers stay: script shows them. */
static struct perf_attr without_stack(const struct perf_attr *attr)
{
	struct perf_attr changed = *attr;
	changed.sample_type &= ~(uint64_t)SAMPLE_STACK_USER;
	changed.sample_type |= SAMPLE_CALLCHAIN;
	changed.flags &= ~ATTR_FLAG(ATTR_BIT_EXCLUDE_CALLCHAIN_USER);
	changed.sample_stack_user = 0;
	return changed;
}

/* What is not known of the stored attr stays as it is. */
static struct tally_bytes make_attr(struct pack_chains *chains, const struct perfdata_event *event)
{
	static const size_t parts[][2] = {
		{SAMPLE_TYPE_AT, SAMPLE_TYPE_AT + 8}, {FLAGS_AT, FLAGS_AT + 8}, {STACK_BYTES_AT, STACK_BYTES_TO}};
	struct writer w = {.swap = perfdata_reader_is_swapped(chains->reader)};
	struct perf_attr changed = without_stack(&event->attr);
	attr_encode(&w, &changed);
	uint8_t *bytes = arena_copy(&chains->arena, event->stored_attr.data, event->stored_attr.len);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && bytes && !w.failed; i++)
		if (parts[i][1] <= event->stored_attr.len && parts[i][1] <= w.len)
			memcpy(bytes + parts[i][0], w.data + parts[i][0], parts[i][1] - parts[i][0]);
	chains->failed = chains->failed || !bytes || w.failed;
	writer_deinit(&w);
	return (struct tally_bytes){bytes, event->stored_attr.len};
}

enum tally_status pack_chains_init(
	struct pack_chains *chains, const struct perfdata_reader *reader, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	bool is_wanted = false;
	*chains = (struct pack_chains){.reader = reader};
	arena_init(&chains->arena);
	intern_init(&chains->chains);
	for (size_t i = 0; i < count; i++)
		is_wanted = is_wanted || has_stack(&events[i].attr);
	if (!is_wanted)
		return TALLY_OK;
	chains->attrs = arena_array(&chains->arena, struct tally_bytes, count);
	chains->layouts = arena_array(&chains->arena, struct record_layout, count);
	for (size_t i = 0; i < count && chains->attrs && chains->layouts; i++) {
		struct perf_attr changed = without_stack(&events[i].attr);
		chains->attrs[i] = has_stack(&events[i].attr) ? make_attr(chains, &events[i]) : events[i].stored_attr;
		chains->layouts[i] = record_layout_make(&changed, perfdata_reader_is_swapped(reader));
	}
	return chains->failed || !chains->attrs || !chains->layouts ? error_nomem(err) : TALLY_OK;
}

void pack_chains_deinit(struct pack_chains *chains)
{
	map_u64_deinit(&chains->by_record);
	intern_deinit(&chains->chains);
	arena_deinit(&chains->arena);
}

/* Records that are the same in all bytes have the same chain. */
void pack_chains_note(struct pack_chains *chains, const struct record *record, const struct sample_array *chain)
{
	uint32_t id = 0;
	bool is_new;
	if (!pack_chains_are_made(chains))
		return;
	uint64_t *slot = map_u64_at(&chains->by_record, bytes_hash(record->bytes.data, record->bytes.len), &is_new);
	if (!slot || !intern_add(&chains->chains, chain->data ? chain->data : (const uint8_t *)"",
			     (size_t)chain->count * sizeof(uint64_t), &id)) {
		chains->failed = true;
		return;
	}
	*slot = id;
	chains->stacks += is_new;
}

void pack_chains_features(struct pack_chains *chains, struct perfdata_features *features)
{
	size_t count = features->event_count;
	struct writer w = {.swap = perfdata_reader_is_swapped(chains->reader)};
	if (!pack_chains_are_made(chains) || count == 0)
		return;
	struct perfdata_event_desc *events = arena_array(&chains->arena, struct perfdata_event_desc, count);
	struct perf_attr *attrs = arena_array(&chains->arena, struct perf_attr, count);
	if (!events || !attrs) {
		chains->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		events[i] = features->events[i];
		if (!events[i].attr || !has_stack(events[i].attr))
			continue;
		attrs[i] = without_stack(events[i].attr);
		events[i].attr = &attrs[i];
	}
	features->events = events;
	feature_encode(&w, FEATURE_EVENT_DESC, features);
	features->raw[FEATURE_EVENT_DESC] = (struct tally_bytes){arena_copy(&chains->arena, w.data, w.len), w.len};
	chains->failed = chains->failed || w.failed || !features->raw[FEATURE_EVENT_DESC].data;
	writer_deinit(&w);
}

/* Marks of contexts alone name no frame. */
static bool has_frame(struct tally_str chain, bool swap)
{
	for (size_t i = 0; i < chain.len / sizeof(uint64_t); i++)
		if (sample_u64_at((const uint8_t *)chain.data, i, swap) < CONTEXT_MAX)
			return true;
	return false;
}

/* A copy that told nothing: the frame that is known. */
static void put_place(struct writer *w, const struct record *record, const struct sample *sample)
{
	bool is_user = (record->misc & MISC_CPUMODE_MASK) == MISC_CPUMODE_USER;
	writer_u64(w, is_user ? CONTEXT_USER : CONTEXT_KERNEL);
	writer_u64(w, sample->ip);
}

enum inject_change pack_chains_sample(
	struct pack_chains *chains, const struct record *record, struct tally_bytes bytes, struct writer *out)
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
		return INJECT_DROPPED; /* it is damaged */
	struct tally_str chain = intern_get(&chains->chains, (uint32_t)id);
	struct writer place = {.swap = record->swap};
	bool is_known = has_frame(chain, record->swap);
	if (!is_known)
		put_place(&place, record, &sample);
	sample.callchain =
		is_known ? (struct sample_array){(const uint8_t *)chain.data, (uint32_t)(chain.len / sizeof(uint64_t))}
			 : (struct sample_array){place.data, NO_CHAIN};
	out->swap = record->swap;
	bool ok = !place.failed && sample_encode(out, &chains->layouts[event->index], record->misc, &sample);
	bool has_memory = !place.failed && !out->failed;
	writer_deinit(&place);
	if (!has_memory)
		return INJECT_NO_MEMORY;
	return ok ? INJECT_CHANGED : INJECT_DROPPED;
}
