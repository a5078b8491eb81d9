/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/dump_raw.h"

#include "abi/attr.h"
#include "abi/record_print.h"
#include "base/cursor.h"
#include "perfdata/feature_table.h"
#include "tasks/header/header_text.h"
#include "tasks/session/dump_sample.h"

#define ROW_BYTES    16
#define HEADER_BYTES 8

static void dump_raw_print_hex(struct text *t, uint64_t v)
{
	if (v)
		text_str(t, "0x");
	text_hex(t, v, 0);
}

/* Prints rows like ".  0010:  ff 00 ...  text". */
static void dump_raw_print_bytes(struct text *t, const uint8_t *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t at = 0; at < len; at += ROW_BYTES) {
		char columns[3 * ROW_BYTES + 2 + ROW_BYTES + 1];
		memset(columns, ' ', sizeof(columns));
		char *plain = columns + 3 * ROW_BYTES + 2;
		for (size_t i = 0; i < ROW_BYTES && at + i < len; i++) {
			uint8_t byte = data[at + i];
			columns[3 * i + 1] = digits[byte >> 4];
			columns[3 * i + 2] = digits[byte & 15];
			plain[i] = byte >= ' ' && byte <= '~' ? (char)byte : '.';
		}
		plain[ROW_BYTES] = '\n';
		text_str(t, ".  ");
		text_hex(t, at, 4);
		text_str(t, ": ");
		text_bytes(t, columns, sizeof(columns));
	}
}

static uint64_t combined_sample_type(const struct dump_raw *dump, bool *has_trailers)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(dump->reader, &count);
	uint64_t combined = 0;
	for (size_t i = 0; i < count; i++)
		combined |= events[i].attr.sample_type;
	bool is_known = !perfdata_reader_is_pipe(dump->reader) || dump->has_attr;
	*has_trailers = count > 0 && is_known && events[0].layout.sample_id_all;
	return combined;
}

/* Prints the CPU and the time, as far as the recording contains them. */
static void print_stamp(
	const struct dump_raw *dump, struct text *t, const struct record *record, uint32_t cpu, uint64_t time_ns)
{
	bool has_trailers;
	uint64_t sample_type = combined_sample_type(dump, &has_trailers);
	if (record->type != RECORD_SAMPLE && !has_trailers) {
		text_str(t, "-1 -1 ");
		return;
	}
	if (sample_type & SAMPLE_CPU) {
		text_u64(t, cpu);
		text_char(t, ' ');
	}
	if (sample_type & SAMPLE_TIME) {
		text_u64(t, time_ns);
		text_char(t, ' ');
	}
}

#define PIPE_HEADER_BYTES 16 /* In the offsets of a pipe, perf does not count the header. */

static uint64_t offset_of(const struct dump_raw *dump, const struct record *record)
{
	bool is_pipe = perfdata_reader_is_pipe(dump->reader) && record->offset >= PIPE_HEADER_BYTES;
	return is_pipe ? record->offset - PIPE_HEADER_BYTES : record->offset;
}

static void print_location(const struct dump_raw *dump, struct text *t, const struct record *record)
{
	dump_raw_print_hex(t, offset_of(dump, record));
	text_str(t, " [0x");
	text_hex(t, record->bytes.len, 0);
	text_str(t, "]: ");
}

static void dump_raw_print_sample(const struct dump_raw *dump, struct text *t, const struct record *record)
{
	struct sample sample = {.cpu = UINT32_MAX, .time = UINT64_MAX};
	const struct perfdata_event *event = perfdata_reader_event_of(dump->reader, record);
	bool is_whole = event && sample_decode(&event->layout, record, &sample, NULL) == TALLY_OK;
	if (is_whole && !(sample.present & SAMPLE_CPU))
		sample.cpu = UINT32_MAX;
	if (is_whole && !(sample.present & SAMPLE_TIME))
		sample.time = UINT64_MAX;
	if (is_whole && !(sample.present & SAMPLE_PERIOD))
		sample.period = event->attr.sample_period_or_freq;
	print_stamp(dump, t, record, sample.cpu, sample.time);
	print_location(dump, t, record);
	record_print_name(t, record->type);
	if (is_whole)
		dump_sample(t, &event->layout, record, &sample, dump->arch);
	else
		text_str(t, event ? ": damaged\n" : ": of no known event\n");
}

/* Returns whether perf does not handle the record type in this verb. */
static bool is_unhandled(enum dump_raw_verb verb, uint32_t type)
{
	switch (type) {
	case RECORD_TIME_CONV:
	case RECORD_FINISHED_INIT:
		return true;
	case RECORD_READ:
		return verb == DUMP_OF_SCRIPT;
	case RECORD_THROTTLE:
	case RECORD_UNTHROTTLE:
	case RECORD_AUXTRACE_ERROR:
	case RECORD_THREAD_MAP:
	case RECORD_CPU_MAP:
	case RECORD_STAT_CONFIG:
	case RECORD_STAT:
	case RECORD_STAT_ROUND:
		return verb == DUMP_OF_REPORT;
	default:
		return false;
	}
}

static bool has_details(enum dump_raw_verb verb, uint32_t type)
{
	if (type == RECORD_AUXTRACE_ERROR)
		return verb == DUMP_OF_SCRIPT;
	if (type == RECORD_STAT_CONFIG || type == RECORD_STAT || type == RECORD_STAT_ROUND)
		return verb == DUMP_OF_REPORT;
	return true;
}

/* Prints records of a pipe that describe events and the machine, like ", type = 1 ..." and ", # hostname : vm". */
static void print_description(
	const struct dump_raw *dump, struct text *t, const struct record *record, const struct record_fields *fields)
{
	struct cursor c =
		cursor_make((struct tally_bytes){record->bytes.data + HEADER_BYTES, record->bytes.len - HEADER_BYTES},
			perfdata_reader_is_swapped(dump->reader));
	struct text said = {0};
	struct perf_attr attr;
	uint64_t feature = fields->feature.feature;
	if (record->type == RECORD_HEADER_FEATURE && feature < FEATURE_BITS)
		header_text_feature(&said, dump->reader, (unsigned)feature);
	else if (record->type == RECORD_HEADER_ATTR && attr_decode(&c, &attr, NULL) == TALLY_OK)
		attr_print_header(&said, &attr);
	if (record->type == RECORD_HEADER_FEATURE && said.len == 0)
		text_str(&said, feature == FEATURE_BPF_PROG_INFO ? "# bpf_prog_info empty\n"
				: feature == FEATURE_BPF_BTF	 ? "# btf info empty\n"
								 : "");
	record_print_name(t, record->type);
	bool is_known = record->type == RECORD_HEADER_FEATURE && feature <= FEATURE_CLN_SIZE;
	text_str(t, said.len || is_known ? ", " : "");
	text_bytes(t, said.data ? said.data : "", said.len);
	t->failed |= said.failed;
	text_deinit(&said);
}

static void dump_raw_print_other(const struct dump_raw *dump, struct text *t, const struct record *record)
{
	struct record_print_hints hints = {.id = UINT64_MAX};
	if (record->type < RECORD_HEADER_ATTR && perfdata_reader_sample_id(dump->reader, record, &hints.trailer)) {
		if (hints.trailer.has_id)
			hints.id = hints.trailer.id;
		print_stamp(dump, t, record, hints.trailer.has_cpu ? hints.trailer.cpu : UINT32_MAX,
			hints.trailer.has_time ? hints.trailer.time : UINT64_MAX);
	} else {
		print_stamp(dump, t, record, 0, 0);
	}
	const struct perfdata_event *event = perfdata_reader_event_of(dump->reader, record);
	if (event) {
		hints.event_name = event->name.data;
		hints.read_format = event->attr.read_format;
	}
	print_location(dump, t, record);
	struct record_fields fields;
	bool is_idle_round = record->type == RECORD_FINISHED_ROUND && dump->in_file_order;
	enum tally_status status = record_decode(record, &fields, NULL);
	if (status == TALLY_OK && (record->type == RECORD_HEADER_ATTR || record->type == RECORD_HEADER_FEATURE)) {
		print_description(dump, t, record, &fields);
		return;
	}
	if (status == TALLY_OK && has_details(dump->verb, record->type) && !is_idle_round) {
		record_print(t, record, &fields, &hints);
	} else {
		record_print_name(t, record->type);
		if (status == TALLY_CORRUPT)
			text_str(t, ": damaged\n");
	}
	if (is_idle_round || is_unhandled(dump->verb, record->type))
		text_str(t, ": unhandled!\n");
}

void dump_raw_record(struct dump_raw *dump, struct text *t, const struct record *record)
{
	text_char(t, '\n');
	dump_raw_print_hex(t, offset_of(dump, record));
	text_printf(t, "@%s [0x%zx]: event: %u\n", dump->file_name, record->bytes.len, record->type);
	text_printf(t, ".\n. ... raw event: size %zu bytes\n", record->bytes.len);
	dump_raw_print_bytes(t, record->bytes.data, record->bytes.len);
	text_char(t, '\n');
	if (record->type == RECORD_SAMPLE)
		dump_raw_print_sample(dump, t, record);
	else
		dump_raw_print_other(dump, t, record);
	if (record->type == RECORD_HEADER_ATTR)
		dump->has_attr = true;
}

static struct tally_str place_name(
	const struct dump_raw *dump, const struct sample *sample, unsigned cpumode, uint64_t clock)
{
	if (cpumode != MISC_CPUMODE_KERNEL && cpumode != MISC_CPUMODE_USER)
		return STR("[hypervisor]");
	const struct mapping *mapping =
		machine_find_mapping(dump->machine, (int32_t)sample->pid, clock, cpumode, VA(sample->ip));
	if (!mapping)
		return STR("<not found>");
	const struct machine_binary *binary = machine_binary_get(dump->machine, mapping->binary);
	return machine_string(dump->machine, binary->path);
}

void dump_raw_place(const struct dump_raw *dump, struct text *t, const struct record *record,
	const struct sample *sample, uint64_t clock)
{
	uint32_t comm = machine_comm_at(dump->machine, (int32_t)sample->tid, clock);
	struct tally_str place = place_name(dump, sample, record->misc & MISC_CPUMODE_MASK, clock);
	text_str(t, " ... thread: ");
	if (comm == INTERN_NONE) {
		text_char(t, ':');
		text_i64(t, (int32_t)sample->tid);
	} else {
		struct tally_str name = machine_string(dump->machine, comm);
		text_visible(t, name);
	}
	text_char(t, ':');
	text_i64(t, (int32_t)sample->tid);
	text_str(t, "\n ...... dso: ");
	text_visible(t, place);
	text_char(t, '\n');
}
