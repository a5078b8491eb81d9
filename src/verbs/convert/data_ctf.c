/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/convert/data_ctf.h"

#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "verbs/convert/ctf_trace.h"

enum sideband_class { CLASS_COMM, CLASS_EXIT, CLASS_FORK, CLASS_MMAP, CLASS_MMAP2, SIDEBAND_CLASSES };

#define FIELDS_MAX 256 /* Maximum number of fields of an event; a tracepoint has at most a few dozen. */

struct data_ctf_field_list {
	struct ctf_field items[FIELDS_MAX];
	size_t len;
};

struct conversion {
	struct data_source *source;
	struct ctf_trace *trace;
	VEC(uint32_t) classes; /* Class IDs, indexed by event. */
	uint32_t sideband_class; /* Class ID of CLASS_COMM; the IDs of the following enum values follow. */
};

static bool data_ctf_add_field(
	struct data_ctf_field_list *list, struct tally_str name, enum ctf_kind kind, uint32_t count)
{
	if (list->len == FIELDS_MAX)
		return false;
	list->items[list->len++] = (struct ctf_field){name, kind, count};
	return true;
}

static void list_own_fields(const struct perfdata_event *event, struct data_ctf_field_list *list)
{
	static const struct {
		uint64_t bits;
		const char *name;
		enum ctf_kind kind;
	} rows[] = {
		{SAMPLE_IP, "perf_ip", CTF_HEX64},
		{SAMPLE_TID, "perf_tid", CTF_S32},
		{SAMPLE_TID, "perf_pid", CTF_S32},
		{SAMPLE_ID | SAMPLE_IDENTIFIER, "perf_id", CTF_U64},
		{SAMPLE_STREAM_ID, "perf_stream_id", CTF_U64},
		{SAMPLE_PERIOD, "perf_period", CTF_U64},
		{SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT, "perf_weight", CTF_U64},
		{SAMPLE_DATA_SRC, "perf_data_src", CTF_U64},
		{SAMPLE_TRANSACTION, "perf_transaction", CTF_U64},
		{SAMPLE_CALLCHAIN, "perf_callchain", CTF_SEQUENCE_HEX64},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (event->attr.sample_type & rows[i].bits)
			(void)data_ctf_add_field(list, str_from(rows[i].name), rows[i].kind, 0);
}

static void put_own_fields(struct conversion *c, const struct data_sample *s)
{
	const struct sample *sample = &s->sample;
	uint64_t type = s->event->attr.sample_type;
	struct ctf_trace *trace = c->trace;
	if (type & SAMPLE_IP)
		ctf_put_u64(trace, sample->ip);
	if (type & SAMPLE_TID) {
		ctf_put_u32(trace, sample->tid);
		ctf_put_u32(trace, sample->pid);
	}
	if (type & (SAMPLE_ID | SAMPLE_IDENTIFIER))
		ctf_put_u64(trace, sample->id);
	if (type & SAMPLE_STREAM_ID)
		ctf_put_u64(trace, sample->stream_id);
	if (type & SAMPLE_PERIOD)
		ctf_put_u64(trace, sample->period);
	if (type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		ctf_put_u64(trace, sample->weight);
	if (type & SAMPLE_DATA_SRC)
		ctf_put_u64(trace, sample->data_src);
	if (type & SAMPLE_TRANSACTION)
		ctf_put_u64(trace, sample->transaction);
	if (!(type & SAMPLE_CALLCHAIN))
		return;
	ctf_put_u32(trace, sample->callchain.count);
	for (size_t i = 0; i < sample->callchain.count; i++)
		ctf_put_u64(trace, sample_u64_at(sample->callchain.data, i, sample->swap));
}

static enum ctf_kind data_ctf_kind_of(const struct tracepoint_field *field)
{
	switch (field->form) {
	case TRACEPOINT_NUMBER:
		return field->bytes > 4 ? CTF_U64 : CTF_U32;
	case TRACEPOINT_SIGNED:
		return field->bytes > 4 ? CTF_S64 : CTF_S32;
	case TRACEPOINT_ADDRESS:
		return CTF_HEX64;
	case TRACEPOINT_TEXT:
	default:
		return CTF_STRING;
	}
}

static void list_tracepoint(struct conversion *c, const struct perfdata_event *event, struct data_ctf_field_list *list)
{
	struct tracepoint_printer *printer = c->source->tracepoints;
	struct tracepoint_field field;
	for (enum tracepoint_part part = TRACEPOINT_COMMON; part <= TRACEPOINT_OWN; part++)
		for (unsigned i = 0; tracepoint_field_at(printer, event->attr.config, part, i, &field); i++)
			if (!data_ctf_add_field(list, field.name, data_ctf_kind_of(&field), field.count))
				return;
}

static void data_ctf_put_value(struct conversion *c, const struct tracepoint_value *value)
{
	enum ctf_kind kind = data_ctf_kind_of(&value->field);
	if (kind == CTF_STRING) {
		ctf_put_string(c->trace, value->text);
		return;
	}
	for (unsigned i = 0; i < (value->field.count ? value->field.count : 1); i++) {
		if (kind == CTF_U32 || kind == CTF_S32)
			ctf_put_u32(c->trace, (uint32_t)value->numbers[i]);
		else
			ctf_put_u64(c->trace, value->numbers[i]);
	}
}

/* Writes the fields of the tracepoint. They are zero if the payload belongs to another event than the class. */
static void put_tracepoint(struct conversion *c, const struct data_sample *s, size_t room)
{
	struct tracepoint_printer *printer = c->source->tracepoints;
	struct tracepoint_field field;
	struct cursor payload = cursor_make(s->sample.raw, s->sample.swap);
	bool is_own = cursor_u16(&payload) == s->event->attr.config;
	for (enum tracepoint_part part = TRACEPOINT_COMMON; part <= TRACEPOINT_OWN; part++)
		for (unsigned i = 0; tracepoint_field_at(printer, s->event->attr.config, part, i, &field); i++) {
			struct tracepoint_value value = {.field = field, .text = {"", 0}};
			if (room-- == 0)
				return;
			if (is_own)
				(void)tracepoint_value_at(printer, s->sample.raw, part, i, &value);
			data_ctf_put_value(c, &value);
		}
}

static bool is_bpf_output(const struct perfdata_event *event)
{
	return event->attr.type == EVENT_SOFTWARE && event->attr.config == SW_BPF_OUTPUT &&
	       (event->attr.sample_type & SAMPLE_RAW);
}

static void data_ctf_put_raw(struct conversion *c, const struct data_sample *s)
{
	struct cursor words = cursor_make(s->sample.raw, s->sample.swap);
	size_t count = s->sample.raw.len / sizeof(uint32_t);
	ctf_put_u32(c->trace, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		ctf_put_u32(c->trace, cursor_u32(&words));
}

static bool has_tracepoint_fields(const struct conversion *c, const struct perfdata_event *event)
{
	return event->attr.type == EVENT_TRACEPOINT && c->source->tracepoints;
}

static enum tally_status add_classes(struct conversion *c, bool all, struct tally_error *err)
{
	static const struct ctf_field pid = {{"pid", 3}, CTF_U32, 0}, tid = {{"tid", 3}, CTF_U32, 0},
				      ppid = {{"ppid", 4}, CTF_U32, 0}, ptid = {{"ptid", 4}, CTF_U32, 0};
	const struct ctf_field comm[] = {pid, tid, {STR("comm"), CTF_STRING, 0}};
	const struct ctf_field task[] = {pid, ppid, tid, ptid, {STR("time"), CTF_U64, 0}};
	const struct ctf_field mmap[] = {pid, tid, {STR("start"), CTF_HEX64, 0}, {STR("filename"), CTF_STRING, 0}};
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(c->source->reader, &count);
	for (size_t i = 0; i < count; i++) {
		struct data_ctf_field_list list = {.len = 0};
		list_own_fields(&events[i], &list);
		if (has_tracepoint_fields(c, &events[i]))
			list_tracepoint(c, &events[i], &list);
		else if (is_bpf_output(&events[i]))
			(void)data_ctf_add_field(&list, STR("raw_data"), CTF_SEQUENCE_HEX32, 0);
		uint32_t id = ctf_trace_add_class(c->trace, events[i].name, list.items, list.len);
		if (!vec_push(&c->classes, id))
			return error_nomem(err);
	}
	if (!all)
		return TALLY_OK;
	c->sideband_class = ctf_trace_add_class(c->trace, STR("perf_comm"), comm, 3);
	(void)ctf_trace_add_class(c->trace, STR("perf_exit"), task, 5);
	(void)ctf_trace_add_class(c->trace, STR("perf_fork"), task, 5);
	(void)ctf_trace_add_class(c->trace, STR("perf_mmap"), mmap, 4);
	(void)ctf_trace_add_class(c->trace, STR("perf_mmap2"), mmap, 4);
	return TALLY_OK;
}

static enum tally_status data_ctf_put_sample(struct conversion *c, const struct data_sample *s, struct tally_error *err)
{
	struct data_ctf_field_list list = {.len = 0};
	uint32_t class = c->classes.items[s->event->index];
	enum tally_status status = ctf_event_begin(c->trace, class, s->sample.cpu, s->sample.time, err);
	if (status != TALLY_OK)
		return status;
	put_own_fields(c, s);
	if (has_tracepoint_fields(c, s->event)) {
		list_own_fields(s->event, &list);
		put_tracepoint(c, s, FIELDS_MAX - list.len);
	} else if (is_bpf_output(s->event)) {
		data_ctf_put_raw(c, s);
	}
	return TALLY_OK;
}

static enum sideband_class data_ctf_class_of(uint32_t type)
{
	return type == RECORD_COMM   ? CLASS_COMM
	       : type == RECORD_EXIT ? CLASS_EXIT
	       : type == RECORD_FORK ? CLASS_FORK
	       : type == RECORD_MMAP ? CLASS_MMAP
				     : CLASS_MMAP2;
}

static enum tally_status put_sideband(struct conversion *c, const struct data_sample *s, struct tally_error *err)
{
	struct record_fields fields;
	if (record_decode(&s->record, &fields, NULL) != TALLY_OK) {
		damaged_records_add(&c->source->pass.sideband.health.damaged, s->record.offset, s->record.type);
		return TALLY_OK;
	}
	enum sideband_class class = data_ctf_class_of(s->record.type);
	enum tally_status status =
		ctf_event_begin(c->trace, c->sideband_class + class, s->sample.cpu, s->sample.time, err);
	if (status != TALLY_OK)
		return status;
	if (class == CLASS_COMM) {
		ctf_put_u32(c->trace, fields.comm.pid);
		ctf_put_u32(c->trace, fields.comm.tid);
		ctf_put_string(c->trace, fields.comm.comm);
	} else if (class == CLASS_EXIT || class == CLASS_FORK) {
		ctf_put_u32(c->trace, fields.task.pid);
		ctf_put_u32(c->trace, fields.task.ppid);
		ctf_put_u32(c->trace, fields.task.tid);
		ctf_put_u32(c->trace, fields.task.ptid);
		ctf_put_u64(c->trace, fields.task.time);
	} else {
		ctf_put_u32(c->trace, fields.mmap.pid);
		ctf_put_u32(c->trace, fields.mmap.tid);
		ctf_put_u64(c->trace, fields.mmap.start);
		ctf_put_string(c->trace, fields.mmap.filename);
	}
	return TALLY_OK;
}

static struct tally_str clock_name(const struct perfdata_features *f)
{
	switch (f->clock_data_clockid) {
	case CLOCK_REALTIME:
		return STR("realtime");
	case CLOCK_MONOTONIC:
		return STR("monotonic");
	case CLOCK_MONOTONIC_RAW:
		return STR("monotonic_raw");
	case CLOCK_BOOTTIME:
		return STR("boottime");
	case CLOCK_TAI:
		return STR("tai");
	default:
		return STR("perf clock");
	}
}

static enum tally_status create_trace(
	struct conversion *c, const struct data_ctf_options *options, struct tally_error *err)
{
	const struct perfdata_features *f = perfdata_reader_features(c->source->reader);
	bool has_clock = feature_is_present(f, FEATURE_CLOCK_DATA);
	struct ctf_trace_info info = {.host = f->hostname,
		.release = f->osrelease,
		.version = f->version,
		.machine = f->arch,
		.clock = has_clock ? clock_name(f) : STR("perf clock"),
		.cpu_count = f->cpus_available};
	if (options->wall_clock && !has_clock)
		return error_set(err, TALLY_INVALID,
			"Can't provide --tod time, missing clock data. Please record with -k/--clockid option.");
	if (options->wall_clock)
		info.clock_offset_ns = f->wall_clock_ns - f->clockid_time_ns;
	return ctf_trace_create(options->path, options->replace, &info, &c->trace, err);
}

static enum tally_status data_ctf_convert(struct conversion *c, struct data_result *result, struct tally_error *err)
{
	struct data_sample s;
	enum tally_status status;
	while ((status = data_source_next(c->source, &s, err)) == TALLY_OK) {
		status = s.event ? data_ctf_put_sample(c, &s, err) : put_sideband(c, &s, err);
		if (status != TALLY_OK)
			return status;
		++*(s.event ? &result->samples : &result->others);
		result->bytes += s.record.bytes.len;
	}
	/* The trace is closed even if the recording ended early, but not if writing it failed. */
	struct tally_error close_error;
	enum tally_status closed = ctf_trace_close(c->trace, &close_error);
	if (closed != TALLY_OK) {
		if (err)
			*err = close_error;
		return closed;
	}
	return status == TALLY_END ? TALLY_OK : status;
}

enum tally_status data_ctf_write(struct data_source *source, const struct data_ctf_options *options,
	struct data_result *result, struct tally_error *err)
{
	struct conversion c = {.source = source};
	*result = (struct data_result){0};
	source->with_sideband = options->all;
	enum tally_status status = create_trace(&c, options, err);
	if (status == TALLY_OK)
		status = add_classes(&c, options->all, err);
	if (status == TALLY_OK)
		status = data_ctf_convert(&c, result, err);
	if (status == TALLY_OK && error_memory_ran_out())
		status = error_nomem(err);
	if (c.trace && status != TALLY_OK && status != TALLY_CORRUPT)
		ctf_trace_discard(c.trace);
	ctf_trace_destroy(c.trace);
	vec_free(&c.classes);
	return status;
}
