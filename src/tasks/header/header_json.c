/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/header/header_json.h"

#include "analysis/wait_events.h"
#include "perfdata/feature_table.h"
#include "tasks/header/header_info_json.h"
#include "tasks/header/header_text.h"

#define HEADER_JSON_NSEC_PER_SEC UINT64_C(1000000000)

static void header_json_put_text(
	struct json *j, const struct perfdata_features *f, unsigned bit, const char *key, struct tally_str value)
{
	if (feature_is_present(f, bit) && !feature_is_damaged(f, bit))
		json_string(j, key, value);
}

static void header_json_put_machine(struct json *j, const struct perfdata_features *f)
{
	header_json_put_text(j, f, FEATURE_HOSTNAME, "hostname", f->hostname);
	header_json_put_text(j, f, FEATURE_OSRELEASE, "os_release", f->osrelease);
	header_json_put_text(j, f, FEATURE_VERSION, "perf_version", f->version);
	header_json_put_text(j, f, FEATURE_ARCH, "arch", f->arch);
	header_json_put_text(j, f, FEATURE_CPUDESC, "cpu", f->cpudesc);
	header_json_put_text(j, f, FEATURE_CPUID, "cpuid", f->cpuid);
	if (feature_is_present(f, FEATURE_NRCPUS)) {
		json_u64(j, "cpus_online", f->cpus_online);
		json_u64(j, "cpus_available", f->cpus_available);
	}
	if (feature_is_present(f, FEATURE_TOTAL_MEM))
		json_u64(j, "total_memory_kb", f->total_mem_kb);
}

static void put_command(struct json *j, const struct perfdata_string_list *words)
{
	json_array(j, "command");
	for (size_t i = 0; i < words->len; i++)
		json_string(j, NULL, words->items[i]);
	json_array_end(j);
}

static void header_json_put_events(struct json *j, const struct perfdata_event *events, size_t count)
{
	json_array(j, "events");
	for (size_t i = 0; i < count; i++) {
		const struct perf_attr *attr = &events[i].attr;
		bool is_frequency = (attr->flags >> ATTR_BIT_FREQ & 1) != 0;
		json_object(j, NULL);
		json_string(j, "name", events[i].name);
		json_u64(j, "type", attr->type);
		json_hex(j, "config", attr->config);
		json_u64(j, is_frequency ? "frequency" : "period", attr->sample_period_or_freq);
		if (wait_event_is(&events[i]) && attr->config1)
			json_string(j, "wait_source", wait_source_name(attr->config1));
		json_object_end(j);
	}
	json_array_end(j);
}

static void header_json_put_groups(
	struct json *j, const struct perfdata_features *f, const struct perfdata_event *events, size_t event_count)
{
	json_array(j, "groups");
	for (size_t i = 0; i < f->group_count; i++) {
		const struct perfdata_group *group = &f->groups[i];
		json_object(j, NULL);
		if (!str_equal(group->name, STR("{anon_group}")))
			json_string(j, "name", group->name);
		json_array(j, "events");
		for (uint32_t m = 0; m < group->member_count && (size_t)group->leader_index + m < event_count; m++)
			json_string(j, NULL, events[group->leader_index + m].name);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_times(struct json *j, const struct perfdata_features *f)
{
	if (feature_is_present(f, FEATURE_SAMPLE_TIME)) {
		json_u64(j, "first_sample_ns", f->first_sample_time_ns);
		json_u64(j, "last_sample_ns", f->last_sample_time_ns);
	}
	if (!feature_is_present(f, FEATURE_CLOCK_DATA))
		return;
	json_object(j, "clock");
	json_string(j, "name", str_from(header_clock_name(f->clock_data_clockid)));
	json_u64(j, "id", f->clock_data_clockid);
	json_u64(j, "clock_ns", f->clockid_time_ns);
	json_u64(j, "wall_clock_ns", f->wall_clock_ns);
	json_object_end(j);
}

static void put_feature_names(struct json *j, const struct perfdata_features *f)
{
	json_array(j, "features");
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		if (feature_is_present(f, bit) && feature_name(bit))
			json_string(j, NULL, str_from(feature_name(bit)));
	json_array_end(j);
}

void header_json(struct json *j, const struct perfdata_reader *reader, bool full)
{
	size_t event_count;
	const struct perfdata_features *f = perfdata_reader_features(reader);
	const struct perfdata_event *events = perfdata_reader_events(reader, &event_count);
	const struct perfdata_layout layout = perfdata_reader_layout(reader);
	json_object(j, "header");
	json_u64(j, "captured_s", layout.mtime_ns / HEADER_JSON_NSEC_PER_SEC);
	json_u64(j, "data_offset", layout.data_offset);
	json_u64(j, "data_bytes", layout.data_size);
	header_json_put_machine(j, f);
	if (feature_is_present(f, FEATURE_CMDLINE))
		put_command(j, &f->cmdline);
	header_json_put_events(j, events, event_count);
	header_json_put_groups(j, f, events, event_count);
	put_times(j, f);
	put_feature_names(j, f);
	if (full)
		header_info_json(j, reader);
	json_object_end(j);
}
