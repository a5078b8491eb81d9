/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/cpu_topology.h"

#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "kernel/system/kernel_files.h"

struct cpu_vec {
	int *items;
	size_t len, cap;
};

static enum tally_status range_add(struct cpu_vec *cpus, struct tally_str part, struct tally_error *err)
{
	struct tally_str whole = part, first;
	uint64_t from, to;
	if (!str_next(&part, '-', &first) || !str_to_u64(first, 10, &from))
		return error_set(err, TALLY_INVALID, "'%.*s' is not a CPU number or range", (int)whole.len, whole.data);
	bool is_range = whole.len > first.len;
	if (is_range && !str_to_u64(part, 10, &to))
		return error_set(err, TALLY_INVALID, "'%.*s' is not a CPU range", (int)whole.len, whole.data);
	if (!is_range)
		to = from;
	if (from > to)
		return error_set(err, TALLY_INVALID, "the CPU range '%.*s' runs backwards", (int)whole.len, whole.data);
	if (to >= LIMIT_CPUS)
		return error_set(err, TALLY_LIMIT, "CPU %llu is out of range", (unsigned long long)to);
	if (!vec_reserve(cpus, cpus->len + (size_t)(to - from) + 1))
		return error_nomem(err);
	for (uint64_t cpu = from; cpu <= to; cpu++)
		cpus->items[cpus->len++] = (int)cpu;
	return TALLY_OK;
}

enum tally_status cpu_list_parse(struct tally_str text, int **cpus, size_t *count, struct tally_error *err)
{
	struct cpu_vec found = {0};
	struct tally_str rest = str_trim(text), part;
	if (rest.len == 0) {
		*cpus = NULL;
		*count = 0;
		return TALLY_OK;
	}
	while (str_next_item(&rest, &part)) {
		enum tally_status status = range_add(&found, part, err);
		if (status == TALLY_OK && found.len > LIMIT_CPUS * 4u)
			status = error_set(err, TALLY_LIMIT, "the CPU list is too long");
		if (status != TALLY_OK) {
			vec_free(&found);
			return status;
		}
	}
	if (found.len > 1)
		qsort(found.items, found.len, sizeof(int), order_ints);
	size_t unique = 0;
	for (size_t i = 0; i < found.len; i++)
		if (i == 0 || found.items[i] != found.items[unique - 1])
			found.items[unique++] = found.items[i];
	*cpus = found.items;
	*count = unique;
	return TALLY_OK;
}

enum tally_status cpu_list_online(const struct kernel_seam *kernel, int **cpus, size_t *count, struct tally_error *err)
{
	char *text;
	if (kernel_text(kernel, &text, NULL, "/sys/devices/system/cpu/online") == TALLY_OK) {
		enum tally_status status = cpu_list_parse(str_from(text), cpus, count, err);
		free(text);
		return status;
	}
	char range[32];
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	snprintf(range, sizeof(range), "0-%ld", n > 0 ? n - 1 : 0);
	return cpu_list_parse(str_from(range), cpus, count, err);
}

bool cpu_list_has(const int *cpus, size_t count, int cpu)
{
	return count > 0 && bsearch(&cpu, cpus, count, sizeof(int), order_ints) != NULL;
}

static enum tally_status nodes_fill(
	const struct kernel_seam *kernel, struct cpu_place *places, size_t count, struct tally_error *err)
{
	struct name_list names = {0};
	if (kernel_names(kernel, &names, NULL, "/sys/devices/system/node") != TALLY_OK)
		return TALLY_OK; /* This kernel lacks NUMA. */
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < names.len && status == TALLY_OK; i++) {
		uint64_t node;
		struct tally_str name = str_from(names.items[i]);
		char *text;
		if (!str_starts_with(name, STR("node")) || !str_to_u64(str_from(names.items[i] + 4), 10, &node) ||
			kernel_text(kernel, &text, NULL, "/sys/devices/system/node/%s/cpulist", names.items[i]) !=
				TALLY_OK)
			continue;
		int *cpus = NULL;
		size_t len = 0;
		status = cpu_list_parse(str_from(text), &cpus, &len, err);
		free(text);
		for (size_t k = 0; k < count && status == TALLY_OK; k++)
			if (cpu_list_has(cpus, len, places[k].cpu))
				places[k].node = (int)node;
		free(cpus);
	}
	name_list_deinit(&names);
	return status;
}

enum tally_status cpu_places(const struct kernel_seam *kernel, const int *cpus, size_t count, struct cpu_place **places,
	struct tally_error *err)
{
	struct cpu_place *found = calloc(count ? count : 1, sizeof(*found));
	if (!found)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++) {
		int cpu = cpus[i];
		const char *dir = "/sys/devices/system/cpu/cpu";
		found[i].cpu = cpu;
		found[i].core = (int)kernel_number(kernel, -1, "%s%d/topology/core_id", dir, cpu);
		found[i].die = (int)kernel_number(kernel, -1, "%s%d/topology/die_id", dir, cpu);
		found[i].socket = (int)kernel_number(kernel, -1, "%s%d/topology/physical_package_id", dir, cpu);
		found[i].node = found[i].cluster = found[i].cache = -1;
	}
	enum tally_status status = nodes_fill(kernel, found, count, err);
	if (status != TALLY_OK) {
		free(found);
		return status;
	}
	*places = found;
	return TALLY_OK;
}

#define CACHE_INDEXES 16 /* Maximum number of caches that a CPU may report. */
#define CACHE_DIR     "/sys/devices/system/cpu/cpu%d/cache/index%u/"

static unsigned last_cache_level(const struct kernel_seam *kernel, int cpu)
{
	unsigned last = 0;
	for (unsigned i = 0; i < CACHE_INDEXES; i++) {
		int64_t level = kernel_number(kernel, 0, CACHE_DIR "level", cpu, i);
		if (level > (int64_t)last && level <= UINT8_MAX)
			last = (unsigned)level;
	}
	return last;
}

static int cpu_topology_cache_of(const struct kernel_seam *kernel, int cpu, unsigned level)
{
	for (unsigned i = 0; i < CACHE_INDEXES; i++) {
		char *text;
		int *cpus = NULL;
		size_t count = 0;
		if (kernel_number(kernel, 0, CACHE_DIR "level", cpu, i) != (int64_t)level ||
			kernel_text(kernel, &text, NULL, CACHE_DIR "shared_cpu_list", cpu, i) != TALLY_OK)
			continue;
		int first = -1;
		if (cpu_list_parse(str_from(text), &cpus, &count, NULL) == TALLY_OK && count > 0)
			first = cpus[0];
		free(cpus);
		free(text);
		return first;
	}
	return -1;
}

unsigned cpu_places_caches(const struct kernel_seam *kernel, struct cpu_place *places, size_t count, unsigned level)
{
	for (size_t i = 0; level == 0 && i < count; i++)
		level = last_cache_level(kernel, places[i].cpu);
	for (size_t i = 0; i < count; i++) {
		places[i].cluster = (int)kernel_number(
			kernel, -1, "/sys/devices/system/cpu/cpu%d/topology/cluster_id", places[i].cpu);
		places[i].cache = level ? cpu_topology_cache_of(kernel, places[i].cpu, level) : -1;
	}
	return level;
}
