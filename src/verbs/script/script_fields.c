/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "verbs/script/script_counters.h"

#define ALL_KINDS ((1u << KIND_COUNT) - 1)

/* Names of the event kinds in perf's messages. */
static const char *const script_fields_kind_names[KIND_COUNT] = {
	"hardware", "software", "tracepoint", "hardware-cache", "raw", "breakpoint", "unknown", "unknown"};

static const struct {
	const char *prefix;
	enum script_event_kind kind;
} prefixes[] = {
	{"hw", KIND_HARDWARE},
	{"sw", KIND_SOFTWARE},
	{"trace", KIND_TRACEPOINT},
	{"raw", KIND_RAW},
	{"break", KIND_BREAKPOINT},
	{"synth", KIND_SYNTH},
};

struct field_name {
	const char *name;
	uint64_t field;
	uint64_t needs; /* SAMPLE_* bits of which at least one must be recorded; 0 if none is needed. */
	const char *attribute; /* Name of the needed attribute in perf's messages; NULL if it is the field's name. */
	unsigned kinds; /* Bits of the event kinds that can have this field; 0 means all. */
};

static const struct field_name field_names[] = {
	{"comm", FIELD_COMM, 0, NULL, 0},
	{"tid", FIELD_TID, SAMPLE_TID, NULL, 0},
	{"pid", FIELD_PID, SAMPLE_TID, "TID", 0},
	{"time", FIELD_TIME, SAMPLE_TIME, NULL, 0},
	{"cpu", FIELD_CPU, SAMPLE_CPU, NULL, 0},
	{"event", FIELD_EVENT, 0, NULL, 0},
	{"trace", FIELD_TRACE, 0, NULL, 1u << KIND_TRACEPOINT},
	{"ip", FIELD_IP, SAMPLE_IP, NULL, 0},
	{"sym", FIELD_SYM, 0, NULL, 0},
	{"dso", FIELD_DSO, 0, NULL, 0},
	{"dsoff", FIELD_DSOFF, 0, NULL, 0},
	{"addr", FIELD_ADDR, SAMPLE_ADDR, NULL, 0},
	{"symoff", FIELD_SYMOFF, 0, NULL, 0},
	{"srcline", FIELD_SRCLINE, 0, NULL, 0},
	{"period", FIELD_PERIOD, 0, NULL, 0},
	{"iregs", FIELD_IREGS, SAMPLE_REGS_INTR, NULL, 0},
	{"uregs", FIELD_UREGS, SAMPLE_REGS_USER, NULL, 0},
	{"brstack", FIELD_BRSTACK, 0, NULL, 0},
	{"brstacksym", FIELD_BRSTACKSYM, 0, NULL, 0},
	{"flags", FIELD_FLAGS, 0, NULL, 0},
	{"data_src", FIELD_DATA_SRC, SAMPLE_DATA_SRC, NULL, 0},
	{"weight", FIELD_WEIGHT, SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT, NULL, 0},
	{"bpf-output", FIELD_BPF_OUTPUT, 0, NULL, 1u << KIND_SOFTWARE | 1u << KIND_TRACEPOINT},
	{"brstackinsn", FIELD_BRSTACKINSN, 0, NULL, 0},
	{"brstackinsnlen", FIELD_BRSTACKINSNLEN, 0, NULL, 0},
	{"brstackdisasm", FIELD_BRSTACKDISASM, 0, NULL, 0},
	{"brstackoff", FIELD_BRSTACKOFF, 0, NULL, 0},
	{"callindent", FIELD_CALLINDENT, 0, NULL, 0},
	{"insn", FIELD_INSN, 0, NULL, 0},
	{"disasm", FIELD_DISASM, 0, NULL, 0},
	{"insnlen", FIELD_INSNLEN, 0, NULL, 0},
	{"synth", FIELD_SYNTH, 0, NULL, 0},
	{"phys_addr", FIELD_PHYS_ADDR, SAMPLE_PHYS_ADDR, NULL, 0},
	{"metric", FIELD_METRIC, 0, NULL, 0},
	{"misc", FIELD_MISC, 0, NULL, 0},
	{"srccode", FIELD_SRCCODE, 0, NULL, 0},
	{"ipc", FIELD_IPC, 0, NULL, 0},
	{"tod", FIELD_TOD, 0, NULL, 0},
	{"data_page_size", FIELD_DATA_PAGE_SIZE, SAMPLE_DATA_PAGE_SIZE, NULL, 0},
	{"code_page_size", FIELD_CODE_PAGE_SIZE, SAMPLE_CODE_PAGE_SIZE, NULL, 0},
	{"ins_lat", FIELD_INS_LAT, SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT", 0},
	{"machine_pid", FIELD_MACHINE_PID, 0, NULL, 0},
	{"vcpu", FIELD_VCPU, 0, NULL, 0},
	{"cgroup", FIELD_CGROUP, SAMPLE_CGROUP, NULL, 0},
	{"retire_lat", FIELD_RETIRE_LAT, SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT", 0},
	{"brcntr", FIELD_BRCNTR, 0, NULL, 0},
};

#define FIELD_NAME_COUNT (ARRAY_LEN(field_names))

#define NAMED_PLACE  (FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO)
#define EVERY_SAMPLE (FIELD_COMM | FIELD_TID | FIELD_CPU | FIELD_TIME | FIELD_EVENT)
#define MEMORY_ACCESS                                                                                          \
	(FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_INS_LAT | FIELD_PHYS_ADDR | FIELD_DATA_PAGE_SIZE | \
		FIELD_CODE_PAGE_SIZE)

void script_fields_init(struct script_field_request *request)
{
	*request = (struct script_field_request){0};
	for (size_t i = 0; i < KIND_COUNT; i++)
		request->kinds[i].fields = EVERY_SAMPLE | NAMED_PLACE | FIELD_PERIOD;
	request->kinds[KIND_SOFTWARE].fields |= FIELD_BPF_OUTPUT;
	request->kinds[KIND_TRACEPOINT].fields = EVERY_SAMPLE | FIELD_TRACE;
	request->kinds[KIND_RAW].fields |= MEMORY_ACCESS;
	request->kinds[KIND_SYNTH].fields = EVERY_SAMPLE | NAMED_PLACE | FIELD_SYNTH;
}

static const char *script_fields_complain(
	char *room, size_t room_bytes, const char *before, struct tally_str word, const char *after)
{
	snprintf(room, room_bytes, "%s'%.*s'%s", before, (int)(MIN(word.len, 64)), word.data, after);
	return room;
}

static const struct field_name *script_fields_find_field(struct tally_str word)
{
	for (size_t i = 0; i < FIELD_NAME_COUNT; i++)
		if (str_equal(word, str_from(field_names[i].name)))
			return &field_names[i];
	return NULL;
}

/* Removes the prefix for an event kind from the list and returns the kinds as bits, or 0 if the prefix is unknown. */
static unsigned take_kinds(struct tally_str *list)
{
	const char *colon = memchr(list->data, ':', list->len);
	if (!colon)
		return ALL_KINDS;
	struct tally_str prefix = {list->data, (size_t)(colon - list->data)};
	*list = (struct tally_str){colon + 1, list->len - prefix.len - 1};
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (str_equal(prefix, str_from(prefixes[i].prefix)))
			return 1u << prefixes[i].kind;
	return 0;
}

/* A list of changes (-F +sym,-ip) modifies the fields that are set; any other list replaces them. */
static void begin_list(struct script_field_request *request, unsigned kinds, bool is_edit)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		struct script_field_kind *kind = &request->kinds[i];
		if (!(kinds & 1u << i))
			continue;
		if (!is_edit) {
			if (kind->is_set || kind->is_set_for_all) {
				request->all_overridden |= kinds == ALL_KINDS;
				kind->was_overridden |= kinds != ALL_KINDS;
			}
			kind->fields = kind->demanded = kind->asked = kind->ignored = 0;
		}
		kind->is_set |= kinds != ALL_KINDS;
		kind->is_set_for_all |= kinds == ALL_KINDS;
	}
}

static void apply_field(
	struct script_field_request *request, unsigned kinds, const struct field_name *name, bool is_removal)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		struct script_field_kind *kind = &request->kinds[i];
		if (!(kinds & 1u << i))
			continue;
		if (name->kinds && !(name->kinds & 1u << i)) {
			kind->ignored |= name->field;
		} else if (is_removal) {
			kind->fields &= ~name->field;
			kind->demanded &= ~name->field;
			kind->asked &= ~name->field;
		} else {
			kind->fields |= name->field;
			kind->asked |= name->field;
			if (kinds == ALL_KINDS)
				kind->demanded |= name->field;
		}
	}
}

static const char *apply_word(
	struct script_field_request *request, unsigned kinds, struct tally_str word, char *room, size_t room_bytes)
{
	char sign = word.data[0];
	bool is_signed = sign == '+' || sign == '-';
	if (is_signed)
		word = (struct tally_str){word.data + 1, word.len - 1};
	const struct field_name *name = script_fields_find_field(word);
	if (!name)
		return script_fields_complain(
			room, room_bytes, "Invalid field requested. There is no field ", word, ".");
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (kinds == 1u << i && name->kinds && !(name->kinds & kinds)) {
			char tail[64];
			snprintf(tail, sizeof(tail), " not valid for %s events.", script_fields_kind_names[i]);
			return script_fields_complain(room, room_bytes, "", word, tail);
		}
	apply_field(request, kinds, name, sign == '-');
	return NULL;
}

const char *script_fields_apply(struct script_field_request *request, const char *text, char *room, size_t room_bytes)
{
	struct tally_str list = str_from(text);
	unsigned kinds = take_kinds(&list);
	request->is_given = true;
	if (kinds == 0)
		return "Invalid event type in field string.";
	if (kinds == ALL_KINDS && list.len == 0)
		return "Cannot set fields to 'none' for all event types.";
	/* As in perf, any '+' or '-' makes the list a list of changes, even the dash in bpf-output. */
	bool is_edit = list.len > 0 && (memchr(list.data, '+', list.len) || memchr(list.data, '-', list.len));
	begin_list(request, kinds, is_edit);
	bool had_signed = false;
	bool had_plain = false;
	struct tally_str word;
	while (str_next(&list, ',', &word)) {
		if (word.len == 0)
			continue;
		bool is_signed = word.data[0] == '+' || word.data[0] == '-';
		had_signed |= is_signed;
		had_plain |= !is_signed;
		if (had_signed && had_plain)
			return "Cannot mix +-field with overridden fields";
		const char *problem = apply_word(request, kinds, word, room, room_bytes);
		if (problem)
			return problem;
	}
	return NULL;
}

static enum script_event_kind script_fields_kind_of(const struct perf_attr *attr)
{
	switch (attr->type) {
	case EVENT_HARDWARE:
		return KIND_HARDWARE;
	case EVENT_SOFTWARE:
		return KIND_SOFTWARE;
	case EVENT_TRACEPOINT:
		return KIND_TRACEPOINT;
	case EVENT_HW_CACHE:
		return KIND_CACHE;
	case EVENT_RAW:
		return KIND_RAW;
	case EVENT_BREAKPOINT:
		return KIND_BREAKPOINT;
	default:
		return KIND_OTHER;
	}
}

/* A dummy event has no samples, so fields of its kind are not required of it. */
static bool script_fields_is_dummy(const struct perf_attr *attr)
{
	return attr->type == EVENT_SOFTWARE && attr->config == SW_DUMMY;
}

static enum tally_status missing_attribute(
	const struct perfdata_event *event, const struct field_name *name, struct tally_error *err)
{
	char upper[32];
	const char *attribute = name->attribute ? name->attribute : name->name;
	size_t i = 0;
	for (; attribute[i] && i + 1 < sizeof(upper); i++)
		upper[i] = (char)(attribute[i] - ('a' <= attribute[i] && attribute[i] <= 'z' ? 32 : 0));
	upper[i] = '\0';
	return error_set(err, TALLY_INVALID,
		"Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.%s", event->name.data,
		upper, name->name, name->field == FIELD_CGROUP ? "\nHint: run 'tally record --all-cgroups ...'" : "");
}

/* Symbol, DSO and source fields need an address. */
static enum tally_status check_address(const struct script_field_kind *kind, const struct perfdata_event *event,
	uint64_t *fields, struct tally_error *err)
{
	bool has_address = (event->attr.sample_type & (SAMPLE_IP | SAMPLE_ADDR)) != 0;
	if (!has_address && (kind->asked & *fields & FIELD_SYM))
		return error_set(err, TALLY_INVALID,
			"Display of symbols requested but neither sample IP nor sample address\n"
			"available. Hence, no addresses to convert to symbols.");
	if ((kind->asked & *fields & FIELD_SYMOFF) && !(*fields & FIELD_SYM))
		return error_set(err, TALLY_INVALID, "Display of offsets requested but symbol is not selected.");
	if ((kind->asked & *fields & (FIELD_SRCLINE | FIELD_SRCCODE)) && !(*fields & FIELD_IP))
		return error_set(err, TALLY_INVALID,
			"Display of source line number requested but sample IP is not\n"
			"selected. Hence, no address to lookup the source line number.");
	if (!has_address && (kind->asked & *fields & (FIELD_DSO | FIELD_DSOFF)))
		return error_set(err, TALLY_INVALID, "Display of DSO requested but no address to convert.");
	if (!has_address)
		*fields &= ~(FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_DSOFF);
	return TALLY_OK;
}

/* Checks the fields of a kind against the attributes of one of its events, and removes those that it cannot show. */
static enum tally_status check_kind(const struct script_field_kind *kind, const struct perfdata_event *event,
	const struct perfdata_reader *reader, uint64_t *fields, struct tally_error *err)
{
	/* Samples that are synthesized from a hardware trace may have fields that recorded samples lack. */
	const struct perfdata_features *features = perfdata_reader_features(reader);
	bool may_lack = feature_is_present(features, FEATURE_AUXTRACE);
	for (size_t i = 0; i < FIELD_NAME_COUNT; i++) {
		const struct field_name *name = &field_names[i];
		if (!name->needs || !(*fields & name->field) || (event->attr.sample_type & name->needs))
			continue;
		if (!(kind->demanded & name->field) || script_fields_is_dummy(&event->attr))
			*fields &= ~name->field;
		else if (!may_lack)
			return missing_attribute(event, name, err);
	}
	if (script_fields_is_dummy(&event->attr)) { /* No sample has these fields. */
		*fields &= ~FIELD_PATHS;
		return TALLY_OK;
	}
	/* perf reads a stream's features while it prints, so it cannot reject this field. */
	if ((*fields & FIELD_TOD) && !perfdata_reader_is_pipe(reader) &&
		!feature_is_present(features, FEATURE_CLOCK_DATA))
		return error_set(err, TALLY_INVALID,
			"Can't provide 'tod' time, missing clock data. Please record with -k/--clockid option.");
	if ((*fields & FIELD_PATHS) && !(event->attr.branch_sample_type & BRANCH_ANY))
		return error_set(err, TALLY_INVALID,
			"Display of branch stack assembler requested, but non all-branch filter set\n"
			"Hint: run 'tally record -b ...'");
	return check_address(kind, event, fields, err);
}

static void note_lists(const struct script_field_request *request, unsigned present, struct diag *notes)
{
	if (request->all_overridden)
		diag_add(notes, DIAG_WARNING, "Overriding previous field request for all events.");
	for (size_t i = 0; i < KIND_COUNT; i++) {
		const struct script_field_kind *kind = &request->kinds[i];
		if (kind->was_overridden)
			diag_add(notes, DIAG_WARNING, "Overriding previous field request for %s events.",
				script_fields_kind_names[i]);
		for (size_t f = 0; f < FIELD_NAME_COUNT; f++)
			if ((present & 1u << i) && (kind->ignored & field_names[f].field))
				diag_add(notes, DIAG_WARNING, "'%s' not valid for %s events. Ignoring.",
					field_names[f].name, script_fields_kind_names[i]);
	}
}

/* Returns the first event of a kind, and a dummy event only if there is no other. */
static const struct perfdata_event *first_of_kind(
	const struct perfdata_event *events, size_t count, enum script_event_kind kind)
{
	const struct perfdata_event *dummy = NULL;
	for (size_t i = 0; i < count; i++) {
		if (script_fields_kind_of(&events[i].attr) != kind)
			continue;
		if (!script_fields_is_dummy(&events[i].attr))
			return &events[i];
		if (!dummy)
			dummy = &events[i];
	}
	return dummy;
}

/* Shows the call chains of tracepoints unless a list of fields is given or chains are hidden. */
static uint64_t chain_fields(
	const struct script_field_request *request, const struct perfdata_event *events, size_t count)
{
	const struct script_field_kind *kind = &request->kinds[KIND_TRACEPOINT];
	if (kind->is_set || kind->is_set_for_all || request->hides_chains)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (events[i].attr.type == EVENT_TRACEPOINT && (events[i].attr.sample_type & SAMPLE_CALLCHAIN))
			return NAMED_PLACE;
	return 0;
}

/* Returns whether brcntr is selected but no event has branch counters. */
static bool lacks_counters(const struct perfdata_event *events, size_t count, const uint64_t *of_kind, unsigned present)
{
	bool is_asked = false;
	for (unsigned k = 0; k < KIND_COUNT; k++)
		is_asked = is_asked || ((present & 1u << k) && (of_kind[k] & FIELD_BRCNTR));
	for (size_t i = 0; i < count && is_asked; i++)
		if (script_counters_event_has(&events[i]))
			return false;
	return is_asked;
}

enum tally_status script_fields_choose(const struct script_field_request *request, const struct perfdata_reader *reader,
	struct diag *notes, uint64_t **out, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	uint64_t of_kind[KIND_COUNT] = {0};
	unsigned present = 0;
	for (unsigned k = 0; k < KIND_COUNT; k++) {
		const struct script_field_kind *kind = &request->kinds[k];
		const struct perfdata_event *first = first_of_kind(events, count, k);
		of_kind[k] = kind->fields;
		if (k == KIND_TRACEPOINT)
			of_kind[k] |= chain_fields(request, events, count);
		if (!first) {
			if (kind->is_set && !kind->is_set_for_all && kind->fields == 0 && k != KIND_SYNTH)
				return error_set(err, TALLY_INVALID,
					"%s events do not exist. Remove corresponding -F option to proceed.",
					script_fields_kind_names[k]);
			continue;
		}
		present |= 1u << k;
		enum tally_status status = check_kind(kind, first, reader, &of_kind[k], err);
		if (status != TALLY_OK)
			return status;
	}
	if (lacks_counters(events, count, of_kind, present))
		return error_set(err, TALLY_INVALID,
			"Display of branch counter requested but it's not enabled\n"
			"Hint: run 'tally record -j any,counter ...'");
	uint64_t *fields = calloc(count ? count : 1, sizeof(*fields));
	if (!fields)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++)
		fields[i] = of_kind[script_fields_kind_of(&events[i].attr)];
	note_lists(request, present, notes);
	*out = fields;
	return TALLY_OK;
}
