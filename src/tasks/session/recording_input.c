/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/recording_input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/wait_events.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"

static bool input_is_pipe(void)
{
	struct stat st;
	return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

static bool is_of_another_user(const char *path)
{
	struct stat st;
	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && st.st_uid != 0 && st.st_uid != geteuid();
}

/* Warns if a truncated recording lacks the formats of its tracepoints, which perf writes at the end. */
static void tell_nameless_tracepoints(struct perfdata_reader *reader)
{
	size_t count, tracepoints = 0;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	const struct input_health *health = perfdata_reader_health(reader);
	if (!health->is_cut || perfdata_reader_features(reader)->tracing_data.len > 0)
		return;
	for (size_t i = 0; i < count; i++)
		tracepoints += events[i].attr.type == EVENT_TRACEPOINT;
	if (tracepoints > 0)
		fprintf(stderr,
			"warning: the recording is cut at offset %#" PRIx64
			": the names and fields of its %zu tracepoints would have followed\n",
			health->cut_offset, tracepoints);
}

static const struct option input_rows[] = {
	{"input", 'i', OPTION_STRING, "file", .offset = offsetof(struct input_options, path),
		.help = "input file name (default: perf.data); -: standard input"},
	{"force", 'f', OPTION_FLAG, .offset = offsetof(struct input_options, force),
		.help = "read a file even if another user owns it"},
};
const struct option_table input_option_table = {input_rows, ARRAY_LEN(input_rows), false};

enum tally_status recording_open(
	const struct input_options *input, struct perfdata_reader **reader, struct tally_error *err)
{
	const char *path = input->path;
	if (!path || !*path)
		path = !file_exists(RECORDING_NAME) && input_is_pipe() ? "-" : RECORDING_NAME;
	if (!input->force && is_of_another_user(path))
		return error_set(
			err, TALLY_DENIED, "File %s not owned by current user or root (use -f to override)", path);
	enum tally_status status = perfdata_reader_open(path, reader, err);
	/* The messages are those of perf, except for the program's name, because scripts search for them. */
	if (status == TALLY_NOT_FOUND || status == TALLY_DENIED) {
		bool is_usual = strcmp(path, RECORDING_NAME) == 0 && status == TALLY_NOT_FOUND;
		const char *program = strcmp(program_invocation_short_name, "perf") == 0 ? "perf" : "tally";
		const char *why = strerror(err->errnum);
		return is_usual ? error_set(err, status, "failed to open %s: %s  (try '%s record' first)", path, why,
					  program)
		       : status == TALLY_DENIED ? error_set(err, status,
							  "failed to open %s: %s; run as the user who recorded it, or "
							  "let others read it with 'chmod a+r'",
							  path, why)
						: error_set(err, status, "failed to open %s: %s", path, why);
	}
	if (status == TALLY_CORRUPT) {
		fprintf(stderr, "incompatible file format (rerun with -v to learn more)\n");
		return error_prefix(err, "%s", path);
	}
	if (status == TALLY_OK)
		tell_nameless_tracepoints(*reader);
	return status;
}

static void recording_input_say(const struct cli *cli, uint64_t count, const char *what)
{
	if (count > 0)
		cli_sayf("%s: %llu %s\n", cli->program, (unsigned long long)count, what);
}

/* The offset and type of the first damaged record have the format of perf 7, because scripts search for it. */
static void say_damaged(const struct cli *cli, const struct damaged_records *damaged)
{
	const char *name = record_type_name(damaged->type);
	if (damaged->count == 0)
		return;
	if (damaged->count == 1)
		cli_sayf("%s: a damaged record is left out", cli->program);
	else
		cli_sayf("%s: %" PRIu64 " damaged records are left out", cli->program, damaged->count);
	if (damaged->offset > 0)
		cli_sayf(" (%sat offset %#" PRIx64 ": %s (%u))", damaged->count == 1 ? "" : "the first ",
			damaged->offset, name ? name : "unknown", damaged->type);
	fputc('\n', stderr);
}

/* Reports a hardware trace, which perf would decode into samples. */
static void say_trace(const struct cli *cli, const struct input_health *health)
{
	const char *name = record_trace_name(health->trace_type);
	if (health->trace_bytes > 0)
		cli_sayf("%s: the recording's hardware trace (%s, %llu bytes) is not decoded: what only the trace "
			 "holds is missing\n",
			cli->program, name ? name : "of an unknown kind", (unsigned long long)health->trace_bytes);
}

void cli_print_health(const struct cli *cli, const struct input_health *health)
{
	fflush(stdout);
	if (health->is_unfinished)
		cli_sayf("%s: warning: the recorder did not finish (it was killed, or ran out of memory or disk "
			 "space): what it had not written is missing\n",
			cli->program);
	recording_input_say(cli, health->missing_parts, "files of the recording's directory are missing, or cut");
	recording_input_say(cli, health->lost_events, "events were lost while recording: raise -m, or lower -F");
	recording_input_say(cli, health->lost_samples, "samples were lost while recording");
	recording_input_say(
		cli, health->filtered_samples, "samples did not pass the recording's --filter and were not stored");
	recording_input_say(
		cli, health->unattributed_samples, "samples belong to no event of the recording and are left out");
	recording_input_say(cli, health->unordered, "records came a round too late to be sorted by time");
	recording_input_say(cli, health->untimed_jitdumps,
		"jitdumps have timestamps of another clock (record with -k mono): of several functions at one address "
		"the last one is named");
	say_damaged(cli, &health->damaged);
	recording_input_say(cli, health->damaged_features, "damaged header sections are left out");
	recording_input_say(cli, health->unknown_records, "records of unknown types are left out");
	say_trace(cli, health);
}

enum tally_status recording_is_empty(const char *path, uint64_t samples, struct tally_error *err)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	if (samples == 0)
		return error_set(err, TALLY_NOT_FOUND, "%s has no samples", name);
	return error_set(
		err, TALLY_NOT_FOUND, "none of the %" PRIu64 " samples of %s passes the filters", samples, name);
}

void cli_note_empty(const struct cli *cli, const char *path, uint64_t samples)
{
	struct tally_error err;
	(void)recording_is_empty(path, samples, &err);
	cli_failf(cli, "note: %s", err.text);
}

bool recording_is_of_stat(const struct perfdata_reader *reader)
{
	return feature_is_present(perfdata_reader_features(reader), FEATURE_STAT) ||
	       perfdata_reader_health(reader)->counts > 0;
}

void cli_note_counts(const struct cli *cli, const struct perfdata_reader *reader, const char *path)
{
	const char *name = recording_name(path);
	bool is_stream = strcmp(name, "-") == 0;
	if (recording_is_of_stat(reader))
		cli_failf(cli,
			"note: %s is a recording of stat, which has counts and no samples: '%s stat report -i %s' "
			"shows them",
			is_stream ? "standard input" : name, cli->program, name);
}

void cli_note_origin(const struct cli *cli, const struct perfdata_reader *reader)
{
	const struct perfdata_origin origin = origin_of(perfdata_reader_features(reader));
	struct text text = {0};
	origin_text(&text, &origin);
	if (text.len > 0 && !text.failed)
		cli_failf(cli, "note: %.*s", (int)text.len, text.data);
	text_deinit(&text);
}

enum tally_status recording_check_wakers(
	const struct perfdata_reader *reader, const char *path, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	const struct perfdata_event *waits = NULL;
	for (size_t i = 0; i < count && !waits; i++)
		waits = wait_event_is(&events[i]) ? &events[i] : NULL;
	if (!waits)
		return error_set(err, TALLY_INVALID,
			"--wakers needs waits that say who ended them, and %s has no waits: it was made without "
			"'record --wall' or '--off-cpu'",
			path);
	if (!(waits->attr.sample_type & SAMPLE_RAW))
		return error_set(err, TALLY_INVALID,
			"--wakers needs waits that say who ended them, and those of %s do not: record them with "
			"'tally record --wall' or '--off-cpu'",
			path);
	if (waits->attr.config1 == WAIT_SOURCE_SWITCHES)
		return error_set(err, TALLY_INVALID,
			"--wakers needs waits that say who ended them, and wakers are not known in %s: its waits were "
			"measured from context-switch records (--wall-source switches); record as root, or with "
			"CAP_BPF and CAP_PERFMON, by BPF or tracepoints",
			path);
	return TALLY_OK;
}

void cli_warn_origins(const struct cli *cli, const struct origin_named *base, const struct origin_named *other)
{
	struct text text = {0};
	origin_difference(&text, base, other);
	if (text.len > 0 && !text.failed)
		cli_failf(cli, "warning: %.*s", (int)text.len, text.data);
	text_deinit(&text);
}

bool recording_samples_branches(const struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if ((events[i].attr.sample_type & SAMPLE_BRANCH_STACK) &&
			!(events[i].attr.branch_sample_type & BRANCH_CALL_STACK))
			return true;
	return false;
}

bool recording_has_branches(const struct perfdata_reader *reader)
{
	if (perfdata_reader_is_pipe(reader))
		return recording_samples_branches(reader);
	return feature_is_present(perfdata_reader_features(reader), FEATURE_BRANCH_STACK);
}
