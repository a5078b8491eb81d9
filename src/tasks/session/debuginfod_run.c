/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/debuginfod_run.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "tasks/session/record_words.h"

#define SIZE_DEFAULT	(UINT64_C(1) << 30)
#define SECONDS_DEFAULT 300
/* Files are sorted by their samples; those beyond this limit have too few to be worth a request. */
#define REQUESTS_MAX 256
#define NAMES_MAX    3 /* Maximum number of names in a sentence. */

static const char *debuginfod_set_urls(const struct option_use *use)
{
	struct debuginfod_settings *settings = use->settings;
	settings->is_asked = !use->is_negated;
	settings->urls = use->value;
	return NULL;
}

static const char *debuginfod_set_size(const struct option_use *use)
{
	struct debuginfod_settings *settings = use->settings;
	bool has_unit;
	return record_size_parse(use->value, &settings->size_max, &has_unit) && settings->size_max > 0
		       ? NULL
		       : "takes a number of bytes, as 500M";
}

static const char *debuginfod_set_seconds(const struct option_use *use)
{
	struct debuginfod_settings *settings = use->settings;
	return str_to_u64(str_from(use->value), 10, &settings->seconds_max) && settings->seconds_max > 0
		       ? NULL
		       : "takes a number of seconds";
}

static const struct option debuginfod_rows[] = {
	{"debuginfod", 0, OPTION_CALL, "urls", .argument_is_optional = true, .call = debuginfod_set_urls,
		.help = "fetch debug files by build id in the background, for the next report (default: "
			"DEBUGINFOD_URLS, which alone fetches nothing)"},
	{"debuginfod-size", 0, OPTION_CALL, "size", .call = debuginfod_set_size,
		.help = "fetch at most that much (default: 1G)"},
	{"debuginfod-time", 0, OPTION_CALL, "seconds", .call = debuginfod_set_seconds,
		.help = "fetch at most that long (default: 300)"},
};
const struct option_table debuginfod_option_table = {debuginfod_rows, ARRAY_LEN(debuginfod_rows), false};

static bool debuginfod_run_add(struct debuginfod_run *run, const struct binary_info *info, bool wants_program)
{
	struct debuginfod_request request = {.id.size = info->build_id_size, .wants_program = wants_program};
	memcpy(request.id.bytes, info->build_id, info->build_id_size);
	return run->requests.len >= REQUESTS_MAX ||
	       (vec_push(&run->requests, request) && vec_push(&run->names, info->path));
}

/* Requests the files that would provide the names and lines that a binary lacks. Returns false if memory runs out. */
static bool add_lacking(struct debuginfod_run *run, const struct binary_store *store, const struct binary_hit *hit)
{
	struct binary_info info = binary_store_info(store, hit->store_id);
	bool lacks_names = info.status != BINARY_OK || hit->unnamed > 0;
	/* Debug information of the kernel is too large for the size limit. */
	bool lacks_lines = info.kind == BINARY_USER && binary_store_lacks_places(store, hit->store_id);
	bool lacks_file = info.status == BINARY_NO_FILE || info.status == BINARY_BUILD_ID_DIFFERS;
	if (info.build_id_size == 0 || info.kind == BINARY_VDSO || info.kind == BINARY_PERF_MAP ||
		(!lacks_names && !lacks_lines))
		return true;
	/* The debug file lacks the offsets of segments, so the program file is needed as well. */
	if (info.kind == BINARY_USER && lacks_file && !debuginfod_run_add(run, &info, true))
		return false;
	return debuginfod_run_add(run, &info, false);
}

void debuginfod_run_start(struct debuginfod_run *run, const struct debuginfod_settings *settings,
	const struct binary_store *store, const struct binary_hits *hits, struct diag *notes)
{
	struct tally_error err = {0};
	if (!settings->is_asked)
		return;
	run->settings = *settings;
	if (run->settings.size_max == 0)
		run->settings.size_max = SIZE_DEFAULT;
	if (run->settings.seconds_max == 0)
		run->settings.seconds_max = SECONDS_DEFAULT;
	for (size_t i = 0; i < hits->files.len; i++)
		if (!add_lacking(run, store, &hits->files.items[i])) {
			diag_add(notes, DIAG_UNNAMED, "debuginfod: out of memory");
			return;
		}
	const struct debuginfod_options options = {.urls = run->settings.urls,
		.bytes_max = run->settings.size_max,
		.seconds_max = run->settings.seconds_max};
	if (run->requests.len > 0 &&
		debuginfod_start(&options, run->requests.items, run->requests.len, &run->job, &err) != TALLY_OK)
		diag_add(notes, DIAG_UNNAMED, "%s", err.text);
}

/* Appends "libc.so.6, libm.so.6, libz.so.1 and 4 more" for the requests in this state; a file with two requests
 * counts once. */
static size_t debuginfod_run_list_names(const struct debuginfod_run *run, enum debuginfod_state state, struct text *out)
{
	size_t count = 0;
	const char *last = NULL;
	for (size_t i = 0; i < run->requests.len; i++) {
		struct tally_str name = run->names.items[i];
		if (run->requests.items[i].state != state || name.data == last)
			continue;
		last = name.data;
		if (++count > NAMES_MAX)
			continue;
		size_t start = name.len;
		while (start > 0 && name.data[start - 1] != '/')
			start--;
		text_str(out, count > 1 ? ", " : "");
		text_bytes(out, name.data + start, name.len - start);
	}
	if (count > NAMES_MAX)
		text_printf(out, " and %zu more", count - NAMES_MAX);
	text_char(out, '\0');
	return count;
}

static void debuginfod_run_say(const struct debuginfod_run *run, enum debuginfod_state state, enum diag_level level,
	const char *sentence, struct diag *notes)
{
	struct text names = {0};
	if (debuginfod_run_list_names(run, state, &names) > 0 && !names.failed)
		diag_add(notes, level, "debuginfod: %s: %s", sentence, names.data);
	text_deinit(&names);
}

void debuginfod_run_end(struct debuginfod_run *run, struct diag *notes)
{
	if (run->job) {
		struct text budget = {0};
		bool is_over = debuginfod_look(run->job);
		debuginfod_run_say(run, DEBUGINFOD_FETCHED, DIAG_NOTE,
			"came too late for this report, and will be in the next one", notes);
		debuginfod_run_say(run, DEBUGINFOD_WAITING, is_over ? DIAG_UNNAMED : DIAG_NOTE,
			is_over ? "the fetching ended before it came to"
				: "still being fetched in the background, for the next report",
			notes);
		debuginfod_run_say(run, DEBUGINFOD_ABSENT, DIAG_NOTE, "no server has debug files of", notes);
		debuginfod_run_say(run, DEBUGINFOD_FAILED, DIAG_UNNAMED, "no answer for", notes);
		debuginfod_run_say(run, DEBUGINFOD_WRONG, DIAG_UNNAMED,
			"a server sent files of another build id, which were removed", notes);
		text_printf(&budget,
			"left out for the budget of %" PRIu64 " bytes and %" PRIu64
			" seconds (--debuginfod-size, --debuginfod-time)",
			run->settings.size_max, run->settings.seconds_max);
		text_char(&budget, '\0');
		if (!budget.failed)
			debuginfod_run_say(run, DEBUGINFOD_OVER_BUDGET, DIAG_UNNAMED, budget.data, notes);
		text_deinit(&budget);
	}
	debuginfod_leave(run->job);
	vec_free(&run->requests);
	vec_free(&run->names);
	*run = (struct debuginfod_run){0};
}
