/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/word_files.h"
#include "tasks/session/recording_input.h"
#include "verbs/export/export_database.h"
#include "verbs/export/export_run.h"

#define DATABASE_MARK "SQLite format 3" /* SQLite database files begin with this string and a NUL byte. */

struct query_settings {
	struct export_settings recording;
	bool csv, json;
	uint64_t timeout_s;
};

#define ROW(member) .offset = offsetof(struct query_settings, member)

static const struct option query_rows[] = {
	{"input", 'i', OPTION_STRING, "file", ROW(recording.input.path),
		.help = "the recording (perf.data), or a database that export wrote; -: standard input"},
	{"csv", 0, OPTION_FLAG, ROW(csv), .help = "print rows as comma-separated values"},
	{"json", 'j', OPTION_FLAG, ROW(json), .help = "print rows as an array of JSON objects"},
	{"timeout", 0, OPTION_U64, "seconds", ROW(timeout_s),
		.help = "abort a query that takes longer (default: never)"},
	{"event", 'e', OPTION_STRING, "name", ROW(recording.event), .help = "use this event only (default: all)"},
	EXPORT_SELECTION_ROWS,
};
#undef ROW
static const struct option_table query_table = {query_rows, ARRAY_LEN(query_rows), false};

static bool is_database(const char *path)
{
	char head[sizeof(DATABASE_MARK)];
	int fd = strcmp(path, "-") == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	bool is_one = fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
		      memcmp(head, DATABASE_MARK, sizeof(head)) == 0;
	if (fd >= 0)
		close(fd);
	return is_one;
}

static bool has_choice(const struct export_settings *s)
{
	return s->event || sample_options_are_asked(&s->samples) || symbol_options_are_asked(&s->symbols) ||
	       s->max_stack || s->no_inline || s->input.force;
}

static int cmd_query_print(const struct cli *cli, const struct query *query)
{
	struct byte_sink sink;
	struct tally_error err, written_err;
	byte_sink_init(&sink, STDOUT_FILENO, false);
	enum tally_status status = export_database_query(query, &sink, &err);
	enum tally_status written = byte_sink_finish(&sink, "standard output", &written_err);
	if (written != TALLY_OK)
		return cli_fail(cli, &written_err);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

static int query_recording(const struct cli *cli, const struct query_settings *settings, struct query *query)
{
	const struct export_wishes wishes = {
		.rows = true, .marks = true, .switches = true, .threads = true, .places = true, .traces = true};
	struct export_run run;
	struct tally_error err;
	enum tally_status status = export_run_open(cli, &settings->recording, &wishes, &run, &err);
	int code = EXIT_FAILED;
	if (run.is_ready) {
		query->view = &run.view;
		cli_start_pager(cli);
		code = cmd_query_print(cli, query);
		if (code == 0 && export_is_empty(&run.view)) {
			cli_note_counts(cli, run.source.reader, settings->recording.input.path);
			cli_note_empty(cli, settings->recording.input.path, run.result.health.samples);
		}
	}
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	export_run_close(&run);
	return code;
}

static int cmd_query_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct query_settings settings = {0};
	struct export_settings *recording = &settings.recording;
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	int words = argc - rest;
	if (words == 0)
		return cli_usagef(cli, command, "input", "query needs an SQL statement, such as 'select ...'");
	if (words > 2)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s': query takes a recording and one query",
			argv[rest + 2]);
	if (words == 2 && recording->input.path)
		return cli_usagef(cli, command, "input", "the recording is named twice: with -i and as an argument");
	if (settings.csv && settings.json)
		return cli_usagef(cli, command, "csv,json", "--csv and --json cannot be used together");
	if (recording->samples.times && !time_spans_are_valid(recording->samples.times))
		return cli_failf(cli, "Invalid time string"), EXIT_BAD_TIME;
	if (recording->max_stack > UINT32_MAX)
		return cli_usagef(cli, command, "max-stack", "--max-stack is too large");
	recording->input.path = words == 2 ? argv[rest] : recording_name(recording->input.path);
	struct query query = {.sql = argv[argc - 1],
		.form = settings.csv	? QUERY_CSV
			: settings.json ? QUERY_JSON
					: QUERY_TABLE,
		.path = recording->input.path,
		.timeout_s = settings.timeout_s};
	if (is_database(recording->input.path)) {
		if (has_choice(recording))
			return cli_usagef(cli, command, NULL,
				"%s is a database: choose samples in the query, not with options",
				recording->input.path);
		return cmd_query_print(cli, &query);
	}
	struct word_files files = {0};
	struct tally_error err;
	if (word_files_read_filters(&files, &recording->samples.filters, &err) == TALLY_OK)
		code = query_recording(cli, &settings, &query);
	else
		code = cli_fail(cli, &err);
	word_files_deinit(&files);
	return code;
}

static const char *const query_usages[] = {"[<options>] [<file>] '<select ...>'", NULL};
static const char *const query_examples[] = {
	"the hottest functions of one thread",
	"tally query perf.data \"select symbol, sum(period) from hits where tid = 4242 group by symbol order by 2 "
	"desc\"",
	"samples per tenth of a second, as CSV",
	"tally query --csv 'select time / 100000000, count(*) from samples group by 1'",
	"make the database once, and query it several times",
	"tally query recording.db 'select * from events'",
	NULL,
};

const struct command command_query = {
	.name = "query",
	.summary = "Query a recording with SQL",
	.usages = query_usages,
	.options = &query_table,
	.description =
		"Makes a SQLite database of the recording in a temporary file, as export --format sqlite does, and "
		"prints the result of one select. A query cannot change anything and cannot read other files. "
		"docs/exports.md describes the tables: events, maps, threads, frames, stacks, samples, marks, and "
		"the views hits (samples with all their names) and callers.",
	.examples = query_examples,
	.run = cmd_query_run,
};
