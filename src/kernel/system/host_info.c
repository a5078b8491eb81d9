/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/host_info.h"

#include <link.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "kernel/system/kernel_files.h"

#define CPU_DIR	   "/sys/devices/system/cpu/cpu%zu"
#define PMU_DIR	   "/sys/bus/event_source/devices"
#define MEMORY_DIR "/sys/devices/system/memory"
#define NODE_DIR   "/sys/devices/system/node"

/* The program's own ELF header, which the linker gives this name. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static struct tally_str host_info_keep(struct host_info *info, struct tally_str text)
{
	const char *copy = arena_string(&info->arena, text.data, text.len);
	return copy ? (struct tally_str){copy, text.len} : (struct tally_str){"", 0};
}

/* Copies text, which it frees. */
static struct tally_str keep_text(struct host_info *info, char *text)
{
	struct tally_str kept = host_info_keep(info, str_from(text));
	free(text);
	return kept;
}

static bool number_after(struct tally_str name, struct tally_str prefix, uint64_t *number)
{
	return str_starts_with(name, prefix) &&
	       str_to_u64((struct tally_str){name.data + prefix.len, name.len - prefix.len}, 10, number);
}

/* Finds the first line "key<blanks>: value" of the text. */
static bool host_info_find_value(struct tally_str text, struct tally_str key, struct tally_str *value)
{
	struct tally_str line, name;
	while (str_next(&text, '\n', &line))
		if (str_next(&line, ':', &name) && str_equal(str_trim(name), key)) {
			*value = str_trim(line);
			return true;
		}
	return false;
}

static uint64_t find_kilobytes(struct tally_str text, struct tally_str key)
{
	struct tally_str value, number;
	uint64_t kb;
	if (!host_info_find_value(text, key, &value) || !str_next(&value, ' ', &number) || !str_to_u64(number, 10, &kb))
		return 0;
	return kb;
}

static void host_info_read_names(const struct kernel_seam *kernel, struct host_info *info)
{
	struct utsname uts;
	char *text;
	if (uname(&uts) == 0) {
		info->hostname = host_info_keep(info, str_from(uts.nodename));
		info->osrelease = host_info_keep(info, str_from(uts.release));
		info->arch = host_info_keep(info, str_from(uts.machine));
	}
	long available = sysconf(_SC_NPROCESSORS_CONF), online = sysconf(_SC_NPROCESSORS_ONLN);
	info->cpus_available = available > 0 ? (uint32_t)available : 0;
	info->cpus_online = online > 0 ? (uint32_t)online : 0;
	if (kernel_text(kernel, &text, NULL, "/proc/meminfo") == TALLY_OK) {
		info->total_mem_kb = find_kilobytes(str_from(text), STR("MemTotal"));
		free(text);
	}
}

static void host_info_read_cpuid(const struct kernel_seam *kernel, struct host_info *info)
{
	struct tally_str cpu, vendor, family, model, stepping;
	char *text;
	if (kernel_text(kernel, &text, NULL, "/proc/cpuinfo") == TALLY_OK) {
		cpu = str_from(text);
		if (host_info_find_value(cpu, STR("model name"), &model))
			info->cpudesc = host_info_keep(info, model);
		if (host_info_find_value(cpu, STR("vendor_id"), &vendor) &&
			host_info_find_value(cpu, STR("cpu family"), &family) &&
			host_info_find_value(cpu, STR("model"), &model) &&
			host_info_find_value(cpu, STR("stepping"), &stepping)) {
			const char *id = arena_printf(&info->arena, "%.*s,%.*s,%.*s,%.*s", (int)vendor.len, vendor.data,
				(int)family.len, family.data, (int)model.len, model.data, (int)stepping.len,
				stepping.data);
			info->cpuid = str_from(id ? id : "");
		}
		free(text);
	}
	if (info->cpuid.len == 0 && kernel_text(kernel, &text, NULL,
					    "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1") == TALLY_OK)
		info->cpuid = keep_text(info, text);
}

/* Appends a text such as "0-3" to the list, unless the list contains it. The list has room for one text per CPU. */
static void add_distinct(struct host_info *info, struct host_strings *list, char *text)
{
	struct tally_str str = str_from(text);
	for (size_t i = 0; i < list->len; i++)
		if (str_equal(list->items[i], str))
			return;
	list->items[list->len++] = host_info_keep(info, str);
}

static void add_siblings(const struct kernel_seam *kernel, struct host_info *info, struct host_strings *list,
	size_t cpu, const char *name, const char *old_name)
{
	char *text;
	if (kernel_text(kernel, &text, NULL, CPU_DIR "/topology/%s", cpu, name) != TALLY_OK &&
		kernel_text(kernel, &text, NULL, CPU_DIR "/topology/%s", cpu, old_name) != TALLY_OK)
		return;
	add_distinct(info, list, text);
	free(text);
}

static enum tally_status read_topology(
	const struct kernel_seam *kernel, struct host_info *info, struct tally_error *err)
{
	size_t count = info->cpus_available;
	info->sockets.items = arena_array(&info->arena, struct tally_str, count);
	info->dies.items = arena_array(&info->arena, struct tally_str, count);
	info->threads.items = arena_array(&info->arena, struct tally_str, count);
	info->cpus = arena_array(&info->arena, struct host_cpu, count);
	if (!info->sockets.items || !info->dies.items || !info->threads.items || !info->cpus)
		return error_nomem(err);
	for (size_t cpu = 0; cpu < count; cpu++) {
		add_siblings(kernel, info, &info->sockets, cpu, "package_cpus_list", "core_siblings_list");
		add_siblings(kernel, info, &info->dies, cpu, "die_cpus_list", "die_cpus_list");
		add_siblings(kernel, info, &info->threads, cpu, "core_cpus_list", "thread_siblings_list");
		info->cpus[cpu] =
			(struct host_cpu){(uint32_t)kernel_number(kernel, -1, CPU_DIR "/topology/core_id", cpu),
				(uint32_t)kernel_number(kernel, 0, CPU_DIR "/topology/die_id", cpu),
				(uint32_t)kernel_number(kernel, -1, CPU_DIR "/topology/physical_package_id", cpu)};
	}
	info->cpu_count = count;
	return TALLY_OK;
}

static bool is_same_cache(const struct host_cache *a, const struct host_cache *b)
{
	return a->level == b->level && str_equal(a->type, b->type) && str_equal(a->map, b->map);
}

static bool read_cache(
	const struct kernel_seam *kernel, struct host_info *info, size_t cpu, size_t index, struct host_cache *cache)
{
	char *type, *size, *map;
	int64_t level = kernel_number(kernel, -1, CPU_DIR "/cache/index%zu/level", cpu, index);
	if (level < 0 || kernel_text(kernel, &type, NULL, CPU_DIR "/cache/index%zu/type", cpu, index) != TALLY_OK)
		return false;
	*cache = (struct host_cache){.level = (uint32_t)level, .type = keep_text(info, type)};
	cache->line_size =
		(uint32_t)kernel_number(kernel, 0, CPU_DIR "/cache/index%zu/coherency_line_size", cpu, index);
	cache->sets = (uint32_t)kernel_number(kernel, 0, CPU_DIR "/cache/index%zu/number_of_sets", cpu, index);
	cache->ways = (uint32_t)kernel_number(kernel, 0, CPU_DIR "/cache/index%zu/ways_of_associativity", cpu, index);
	if (kernel_text(kernel, &size, NULL, CPU_DIR "/cache/index%zu/size", cpu, index) == TALLY_OK)
		cache->size = keep_text(info, size);
	if (kernel_text(kernel, &map, NULL, CPU_DIR "/cache/index%zu/shared_cpu_list", cpu, index) == TALLY_OK)
		cache->map = keep_text(info, map);
	return true;
}

static enum tally_status read_caches(const struct kernel_seam *kernel, struct host_info *info, struct tally_error *err)
{
	enum { INDEXES_MAX = 10 }; /* No CPU has more caches. */
	struct host_cache *caches = arena_array(&info->arena, struct host_cache, info->cpu_count * INDEXES_MAX);
	size_t len = 0;

	if (!caches)
		return error_nomem(err);
	for (size_t cpu = 0; cpu < info->cpu_count; cpu++)
		for (size_t index = 0; index < INDEXES_MAX; index++) {
			bool is_known = false;
			if (!read_cache(kernel, info, cpu, index, &caches[len]))
				break;
			for (size_t i = 0; i < len; i++)
				is_known |= is_same_cache(&caches[i], &caches[len]);
			len += !is_known;
		}
	for (size_t i = 1; i < len; i++) /* Sorts by level; caches of one level remain in the order found. */
		for (size_t j = i; j > 0 && caches[j - 1].level > caches[j].level; j--) {
			struct host_cache swap = caches[j];
			caches[j] = caches[j - 1];
			caches[j - 1] = swap;
		}
	info->caches = caches;
	info->cache_count = len;
	return TALLY_OK;
}

static enum tally_status host_info_read_nodes(
	const struct kernel_seam *kernel, struct host_info *info, struct tally_error *err)
{
	struct name_list names = {0};
	uint64_t number;
	if (kernel_names(kernel, &names, NULL, NODE_DIR) != TALLY_OK)
		return TALLY_OK;
	info->nodes = arena_array(&info->arena, struct host_node, names.len);
	for (size_t i = 0; info->nodes && i < names.len; i++) {
		struct host_node *node = &info->nodes[info->node_count];
		char *text;
		if (!number_after(str_from(names.items[i]), STR("node"), &number))
			continue;
		*node = (struct host_node){.node = (uint32_t)number};
		if (kernel_text(kernel, &text, NULL, NODE_DIR "/%s/meminfo", names.items[i]) == TALLY_OK) {
			const char *total = arena_printf(&info->arena, "Node %u MemTotal", node->node);
			const char *unused = arena_printf(&info->arena, "Node %u MemFree", node->node);
			node->mem_total_kb = find_kilobytes(str_from(text), str_from(total));
			node->mem_free_kb = find_kilobytes(str_from(text), str_from(unused));
			free(text);
		}
		if (kernel_text(kernel, &text, NULL, NODE_DIR "/%s/cpulist", names.items[i]) == TALLY_OK)
			node->cpus = keep_text(info, text);
		info->node_count++;
	}
	name_list_deinit(&names);
	return info->nodes ? TALLY_OK : error_nomem(err);
}

/* Reads the files in a PMU's directory "caps", which most PMUs lack. */
static bool host_info_read_caps(const struct kernel_seam *kernel, struct host_info *info, struct host_pmu *pmu)
{
	struct name_list names = {0};
	char *text;
	if (kernel_names(kernel, &names, NULL, PMU_DIR "/%.*s/caps", (int)pmu->name.len, pmu->name.data) != TALLY_OK)
		return true;
	pmu->caps = arena_array(&info->arena, struct host_capability, names.len);
	for (size_t i = 0; pmu->caps && i < names.len; i++) {
		if (kernel_text(kernel, &text, NULL, PMU_DIR "/%.*s/caps/%s", (int)pmu->name.len, pmu->name.data,
			    names.items[i]) != TALLY_OK)
			continue;
		struct tally_str value = keep_text(info, text);
		pmu->caps[pmu->cap_count++] =
			(struct host_capability){host_info_keep(info, str_from(names.items[i])), str_trim(value)};
	}
	name_list_deinit(&names);
	return pmu->caps != NULL;
}

static enum tally_status read_pmus(const struct kernel_seam *kernel, struct host_info *info, struct tally_error *err)
{
	struct name_list names = {0};
	if (kernel_names(kernel, &names, NULL, PMU_DIR) != TALLY_OK)
		return TALLY_OK;
	info->pmus = arena_array(&info->arena, struct host_pmu, names.len);
	bool ok = info->pmus != NULL;
	for (size_t i = 0; ok && i < names.len; i++) {
		int64_t type = kernel_number(kernel, -1, PMU_DIR "/%s/type", names.items[i]);
		if (type < 0)
			continue;
		struct host_pmu *pmu = &info->pmus[info->pmu_count++];
		*pmu = (struct host_pmu){
			.type = (uint32_t)type, .name = host_info_keep(info, str_from(names.items[i]))};
		ok = host_info_read_caps(kernel, info, pmu);
	}
	name_list_deinit(&names);
	return ok ? TALLY_OK : error_nomem(err);
}

static bool read_memory_node(
	const struct kernel_seam *kernel, struct host_info *info, uint64_t number, struct host_memory_node *node)
{
	struct name_list names = {0};
	uint64_t block, highest = 0;
	size_t found = 0;
	if (kernel_names(kernel, &names, NULL, NODE_DIR "/node%llu", (unsigned long long)number) != TALLY_OK)
		return false;
	for (size_t i = 0; i < names.len; i++)
		if (number_after(str_from(names.items[i]), STR("memory"), &block) && block < LIMIT_STRING) {
			highest = MAX(block, highest);
			found++;
		}
	*node = (struct host_memory_node){.node = number, .bit_count = highest + 1};
	node->bits = found ? arena_array(&info->arena, uint64_t, (highest + 64) / 64) : NULL;
	for (size_t i = 0; node->bits && i < names.len; i++)
		if (number_after(str_from(names.items[i]), STR("memory"), &block) && block <= highest)
			node->bits[block / 64] |= UINT64_C(1) << (block % 64);
	name_list_deinit(&names);
	return node->bits != NULL;
}

static enum tally_status host_info_read_memory(
	const struct kernel_seam *kernel, struct host_info *info, struct tally_error *err)
{
	uint64_t bytes;
	char *text;
	if (kernel_text(kernel, &text, NULL, MEMORY_DIR "/block_size_bytes") != TALLY_OK)
		return TALLY_OK;
	bool is_number = str_to_u64(str_from(text), 16, &bytes);
	free(text);
	if (!is_number)
		return TALLY_OK;
	info->memory_nodes = arena_array(&info->arena, struct host_memory_node, info->node_count);
	if (!info->memory_nodes)
		return error_nomem(err);
	for (size_t i = 0; i < info->node_count; i++)
		if (read_memory_node(kernel, info, info->nodes[i].node, &info->memory_nodes[info->memory_node_count]))
			info->memory_node_count++;
	info->memory_block_bytes = bytes;
	return TALLY_OK;
}

enum tally_status host_info_read(const struct kernel_seam *kernel, struct host_info *info, struct tally_error *err)
{
	enum tally_status (*const steps[])(const struct kernel_seam *, struct host_info *, struct tally_error *) = {
		read_topology, read_caches, host_info_read_nodes, read_pmus, host_info_read_memory};
	enum tally_status status = TALLY_OK;

	*info = (struct host_info){0};
	arena_init(&info->arena);
	host_info_read_names(kernel, info);
	info->e_machine = __ehdr_start.e_machine;
	info->e_flags = __ehdr_start.e_flags;
	host_info_read_cpuid(kernel, info);
	for (size_t i = 0; status == TALLY_OK && i < ARRAY_LEN(steps); i++)
		status = steps[i](kernel, info, err);
	if (status != TALLY_OK)
		host_info_deinit(info);
	return status;
}

void host_info_deinit(struct host_info *info)
{
	arena_deinit(&info->arena);
	*info = (struct host_info){0};
}
