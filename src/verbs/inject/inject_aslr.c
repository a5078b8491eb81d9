/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/inject/inject_aslr.h"

#include "abi/branch.h"
#include "abi/encode.h"
#include "base/array.h"
#include "base/error.h"
#include "tasks/packing/pack_formats.h"

#define GONE_FIELDS \
	(SAMPLE_REGS_USER | SAMPLE_REGS_INTR | SAMPLE_STACK_USER | SAMPLE_RAW | SAMPLE_PHYS_ADDR | SAMPLE_AUX)
/* Offsets of addresses in records, in bytes. */
#define MAPPING_START	16
#define MAPPING_PGOFF	32
#define KSYMBOL_ADDRESS 8
#define DEFERRED_CHAIN	24

static const unsigned gone_features[] = {FEATURE_AUXTRACE, FEATURE_BPF_PROG_INFO, FEATURE_PACK};

static struct perf_attr without_fields(const void *context, const struct perf_attr *attr)
{
	struct perf_attr changed = *attr;
	(void)context;
	changed.sample_type &= ~(uint64_t)GONE_FIELDS;
	changed.sample_regs_user = changed.sample_regs_intr = 0;
	changed.sample_stack_user = 0;
	changed.aux_sample_size = 0;
	if (attr->type == EVENT_BREAKPOINT)
		changed.config1 = 0; /* The address of the breakpoint. */
	return changed;
}

static bool inject_aslr_is_of_kernel(const struct record *record, int32_t pid)
{
	unsigned mode = record->misc & MISC_CPUMODE_MASK;
	return pid == ADDRESS_REMAP_KERNEL || mode == MISC_CPUMODE_KERNEL || mode == MISC_CPUMODE_GUEST_KERNEL;
}

static bool inject_aslr_note_record(struct inject_aslr *aslr, const struct record *record)
{
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK)
		return true;
	switch (record->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2: {
		int32_t pid = (int32_t)fields.mmap.pid;
		uint64_t end = fields.mmap.start + fields.mmap.len;
		if (end < fields.mmap.start)
			end = UINT64_MAX;
		return address_remap_add(&aslr->remap,
			inject_aslr_is_of_kernel(record, pid) ? ADDRESS_REMAP_KERNEL : pid, fields.mmap.start, end);
	}
	case RECORD_KSYMBOL:
		return address_remap_add(&aslr->remap, ADDRESS_REMAP_KERNEL, fields.ksymbol.addr,
			fields.ksymbol.addr + fields.ksymbol.len);
	case RECORD_FORK:
		return address_remap_fork(&aslr->remap, (int32_t)fields.task.pid, (int32_t)fields.task.ppid);
	default:
		return true;
	}
}

enum tally_status inject_aslr_read(struct inject_aslr *aslr, struct perfdata_reader *reader, struct tally_error *err)
{
	const struct attr_change change = {.make = without_fields};
	struct record record;
	struct tally_error end;
	size_t count;
	*aslr = (struct inject_aslr){.reader = reader};
	arena_init(&aslr->arena);
	while (perfdata_reader_next(reader, &record, &end) == TALLY_OK)
		if (!inject_aslr_note_record(aslr, &record))
			return error_nomem(err);
	perfdata_reader_rewind(reader);
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		aslr->fields |= events[i].attr.sample_type & GONE_FIELDS;
	if (!event_attrs_make(&aslr->attrs, &aslr->arena, reader, &change))
		return error_nomem(err);
	return address_remap_finish(&aslr->remap, err);
}

void inject_aslr_deinit(struct inject_aslr *aslr)
{
	address_remap_deinit(&aslr->remap);
	arena_deinit(&aslr->arena);
	writer_deinit(&aslr->words);
	writer_deinit(&aslr->formats);
}

void inject_aslr_features(struct inject_aslr *aslr, struct perfdata_features *features)
{
	for (size_t i = 0; i < ARRAY_LEN(gone_features); i++)
		feature_leave_out(features, gone_features[i]);
	aslr->formats.swap = perfdata_reader_is_swapped(aslr->reader);
	/* Stock perf requires the formats of tracepoints, but the section with them also contains addresses of
	 * kernel symbols. */
	if (features->tracing_data.len > 0 && pack_formats_scrub(features->tracing_data, &aslr->formats)) {
		features->tracing_data = writer_view(&aslr->formats);
	} else {
		feature_leave_out(features, FEATURE_TRACING_DATA);
		features->tracing_data = (struct tally_bytes){0};
	}
	if (!event_attrs_features(&aslr->attrs, features))
		aslr->failed = true;
}

/* Replaces the addresses of a call chain. Context markers are preserved, and so is the cookie after the marker of a
 * deferred chain. */
static void inject_aslr_put_chain(struct inject_aslr *aslr, int32_t pid, const struct sample_array *chain, bool swap)
{
	bool is_number = false;
	for (uint32_t i = 0; i < chain->count; i++) {
		uint64_t word = sample_u64_at(chain->data, i, swap);
		bool stays = is_number || word >= CONTEXT_MAX;
		is_number = !is_number && word == CONTEXT_USER_DEFERRED;
		writer_u64(&aslr->words, stays ? word : address_remap_find(&aslr->remap, pid, word));
	}
}

static void inject_aslr_put_branches(struct inject_aslr *aslr, int32_t pid, const struct sample *sample)
{
	const struct sample_array *entries = &sample->branches.entries;
	for (uint32_t i = 0; i < entries->count; i++) {
		uint64_t word = sample_u64_at(entries->data, i, sample->swap);
		bool is_flags = i % SAMPLE_BRANCH_WORDS == SAMPLE_BRANCH_WORDS - 1;
		writer_u64(&aslr->words, is_flags ? word : address_remap_find(&aslr->remap, pid, word));
	}
}

static enum inject_change change_sample(struct inject_aslr *aslr, const struct record *record, struct writer *out)
{
	const struct perfdata_event *event = perfdata_reader_event_of(aslr->reader, record);
	struct sample sample;
	if (!event || sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK)
		return INJECT_DROPPED; /* The record is damaged. */
	const struct record_layout *layout = &aslr->attrs.layouts[event->index];
	int32_t pid = sample.present & SAMPLE_TID ? (int32_t)sample.pid : ADDRESS_REMAP_KERNEL;
	writer_clear(&aslr->words);
	aslr->words.swap = record->swap;
	inject_aslr_put_chain(aslr, pid, &sample.callchain, record->swap);
	size_t chain_bytes = aslr->words.len;
	inject_aslr_put_branches(aslr, pid, &sample);
	if (aslr->words.failed)
		return INJECT_NO_MEMORY;
	if (aslr->words.len > 0) {
		sample.callchain.data = aslr->words.data;
		sample.branches.entries.data = aslr->words.data + chain_bytes;
	}
	sample.ip = address_remap_find(&aslr->remap, pid, sample.ip);
	sample.addr = address_remap_find(&aslr->remap, pid, sample.addr);
	sample.present &= layout->sample_type;
	out->swap = record->swap;
	if (sample_encode(out, layout, record->misc, &sample))
		return INJECT_CHANGED;
	return out->failed ? INJECT_NO_MEMORY : INJECT_DROPPED;
}

/* Replaces the address at this offset of the record in out. */
static void move_at(const struct inject_aslr *aslr, int32_t pid, size_t offset, struct writer *out)
{
	uint64_t old = sample_u64_at(out->data + offset, 0, out->swap);
	writer_patch_u64(out, offset, address_remap_find(&aslr->remap, pid, old));
}

static bool copy_record(const struct record *record, struct writer *out)
{
	out->swap = record->swap;
	writer_bytes(out, record->bytes.data, record->bytes.len);
	return !out->failed;
}

static enum inject_change change_mapping(
	struct inject_aslr *aslr, const struct record *record, const struct record_mmap *mmap, struct writer *out)
{
	bool is_kernel = inject_aslr_is_of_kernel(record, (int32_t)mmap->pid);
	int32_t owner = is_kernel ? ADDRESS_REMAP_KERNEL : (int32_t)mmap->pid;
	if (!copy_record(record, out))
		return INJECT_NO_MEMORY;
	move_at(aslr, owner, MAPPING_START, out);
	/* pgoff of the kernel's mapping is the address of the symbol in its name. */
	if (is_kernel && address_remap_find(&aslr->remap, owner, mmap->pgoff))
		move_at(aslr, owner, MAPPING_PGOFF, out);
	return INJECT_CHANGED;
}

static enum inject_change change_deferred(struct inject_aslr *aslr, const struct record *record, struct writer *out)
{
	struct sample_id id;
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK || !perfdata_reader_sample_id(aslr->reader, record, &id) ||
		!id.has_tid)
		return INJECT_DROPPED;
	if (!copy_record(record, out))
		return INJECT_NO_MEMORY;
	for (uint64_t i = 0; i < fields.callchain_deferred.ips.len / sizeof(uint64_t); i++) {
		size_t offset = DEFERRED_CHAIN + i * sizeof(uint64_t);
		if (sample_u64_at(out->data + offset, 0, out->swap) < CONTEXT_MAX)
			move_at(aslr, (int32_t)id.pid, offset, out);
	}
	return INJECT_CHANGED;
}

static enum inject_change change_any(struct inject_aslr *aslr, const struct record *record, struct writer *out)
{
	struct record_fields fields;
	switch (record->type) {
	case RECORD_SAMPLE:
		return change_sample(aslr, record, out);
	case RECORD_CALLCHAIN_DEFERRED:
		return change_deferred(aslr, record, out);
	case RECORD_MMAP:
	case RECORD_MMAP2:
		if (record_decode(record, &fields, NULL) != TALLY_OK)
			return INJECT_DROPPED;
		return change_mapping(aslr, record, &fields.mmap, out);
	case RECORD_KSYMBOL:
		if (record_decode(record, &fields, NULL) != TALLY_OK)
			return INJECT_DROPPED;
		if (!copy_record(record, out))
			return INJECT_NO_MEMORY;
		move_at(aslr, ADDRESS_REMAP_KERNEL, KSYMBOL_ADDRESS, out);
		return INJECT_CHANGED;
	case RECORD_TEXT_POKE:
	case RECORD_HEADER_TRACING_DATA:
		return INJECT_DROPPED;
	default:
		/* Records of unknown type may contain addresses. */
		return record_type_name(record->type) && !record_is_of_trace(record->type) ? INJECT_KEPT
											   : INJECT_DROPPED;
	}
}

enum inject_change inject_aslr_record(void *context, const struct record *record, struct writer *out)
{
	struct inject_aslr *aslr = context;
	enum inject_change change = change_any(aslr, record, out);
	aslr->dropped += change == INJECT_DROPPED;
	return change;
}

void inject_aslr_tell(const struct inject_aslr *aslr, struct text *out)
{
	static const struct {
		uint64_t field;
		const char *name;
	} names[] = {{SAMPLE_REGS_USER | SAMPLE_REGS_INTR, "registers"},
		{SAMPLE_STACK_USER, "stack dumps (--convert-callchain makes call chains of them)"},
		{SAMPLE_RAW, "raw data of tracepoints"}, {SAMPLE_PHYS_ADDR, "physical addresses"},
		{SAMPLE_AUX, "hardware traces"}};
	const char *before = "left out, as addresses are in them: ";
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!(aslr->fields & names[i].field))
			continue;
		text_str(out, before);
		text_str(out, names[i].name);
		before = ", ";
	}
	if (!aslr->dropped)
		return;
	text_str(out, before);
	text_u64(out, aslr->dropped);
	text_str(out, " records");
}
