/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "tasks/fleet/batch_labels.h"
#include "tasks/fleet/batch_perfdata.h"
#include "tasks/fleet/fleet_time.h"
#include "tasks/reporting/report_options.h"
#include "verbs/fleet/fleet_diff.h"

#define USUAL_SORT "sym,dso"
#define USUAL_PAGE "flamegraph.html"
#define USUAL_SVG  "flamegraph.svg"

enum fleet_verb { FLEET_TOP, FLEET_FLAME, FLEET_DIFF, FLEET_PERFDATA, FLEET_LABELS };

struct fleet_job {
	const struct cli *cli;
	struct fleet_settings *settings;
	const char *query;
	struct fleet_store *store;
	struct fleet_question question, baseline_question;
	struct fleet_batch *batch, *baseline;
};

static const char *set_fleet_chains(const struct option_use *use)
{
	struct fleet_settings *s = use->settings;
	s->report.chains.are_asked = true;
	return report_options_apply(use, &s->report, report_request_set_chains);
}

static const char *set_fleet_percent_limit(const struct option_use *use)
{
	struct fleet_settings *s = use->settings;
	return report_options_apply(use, &s->report, report_request_set_percent_limit);
}

static const char *set_fleet_children(const struct option_use *use)
{
	struct fleet_settings *s = use->settings;
	s->report.rows.no_children = use->is_negated;
	return NULL;
}

#define ROW(member) .offset = offsetof(struct fleet_settings, member)

static const struct option fleet_rows[] = {
	{"from", 0, OPTION_STRING, "url", ROW(from.url),
		.help = "the store: a server (http://host:7779), or a database, sqlite:PATH (default: "
			"http://127.0.0.1:7779)"},
	{"since", 0, OPTION_STRING, "time", ROW(since),
		.help = "beginning of the time: 1h ago (default), 7d, 2026-11-28T07:00:00Z, ..."},
	{"until", 0, OPTION_STRING, "time", ROW(until), .help = "its end (default: now)"},
	{"event", 'e', OPTION_STRING, "name", ROW(event), .help = "only samples of this event"},
	{"by", 0, OPTION_STRING, "label", ROW(by),
		.help = "group by this label: it takes the place of the command's name. diff: its values are the "
			"replicates (default: host)"},
	{"baseline", 0, OPTION_STRING, "query", ROW(baseline),
		.help = "flamegraph, diff: what to compare with; without times of its own, in the same time"},
	{"baseline-since", 0, OPTION_STRING, "time", ROW(baseline_since),
		.help = "flamegraph, diff: compare with the same query, or that of --baseline, from this time on"},
	{"baseline-until", 0, OPTION_STRING, "time", ROW(baseline_until),
		.help = "end of the baseline's time (default: now)"},
	{"output", 'o', OPTION_STRING, "file", ROW(output),
		.help = "output file (default: standard output; flamegraph: flamegraph.html or flamegraph.svg)"},
	{"svg", 0, OPTION_FLAG, ROW(is_svg), .help = "flamegraph: an SVG image in place of a page"},
	{"folded", 0, OPTION_FLAG, ROW(is_folded), .help = "flamegraph: folded stacks, one a line, in place of a page"},
	{"count", 0, OPTION_FLAG, ROW(counts_samples),
		.help = "flamegraph: count samples, and do not add up their values"},
	{"sort", 's', OPTION_STRING, "key[,key2...]", ROW(report.rows.sort),
		.help = "top, diff: sort by key(s), as report does: sym, dso, comm, pid, srcline, ... (default: "
			"sym,dso)"},
	{"call-graph", 'g', OPTION_CALL, "print_type,threshold[,print_limit],order,sort_key",
		.argument_is_optional = true, .takes_next_word = true, .call = set_fleet_chains,
		.is_self_explaining = true, .help = "top: show call graphs, as report does (default: none)"},
	{"children", 0, OPTION_CALL, .call = set_fleet_children, .can_be_negated = true,
		.help = "top: also show what functions take together with those that they call (default); "
			"--no-children sorts by their own"},
	{"percent-limit", 0, OPTION_CALL, "percent", .call = set_fleet_percent_limit, .is_self_explaining = true,
		.help = "top: leave out rows below this share"},
	{"show-nr-samples", 'n', OPTION_FLAG, ROW(report.look.shows_samples),
		.help = "top: a column with the number of samples"},
	{"json", 0, OPTION_FLAG, ROW(report.output.is_json),
		.help = "top, diff: JSON (docs/schema/report.json, docs/diff-json.md)"},
	FLEET_STORE_OPTIONS(struct fleet_settings, from),
};
#undef ROW
static const struct option_table fleet_table = {fleet_rows, ARRAY_LEN(fleet_rows), false};

static void note_absent_label(const struct fleet_job *job, const struct fleet_batch *batch)
{
	struct tally_str name = str_from(job->settings->by);
	bool is_there = fleet_labels_find(&batch->labels, name) != NULL;
	for (size_t i = 0; i < batch->set_count && !is_there; i++)
		is_there = fleet_labels_find(&batch->sets[i], name) != NULL;
	if (!is_there && batch->profile->sample_count > 0)
		cli_sayf("%s: warning: no sample has the label '%s' of --by in that time ('%s fleet labels' lists "
			 "those that there are)\n",
			job->cli->program, job->settings->by, job->cli->program);
}

static enum tally_status ask(
	struct fleet_job *job, struct fleet_question *question, struct fleet_batch **batch, struct tally_error *err)
{
	const char *sort = job->settings->report.rows.sort;
	question->by_thread = sort && (strstr(sort, "pid") || strstr(sort, "tgid") || strstr(sort, "tid"));
	question->merges_labels = true;
	question->kept_label = str_from(job->settings->by);
	enum tally_status status = fleet_store_ask(job->store, question, batch, err);
	if (status == TALLY_OK && job->settings->by)
		note_absent_label(job, *batch);
	if (status == TALLY_OK && job->settings->by)
		status = batch_labels_group(*batch, str_from(job->settings->by), err);
	return status;
}

static enum tally_status ask_both(struct fleet_job *job, struct tally_error *err)
{
	const struct fleet_settings *s = job->settings;
	uint64_t now = fleet_time_now();
	enum tally_status status = fleet_settings_question(s, job->query, now, &job->question, err);
	if (status == TALLY_OK && fleet_settings_have_baseline(s))
		status = fleet_settings_baseline(s, job->query, now, &job->baseline_question, err);
	if (status == TALLY_OK)
		status = ask(job, &job->question, &job->batch, err);
	if (status == TALLY_OK && fleet_settings_have_baseline(s))
		status = ask(job, &job->baseline_question, &job->baseline, err);
	return status;
}

static struct batch_view fleet_view(const struct fleet_job *job)
{
	const struct fleet_settings *s = job->settings;
	return (struct batch_view){.batch = job->batch,
		.base = job->baseline,
		.title = fleet_settings_title(&job->question),
		.base_title = job->baseline ? fleet_settings_title(&job->baseline_question) : STR(""),
		.event = str_from(s->event),
		.group = str_from(s->by),
		.program = job->cli->program,
		.counts_samples = s->counts_samples};
}

static int put_output(struct fleet_job *job, const char *path,
	enum tally_status (*make)(struct fleet_job *job, struct text *out, struct tally_error *err))
{
	struct tally_error err;
	struct text out = {0};
	struct output_file file;
	if (output_file_open(path, NULL, &file, &err) != TALLY_OK)
		return cli_fail(job->cli, &err);
	text_to_fd(&out, file.fd);
	bool is_file = !output_file_is_stdout(&file);
	enum tally_status status = make(job, &out, &err);
	int code = output_file_finish_text(job->cli, &out, &file, path, status);
	if (status != TALLY_OK)
		return cli_fail(job->cli, &err);
	if (is_file && code == 0)
		cli_sayf("[ %s fleet: wrote %s ]\n", job->cli->program, path);
	return code;
}

static enum tally_status make_flame(struct fleet_job *job, struct text *out, struct tally_error *err)
{
	const struct fleet_settings *s = job->settings;
	struct batch_view view = fleet_view(job);
	enum batch_flame_form form = s->is_folded ? BATCH_FLAME_FOLDED : s->is_svg ? BATCH_FLAME_SVG : BATCH_FLAME_PAGE;
	struct text left_out = {0};
	batch_view_left_out(&view, &left_out);
	if (left_out.len)
		cli_sayf("%s: note: %.*s (-e NAME shows another event, 'fleet top' all)\n", job->cli->program,
			(int)left_out.len, left_out.data);
	text_deinit(&left_out);
	struct diag notes;
	diag_init(&notes);
	view.notes = &notes;
	enum tally_status status = batch_view_flame(&view, form, out, err);
	cli_print_diag(job->cli, &notes);
	diag_deinit(&notes);
	return status;
}

static int run_flame(struct fleet_job *job)
{
	const struct fleet_settings *s = job->settings;
	struct tally_error err;
	if (ask_both(job, &err) != TALLY_OK)
		return cli_fail(job->cli, &err);
	const char *usual = s->is_folded ? NULL : s->is_svg ? USUAL_SVG : USUAL_PAGE;
	return put_output(job, s->output ? s->output : usual, make_flame);
}

static enum tally_status make_top(struct fleet_job *job, struct text *out, struct tally_error *err)
{
	const struct batch_view view = fleet_view(job);
	return batch_view_report(&view, &job->settings->report, out, err);
}

static int run_top_sorted(struct fleet_job *job)
{
	struct tally_error err;
	struct fleet_settings *s = job->settings;
	if (!s->report.chains.are_asked)
		s->report.chains.look.style = CHAIN_NONE;
	if (ask_both(job, &err) != TALLY_OK)
		return cli_fail(job->cli, &err);
	if (fleet_batch_sample_count(job->batch) == 0)
		return cli_failf(job->cli,
			"no sample matches the query in that time ('%s fleet labels' lists what there is)",
			job->cli->program);
	if (!s->output && !s->report.output.is_json)
		cli_start_pager(job->cli);
	return put_output(job, s->output, make_top);
}

static int run_top(struct fleet_job *job)
{
	const char **sort = &job->settings->report.rows.sort;
	struct text keys = {0};
	if (!*sort)
		*sort = USUAL_SORT;
	if (job->settings->by) {
		text_printf(&keys, "comm,%s", *sort);
		text_char(&keys, '\0');
		*sort = keys.failed ? NULL : keys.data;
	}
	int code = *sort ? run_top_sorted(job) : cli_failf(job->cli, "out of memory");
	text_deinit(&keys);
	*sort = NULL;
	return code;
}

static void print_label(void *context, struct tally_str text)
{
	struct text *out = context;
	text_visible(out, text);
	text_char(out, '\n');
}

/* Lists the values of a label, or the names of all labels if name is NULL. */
static int run_labels(struct fleet_job *job, const char *name)
{
	struct tally_error err;
	struct text out = {0};
	enum tally_status status = fleet_settings_question(job->settings, NULL, fleet_time_now(), &job->question, &err);
	if (status == TALLY_OK)
		status = fleet_store_labels(job->store, &job->question, str_from(name), print_label, &out, &err);
	if (status != TALLY_OK) {
		text_deinit(&out);
		return cli_fail(job->cli, &err);
	}
	if (out.len == 0)
		cli_notef(job->cli, "the store has no %s%s in that time", name ? "values of the label " : "labels",
			name ? name : "");
	return cli_finish_text(job->cli, &out);
}

static enum tally_status make_diff(struct fleet_job *job, struct text *out, struct tally_error *err)
{
	struct diag notes;
	diag_init(&notes);
	const struct fleet_comparison comparison = {
		.settings = job->settings, .base = job->baseline_question, .other = job->question, .notes = &notes};
	enum tally_status status = fleet_diff(job->store, &comparison, out, err);
	cli_print_diag(job->cli, &notes);
	diag_deinit(&notes);
	return status;
}

static int run_diff(struct fleet_job *job)
{
	struct tally_error err;
	struct fleet_settings *s = job->settings;
	uint64_t now = fleet_time_now();
	if (!s->report.rows.sort)
		s->report.rows.sort = USUAL_SORT;
	enum tally_status status = fleet_settings_question(s, job->query, now, &job->question, &err);
	if (status == TALLY_OK)
		status = fleet_settings_baseline(s, job->query, now, &job->baseline_question, &err);
	if (status != TALLY_OK)
		return cli_fail(job->cli, &err);
	return put_output(job, s->output, make_diff);
}

static int run_perfdata(struct fleet_job *job)
{
	struct tally_error err;
	const struct fleet_settings *s = job->settings;
	enum tally_status status = ask_both(job, &err);
	if (status == TALLY_OK)
		status = batch_perfdata_write(job->batch, str_from(s->event), s->output, &err);
	if (status != TALLY_OK)
		return cli_fail(job->cli, &err);
	cli_sayf("[ %s fleet: wrote %s ]\n", job->cli->program, s->output);
	return 0;
}

/* Returns an error message if an option does not apply to the verb, or NULL. No option is ignored silently. */
static const char *fleet_job_misfit(const struct fleet_settings *s, enum fleet_verb verb)
{
	const struct report_request *r = &s->report;
	bool is_of_flame = s->is_svg || s->is_folded || s->counts_samples;
	bool is_of_top =
		r->chains.are_asked || r->rows.no_children || r->look.percent_limit > 0 || r->look.shows_samples;
	if (verb != FLEET_FLAME && is_of_flame)
		return "--svg, --folded and --count are options of flamegraph";
	if (verb != FLEET_TOP && is_of_top)
		return "-g, --children, --percent-limit and -n are options of top";
	if (verb != FLEET_TOP && verb != FLEET_DIFF && r->output.is_json)
		return "--json is an option of top and diff";
	if (verb != FLEET_TOP && verb != FLEET_DIFF && r->rows.sort)
		return "-s is an option of top and diff";
	if (verb != FLEET_FLAME && verb != FLEET_DIFF && fleet_settings_have_baseline(s))
		return "--baseline and --baseline-since are options of flamegraph and diff";
	if (verb == FLEET_DIFF && !fleet_settings_have_baseline(s))
		return "diff needs --baseline or --baseline-since";
	if (verb == FLEET_PERFDATA && (!s->output || s->by))
		return s->by ? "--by is an option of top, flamegraph and diff"
			     : "perfdata needs the name of a file: -o";
	if (verb == FLEET_LABELS && (s->event || s->by || s->output))
		return "-e, --by and -o are options of top, flamegraph and diff";
	if (s->is_svg && s->is_folded)
		return "--svg and --folded cannot be used together";
	if (s->baseline_until && !s->baseline_since)
		return "--baseline-until needs --baseline-since";
	return NULL;
}

static int run_fleet_verb(struct fleet_job *job, enum fleet_verb verb)
{
	struct tally_error err;
	if (fleet_store_open(&job->settings->from, &job->store, &err) != TALLY_OK)
		return cli_fail(job->cli, &err);
	int code = verb == FLEET_TOP	    ? run_top(job)
		   : verb == FLEET_FLAME    ? run_flame(job)
		   : verb == FLEET_DIFF	    ? run_diff(job)
		   : verb == FLEET_PERFDATA ? run_perfdata(job)
					    : run_labels(job, job->query);
	fleet_batch_destroy(job->batch);
	fleet_batch_destroy(job->baseline);
	fleet_store_close(job->store);
	return code;
}

static bool find_fleet_verb(const char *word, enum fleet_verb *verb)
{
	static const char *const names[] = {[FLEET_TOP] = "top",
		[FLEET_FLAME] = "flamegraph",
		[FLEET_DIFF] = "diff",
		[FLEET_PERFDATA] = "perfdata",
		[FLEET_LABELS] = "labels"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		*verb = (enum fleet_verb)i;
		if (cli_is_subverb(word, names[i]))
			return true;
	}
	return false;
}

static int cmd_fleet_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct fleet_settings settings = {0};
	struct fleet_job job = {.cli = cli, .settings = &settings};
	enum fleet_verb verb = FLEET_TOP;
	int rest;
	report_request_init(&settings.report);
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest == argc || !find_fleet_verb(argv[rest], &verb))
		return cli_usagef(
			cli, command, NULL, "fleet needs a command: top, flamegraph, diff, perfdata or labels");
	if (argc - rest > 2)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s': a query is one argument, in quotes",
			argv[rest + 2]);
	const char *misfit = fleet_job_misfit(&settings, verb);
	if (misfit)
		return cli_usagef(cli, command, NULL, "%s", misfit);
	job.query = rest + 1 < argc ? argv[rest + 1] : NULL;
	return run_fleet_verb(&job, verb);
}

static const char *const fleet_usages[] = {
	"[<options>] {top|flamegraph|diff|perfdata} [<query>]", "[<options>] labels [<name>]", NULL};
static const char *const fleet_examples[] = {
	"functions of a service in the last hour, all hosts together",
	"tally fleet top 'service=\"api\"'",
	"a flame graph of a day in one region, by host",
	"tally fleet flamegraph 'region=\"eu\"' --since 1d --by host -o day.html",
	"what a release changed: red takes more time than before, blue less",
	"tally fleet flamegraph 'release=\"1.4\"' --baseline 'release=\"1.3\"' --since 7d",
	"which functions take another share than a week ago, over all hosts",
	"tally fleet diff 'service=\"api\"' --since 1d --baseline-since 8d --baseline-until 7d",
	"which services there are",
	"tally fleet labels service",
	NULL,
};

const struct command command_fleet = {
	.name = "fleet",
	.summary = "Show profiles of many machines from a store",
	.usages = fleet_usages,
	.options = &fleet_table,
	.description =
		"Adds up the profiles that a query selects and shows them like a recording: 'top' as a table, "
		"'flamegraph' "
		"as a page. 'diff' says which functions take another share than in a baseline, with the hosts as "
		"replicates of a "
		"test as 'tally diff' makes it. 'perfdata' writes a recording with the symbols, which report and perf "
		"read. 'labels' lists the names of labels, or the values of one.\n\nA query "
		"compares labels: "
		"service=\"api\" and not (region=~\"eu-.*\" or host!=\"a\"). =~ and !~ take regular expressions that "
		"match the "
		"whole value. An empty query selects everything. docs/fleet.md has more.",
	.examples = fleet_examples,
	.run = cmd_fleet_run,
};
