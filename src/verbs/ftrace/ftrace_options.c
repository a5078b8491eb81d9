/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "verbs/ftrace/ftrace_settings.h"

#define ROW(member) .offset = offsetof(struct ftrace_settings, member)
#define KB_MAX	    ((uint64_t)1 << 32)

static const char *ftrace_options_add(const struct option_use *use, struct ftrace_words *words)
{
	return vec_push(words, use->value) ? NULL : "cannot be kept: out of memory";
}

static const char *ftrace_options_function(const struct option_use *use)
{
	return ftrace_options_add(use, &((struct ftrace_settings *)use->settings)->functions);
}

static const char *ftrace_options_not_function(const struct option_use *use)
{
	return ftrace_options_add(use, &((struct ftrace_settings *)use->settings)->not_functions);
}

static const char *ftrace_options_graph(const struct option_use *use)
{
	return ftrace_options_add(use, &((struct ftrace_settings *)use->settings)->graphs);
}

static const char *ftrace_options_not_graph(const struct option_use *use)
{
	return ftrace_options_add(use, &((struct ftrace_settings *)use->settings)->not_graphs);
}

static const char *ftrace_options_list(const struct option_use *use)
{
	struct ftrace_settings *settings = use->settings;
	settings->lists_functions = !use->is_negated;
	settings->pattern = use->value;
	return NULL;
}

static const char *ftrace_options_buffer(const struct option_use *use)
{
	static const char units[] = "BKMG";
	struct ftrace_settings *settings = use->settings;
	size_t len = strlen(use->value);
	const char *unit = len > 1 ? strchr(units, use->value[len - 1] & ~0x20) : NULL;
	uint64_t size;
	if (!unit || !*unit || !str_to_u64((struct tally_str){use->value, len - 1}, 10, &size))
		return "needs a number with a B, K, M or G suffix";
	if (__builtin_mul_overflow(size, (uint64_t)1 << (10 * (unit - units)), &size) || size / 1024 > KB_MAX)
		return "is too large";
	if (size < 1024)
		return "is too small: it must be at least 1 KB";
	settings->buffer_kb = size / 1024;
	return NULL;
}

static const char *ftrace_options_events(const struct option_use *use)
{
	struct ftrace_settings *settings = use->settings;
	struct tally_str rest = str_from(use->value);
	size_t count = 0;
	for (struct tally_str word; str_next(&rest, ',', &word); count++)
		if (count < ARRAY_LEN(settings->events))
			settings->events[count] = word;
	return count == ARRAY_LEN(settings->events) ? NULL : "takes two events, separated by a comma";
}

/* ---- lists of names: "depth=5,noirqs" ---- */

struct ftrace_flag {
	const char *name;
	size_t offset; /* Offset of a bool or a number in the settings. */
	bool is_number;
};

static const char *ftrace_options_flag(
	const struct option_use *use, const struct ftrace_flag *flags, size_t count, struct tally_str word)
{
	char text[128];
	const char *equals = memchr(word.data, '=', word.len);
	struct tally_str name = {word.data, equals ? (size_t)(equals - word.data) : word.len};
	for (size_t i = 0; i < count; i++) {
		void *member = (char *)use->settings + flags[i].offset;
		if (!str_equal(name, str_from(flags[i].name)))
			continue;
		if (flags[i].is_number != (equals != NULL))
			break;
		struct tally_str value = {equals ? equals + 1 : "", equals ? word.len - name.len - 1 : 0};
		if (flags[i].is_number && !str_to_u64(value, 10, member))
			break;
		if (!flags[i].is_number)
			*(bool *)member = true;
		return NULL;
	}
	snprintf(text, sizeof(text), "has no option '%.*s'", (int)(MIN(word.len, 60)), word.data);
	return option_complaint(use, text);
}

static const char *ftrace_options_flags(const struct option_use *use, const struct ftrace_flag *flags, size_t count)
{
	struct tally_str rest = str_from(use->value), word;
	const char *complaint = NULL;
	while (!complaint && str_next(&rest, ',', &word))
		complaint = ftrace_options_flag(use, flags, count, word);
	return complaint;
}

static const char *ftrace_options_of_function(const struct option_use *use)
{
	static const struct ftrace_flag flags[] = {
		{"call-graph", offsetof(struct ftrace_settings, function_options.call_graph), false},
		{"irq-info", offsetof(struct ftrace_settings, function_options.irq_info), false},
	};
	return ftrace_options_flags(use, flags, ARRAY_LEN(flags));
}

#define GRAPH(member) offsetof(struct ftrace_settings, graph_options.member)
static const struct ftrace_flag graph_flags[] = {
	{"nosleep-time", GRAPH(nosleep_time), false},
	{"noirqs", GRAPH(noirqs), false},
	{"thresh", GRAPH(thresh_us), true},
	{"depth", GRAPH(depth), true},
#define GRAPH_OF_PROFILE 4 /* Number of flags above, which profile has; those below change the lines of graphs. */
	{"args", GRAPH(args), false},
	{"retval", GRAPH(retval), false},
	{"retval-hex", GRAPH(retval_hex), false},
	{"retaddr", GRAPH(retaddr), false},
	{"verbose", GRAPH(verbose), false},
	{"tail", GRAPH(tail), false},
};

static const char *ftrace_options_of_graph(const struct option_use *use)
{
	return ftrace_options_flags(use, graph_flags, ARRAY_LEN(graph_flags));
}

static const char *ftrace_options_of_profile(const struct option_use *use)
{
	return ftrace_options_flags(use, graph_flags, GRAPH_OF_PROFILE);
}

static const char *ftrace_options_sort(const struct option_use *use)
{
	static const char *const names[] = {"total", "avg", "max", "count", "name"};
	struct ftrace_settings *settings = use->settings;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(use->value, names[i]) == 0)
			return settings->sort = (enum function_sort)i, NULL;
	return "is total, avg, max, count or name";
}

/* ---- tables ---- */

#define TARGET_ROWS                                                                                                \
	{"all-cpus", 'a', OPTION_FLAG, ROW(target.system_wide), .help = "trace whatever runs on all CPUs"},        \
		{"cpu", 'C', OPTION_STRING, "cpu", ROW(target.cpus),                                               \
			.help = "trace only what runs on these CPUs (0-3,8)"},                                     \
		{"pid", 'p', OPTION_STRING, "pid", ROW(target.pids), .help = "trace these processes (1234,5678)"}, \
		{"tid", 0, OPTION_STRING, "tid", ROW(target.tids), .help = "trace these threads (1234,5678)"},     \
	{                                                                                                          \
		"verbose", 'v', OPTION_COUNT, ROW(verbose), .help = "say which tracer is used"                     \
	}
#define FUNCTION_ROW(text)                                                                             \
	{                                                                                              \
		"trace-funcs", 'T', OPTION_CALL, "func", .call = ftrace_options_function, .help = text \
	}
#define FILTER_ROWS                                                                                        \
	{"notrace-funcs", 'N', OPTION_CALL, "func", .call = ftrace_options_not_function,                   \
		.help = "do not trace these functions (name or pattern; may be repeated)"},                \
		{"graph-funcs", 'G', OPTION_CALL, "func", .call = ftrace_options_graph,                    \
			.help = "trace these functions and what they call, by the tracer function_graph"}, \
		{"nograph-funcs", 'g', OPTION_CALL, "func", .call = ftrace_options_not_graph,              \
			.help = "do not trace what these functions call"},                                 \
	{                                                                                                  \
		"buffer-size", 'm', OPTION_CALL, "size",                                                   \
			.call = ftrace_options_buffer,                                                     \
			.help = "size of the kernel's buffer for each CPU: a number with B, K, M or G"     \
	}

static const struct option trace_rows[] = {
	TARGET_ROWS,
	{"delay", 'D', OPTION_U64, "n", ROW(delay_ms), .help = "wait n milliseconds after the program's start"},
	{"funcs", 'F', OPTION_CALL, "pattern", .argument_is_optional = true, .takes_next_word = true,
		.call = ftrace_options_list,
		.help = "list the functions that can be traced, and end (a*|b*: several patterns, !a*: all others)"},
	FUNCTION_ROW("trace these functions, by the tracer function (name or pattern; may be repeated)"),
	FILTER_ROWS,
	{"tracer", 't', OPTION_STRING, "tracer", ROW(tracer), .help = "function_graph (default), function, ..."},
	{"func-opts", 0, OPTION_CALL, "options", .call = ftrace_options_of_function,
		.help = "options of the tracer function: call-graph,irq-info"},
	{"graph-opts", 0, OPTION_CALL, "options", .call = ftrace_options_of_graph,
		.help = "options of the tracer function_graph: args,retval,retval-hex,retaddr,nosleep-time,noirqs,"
			"verbose,tail,thresh=<us>,depth=<n>"},
	{"inherit", 0, OPTION_FLAG, ROW(inherits), .help = "trace children of the program, too"},
};
const struct option_table ftrace_trace_table = {trace_rows, ARRAY_LEN(trace_rows), true};

static const struct option latency_rows[] = {
	TARGET_ROWS,
	FUNCTION_ROW("measure this function"),
	{"events", 'e', OPTION_CALL, "event1,event2", .call = ftrace_options_events,
		.help = "with -b: measure from one tracepoint to another in the same thread"},
	{"use-bpf", 'b', OPTION_FLAG, ROW(uses_bpf), .help = "measure by a BPF program instead of a tracer"},
	{"use-nsec", 'n', OPTION_FLAG, ROW(scale.in_ns), .help = "count nanoseconds instead of microseconds"},
	{"bucket-range", 0, OPTION_U64, "n", ROW(scale.range),
		.help = "width of the buckets, in us, or ns with -n (default: each is twice as wide as the one "
			"before)"},
	{"hide-empty", 0, OPTION_FLAG, ROW(hides_empty), .help = "hide buckets that are empty"},
	{"json", 0, OPTION_FLAG, ROW(is_json), .help = "JSON, see docs/schema/ftrace.json"},
	{"max-latency", 0, OPTION_U64, "n", ROW(scale.max),
		.help = "with --bucket-range: where the last bucket begins"},
	{"min-latency", 0, OPTION_U64, "n", ROW(scale.min), .help = "with --bucket-range: where the first bucket ends"},
};
const struct option_table ftrace_latency_table = {latency_rows, ARRAY_LEN(latency_rows), true};

static const struct option profile_rows[] = {
	TARGET_ROWS,
	FUNCTION_ROW("measure these functions only (name or pattern; may be repeated)"),
	FILTER_ROWS,
	{"sort", 's', OPTION_CALL, "key", .call = ftrace_options_sort,
		.help = "total (default), avg, max, count, name"},
	{"graph-opts", 0, OPTION_CALL, "options", .call = ftrace_options_of_profile,
		.help = "options of the tracer function_graph: nosleep-time,noirqs,thresh=<us>,depth=<n>"},
	{"json", 0, OPTION_FLAG, ROW(is_json), .help = "JSON, see docs/schema/ftrace.json"},
};
#undef ROW
const struct option_table ftrace_profile_table = {profile_rows, ARRAY_LEN(profile_rows), true};

void ftrace_settings_deinit(struct ftrace_settings *settings)
{
	vec_free(&settings->functions);
	vec_free(&settings->not_functions);
	vec_free(&settings->graphs);
	vec_free(&settings->not_graphs);
}
