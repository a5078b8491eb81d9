/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "abi/branch_words.h"
#include "arch/arch.h"
#include "base/array.h"
#include "base/vec.h"
#include "perfdata/compressor.h"
#include "tasks/recording/target_options.h"
#include "tasks/session/record_words.h"

#define SWITCH_FILES_MAX 65536

static const char *add_event_word(const struct option_use *use, enum record_event_kind kind)
{
	struct record_settings *s = use->settings;
	struct record_event_word word = {kind, use->value};
	return vec_push(&s->event_words, word) ? NULL : "out of memory";
}

static const char *record_options_add_event(const struct option_use *use)
{
	return add_event_word(use, RECORD_WORD_EVENT);
}

static const char *record_options_add_pfm(const struct option_use *use)
{
	return add_event_word(use, RECORD_WORD_PFM);
}

static const char *record_options_add_cgroup(const struct option_use *use)
{
	return add_event_word(use, RECORD_WORD_CGROUP);
}

static const char *record_options_add_filter(const struct option_use *use)
{
	return add_event_word(use, RECORD_WORD_FILTER);
}

static const char *record_options_set_setup_filter(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	if (use->is_negated || (strcmp(use->value, "pin") != 0 && strcmp(use->value, "unpin") != 0))
		return "expects pin or unpin";
	s->setup_filter = use->value[0] == 'p' ? SETUP_FILTER_PIN : SETUP_FILTER_UNPIN;
	return NULL;
}

static const char *set_exclude_perf(const struct option_use *use)
{
	return use->is_negated ? "cannot be negated" : add_event_word(use, RECORD_WORD_EXCLUDE_PERF);
}

static const char *set_switch_event(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	if (!s->output.switches)
		s->output.switches = s->output.switch_on_signal = true;
	return vec_push(&s->switch_events, use->value) ? NULL : "out of memory";
}

const char *record_set_call_graph(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	struct tally_str rest = str_from(use->value), mode, size;
	uint64_t bytes = 0;
	if (use->is_negated) {
		s->chains.mode = CALLGRAPH_NONE;
		s->call_graph_flag = false;
		return NULL;
	}
	if (!str_next(&rest, ',', &mode))
		mode = STR("");
	if (str_equal(mode, STR("fp"))) {
		s->chains.mode = CALLGRAPH_FP;
	} else if (str_equal(mode, STR("lbr"))) {
		s->chains.mode = CALLGRAPH_LBR;
	} else if (str_equal(mode, STR("bpf"))) {
		s->chains.mode = CALLGRAPH_BPF;
	} else if (str_equal(mode, STR("auto"))) {
		s->chains.mode = CALLGRAPH_AUTO;
	} else if (str_equal(mode, STR("dwarf"))) {
		if (str_next(&rest, ',', &size) &&
			(!str_to_u64(size, 0, &bytes) || bytes == 0 || bytes > RECORD_STACK_BYTES_MAX))
			return "callchain: Incorrect stack dump size (1 to 65528 bytes)";
		s->chains.mode = CALLGRAPH_DWARF;
		s->chains.stack_bytes = (uint32_t)((bytes + 7) & ~UINT64_C(7));
	} else {
		snprintf(use->room, use->room_bytes, "callchain: Unknown --call-graph option value: %s", use->value);
		return use->room;
	}
	return NULL;
}

#define BAD_RING_SIZE "Invalid argument for --mmap_pages/-m: give a number of pages, or a size with B, K, M or G"

/* Parses "16" (pages) or "64K" in text[0..len). */
static bool parse_ring_bytes(const char *text, size_t len, uint64_t *bytes)
{
	char word[32];
	uint64_t amount;
	bool has_unit;
	if (len >= sizeof(word))
		return false;
	memcpy(word, text, len);
	word[len] = 0;
	if (!record_size_parse(word, &amount, &has_unit) || amount > (UINT64_C(1) << 50))
		return false;
	*bytes = has_unit ? amount : amount * (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}

/* Sets the size of the rings (-m). The part after a comma is the size of the AUX area, which is only checked. */
static const char *record_options_set_ring_size(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes = 0, aux_bytes, rounded = page;
	const char *comma = strchr(use->value, ',');
	size_t len = comma ? (size_t)(comma - use->value) : strlen(use->value);
	if (comma && comma[1] && !parse_ring_bytes(comma + 1, strlen(comma + 1), &aux_bytes))
		return BAD_RING_SIZE;
	s->has_aux_size = comma && comma[1];
	if (comma && len == 0)
		return NULL; /* The size of the ring remains the default. */
	if (!parse_ring_bytes(use->value, len, &bytes))
		return BAD_RING_SIZE;
	while (rounded < bytes)
		rounded *= 2;
	if (rounded > (UINT64_C(1) << 40)) {
		snprintf(use->room, use->room_bytes,
			"rounding mmap pages size to %lluG (%llu pages)\nInvalid argument for --mmap_pages/-m",
			(unsigned long long)(rounded >> 30), (unsigned long long)(rounded / page));
		return use->room;
	}
	if (rounded != bytes)
		s->ring_pages_asked = bytes / page + 1;
	s->ring_bytes = rounded;
	return NULL;
}

static const char *record_options_set_max_size(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	bool has_unit;
	return record_size_parse(use->value, &s->output.max_bytes, &has_unit) && s->output.max_bytes
		       ? NULL
		       : "--max-size takes a size with B, K, M or G";
}

static const char *record_options_set_affinity(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	if (strcmp(use->value, "node") == 0)
		s->affinity = AFFINITY_NODE;
	else if (strcmp(use->value, "cpu") == 0)
		s->affinity = AFFINITY_CPU;
	else
		return "--affinity takes node or cpu";
	return NULL;
}

static const char *set_threads(const struct option_use *use)
{
	static const struct {
		const char *name;
		enum record_thread_groups groups;
	} specs[] = {{"cpu", THREADS_PER_CPU}, {"core", THREADS_PER_CORE}, {"package", THREADS_PER_PACKAGE},
		{"numa", THREADS_PER_NODE}};
	struct record_settings *s = use->settings;

	s->output.threads = use->is_negated ? THREADS_NONE : THREADS_PER_CPU;
	if (!use->value)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(specs); i++)
		if (strcmp(use->value, specs[i].name) == 0) {
			s->output.threads = specs[i].groups;
			return NULL;
		}
	return "--threads takes cpu, core, package or numa; lists of CPUs are not supported yet";
}

static const char *record_options_set_realtime(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	uint64_t priority;
	if (!str_to_u64(str_from(use->value), 10, &priority) || priority > 99)
		return "--realtime takes a priority from 1 to 99";
	s->realtime_priority = (int)priority;
	return NULL;
}

static const char *record_options_set_map_timeout(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	uint64_t ms;
	if (!str_to_u64(str_from(use->value), 10, &ms) || ms == 0 || ms > INT32_MAX)
		return "--proc-map-timeout takes milliseconds";
	s->map_timeout_ms = (int)ms;
	return NULL;
}

static const char *set_compression(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	uint64_t level = 1;
	s->output.compression_level = 0;
	if (use->is_negated)
		return NULL;
	/* -z=3 is the same as -z3. */
	const char *number = use->value && use->value[0] == '=' ? use->value + 1 : use->value;
	if (number && !str_to_u64(str_from(number), 10, &level))
		return "--compression-level takes a number from 1 to 22";
	s->output.compression_level = level == 0 ? 1 : level > COMPRESSOR_LEVEL_MAX ? COMPRESSOR_LEVEL_MAX : (int)level;
	return NULL;
}

static const char *record_options_set_control(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	return record_control_parse(use->value, &s->control)
		       ? NULL
		       : "--control takes fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]";
}

static const char *set_max_files(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	uint64_t count;
	if (!str_to_u64(str_from(use->value), 10, &count) || count > SWITCH_FILES_MAX)
		return "--switch-max-files takes a number";
	s->output.max_files = (unsigned)count;
	return NULL;
}

static const char *set_mmap_flush(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	bool has_unit;
	return record_size_parse(use->value, &s->flush_bytes, &has_unit)
		       ? NULL
		       : "--mmap-flush takes a size with B, K, M or G";
}

/* Parses a number with a unit: 10s, 2m, 1h, 1d. */
static bool record_options_parse_time(const char *text, int64_t *ms)
{
	static const char units[] = "smhd";
	static const int64_t unit_ms[] = {1000, 60000, 3600000, 86400000};
	struct tally_str number = str_from(text);
	const char *unit = number.len ? strchr(units, number.data[number.len - 1]) : NULL;
	uint64_t value;
	if (!unit)
		return false;
	number.len--;
	return str_to_u64(number, 10, &value) && value && value <= INT32_MAX &&
	       !__builtin_mul_overflow((int64_t)value, unit_ms[unit - units], ms);
}

static const char *set_switch_output(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	struct record_output_options *o = &s->output;
	bool has_unit = true;
	o->switches = !use->is_negated;
	o->switch_on_signal = false;
	o->switch_bytes = 0;
	o->switch_ms = 0;
	if (use->is_negated)
		return NULL;
	if (!use->value || strcmp(use->value, "signal") == 0)
		o->switch_on_signal = true;
	else if (!record_options_parse_time(use->value, &o->switch_ms) &&
		 !(record_size_parse(use->value, &o->switch_bytes, &has_unit) && has_unit && o->switch_bytes))
		return "--switch-output takes 'signal', a size with B, K, M or G, or a time with s, m, h or d";
	return NULL;
}

static bool parse_ms(struct tally_str text, int *ms)
{
	uint64_t value;
	if (!str_to_u64(text, 10, &value) || value > INT32_MAX)
		return false;
	*ms = (int)value;
	return true;
}

static const char *record_options_set_delay(const struct option_use *use)
{
	static const char complaint[] = "--delay takes milliseconds, -1, or ranges that follow each other: 10-20,30-40";
	struct record_settings *s = use->settings;
	struct tally_str rest = str_from(use->value), range, start;
	int from, to = -1;
	s->toggles.len = 0;
	s->has_delay = true;
	if (strcmp(use->value, "-1") == 0)
		return NULL;
	if (parse_ms(rest, &from)) {
		s->has_delay = from != 0;
		return from == 0 || vec_push(&s->toggles, from) ? NULL : "out of memory";
	}
	while (str_next_item(&rest, &range)) {
		int before = to;
		if (!str_next(&range, '-', &start) || !parse_ms(start, &from) || !parse_ms(range, &to) ||
			from <= before || to <= from)
			return complaint;
		if (!vec_push(&s->toggles, from) || !vec_push(&s->toggles, to))
			return "out of memory";
	}
	return s->toggles.len ? NULL : complaint;
}

static const char *set_clock(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	if (!record_clock_find(use->value, &s->modes.clockid))
		return "unknown clockid: take a number, monotonic, monotonic_raw, boottime, realtime or tai";
	s->modes.use_clockid = true;
	return NULL;
}

static const char *record_options_set_branches(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	struct tally_str unknown;
	if (s->has_any_branch)
		return "-b and -j cannot be used together: -j any is -b";
	if (branch_words_parse(str_from(use->value), &s->fields.branch_sample_type, &unknown)) {
		s->has_branch_filter = true;
		return NULL;
	}
	snprintf(use->room, use->room_bytes,
		"unknown branch filter %.*s: take any, any_call, any_ret, ind_call, ind_jmp, cond, call, u, k, hv, "
		"save_type, no_flags, no_cycles or stack",
		(int)unknown.len, unknown.data);
	return use->room;
}

static const char *record_options_set_any_branch(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	if (s->has_branch_filter)
		return "-b and -j cannot be used together: -j any is -b";
	s->has_any_branch = !use->is_negated;
	s->fields.branch_sample_type = use->is_negated ? 0 : BRANCH_ANY;
	return NULL;
}

static const char *list_registers(const struct option_use *use)
{
	const struct arch *arch = record_host_arch();
	int len = snprintf(use->room, use->room_bytes, "available registers:");
	for (uint32_t i = 0; arch && i < 64 && len >= 0 && (size_t)len < use->room_bytes; i++) {
		const char *name = arch_register_name(arch, i);
		if (name && (arch->general_registers >> i & 1))
			len += snprintf(use->room + len, use->room_bytes - (size_t)len, " %s", name);
	}
	return use->room;
}

static const char *set_registers(const struct option_use *use, uint64_t *mask)
{
	struct tally_str unknown;
	if (!use->value) {
		*mask = record_attrs_all_user_regs();
		return *mask ? NULL : "the registers of this architecture are not known";
	}
	if (strcmp(use->value, "?") == 0)
		return list_registers(use);
	if (record_registers_parse(str_from(use->value), mask, &unknown))
		return NULL;
	snprintf(use->room, use->room_bytes, "Unknown register \"%.*s\": -I? names those of this machine",
		(int)unknown.len, unknown.data);
	return use->room;
}

static const char *set_user_regs(const struct option_use *use)
{
	return set_registers(use, &((struct record_settings *)use->settings)->fields.user_regs);
}

static const char *set_intr_regs(const struct option_use *use)
{
	return set_registers(use, &((struct record_settings *)use->settings)->fields.intr_regs);
}

static const char *record_options_set_off_cpu_ms(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	if (!str_to_u64(str_from(use->value), 10, &s->off_cpu_ms) || s->off_cpu_ms > UINT64_MAX / 1000000)
		return "give a number of milliseconds";
	s->has_off_cpu_ms = true;
	return NULL;
}

static const char *record_options_set_wall_source(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	static const enum wait_source sources[] = {WAIT_SOURCE_BPF, WAIT_SOURCE_TRACEPOINTS, WAIT_SOURCE_SWITCHES};
	s->has_wall_source = true;
	s->wall_source = WAIT_SOURCE_UNKNOWN;
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (str_equal(wait_source_name(sources[i]), str_from(use->value)))
			s->wall_source = sources[i];
	if (s->wall_source == WAIT_SOURCE_UNKNOWN && strcmp(use->value, "auto") != 0)
		return "give auto, bpf, tracepoints or switches";
	return NULL;
}

static const char *record_options_add_toggle(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	if (!use->value[0])
		return "expects the name of a function, or a pattern";
	return vec_push(&s->simulation.toggles, use->value) ? NULL : "out of memory";
}

/* Sets which records about running processes are written (--synth). Mappings are only written together with their
 * tasks. */
static const char *set_synth(const struct option_use *use)
{
	struct record_settings *s = use->settings;
	struct tally_str rest = str_from(use->value), word;
	struct record_synth synth = {true, true, true};
	while (str_next_item(&rest, &word)) {
		bool is_all = str_equal(word, STR("all"));
		bool is_maps = str_equal(word, STR("mmap"));
		bool is_tasks = str_equal(word, STR("task"));
		bool is_cgroups = str_equal(word, STR("cgroup"));
		if (!is_all && !is_maps && !is_tasks && !is_cgroups && !str_equal(word, STR("no"))) {
			snprintf(use->room, use->room_bytes, "Invalid synth option: %.*s", (int)word.len, word.data);
			return use->room;
		}
		synth.no_tasks &= !(is_all || is_maps || is_tasks);
		synth.no_maps &= !(is_all || is_maps);
		synth.no_cgroups &= !(is_all || is_cgroups);
	}
	s->synth = synth;
	return NULL;
}

#define AT(member) .offset = offsetof(struct record_settings, member)
#define FLAG(n, l, at, h)                                                      \
	{                                                                      \
		.name = n, .letter = l, .kind = OPTION_FLAG, AT(at), .help = h \
	}
#define TEXT(n, l, a, at, h)                                                                    \
	{                                                                                       \
		.name = n, .letter = l, .kind = OPTION_STRING, .argument = a, AT(at), .help = h \
	}
#define CALL(n, l, a, f, h)                                                                                        \
	{                                                                                                          \
		.name = n, .letter = l, .kind = OPTION_CALL, .argument = a, .is_self_explaining = true, .call = f, \
		.help = h                                                                                          \
	}
#define OPTIONAL(n, l, a, f, h)                                                                           \
	{                                                                                                 \
		.name = n, .letter = l, .kind = OPTION_CALL, .argument = a, .argument_is_optional = true, \
		.is_self_explaining = true, .call = f, .help = h                                          \
	}
#define LATER(n, l, a, h)                                                                    \
	{                                                                                    \
		.name = n, .letter = l, .kind = OPTION_UNSUPPORTED, .argument = a, .help = h \
	}

static const struct option sampling_rows[] = {
	TEXT("uid", 'u', "user", target.user, "measure this user's processes, and those that they start"),
	CALL("event", 'e', "event", record_options_add_event,
		"the event to sample; may be given more than once. See 'tally list'"),
	CALL("pfm-events", 0, "event", record_options_add_pfm,
		"events by their vendor's names, as libpfm4 knows them; 'tally list pfm' shows them"),
	CALL("filter", 0, "filter", record_options_add_filter,
		"filter for the events before it: of tracepoints by their fields, 'prev_pid > 0'; of other events by "
		"their samples, with BPF, 'period > 1000, ip < 0x8000 || uid == 0'"),
	CALL("cgroup", 'G', "name", record_options_add_cgroup,
		"measure only tasks of this cgroup, one per event in their order, one alone for all (on whole CPUs)"),
	{"count", 'c', OPTION_U64, "n", AT(period), .help = "take one sample every n events"},
	TEXT("freq", 'F', "freq or 'max'", freq_text, "samples per second and CPU (4000)"),
	CALL("branch-any", 'b', NULL, record_options_set_any_branch,
		"store the last branches with each sample; annotate shows cycles by them"),
	CALL("branch-filter", 'j', "branch filter mask", record_options_set_branches,
		"which branches to store with each sample"),
	FLAG("group", 0, modes.group, "put the events in one group"),
	FLAG("no-inherit", 'i', modes.no_inherit, "leave child processes and new threads out"),
	FLAG("all-cgroups", 0, fields.cgroups, "store cgroup events, which the sort key cgroup needs"),
	FLAG("namespaces", 0, fields.namespaces, "store namespace events"),
	FLAG("no-bpf-event", 0, fields.no_bpf_event, "do not store bpf events"),
	CALL("mmap-pages", 'm', "pages[,pages]", record_options_set_ring_size,
		"size of a ring: pages, or a size with B, K, M or G (behind a comma that of AUX data, which is not "
		"recorded)"),
	FLAG("overwrite", 0, overwrites,
		"overwrite the oldest records of a full ring (rings are written at the end, or as --switch-output "
		"says)"),
	CALL("realtime", 'r', "n", record_options_set_realtime, "collect with this SCHED_FIFO priority"),
	CALL("proc-map-timeout", 0, "n", record_options_set_map_timeout,
		"milliseconds to spend on the maps of one process at the start (500)"),
	LATER("num-thread-synthesize", 0, "n", "threads for the initial state"),
	{.name = "verbose", .letter = 'v', .kind = OPTION_COUNT, AT(verbose), .help = "tell more"},
};
const struct option_table sampling_option_table = {sampling_rows, ARRAY_LEN(sampling_rows), false};

static const struct option options[] = {
	TARGET_OPTIONS(struct record_settings, target),
	{.kind = OPTION_GROUP, .group = &sampling_option_table},
	FLAG("no-buildid", 'B', no_build_ids, "do not store build ids"),
	FLAG("data", 'd', fields.data_address, "store data addresses with each sample"),
	CALL("delay", 'D', "ms", record_options_set_delay,
		"start measuring this long after the start of the command (-1: never), or ranges of time: 10-20,30-40"),
	{.letter = 'g', .kind = OPTION_FLAG, AT(call_graph_flag), .help = "record call graphs by frame pointer"},
	OPTIONAL("intr-regs", 'I', "any register", set_intr_regs, "store these registers at each sample"),
	CALL("clockid", 'k', "clockid", set_clock, "the clock of time stamps, see clock_gettime(2)"),
	FLAG("no-buildid-cache", 'N', no_build_id_cache,
		"do not copy the files that were hit to the cache of build ids"),
	FLAG("no-samples", 'n', modes.no_samples, "count only, store no samples"),
	TEXT("output", 'o', "file", output.path, "the file to write; - for a pipe on standard output"),
	FLAG("period", 'P', fields.period, "store the period with each sample"),
	FLAG("quiet", 'q', quiet, "no messages but errors"),
	FLAG("raw-samples", 'R', fields.raw, "store raw data of all events"),
	LATER("snapshot", 'S', "opts", "AUX area tracing in snapshots"),
	FLAG("stat", 's', modes.thread_counts, "store counts per thread"),
	FLAG("timestamp", 'T', fields.timestamp, "store time stamps with each sample"),
	FLAG("weight", 'W', fields.weight, "store the weight of each sample (events that have one)"),
	OPTIONAL("compression-level", 'z', "n", set_compression, "compress the records with zstd (level 1 to 22)"),
	CALL("affinity", 0, "node|cpu", record_options_set_affinity,
		"read each ring on the node, or the CPU, that it belongs to"),
	LATER("aio", 0, "n", "write asynchronously"),
	FLAG("all-kernel", 0, modes.all_kernel, "sample the kernel only"),
	FLAG("all-user", 0, modes.all_user, "sample user space only"),
	LATER("aux-sample", 0, "opts", "store AUX data with samples"),
	FLAG("buildid-all", 0, all_build_ids, "store build ids of all mapped files, hit or not"),
	FLAG("buildid-mmap", 0, fields.build_id_mmap,
		"let the kernel store build IDs in map events, which distinguishes builds that ran at one path "
		"(default; --no-buildid-mmap stores device and inode instead)"),
	{.name = "call-graph",
		.kind = OPTION_CALL,
		.argument = "record_mode[,record_size]",
		.call = record_set_call_graph,
		.can_be_negated = true,
		.is_self_explaining = true,
		.help = "record call graphs: fp, dwarf (unwound while recording, from registers and a stack dump of "
			"record_size bytes: 65528 by default, 8192 with --keep-stacks), bpf (unwound in the kernel by "
			"a BPF program), auto (bpf if this process may, else dwarf, else fp) or lbr"},
	LATER("clang-opt", 0, "clang options", "options for clang"),
	LATER("clang-path", 0, "clang path", "which clang"),
	FLAG("code-page-size", 0, fields.code_page_size, "store the page size of the sampled code"),
	CALL("control", 0, "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]", record_options_set_control,
		"accept commands while recording: enable [event], disable [event], evlist [-v|-F], ping, snapshot, "
		"stop; each is answered with 'ack'"),
	FLAG("data-mmap", 0, fields.data_maps, "store mappings that are not executable too"),
	FLAG("data-page-size", 0, fields.data_page_size, "store the page size of the sampled data"),
	LATER("debuginfod", 0, "urls", "where to fetch debug info"),
	FLAG("dry-run", 0, dry_run, "parse the options and exit"),
	CALL("exclude-perf", 0, NULL, set_exclude_perf, "exclude the recorder itself from the tracepoints before it"),
	FLAG("keep-stacks", 0, keeps_stacks,
		"with --call-graph dwarf: store registers and stacks, as perf does, to be unwound by report"),
	LATER("kcore", 0, NULL, "copy /proc/kcore"),
	FLAG("kernel-callchains", 0, chains.no_user, "call chains of the kernel only"),
	CALL("max-size", 0, "size", record_options_set_max_size, "stop when the file reaches this size"),
	CALL("mmap-flush", 0, "number", set_mmap_flush,
		"minimum number of bytes to read from a ring (a size with B, K, M or G)"),
	FLAG("no-buffering", 0, modes.no_buffering, "read each sample as soon as it is written"),
	FLAG("off-cpu", 0, off_cpu,
		"measure the time that threads are blocked, too, with stacks and wakers: event offcpu-time"),
	FLAG("per-thread", 0, target.per_thread, "one ring per thread instead of one per CPU"),
	FLAG("phys-data", 0, fields.phys_addr, "store physical addresses of data"),
	FLAG("running-time", 0, modes.running_time, "store enabled and running time of read (:S) events"),
	FLAG("sample-cpu", 0, fields.cpu, "store the CPU with each sample"),
	FLAG("sample-mem-info", 0, fields.data_source, "store where the data of a memory access came from"),
	FLAG("sample-identifier", 0, fields.identifier, "store the identifier with each sample"),
	FLAG("self-contained", 0, is_self_contained, "embed symbols and code in the recording (tally pack)"),
	FLAG("strict-freq", 0, strict_freq, "fail if the frequency is not available"),
	FLAG("switch-events", 0, fields.switch_events, "store context switches"),
	CALL("switch-max-files", 0, "n", set_max_files, "how many files --switch-output keeps"),
	OPTIONAL("switch-output", 0, "signal or size[BKMG] or time[smhd]", set_switch_output,
		"start a new file on SIGUSR2, at a size or after a time; files get the time in their names"),
	CALL("switch-output-event", 0, "switch output event", set_switch_event,
		"start a new file when this event comes, on any CPU (as --switch-output too)"),
	CALL("synth", 0, "no|all|task|mmap|cgroup", set_synth, "which of the running processes' records to store"),
	FLAG("tail-synthesize", 0, tail_synthesize,
		"store the running processes at the end of the recording, not at its start"),
	OPTIONAL("threads", 0, "spec", set_threads,
		"read the rings with a thread per cpu, core, package or numa node, into a directory"),
	FLAG("timestamp-boundary", 0, time_boundary, "store the times of the first and the last sample"),
	FLAG("timestamp-filename", 0, output.timestamp_name, "put the time in the file's name"),
	FLAG("transaction", 0, fields.transaction, "store transaction flags (events that have them)"),
	FLAG("user-callchains", 0, chains.no_kernel, "call chains of user space only"),
	OPTIONAL("user-regs", 0, "any register", set_user_regs, "store these user registers at each sample"),
	LATER("vmlinux", 0, "file", "the kernel's image"),
	CALL("off-cpu-thresh", 0, "ms", record_options_set_off_cpu_ms,
		"waits as long as this are samples of their own, shorter ones are summed (500; with --wall 1)"),
	FLAG("wall", 0, wall,
		"record where all time goes: the CPU clock with call graphs (--call-graph auto, unless another is "
		"given), and the time that threads wait or could run (as --off-cpu)"),
	CALL("wall-source", 0, "auto|bpf|tracepoints|switches", record_options_set_wall_source,
		"what measures waits: BPF, the sched tracepoints, or context-switch records and /proc (auto: the first "
		"of these that this user may use)"),
	RUNG_OPTIONS(struct record_settings, rung),
	CALL("setup-filter", 0, "pin|unpin", record_options_set_setup_filter,
		"let all users filter samples (--filter), by a BPF program that root pins; unpin: no longer"),
	FLAG("latency", 0, latency, "record what report --latency needs: context switches (not with -a)"),
	FLAG("simulate", 0, simulation.is_on,
		"simulate the events of -e (instructions, branch-misses, L1-dcache-load-misses, LLC-load-misses ...) "
		"with Valgrind: a sample each -c of them, on machines without hardware counters, too"),
	TEXT("cache-model", 0, "model", simulation.cache_model,
		"with --simulate: the caches, TLBs and predictor to simulate (this machine's)"),
	CALL("toggle", 0, "function", record_options_add_toggle,
		"with --simulate: only while this function (a pattern) runs, with what it calls; may be given more "
		"than once"),
};

const struct option_table record_option_table = {options, ARRAY_LEN(options), true};

struct record_settings record_settings_default(void)
{
	return (struct record_settings){.map_timeout_ms = RECORD_MAP_TIMEOUT_MS, .fields.build_id_mmap = true};
}

bool record_settings_have(const struct record_settings *settings, enum record_event_kind kind)
{
	for (size_t i = 0; i < settings->event_words.len; i++)
		if (settings->event_words.items[i].kind == kind)
			return true;
	return false;
}

void record_settings_deinit(struct record_settings *settings)
{
	free(settings->event_words.items);
	free(settings->toggles.items);
	free(settings->switch_events.items);
	vec_free(&settings->simulation.toggles);
	*settings = (struct record_settings){0};
}
