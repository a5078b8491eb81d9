/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/convert/data_json.h"

#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "perfdata/origin.h"

#define DATA_JSON_SCHEMA_VERSION 1

static void data_json_put_time(struct json *j, const char *key, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm tm;
	char text[32];
	size_t len = gmtime_r(&seconds, &tm) ? strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) : 0;
	json_string(j, key, (struct tally_str){text, len});
}

static void put_headers(struct json *j, const struct perfdata_reader *reader)
{
	const struct perfdata_features *f = perfdata_reader_features(reader);
	struct perfdata_layout layout = perfdata_reader_layout(reader);
	json_object(j, "headers");
	json_u64(j, "header-version", 1);
	data_json_put_time(j, "captured-on", layout.mtime_ns);
	json_u64(j, "data-offset", layout.data_offset);
	json_u64(j, "data-size", layout.data_size);
	json_u64(j, "feat-offset", layout.feature_offset);
	json_string(j, "hostname", f->hostname);
	json_string(j, "os-release", f->osrelease);
	json_string(j, "arch", f->arch);
	if (feature_is_present(f, FEATURE_CPUDESC))
		json_string(j, "cpu-desc", f->cpudesc);
	json_string(j, "cpuid", f->cpuid);
	json_u64(j, "nrcpus-online", f->cpus_online);
	json_u64(j, "nrcpus-avail", f->cpus_available);
	if (feature_is_present(f, FEATURE_CLOCK_DATA)) {
		json_u64(j, "clockid", f->clock_data_clockid);
		json_u64(j, "clock-time", f->clockid_time_ns);
		json_u64(j, "real-time", f->wall_clock_ns);
	}
	json_string(j, "perf-version", f->version);
	json_array(j, "cmdline");
	for (size_t i = 0; i < f->cmdline.len; i++)
		json_string(j, NULL, f->cmdline.items[i]);
	json_array_end(j);
	origin_json(j, f);
	json_object_end(j);
}

static enum tally_status data_json_put_frame(
	struct json *j, struct data_source *source, uint32_t frame, uint64_t ip, struct tally_error *err)
{
	const struct frame_name *name = frame_names_get(&source->names, frame, err);
	if (!name)
		return TALLY_NOMEM;
	json_object(j, NULL);
	json_hex(j, "ip", ip);
	if (name->symbol) {
		json_string(j, "symbol", str_from(name->symbol));
		json_string(j, "dso", name->shown);
	}
	json_object_end(j);
	return TALLY_OK;
}

/* A sample without a call chain is written as a chain of one frame. */
static enum tally_status data_json_put_chain(
	struct json *j, struct data_source *source, const struct data_sample *s, struct tally_error *err)
{
	struct resolver *resolver = &source->pass.resolver;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	enum tally_status status = TALLY_OK;
	json_array(j, "callchain");
	if (s->sample.present & SAMPLE_CALLCHAIN) {
		struct sample_array whole = resolver_sample_chain(resolver, &where, &s->event->layout, &s->sample);
		struct resolved_chain chain = resolver_chain_frames(resolver, &where, &whole);
		for (size_t i = 0; !resolver->failed && status == TALLY_OK && i < chain.count; i++)
			status = data_json_put_frame(j, source, chain.frames[i], chain.ips[i], err);
	} else {
		unsigned cpumode = s->record.misc & MISC_CPUMODE_MASK;
		uint32_t frame = resolver_frame(resolver, &where, cpumode, s->sample.ip);
		if (!resolver->failed)
			status = data_json_put_frame(j, source, frame, s->sample.ip, err);
	}
	json_array_end(j);
	return resolver->failed ? error_nomem(err) : status;
}

static enum tally_status data_json_put_sample(
	struct json *j, struct data_source *source, const struct data_sample *s, bool has_cpus, struct tally_error *err)
{
	struct tracepoint_value value;
	char room[16];
	json_object(j, NULL);
	if (s->sample.present & SAMPLE_TIME)
		json_u64(j, "timestamp", s->sample.time);
	else
		json_i64(j, "timestamp", -1);
	json_i64(j, "pid", (int32_t)s->sample.pid);
	json_i64(j, "tid", (int32_t)s->sample.tid);
	if (s->sample.present & SAMPLE_CPU)
		json_u64(j, "cpu", s->sample.cpu);
	else if (has_cpus)
		json_i64(j, "cpu", -1);
	json_string(j, "comm", data_source_comm(source, s, room));
	enum tally_status status = data_json_put_chain(j, source, s, err);
	if (s->event->attr.type == EVENT_TRACEPOINT && source->tracepoints)
		for (unsigned i = 0; tracepoint_value_at(source->tracepoints, s->sample.raw, TRACEPOINT_OWN, i, &value);
			i++)
			json_member(j, value.field.name, value.text);
	json_object_end(j);
	return status;
}

enum tally_status data_json_write(
	struct data_source *source, struct text *t, uint64_t *samples, struct tally_error *err)
{
	struct json j = {.out = t};
	struct data_sample sample;
	enum tally_status status;
	/* As in perf, samples of events that do not record the CPU have the CPU -1 if another event records it. */
	bool has_cpus = perfdata_reader_has_samples_with(source->reader, SAMPLE_CPU);

	*samples = 0;
	json_object(&j, NULL);
	json_u64(&j, "linux-perf-json-version", DATA_JSON_SCHEMA_VERSION);
	put_headers(&j, source->reader);
	json_array(&j, "samples");
	while ((status = data_source_next(source, &sample, err)) == TALLY_OK) {
		status = data_json_put_sample(&j, source, &sample, has_cpus, err);
		if (status != TALLY_OK)
			break;
		if (!text_line_end(t))
			break;
		++*samples;
	}
	json_array_end(&j);
	json_object_end(&j);
	if (t->failed)
		return error_nomem(err);
	return status == TALLY_END ? TALLY_OK : status;
}
