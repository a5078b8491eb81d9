/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/advice_notes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/chain_survey.h"
#include "analysis/stack_frames.h"
#include "analysis/wait_events.h"
#include "base/array.h"

/* Maximum number of samples with inspected call chains; the others are assumed to be similar. */
#define SAMPLES_MOST 65536
#define CHAINS_LEAST 20
/* If a smaller percentage of the call chains is complete, a note about frame pointers is added. */
#define WHOLE_PERCENT 20
#define UNTOLD_FRAMES 3 /* Minimum number of frames of a deep call chain; broken ones have fewer. */
#define SHARE_PERCENT 10 /* If a smaller percentage of the samples lacks names, no note is added. */

/* ---- Call chains ---- */

struct chain_counts {
	uint64_t chains, whole;
};

static bool frame_is_user(const struct profile *p, uint32_t frame)
{
	return p->frames[frame].level == PROFILE_LEVEL_USER;
}

static bool frame_is_start(const struct profile *p, uint32_t frame)
{
	uint32_t function = p->frames[frame].function;
	return function != PROFILE_NONE && p->functions[function].is_start;
}

/* In a stripped C library, the caller of main has no name, but such a chain is complete, too. */
static bool chain_is_whole(const struct profile *p, struct list stack)
{
	uint32_t last = stack.items[stack.count - 1];
	for (uint32_t i = stack.count; i-- > 1 && stack.count - i <= STACK_FRAMES_BEHIND_FIRST + 1;)
		if (frame_is_start(p, stack.items[i]))
			return true;
	if (stack.count == 1)
		return frame_is_start(p, last);
	uint32_t caller = stack.count > 1 ? p->frames[stack.items[stack.count - 2]].function : PROFILE_NONE;
	return p->frames[last].function == PROFILE_NONE && caller != PROFILE_NONE &&
	       str_equal(profile_string(p, p->functions[caller].name), STR("main"));
}

/* Returns whether it is unknown if the chain is complete: a deep chain through stripped code does not show whether it
 * ends at the first function of its thread. */
static bool chain_is_untold(const struct profile *p, struct list stack)
{
	uint32_t users = 0, count = stack.count,
		 least = count > STACK_FRAMES_BEHIND_FIRST ? count - STACK_FRAMES_BEHIND_FIRST : 0;
	if (count < UNTOLD_FRAMES)
		return false;
	while (count > least && p->frames[stack.items[count - 1]].binary == PROFILE_NONE)
		count--;
	for (uint32_t i = count; i-- > 0 && users < UNTOLD_FRAMES && frame_is_user(p, stack.items[i]); users++) {
		const struct profile_frame *frame = &p->frames[stack.items[i]];
		if (frame->function != PROFILE_NONE || frame->binary == PROFILE_NONE)
			return false;
	}
	return users == UNTOLD_FRAMES;
}

static struct chain_counts count_chains(const struct profile *p)
{
	struct chain_counts counts = {0};
	for (size_t i = 0; i < p->sample_count && i < SAMPLES_MOST; i++) {
		const struct profile_sample *sample = &p->samples[i];
		struct list stack = profile_stack(p, sample->stack);
		if (stack.count == 0 || !frame_is_user(p, stack.items[stack.count - 1]))
			continue; /* The chain has kernel frames only. */
		if (chain_is_untold(p, stack))
			continue;
		counts.chains += sample->count;
		counts.whole += chain_is_whole(p, stack) ? sample->count : 0;
	}
	return counts;
}

static void add_frame_pointers(struct diag *notes, struct perfdata_reader *reader, const struct profile *p)
{
	if (!chain_survey_has_any(reader))
		return;
	struct chain_counts counts = count_chains(p);
	if (counts.chains < CHAINS_LEAST || counts.whole * 100 >= counts.chains * WHOLE_PERCENT)
		return;
	diag_add(notes, DIAG_NOTE, "%.1f%% of %" PRIu64 " call chains reach the first function of their thread: %s",
		100.0 * (double)counts.whole / (double)counts.chains, counts.chains, ADVICE_FRAME_POINTERS);
}

/* ---- Runtimes ---- */

enum runtime_need { NEEDS_NAMES, NEEDS_TRAMPOLINES };

/* file is a prefix of the name of the program or library; a version or the end of the name follows it. */
static const struct advice_notes_runtime {
	const char *file;
	enum runtime_need need;
	const char *advice;
} runtimes[] = {
	{"node", NEEDS_NAMES, "run node with --perf-basic-prof (and --interpreted-frames-native-stack)"},
	{"nodejs", NEEDS_NAMES, "run node with --perf-basic-prof (and --interpreted-frames-native-stack)"},
	{"libnode.so", NEEDS_NAMES, "run node with --perf-basic-prof (and --interpreted-frames-native-stack)"},
	{"deno", NEEDS_NAMES, "run deno with --v8-flags=--perf-basic-prof"},
	{"chrome", NEEDS_NAMES, "run the browser with --js-flags=--perf-basic-prof --no-sandbox"},
	{"electron", NEEDS_NAMES, "run it with --js-flags=--perf-basic-prof --no-sandbox"},
	{"libjvm.so", NEEDS_NAMES,
		"run java (17 or newer) with -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
		"-XX:+DumpPerfMapAtExit, or 'jcmd PID Compiler.perfmap' before it ends (or an agent: "
		"libperf-jvmti.so)"},
	{"libcoreclr.so", NEEDS_NAMES, "set DOTNET_PerfMapEnabled=1 for .NET"},
	{"beam.smp", NEEDS_NAMES, "run erl (OTP 25 or newer) with +JPperf true"},
	{"libjulia", NEEDS_NAMES, "set ENABLE_JITPROFILING=1 for julia"},
	{"ruby", NEEDS_NAMES, "run ruby with --yjit-perf"},
	{"libruby", NEEDS_NAMES, "run ruby with --yjit-perf"},
	{"php", NEEDS_NAMES, "run php with -d opcache.jit_debug=16"},
	{"wasmtime", NEEDS_NAMES, "run wasmtime with --profile=perfmap"},
	{"python3.", NEEDS_TRAMPOLINES, "run python with -X perf (or PYTHONPERFSUPPORT=1)"},
	{"libpython3.", NEEDS_TRAMPOLINES, "run python with -X perf (or PYTHONPERFSUPPORT=1)"},
};
#define RUNTIMES (ARRAY_LEN(runtimes))

/* -X perf was added in Python 3.12. */
static bool version_has_trampolines(struct tally_str name, size_t prefix)
{
	uint64_t minor = 0;
	for (size_t i = prefix; i < name.len && name.data[i] >= '0' && name.data[i] <= '9' && minor < 1000; i++)
		minor = minor * 10 + (uint64_t)(name.data[i] - '0');
	return minor >= 12;
}

static const struct advice_notes_runtime *advice_notes_runtime_of(struct tally_str name)
{
	for (size_t i = 0; i < RUNTIMES; i++) {
		size_t len = strlen(runtimes[i].file);
		if (!str_starts_with(name, str_from(runtimes[i].file)))
			continue;
		char next = name.len > len ? name.data[len] : '\0';
		bool is_letter = (next >= 'a' && next <= 'z') || next == '_';
		if (runtimes[i].need == NEEDS_TRAMPOLINES ? version_has_trampolines(name, len)
							  : !is_letter || str_starts_with(name, STR("lib")))
			return &runtimes[i];
	}
	return NULL;
}

/* Returns whether the name is one of those for unnamed memory with generated code. */
static bool advice_notes_is_generated(struct tally_str name)
{
	return str_starts_with(name, STR("[JIT] tid")) || str_starts_with(name, STR("//anon")) ||
	       str_starts_with(name, STR("anon_inode:")) || str_equal(name, STR("[anon]"));
}

struct runtime_counts {
	uint64_t samples, nameless; /* All samples, and those in generated code without names. */
	bool has_trampolines; /* Set if CPython reported its functions. */
	bool is_hit[RUNTIMES];
};

/* Returns whether a known runtime was found. */
static bool find_runtimes(const struct profile *p, struct runtime_counts *counts)
{
	bool is_any = false;
	for (size_t i = 0; i < p->binary_count; i++) {
		const struct advice_notes_runtime *runtime =
			advice_notes_runtime_of(profile_string(p, p->binaries[i].name));
		if (runtime)
			counts->is_hit[runtime - runtimes] = is_any = true;
	}
	return is_any;
}

static void count_runtimes(const struct profile *p, struct runtime_counts *counts)
{
	for (size_t i = 0; i < p->function_count && !counts->has_trampolines; i++)
		counts->has_trampolines = str_starts_with(profile_string(p, p->functions[i].name), STR("py::"));
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		const struct profile_frame *leaf = &p->frames[sample->leaf];
		counts->samples += sample->count;
		if (leaf->function == PROFILE_NONE && leaf->level == PROFILE_LEVEL_USER &&
			leaf->binary != PROFILE_NONE &&
			advice_notes_is_generated(profile_string(p, p->binaries[leaf->binary].name)))
			counts->nameless += sample->count;
	}
}

/* Counts the samples within the interpreter itself. */
static uint64_t samples_in(const struct profile *p, const struct advice_notes_runtime *runtime)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->sample_count; i++) {
		uint32_t binary = p->frames[p->samples[i].leaf].binary;
		if (binary != PROFILE_NONE &&
			advice_notes_runtime_of(profile_string(p, p->binaries[binary].name)) == runtime)
			sum += p->samples[i].count;
	}
	return sum;
}

/* Returns whether the recorded command already follows the advice. For Python, these are "-X perf", "-Xperf" and "-X
 * perf_jit". */
static bool is_followed(const struct perfdata_features *f, const struct advice_notes_runtime *runtime)
{
	static const char *const options[] = {"--perf-basic-prof", "--perf-prof", "--js-flags=--perf-basic-prof",
		"--v8-flags=--perf-basic-prof", "DumpPerfMapAtExit", "libperf-jvmti", "libperfmap", "+JPperf",
		"--yjit-perf", "opcache.jit_debug", "--profile=", "PerfMapEnabled=1", "ENABLE_JITPROFILING=1"};
	for (size_t i = 0; i < f->cmdline.len; i++) {
		struct tally_str word = f->cmdline.items[i], before = i ? f->cmdline.items[i - 1] : STR("");
		bool is_python = runtime->need == NEEDS_TRAMPOLINES;
		if (is_python && ((str_equal(before, STR("-X")) && str_starts_with(word, STR("perf"))) ||
					 str_starts_with(word, STR("-Xperf")) ||
					 str_starts_with(word, STR("PYTHONPERFSUPPORT=1"))))
			return true;
		for (size_t k = 0; k < ARRAY_LEN(options) && !is_python; k++)
			if (memmem(word.data, word.len, options[k], strlen(options[k])))
				return true;
	}
	return false;
}

static void add_runtimes(struct diag *notes, const struct perfdata_features *features, const struct profile *p)
{
	struct runtime_counts counts = {0};
	if (!find_runtimes(p, &counts))
		return;
	count_runtimes(p, &counts);
	for (size_t i = 0; i < RUNTIMES; i++) {
		if (!counts.is_hit[i])
			continue;
		bool is_python = runtimes[i].need == NEEDS_TRAMPOLINES;
		uint64_t lacking = is_python ? samples_in(p, &runtimes[i]) : counts.nameless;
		if (lacking * 100 < counts.samples * SHARE_PERCENT || lacking == 0 ||
			(is_python && counts.has_trampolines))
			continue;
		const char *advice = runtimes[i].advice;
		if (is_followed(features, &runtimes[i]))
			advice = is_python ? "-X perf was given, but the call chains do not reach the functions that "
					     "it names, as the interpreter was built without frame pointers: record "
					     "with --call-graph dwarf"
					   : "the command was told to write names, but the file of names is not there "
					     "or was not used: 'report --missing' says why";
		diag_add(notes, DIAG_NOTE,
			is_python ? "%.1f%% of the samples are in the interpreter, which does not name the code that "
				    "it runs: %s"
				  : "%.1f%% of the samples are in generated code without names: %s",
			100.0 * (double)lacking / (double)counts.samples, advice);
	}
}

void advice_notes_add(struct diag *notes, struct perfdata_reader *reader, const struct profile *p)
{
	add_frame_pointers(notes, reader, p);
	add_runtimes(notes, perfdata_reader_features(reader), p);
}

void advice_notes_cgroups(struct diag *notes, const struct perfdata_reader *reader, const char *program)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if (events[i].attr.sample_type & SAMPLE_CGROUP)
			return;
	diag_add(notes, DIAG_WARNING, "samples have no cgroup: record them with '%s record --all-cgroups'", program);
}

void advice_notes_waits(struct diag *notes, const struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++) {
		const char *limits = wait_event_is(&events[i]) ? wait_source_limits(events[i].attr.config1) : NULL;
		if (limits)
			diag_add(notes, DIAG_NOTE, "waits are %s", limits);
	}
}
