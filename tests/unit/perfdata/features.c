/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "abi/perf_constants.h"
#include "base/array.h"
#include "perfdata/feature_encode.h"
#include "perfdata/feature_table.h"
#include "unit_test.h"

static struct tally_str two_lists[] = {{"0-3", 3}, {"4-7", 3}};
static struct tally_str arguments[] = {{"perf", 4}, {"record", 6}, {"-e", 2}, {"cycles", 6}};
static uint32_t cores[] = {0, 1}, sockets[] = {0, 1}, dies[] = {5, 6};
static uint64_t ids[] = {11, 12, UINT64_C(0x1122334455667788)};
static struct perf_attr cycles = {
	.type = 0, .size = ATTR_SIZE_VER7, .config = 0, .sample_type = SAMPLE_IP, .flags = ATTR_FLAG(ATTR_BIT_FREQ)};
static struct perf_attr faults = {.type = 1, .size = ATTR_SIZE_VER7, .config = 2, .config1 = 9};
static struct perfdata_event_desc events[] = {{&cycles, {"cycles", 6}, ids, 2}, {&faults, {"faults", 6}, ids + 2, 1}};
static struct perfdata_build_id build_ids[] = {
	{-1, 1, 20, {1, 2, 3, 19}, {"[kernel.kallsyms]", 17}},
	{-1, 2, 16, {9, 8, 7}, {"/usr/lib/libc.so.6", 18}},
};
static struct perfdata_numa_node nodes[] = {{0, 1000, 500, {"0-1", 3}}, {1, 2000, 700, {"2-3", 3}}};
static struct perfdata_pmu_mapping pmus[] = {{1, {"software", 8}}, {4, {"cpu", 3}}};
static struct perfdata_group groups[] = {{{"{anon_group}", 12}, 0, 2}};
static struct perfdata_cache caches[] = {{1, 64, 64, 8, {"Data", 4}, {"32K", 3}, {"0-1", 3}}};
static uint64_t blocks[] = {UINT64_C(0xffffffff00ffffff), UINT64_C(0x3)};
static struct perfdata_memory_node memory[] = {{0, 66, 66, blocks}, {1, 0, 0, NULL}};
static struct perfdata_auxtrace_entry auxtrace[] = {{0x29c0, 48}, {0x7788, 48}};
static struct perfdata_pmu_cpus hybrid[] = {{{"cpu_core", 8}, {"0-3", 3}}, {{"cpu_atom", 8}, {"4-11", 4}}};
static struct perfdata_capability branches[] = {{{"branches", 8}, {"32", 2}}, {{"max_precise", 11}, {"3", 1}}};
static struct perfdata_pmu_caps caps[] = {{{"intel_pt", 8}, branches, 2}, {{"cpu_atom", 8}, branches, 0}};
static struct perfdata_sched_domain domains[] = {
	{0, {"SMT", 3}, {"3", 1}, {"0-1", 3}}, {1, {"MC", 2}, {"f", 1}, {"0-3", 3}}};
static struct perfdata_cpu_domains cpu_domains[] = {{0, domains, 2}, {1, domains, 1}};
static const uint8_t opaque[] = {1, 2, 3, 4, 5, 6, 7, 8};
static struct perfdata_bpf_program programs[] = {
	{0x1f9, {opaque, sizeof(opaque)}, {opaque, 3}}, {0, {opaque, 4}, {opaque, 0}}};
static struct perfdata_btf btfs[] = {{7, {opaque, 5}}, {9, {opaque, 0}}};

/* Every feature that is decoded, and one that is copied as bytes. */
static const struct perfdata_features *all_features(void)
{
	static struct perfdata_features f = {
		.hostname = {"host", 4},
		.osrelease = {"6.1.0", 5},
		.version = {"7.3", 3},
		.arch = {"aarch64", 7},
		.cpudesc = {"Neoverse-N1", 11},
		.cpuid = {"0x41", 4},
		.cpus_available = 2,
		.cpus_online = 1,
		.total_mem_kb = UINT64_C(0x123456789),
		.cmdline = {arguments, 4},
		.build_ids = build_ids,
		.build_id_count = 2,
		.events = events,
		.event_count = 2,
		.topology = {.cores = {two_lists, 2},
			.threads = {two_lists, 1},
			.dies = {two_lists, 2},
			.core_ids = cores,
			.socket_ids = sockets,
			.die_ids = dies,
			.cpu_count = 2},
		.numa = nodes,
		.numa_count = 2,
		.pmus = pmus,
		.pmu_count = 2,
		.groups = groups,
		.group_count = 1,
		.caches = caches,
		.cache_count = 1,
		.first_sample_time_ns = 100,
		.last_sample_time_ns = 200,
		.clockid_resolution_ns = 1,
		.clock_data_version = 1,
		.clock_data_clockid = 7,
		.wall_clock_ns = UINT64_C(0x1122334455667788),
		.clockid_time_ns = 55,
		.compress_version = 1,
		.compress_type = 1,
		.compress_level = 3,
		.compress_ratio = 9,
		.compress_mmap_len = 528384,
		.e_machine = 183,
		.e_flags = 5,
		.cache_line_bytes = 128,
		.memory_version = 1,
		.memory_block_bytes = 0x8000000,
		.memory_nodes = memory,
		.memory_node_count = 2,
		.auxtrace = auxtrace,
		.auxtrace_count = 2,
		.dir_version = 1,
		.bpf_programs = programs,
		.bpf_program_count = 2,
		.btfs = btfs,
		.btf_count = 2,
		.hybrid = hybrid,
		.hybrid_count = 2,
		.cpu_caps = {{"cpu", 3}, branches, 2},
		.pmu_caps = caps,
		.pmu_caps_count = 2,
		.schedstat_version = 17,
		.max_sched_domains = 3,
		.cpu_domains = cpu_domains,
		.cpu_domain_count = 2,
	};
	f.raw[FEATURE_TRACING_DATA] = (struct tally_bytes){opaque, sizeof(opaque)};
	return &f;
}

static void assert_list(const struct perfdata_string_list *got, const struct perfdata_string_list *want)
{
	assert_int_equal(got->len, want->len);
	for (size_t i = 0; i < want->len; i++)
		assert_true(str_equal(got->items[i], want->items[i]));
}

static void check_texts(const struct perfdata_features *f, const struct perfdata_features *want)
{
	assert_true(str_equal(f->hostname, want->hostname));
	assert_true(str_equal(f->osrelease, want->osrelease));
	assert_true(str_equal(f->version, want->version));
	assert_true(str_equal(f->arch, want->arch));
	assert_true(str_equal(f->cpudesc, want->cpudesc));
	assert_true(str_equal(f->cpuid, want->cpuid));
	assert_list(&f->cmdline, &want->cmdline);
}

static void check_numbers(const struct perfdata_features *f, const struct perfdata_features *want)
{
	assert_int_equal(f->cpus_available, want->cpus_available);
	assert_int_equal(f->cpus_online, want->cpus_online);
	assert_int_equal(f->total_mem_kb, want->total_mem_kb);
	assert_int_equal(f->first_sample_time_ns, want->first_sample_time_ns);
	assert_int_equal(f->last_sample_time_ns, want->last_sample_time_ns);
	assert_int_equal(f->clockid_resolution_ns, want->clockid_resolution_ns);
	assert_int_equal(f->clock_data_version, want->clock_data_version);
	assert_int_equal(f->clock_data_clockid, want->clock_data_clockid);
	assert_int_equal(f->wall_clock_ns, want->wall_clock_ns);
	assert_int_equal(f->clockid_time_ns, want->clockid_time_ns);
	assert_int_equal(f->compress_version, want->compress_version);
	assert_int_equal(f->compress_type, want->compress_type);
	assert_int_equal(f->compress_level, want->compress_level);
	assert_int_equal(f->compress_ratio, want->compress_ratio);
	assert_int_equal(f->compress_mmap_len, want->compress_mmap_len);
	assert_int_equal(f->e_machine, want->e_machine);
	assert_int_equal(f->e_flags, want->e_flags);
	assert_int_equal(f->cache_line_bytes, want->cache_line_bytes);
}

static void check_events(const struct perfdata_features *f)
{
	assert_int_equal(f->event_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(str_equal(f->events[i].name, events[i].name));
		assert_int_equal(f->events[i].attr->type, events[i].attr->type);
		assert_int_equal(f->events[i].attr->config, events[i].attr->config);
		assert_int_equal(f->events[i].attr->config1, events[i].attr->config1);
		assert_int_equal(f->events[i].attr->flags, events[i].attr->flags);
		assert_int_equal(f->events[i].id_count, events[i].id_count);
		assert_memory_equal(f->events[i].ids, events[i].ids, events[i].id_count * sizeof(uint64_t));
	}
	assert_int_equal(f->group_count, 1);
	assert_true(str_equal(f->groups[0].name, groups[0].name));
	assert_int_equal(f->groups[0].leader_index, 0);
	assert_int_equal(f->groups[0].member_count, 2);
	assert_int_equal(f->pmu_count, 2);
	assert_int_equal(f->pmus[1].type, 4);
	assert_true(str_equal(f->pmus[1].name, STR("cpu")));
}

static void check_machine(const struct perfdata_features *f)
{
	assert_list(&f->topology.cores, &all_features()->topology.cores);
	assert_list(&f->topology.threads, &all_features()->topology.threads);
	assert_list(&f->topology.dies, &all_features()->topology.dies);
	assert_int_equal(f->topology.cpu_count, 2);
	assert_memory_equal(f->topology.core_ids, cores, sizeof(cores));
	assert_memory_equal(f->topology.socket_ids, sockets, sizeof(sockets));
	assert_memory_equal(f->topology.die_ids, dies, sizeof(dies));
	assert_int_equal(f->numa_count, 2);
	assert_int_equal(f->numa[1].node, 1);
	assert_int_equal(f->numa[1].mem_total_kb, 2000);
	assert_int_equal(f->numa[1].mem_free_kb, 700);
	assert_true(str_equal(f->numa[1].cpus, STR("2-3")));
	assert_int_equal(f->cache_count, 1);
	assert_int_equal(f->caches[0].ways, 8);
	assert_true(str_equal(f->caches[0].type, STR("Data")));
	assert_true(str_equal(f->caches[0].size, STR("32K")));
	assert_true(str_equal(f->caches[0].map, STR("0-1")));
	assert_int_equal(f->build_id_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(f->build_ids[i].pid, -1);
		assert_int_equal(f->build_ids[i].misc & MISC_CPUMODE_MASK, i + 1);
		assert_int_equal(f->build_ids[i].size, build_ids[i].size);
		assert_memory_equal(f->build_ids[i].bytes, build_ids[i].bytes, build_ids[i].size);
		assert_true(str_equal(f->build_ids[i].filename, build_ids[i].filename));
	}
}

static void assert_caps(const struct perfdata_pmu_caps *got, const struct perfdata_pmu_caps *want)
{
	assert_true(str_equal(got->pmu, want->pmu));
	assert_int_equal(got->len, want->len);
	for (size_t i = 0; i < want->len; i++) {
		assert_true(str_equal(got->items[i].name, want->items[i].name));
		assert_true(str_equal(got->items[i].value, want->items[i].value));
	}
}

static void check_pmus(const struct perfdata_features *f)
{
	assert_int_equal(f->hybrid_count, 2);
	assert_true(str_equal(f->hybrid[1].pmu, hybrid[1].pmu));
	assert_true(str_equal(f->hybrid[1].cpus, hybrid[1].cpus));
	assert_caps(&f->cpu_caps, &all_features()->cpu_caps);
	assert_int_equal(f->pmu_caps_count, 2);
	assert_caps(&f->pmu_caps[0], &caps[0]);
	assert_caps(&f->pmu_caps[1], &caps[1]);
	assert_int_equal(f->schedstat_version, 17);
	assert_int_equal(f->max_sched_domains, 3);
	assert_int_equal(f->cpu_domain_count, 2);
	assert_int_equal(f->cpu_domains[1].cpu, 1);
	assert_int_equal(f->cpu_domains[0].len, 2);
	assert_int_equal(f->cpu_domains[0].items[1].number, 1);
	assert_true(str_equal(f->cpu_domains[0].items[1].name, domains[1].name));
	assert_true(str_equal(f->cpu_domains[0].items[1].mask, domains[1].mask));
	assert_true(str_equal(f->cpu_domains[0].items[1].cpus, domains[1].cpus));
}

static void check_blocks(const struct perfdata_features *f)
{
	assert_int_equal(f->memory_version, 1);
	assert_int_equal(f->memory_block_bytes, 0x8000000);
	assert_int_equal(f->memory_node_count, 2);
	assert_int_equal(f->memory_nodes[0].bit_count, 66);
	assert_memory_equal(f->memory_nodes[0].bits, blocks, sizeof(blocks));
	assert_int_equal(f->memory_nodes[1].node, 1);
	assert_int_equal(f->auxtrace_count, 2);
	assert_false(f->auxtrace_is_bare);
	assert_memory_equal(f->auxtrace, auxtrace, sizeof(auxtrace));
	assert_int_equal(f->dir_version, 1);
	assert_int_equal(f->bpf_program_count, 2);
	assert_int_equal(f->bpf_programs[0].arrays, 0x1f9);
	assert_int_equal(f->bpf_programs[0].data.len, 3);
	assert_int_equal(f->bpf_programs[1].info.len, 4);
	assert_memory_equal(f->bpf_programs[0].info.data, opaque, sizeof(opaque));
	assert_int_equal(f->btf_count, 2);
	assert_int_equal(f->btfs[1].id, 9);
	assert_memory_equal(f->btfs[0].data.data, opaque, 5);
}

static void test_every_feature_comes_back(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		const struct perfdata_features *want = all_features();
		struct perfdata_features got = {0};
		struct writer sections[FEATURE_COUNT] = {0};
		struct arena arena;
		arena_init(&arena);
		for (unsigned bit = 1; bit < FEATURE_COUNT; bit++) {
			sections[bit].swap = swap != 0;
			feature_encode(&sections[bit], bit, want);
			struct feature_input input = {writer_view(&sections[bit]), swap != 0, &arena, &got};
			assert_int_equal(feature_decode(bit, &input, NULL), TALLY_OK);
			assert_int_equal(got.raw[bit].len, sections[bit].len);
		}
		assert_int_equal(got.damaged, 0);
		check_texts(&got, want);
		check_numbers(&got, want);
		check_events(&got);
		check_machine(&got);
		check_pmus(&got);
		check_blocks(&got);
		assert_memory_equal(got.tracing_data.data, opaque, sizeof(opaque));
		for (unsigned bit = 1; bit < FEATURE_COUNT; bit++)
			writer_deinit(&sections[bit]);
		arena_deinit(&arena);
	}
}

/* Features are written as they were read: from their fields if they are decoded, otherwise from their bytes, and not
 * twice. */
static void test_every_feature_is_written_as_it_was_read(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_features got = {0};
		struct arena arena;
		struct writer sections[FEATURE_COUNT] = {0};
		arena_init(&arena);
		for (unsigned bit = 1; bit < FEATURE_COUNT; bit++) {
			sections[bit].swap = swap != 0;
			feature_encode(&sections[bit], bit, all_features());
			struct feature_input input = {writer_view(&sections[bit]), swap != 0, &arena, &got};
			assert_int_equal(feature_decode(bit, &input, NULL), TALLY_OK);
		}
		for (unsigned bit = 1; bit < FEATURE_COUNT; bit++) {
			struct writer again = {.swap = swap != 0};
			feature_encode(&again, bit, &got);
			assert_true(bytes_equal(writer_view(&again), writer_view(&sections[bit])));
			writer_deinit(&again);
		}
		for (unsigned bit = 1; bit < FEATURE_COUNT; bit++)
			writer_deinit(&sections[bit]);
		arena_deinit(&arena);
	}
}

/* An unknown feature is copied; there is none after the last bit. */
static void test_features_that_are_not_known(void **state)
{
	static const uint8_t guard[16] = {7};
	struct perfdata_features f = {0};
	struct writer w = {0};
	f.raw[FEATURE_BITS - 1] = (struct tally_bytes){guard, 3};
	feature_encode(&w, FEATURE_BITS - 1, &f);
	assert_int_equal(w.len, 3);
	feature_encode(&w, FEATURE_BITS, &f);
	assert_int_equal(w.len, 3);
	struct feature_input input = {{guard, 16}, false, NULL, &f};
	assert_int_equal(feature_decode(FEATURE_BITS, &input, NULL), TALLY_OK);
	assert_int_equal(feature_decode(FEATURE_BITS - 1, &input, NULL), TALLY_OK);
	assert_int_equal(f.raw[FEATURE_BITS - 1].len, 16);
	writer_deinit(&w);
}

/* Strings are padded to a multiple of 64 bytes with their NUL: one of 63 bytes fits into 64, one of 64 needs 128. */
static void test_the_padding_of_strings(void **state)
{
	static const struct {
		size_t len, padded;
	} cases[] = {{0, 64}, {1, 64}, {63, 64}, {64, 128}, {127, 128}, {128, 192}};
	static const char text[130] = "a name";
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct perfdata_build_id id = {-1, 0, 20, {1}, {text, cases[i].len}};
		struct perfdata_features f = {.hostname = {text, cases[i].len}, .build_ids = &id, .build_id_count = 1};
		struct writer w = {0};
		feature_encode(&w, FEATURE_HOSTNAME, &f);
		assert_int_equal(w.len, 4 + cases[i].padded);
		assert_int_equal(w.data[0], cases[i].padded);
		writer_clear(&w);
		feature_encode(&w, FEATURE_BUILD_ID, &f);
		assert_int_equal(w.len, 8 + 28 + cases[i].padded);
		assert_int_equal(w.data[6], w.len);
		writer_deinit(&w);
	}
}

/* Such a path fits into no record; the other records are written. */
static void test_a_build_id_of_too_long_a_path(void **state)
{
	static char path[UINT16_MAX];
	struct perfdata_build_id list[] = {{-1, 0, 20, {1}, {path, UINT16_MAX - 1}}, {-1, 0, 20, {2}, STR("/a")}};
	struct perfdata_features f = {.build_ids = list, .build_id_count = 2}, got = {0};
	struct writer w = {0};
	struct arena arena;
	arena_init(&arena);
	memset(path, 'x', sizeof(path));
	feature_encode(&w, FEATURE_BUILD_ID, &f);
	struct feature_input input = {writer_view(&w), false, &arena, &got};
	assert_int_equal(feature_decode(FEATURE_BUILD_ID, &input, NULL), TALLY_OK);
	assert_int_equal(got.build_id_count, 1);
	assert_int_equal(got.build_ids[0].bytes[0], 2);
	writer_deinit(&w);
	arena_deinit(&arena);
}

/* Attrs of several sizes are written with the largest one; the additional fields are zero. */
static void test_attrs_of_several_sizes(void **state)
{
	struct perf_attr small = {.size = ATTR_SIZE_VER0, .config = 1}, large = {.size = ATTR_SIZE_VER9, .config4 = 4};
	struct perfdata_event_desc list[] = {{&small, STR("small"), ids, 1}, {&large, STR("large"), ids, 2}};
	struct perfdata_features f = {.events = list, .event_count = 2}, got = {0};
	struct writer w = {0};
	struct arena arena;
	arena_init(&arena);
	feature_encode(&w, FEATURE_EVENT_DESC, &f);
	assert_int_equal(w.data[4], ATTR_SIZE_VER9);
	struct feature_input input = {writer_view(&w), false, &arena, &got};
	assert_int_equal(feature_decode(FEATURE_EVENT_DESC, &input, NULL), TALLY_OK);
	assert_int_equal(got.event_count, 2);
	assert_int_equal(got.events[0].attr->config, 1);
	assert_int_equal(got.events[0].attr->config4, 0);
	assert_true(str_equal(got.events[0].name, STR("small")));
	assert_int_equal(got.events[1].attr->config4, 4);
	assert_int_equal(got.events[1].id_count, 2);
	assert_int_equal(w.len, 8 + 2 * (ATTR_SIZE_VER9 + 4 + 4 + 64) + 3 * 8);
	writer_deinit(&w);
	arena_deinit(&arena);
}

static void test_names_of_groups(void **state)
{
	struct perfdata_group list[] = {
		{STR("{anon_group}"), 0, 2}, {STR(""), 2, 2}, {STR("memory"), 4, 2}, {STR("late"), 0, 2}};
	struct perfdata_features f = {.groups = list, .group_count = 3};
	assert_true(str_equal(feature_group_name(&f, 0), STR("anon group")));
	assert_true(str_equal(feature_group_name(&f, 2), STR("anon group")));
	assert_true(str_equal(feature_group_name(&f, 4), STR("memory")));
	assert_true(str_equal(feature_group_name(&f, 5), STR("anon group")));
	f.group_count = 4;
	assert_true(str_equal(feature_group_name(&f, 0), STR("late")));
}

static void test_names_of_features(void **state)
{
	assert_null(feature_name(0));
	assert_string_equal(feature_name(1), "TRACING_DATA");
	assert_string_equal(feature_name(FEATURE_COUNT - 1), "CLN_SIZE");
	assert_null(feature_name(FEATURE_COUNT));
	assert_string_equal(feature_name(FEATURE_PACK), "PACK");
	assert_string_equal(feature_name(FEATURE_ORIGIN), "ORIGIN");
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		assert_int_equal(feature_is_flag(bit), bit == FEATURE_BRANCH_STACK || bit == FEATURE_STAT);
}

/* Returns 1 if the section is damaged. The copy has exactly that size, so that the sanitizer detects a read past the
 * end. */
static uint64_t decode_copy(unsigned bit, const uint8_t *data, size_t len, bool swap)
{
	struct perfdata_features got = {.cpus_available = 2};
	uint8_t *copy = malloc(len ? len : 1);
	struct arena arena;
	arena_init(&arena);
	memcpy(copy, data, len);
	struct feature_input input = {{copy, len}, swap, &arena, &got};
	assert_int_equal(feature_decode(bit, &input, NULL), TALLY_OK);
	if (got.damaged) {
		struct perfdata_features nothing = {.cpus_available = 2, .damaged = 1};
		nothing.raw[bit] = input.section;
		nothing.damaged_bits[bit / 64] = UINT64_C(1) << bit % 64;
		assert_memory_equal(&got, &nothing, sizeof(got));
	}
	arena_deinit(&arena);
	free(copy);
	return got.damaged;
}

/* Later versions added parts to the CPU topology, so it may end before them. */
static bool may_be_cut(unsigned bit)
{
	return bit == FEATURE_CPU_TOPOLOGY || bit == FEATURE_TRACING_DATA;
}

static void test_every_section_cut_and_changed(void **state)
{
	for (unsigned bit = 1; bit < FEATURE_COUNT; bit++) {
		struct writer w = {0};
		feature_encode(&w, bit, all_features());
		for (size_t cut = 0; cut < w.len; cut++) {
			uint64_t damaged = decode_copy(bit, w.data, cut, false);
			bool is_whole = (bit == FEATURE_BUILD_ID && cut % 100 == 0) ||
					/* Without a count, a shorter section is valid. */
					(bit == FEATURE_AUXTRACE && cut % 16 == 0);
			if (!may_be_cut(bit) && !is_whole)
				assert_int_equal(damaged, 1);
		}
		for (size_t i = 0; i < w.len; i++) {
			uint8_t old = w.data[i];
			w.data[i] = 0xff;
			(void)decode_copy(bit, w.data, w.len, false);
			(void)decode_copy(bit, w.data, w.len, true);
			w.data[i] = old;
		}
		writer_deinit(&w);
	}
}

/* A count of about 2^32 must not allocate memory. */
static void test_counts_that_lie(void **state)
{
	static const unsigned counted[] = {FEATURE_CMDLINE, FEATURE_EVENT_DESC, FEATURE_CPU_TOPOLOGY,
		FEATURE_NUMA_TOPOLOGY, FEATURE_PMU_MAPPINGS, FEATURE_GROUP_DESC, FEATURE_CACHE, FEATURE_MEM_TOPOLOGY,
		FEATURE_HYBRID_TOPOLOGY, FEATURE_CPU_PMU_CAPS, FEATURE_PMU_CAPS, FEATURE_CPU_DOMAIN_INFO,
		FEATURE_BPF_PROG_INFO, FEATURE_BPF_BTF};
	for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
		uint8_t lie[64];
		memset(lie, 0xff, sizeof(lie));
		assert_int_equal(decode_copy(counted[i], lie, sizeof(lie), false), 1);
	}
}

static void test_a_topology_of_each_age(void **state)
{
	const struct perfdata_topology *t = &all_features()->topology;
	struct perfdata_features old = {.topology = {.cores = t->cores, .threads = t->threads}};
	struct writer w = {0};
	struct arena arena;
	arena_init(&arena);
	feature_encode(&w, FEATURE_CPU_TOPOLOGY, &old);
	struct perfdata_features got = {.cpus_available = 2};
	struct feature_input input = {writer_view(&w), false, &arena, &got};
	assert_int_equal(feature_decode(FEATURE_CPU_TOPOLOGY, &input, NULL), TALLY_OK);
	assert_int_equal(got.damaged, 0);
	assert_int_equal(got.topology.cores.len, 2);
	assert_int_equal(got.topology.cpu_count, 0);
	assert_null(got.topology.core_ids);
	old.topology.core_ids = cores;
	old.topology.socket_ids = sockets;
	old.topology.cpu_count = 2;
	writer_clear(&w);
	feature_encode(&w, FEATURE_CPU_TOPOLOGY, &old);
	input.section = writer_view(&w);
	assert_int_equal(feature_decode(FEATURE_CPU_TOPOLOGY, &input, NULL), TALLY_OK);
	assert_int_equal(got.damaged, 0);
	assert_int_equal(got.topology.cpu_count, 2);
	assert_null(got.topology.die_ids);
	writer_deinit(&w);
	arena_deinit(&arena);
}

/* simpleperf writes the entries without a count. */
static void test_an_auxtrace_index_without_its_number(void **state)
{
	struct perfdata_features f = {.auxtrace = auxtrace, .auxtrace_count = 2, .auxtrace_is_bare = true}, got = {0};
	struct writer w = {0};
	struct arena arena;
	arena_init(&arena);
	feature_encode(&w, FEATURE_AUXTRACE, &f);
	assert_int_equal(w.len, 32);
	struct feature_input input = {writer_view(&w), false, &arena, &got};
	assert_int_equal(feature_decode(FEATURE_AUXTRACE, &input, NULL), TALLY_OK);
	assert_true(got.auxtrace_is_bare);
	assert_int_equal(got.auxtrace_count, 2);
	assert_memory_equal(got.auxtrace, auxtrace, sizeof(auxtrace));
	writer_deinit(&w);
	arena_deinit(&arena);
}

/* Before version 17, /proc/schedstat does not name domains. */
static void test_domains_without_names(void **state)
{
	struct perfdata_features f = {.schedstat_version = 15, .cpu_domains = cpu_domains, .cpu_domain_count = 2};
	struct perfdata_features got = {.cpus_available = 2};
	struct writer w = {0};
	struct arena arena;
	arena_init(&arena);
	feature_encode(&w, FEATURE_CPU_DOMAIN_INFO, &f);
	struct feature_input input = {writer_view(&w), false, &arena, &got};
	assert_int_equal(feature_decode(FEATURE_CPU_DOMAIN_INFO, &input, NULL), TALLY_OK);
	assert_int_equal(got.damaged, 0);
	assert_int_equal(got.cpu_domain_count, 2);
	assert_int_equal(got.cpu_domains[0].items[0].name.len, 0);
	assert_true(str_equal(got.cpu_domains[0].items[1].cpus, domains[1].cpus));
	writer_deinit(&w);
	arena_deinit(&arena);
}

/* The feature bits, as in the files of perf 7.3. */
static void test_numbers(void **state)
{
	assert_int_equal(FEATURE_EVENT_DESC, 12);
	assert_int_equal(FEATURE_SAMPLE_TIME, 21);
	assert_int_equal(FEATURE_COMPRESSED, 27);
	assert_int_equal(FEATURE_PMU_CAPS, 31);
	assert_int_equal(FEATURE_E_MACHINE, 33);
	assert_int_equal(FEATURE_CLN_SIZE, 34);
}

static void test_unknown_features(void **state)
{
	struct perfdata_features got = {0};
	struct arena arena;
	arena_init(&arena);
	struct feature_input input = {{opaque, sizeof(opaque)}, false, &arena, &got};
	assert_null(feature_name(0));
	assert_null(feature_name(FEATURE_COUNT));
	assert_string_equal(feature_name(FEATURE_HYBRID_TOPOLOGY), "HYBRID_TOPOLOGY");
	assert_int_equal(feature_decode(FEATURE_COUNT, &input, NULL), TALLY_OK);
	assert_int_equal(feature_decode(200, &input, NULL), TALLY_OK);
	assert_int_equal(got.damaged, 0);
	assert_int_equal(got.raw[200].len, sizeof(opaque)); /* The bytes are copied when the recording is rewritten. */
	assert_int_equal(feature_decode(FEATURE_BITS, &input, NULL), TALLY_OK);
	arena_deinit(&arena);
}

/* A name that fits into no record is omitted; the other entries remain. */
static void test_a_build_id_with_an_endless_name(void **state)
{
	static char name[70000];
	memset(name, 'x', sizeof(name));
	struct perfdata_build_id list[] = {{-1, 2, 20, {1}, {name, sizeof(name)}}, build_ids[1]};
	struct perfdata_features f = {.build_ids = list, .build_id_count = 2}, got = {0};
	struct writer w = {0};
	struct arena arena;
	arena_init(&arena);
	feature_encode(&w, FEATURE_BUILD_ID, &f);
	struct feature_input input = {writer_view(&w), false, &arena, &got};
	assert_int_equal(feature_decode(FEATURE_BUILD_ID, &input, NULL), TALLY_OK);
	assert_int_equal(got.build_id_count, 1);
	assert_true(str_equal(got.build_ids[0].filename, build_ids[1].filename));
	writer_deinit(&w);
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_feature_comes_back),
		cmocka_unit_test(test_every_feature_is_written_as_it_was_read),
		cmocka_unit_test(test_features_that_are_not_known),
		cmocka_unit_test(test_the_padding_of_strings),
		cmocka_unit_test(test_a_build_id_of_too_long_a_path),
		cmocka_unit_test(test_attrs_of_several_sizes),
		cmocka_unit_test(test_names_of_groups),
		cmocka_unit_test(test_names_of_features),
		cmocka_unit_test(test_every_section_cut_and_changed),
		cmocka_unit_test(test_counts_that_lie),
		cmocka_unit_test(test_a_topology_of_each_age),
		cmocka_unit_test(test_an_auxtrace_index_without_its_number),
		cmocka_unit_test(test_domains_without_names),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_unknown_features),
		cmocka_unit_test(test_a_build_id_with_an_endless_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
