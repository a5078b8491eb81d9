/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_features.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/error.h"
#include "base/writer.h"
#include "kernel/recording/tracing_data.h"

enum tally_status record_event_ids(const struct recorder_source *sources, size_t source_count, uint32_t event,
	uint64_t **ids, size_t *count, struct tally_error *err)
{
	size_t n = 0;
	uint64_t *list = malloc((source_count ? source_count : 1) * sizeof(*list));
	if (!list)
		return error_nomem(err);
	for (size_t i = 0; i < source_count; i++)
		if (sources[i].event == event && sources[i].fd >= 0)
			list[n++] = sources[i].id;
	*ids = list;
	*count = n;
	return TALLY_OK;
}

static void record_features_add_text(
	struct perfdata_features *f, unsigned bit, struct tally_str *to, struct tally_str text)
{
	if (text.len == 0)
		return;
	*to = text;
	record_features_add(f, bit);
}

static struct perfdata_string_list string_list(struct host_strings list)
{
	return (struct perfdata_string_list){list.items, list.len};
}

static bool add_topology(struct record_features *r)
{
	struct perfdata_topology *t = &r->features.topology;
	const struct host_info *host = &r->host;
	t->cores = string_list(host->sockets);
	t->dies = string_list(host->dies);
	t->threads = string_list(host->threads);
	t->cpu_count = host->cpu_count;
	t->core_ids = arena_array(&r->arena, uint32_t, host->cpu_count);
	t->die_ids = arena_array(&r->arena, uint32_t, host->cpu_count);
	t->socket_ids = arena_array(&r->arena, uint32_t, host->cpu_count);
	if (!t->core_ids || !t->die_ids || !t->socket_ids)
		return false;
	for (size_t i = 0; i < host->cpu_count; i++) {
		t->core_ids[i] = host->cpus[i].core;
		t->die_ids[i] = host->cpus[i].die;
		t->socket_ids[i] = host->cpus[i].socket;
	}
	if (t->threads.len)
		record_features_add(&r->features, FEATURE_CPU_TOPOLOGY);
	return true;
}

static bool add_machine_lists(struct record_features *r)
{
	struct perfdata_features *f = &r->features;
	const struct host_info *host = &r->host;
	f->numa = arena_array(&r->arena, struct perfdata_numa_node, host->node_count);
	f->pmus = arena_array(&r->arena, struct perfdata_pmu_mapping, host->pmu_count);
	f->caches = arena_array(&r->arena, struct perfdata_cache, host->cache_count);
	if (!f->numa || !f->pmus || !f->caches)
		return false;
	for (size_t i = 0; i < host->node_count; i++)
		f->numa[i] = (struct perfdata_numa_node){host->nodes[i].node, host->nodes[i].mem_total_kb,
			host->nodes[i].mem_free_kb, host->nodes[i].cpus};
	for (size_t i = 0; i < host->pmu_count; i++)
		f->pmus[i] = (struct perfdata_pmu_mapping){host->pmus[i].type, host->pmus[i].name};
	for (size_t i = 0; i < host->cache_count; i++) {
		const struct host_cache *c = &host->caches[i];
		f->caches[i] =
			(struct perfdata_cache){c->level, c->line_size, c->sets, c->ways, c->type, c->size, c->map};
	}
	f->numa_count = host->node_count;
	f->pmu_count = host->pmu_count;
	f->cache_count = host->cache_count;
	if (f->numa_count)
		record_features_add(f, FEATURE_NUMA_TOPOLOGY);
	if (f->pmu_count)
		record_features_add(f, FEATURE_PMU_MAPPINGS);
	if (f->cache_count)
		record_features_add(f, FEATURE_CACHE);
	return true;
}

/* The capabilities of the PMU "cpu" have their own section; all other PMUs share one. */
static bool add_capabilities(struct record_features *r)
{
	struct perfdata_features *f = &r->features;
	const struct host_info *host = &r->host;
	bool ok = true;
	f->pmu_caps = arena_array(&r->arena, struct perfdata_pmu_caps, host->pmu_count);
	if (!f->pmu_caps)
		return false;
	for (size_t i = 0; ok && i < host->pmu_count; i++) {
		const struct host_pmu *pmu = &host->pmus[i];
		bool is_cpu = str_equal(pmu->name, STR("cpu"));
		if (pmu->cap_count == 0)
			continue;
		struct perfdata_pmu_caps *caps = is_cpu ? &f->cpu_caps : &f->pmu_caps[f->pmu_caps_count];
		*caps = (struct perfdata_pmu_caps){.pmu = pmu->name, .len = pmu->cap_count};
		caps->items = arena_array(&r->arena, struct perfdata_capability, pmu->cap_count);
		for (size_t k = 0; caps->items && k < pmu->cap_count; k++)
			caps->items[k] = (struct perfdata_capability){pmu->caps[k].name, pmu->caps[k].value};
		ok = caps->items != NULL;
		f->pmu_caps_count += !is_cpu;
	}
	if (f->cpu_caps.len)
		record_features_add(f, FEATURE_CPU_PMU_CAPS);
	if (f->pmu_caps_count)
		record_features_add(f, FEATURE_PMU_CAPS);
	return ok;
}

#define USUAL_CACHE_LINE 64

/* The ELF machine of programs, and the line size of the first cache: they are written only if they differ from the
 * usual values for ARCH. perf 6.1's inject knows neither section, and overwrites its own memory for each section that
 * it does not know. */
static void add_machine_numbers(struct record_features *r)
{
	struct perfdata_features *f = &r->features;
	if (r->host.e_machine && !(f->arch.len > 0 && arch_find_named(f->arch.data))) {
		f->e_machine = r->host.e_machine;
		f->e_flags = r->host.e_flags;
		record_features_add(f, FEATURE_E_MACHINE);
	}
	if (f->cache_count && f->caches[0].line_size && f->caches[0].line_size != USUAL_CACHE_LINE) {
		f->cache_line_bytes = f->caches[0].line_size;
		record_features_add(f, FEATURE_CLN_SIZE);
	}
}

static bool add_memory_topology(struct record_features *r)
{
	struct perfdata_features *f = &r->features;
	const struct host_info *host = &r->host;
	if (host->memory_node_count == 0)
		return true;
	f->memory_nodes = arena_array(&r->arena, struct perfdata_memory_node, host->memory_node_count);
	if (!f->memory_nodes)
		return false;
	for (size_t i = 0; i < host->memory_node_count; i++) {
		const struct host_memory_node *node = &host->memory_nodes[i];
		f->memory_nodes[i] =
			(struct perfdata_memory_node){node->node, node->bit_count, node->bit_count, node->bits};
	}
	f->memory_version = 1;
	f->memory_block_bytes = host->memory_block_bytes;
	f->memory_node_count = host->memory_node_count;
	record_features_add(f, FEATURE_MEM_TOPOLOGY);
	return true;
}

static bool add_cmdline(struct record_features *r, char *const *argv)
{
	struct perfdata_string_list *list = &r->features.cmdline;
	char self[4096];
	size_t count = 0;
	while (argv[count])
		count++;
	list->items = arena_array(&r->arena, struct tally_str, count);
	if (!list->items)
		return false;
	for (size_t i = 0; i < count; i++)
		list->items[i] = str_from(argv[i]);
	list->len = count;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self));
	const char *path = len > 0 && (size_t)len < sizeof(self) ? arena_string(&r->arena, self, (size_t)len) : NULL;
	if (path && count)
		list->items[0] = str_from(path);
	record_features_add(&r->features, FEATURE_CMDLINE);
	return true;
}

static enum tally_status record_features_add_events(
	struct record_features *r, const struct record_features_input *input, struct tally_error *err)
{
	struct perfdata_features *f = &r->features;
	struct event_list *events = input->events;
	f->events = arena_array(&r->arena, struct perfdata_event_desc, events->len);
	f->groups = arena_array(&r->arena, struct perfdata_group, events->len);
	if (!f->events || !f->groups)
		return error_nomem(err);
	for (size_t i = 0; i < events->len; i++) {
		struct event_spec *spec = &events->specs[i];
		uint64_t *ids;
		size_t count;
		enum tally_status status =
			record_event_ids(input->sources, input->source_count, (uint32_t)i, &ids, &count, err);
		if (status != TALLY_OK)
			return status;
		uint64_t *kept = arena_copy(&r->arena, ids, count * sizeof(*ids));
		free(ids);
		if (!kept)
			return error_nomem(err);
		struct perf_attr *attr = arena_new(&r->arena, struct perf_attr);
		if (!attr)
			return error_nomem(err);
		*attr = record_attrs_written(&spec->attr, input->attrs);
		f->events[i] = (struct perfdata_event_desc){attr, str_from(spec->name), kept, count};
		if (spec->leader == i && spec->member_count > 1)
			f->groups[f->group_count++] =
				(struct perfdata_group){STR("{anon_group}"), (uint32_t)i, spec->member_count};
		if (spec->attr.sample_type & SAMPLE_BRANCH_STACK)
			record_features_add(f, FEATURE_BRANCH_STACK);
	}
	f->event_count = events->len;
	record_features_add(f, FEATURE_EVENT_DESC);
	if (f->group_count)
		record_features_add(f, FEATURE_GROUP_DESC);
	return TALLY_OK;
}

static enum tally_status add_tracing_data(
	struct record_features *r, const struct record_features_input *input, struct tally_error *err)
{
	struct writer w = {0};
	enum tally_status status = tracing_data_write(input->kernel, input->events, &w, err);
	if (status == TALLY_OK && w.len) {
		const uint8_t *kept = arena_copy(&r->arena, w.data, w.len);
		if (kept) {
			r->features.tracing_data = (struct tally_bytes){kept, w.len};
			r->features.raw[FEATURE_TRACING_DATA] = r->features.tracing_data;
			record_features_add(&r->features, FEATURE_TRACING_DATA);
		} else {
			status = error_nomem(err);
		}
	}
	writer_deinit(&w);
	return status;
}

static void add_clock(struct perfdata_features *f, int32_t clockid)
{
	struct timespec resolution, wall, now;
	if (clock_getres(clockid, &resolution) != 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0 ||
		clock_gettime(clockid, &now) != 0)
		return;
	f->clockid_resolution_ns = (uint64_t)resolution.tv_sec * 1000000000u + (uint64_t)resolution.tv_nsec;
	f->clock_data_version = 1;
	f->clock_data_clockid = (uint32_t)clockid;
	f->wall_clock_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
	f->clockid_time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	record_features_add(f, FEATURE_CLOCKID);
	record_features_add(f, FEATURE_CLOCK_DATA);
}

enum tally_status record_features_read(
	const struct record_features_input *input, struct record_features *out, struct tally_error *err)
{
	*out = (struct record_features){0};
	enum tally_status status = host_info_read(input->kernel, &out->host, err);

	if (status != TALLY_OK)
		return status;
	arena_init(&out->arena);
	struct perfdata_features *f = &out->features;
	record_features_add_text(f, FEATURE_HOSTNAME, &f->hostname, out->host.hostname);
	record_features_add_text(f, FEATURE_OSRELEASE, &f->osrelease, out->host.osrelease);
	record_features_add_text(f, FEATURE_VERSION, &f->version, STR(TALLY_VERSION));
	record_features_add_text(f, FEATURE_ARCH, &f->arch, out->host.arch);
	record_features_add_text(f, FEATURE_CPUDESC, &f->cpudesc, out->host.cpudesc);
	record_features_add_text(f, FEATURE_CPUID, &f->cpuid, out->host.cpuid);
	f->cpus_available = out->host.cpus_available;
	f->cpus_online = out->host.cpus_online;
	f->total_mem_kb = out->host.total_mem_kb;
	if (f->cpus_available)
		record_features_add(f, FEATURE_NRCPUS);
	if (f->total_mem_kb)
		record_features_add(f, FEATURE_TOTAL_MEM);
	status = record_features_add_events(out, input, err);
	if (status == TALLY_OK)
		status = add_tracing_data(out, input, err);
	if (status == TALLY_OK && !(add_cmdline(out, input->argv) && add_topology(out) && add_machine_lists(out) &&
					  add_memory_topology(out) && add_capabilities(out)))
		status = error_nomem(err);
	if (status == TALLY_OK)
		add_machine_numbers(out);
	if (status == TALLY_OK && input->use_clockid)
		add_clock(f, input->clockid);
	if (status != TALLY_OK)
		record_features_deinit(out);
	return status;
}

void record_features_deinit(struct record_features *f)
{
	host_info_deinit(&f->host);
	arena_deinit(&f->arena);
	*f = (struct record_features){0};
}
