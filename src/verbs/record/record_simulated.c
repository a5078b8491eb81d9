/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/record/record_simulated.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "tasks/session/symbol_options.h"
#include "tasks/simulation/simulation_counts.h"
#include "tasks/simulation/simulation_model.h"
#include "tasks/simulation/simulation_recording.h"
#include "tasks/simulation/simulation_run.h"

#define EVENT_DEFAULT "instructions"
/* Default size of a stack dump in bytes, which suffices for deep stacks of C++ programs. The outer frames of deeper
 * stacks are taken from an earlier dump of the thread. */
#define STACK_BYTES_DEFAULT 32768

struct record_simulated_option {
	bool is_given;
	const char *name;
};

static const char *record_simulated_first(const struct record_simulated_option *options, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (options[i].is_given)
			return options[i].name;
	return NULL;
}

static const char *record_simulated_other_target(const struct record_settings *s)
{
	const struct target_request *t = &s->target;
	const struct record_simulated_option options[] = {{t->pids, "-p"}, {t->tids, "-t"}, {t->user, "-u"},
		{t->system_wide, "-a"}, {t->cpus, "-C"}, {record_settings_have(s, RECORD_WORD_CGROUP), "-G"},
		{t->per_thread, "--per-thread"}, {s->modes.no_inherit, "-i"}};
	return record_simulated_first(options, ARRAY_LEN(options));
}

/* Returns an option that only kernel events support, or NULL if none is given. */
static const char *record_simulated_kernels(const struct record_settings *s)
{
	const struct record_sample_fields *f = &s->fields;
	const struct record_simulated_option options[] = {{s->modes.use_clockid, "-k"}, {s->wall, "--wall"},
		{s->off_cpu, "--off-cpu"}, {s->has_off_cpu_ms, "--off-cpu-thresh"},
		{s->has_wall_source, "--wall-source"}, {record_settings_have(s, RECORD_WORD_FILTER), "--filter"},
		{record_settings_have(s, RECORD_WORD_EXCLUDE_PERF), "--exclude-perf"},
		{record_settings_have(s, RECORD_WORD_PFM), "--pfm-events"}, {s->has_any_branch, "-b"},
		{s->has_branch_filter, "-j"}, {f->user_regs, "--user-regs"}, {f->intr_regs, "--intr-regs"},
		{f->data_address, "-d"}, {f->data_maps, "--data-mmap"}, {f->data_source, "--sample-mem-info"},
		{f->cpu, "--sample-cpu"}, {f->raw, "-R"}, {f->weight, "-W"}, {f->transaction, "--transaction"},
		{f->phys_addr, "--phys-data"}, {f->data_page_size, "--data-page-size"},
		{f->code_page_size, "--code-page-size"}, {f->switch_events, "--switch-events"},
		{f->namespaces, "--namespaces"}, {f->cgroups, "--all-cgroups"}, {s->latency, "--latency"},
		{s->modes.all_kernel, "--all-kernel"}, {s->chains.no_user, "--kernel-callchains"},
		{s->modes.thread_counts, "-s"}, {s->modes.running_time, "--running-time"}, {s->modes.group, "--group"},
		{s->strict_freq, "--strict-freq"}};
	return record_simulated_first(options, ARRAY_LEN(options));
}

/* Returns an option about ring buffers, output or control that recording has and simulation does not; NULL if none is
 * given. */
static const char *record_simulated_rings(const struct record_settings *s)
{
	const struct record_simulated_option options[] = {{s->ring_bytes || s->has_aux_size, "-m"},
		{s->overwrites, "--overwrite"}, {s->realtime_priority, "-r"},
		{s->affinity != AFFINITY_NONE, "--affinity"}, {s->flush_bytes, "--mmap-flush"},
		{s->modes.no_buffering, "--no-buffering"}, {s->output.threads != THREADS_NONE, "--threads"},
		{s->output.switches, "--switch-output"}, {s->output.timestamp_name, "--timestamp-filename"},
		{s->output.max_bytes, "--max-size"}, {s->control.is_given, "--control"},
		{s->tail_synthesize, "--tail-synthesize"},
		{s->map_timeout_ms != RECORD_MAP_TIMEOUT_MS, "--proc-map-timeout"},
		{s->synth.no_tasks || s->synth.no_maps || s->synth.no_cgroups, "--synth"}};
	return record_simulated_first(options, ARRAY_LEN(options));
}

static int record_simulated_refuse_chains(const struct record_simulated_input *in)
{
	const struct record_settings *s = in->settings;
	switch (s->chains.mode) {
	case CALLGRAPH_NONE:
	case CALLGRAPH_AUTO:
	case CALLGRAPH_DWARF:
		break;
	case CALLGRAPH_FP:
	case CALLGRAPH_LBR:
	case CALLGRAPH_BPF:
	default:
		return cli_failf(in->cli,
			"--simulate makes call chains of stack dumps: say -g, --call-graph auto or --call-graph dwarf");
	}
	if (s->chains.stack_bytes > SIM_STACK_BYTES_MOST)
		return cli_failf(in->cli, "--simulate dumps at most %u bytes of a stack", SIM_STACK_BYTES_MOST);
	if (s->keeps_stacks && s->chains.mode == CALLGRAPH_NONE && !s->call_graph_flag)
		return cli_failf(in->cli, "--keep-stacks needs --call-graph dwarf");
	return 0;
}

/* With -D -1, the program itself starts the recording (tally/simulation.h). */
static bool record_simulated_starts_off(const struct record_settings *s)
{
	return s->has_delay && s->toggles.len == 0;
}

static int record_simulated_check(const struct record_simulated_input *in)
{
	const struct record_settings *s = in->settings;
	const char *option = record_simulated_other_target(s);
	if (option)
		return cli_failf(in->cli,
			"--simulate runs a command of its own, with all its threads and children: %s cannot be used "
			"with it",
			option);
	if (!in->command)
		return cli_usagef(in->cli, in->verb, "simulate", "--simulate needs a command to run");
	if (s->freq_text)
		return cli_failf(in->cli, "-F: simulated events come at no rate; -c N takes a sample each N events");
	if (s->modes.no_samples)
		return cli_failf(in->cli, "-n: '%s stat --simulate' counts without samples", in->cli->program);
	if (s->has_delay && !record_simulated_starts_off(s))
		return cli_failf(in->cli, "-D: a simulated command has no clock; --toggle FUNCTION begins at a "
					  "function, and -D -1 where the program says so");
	option = record_simulated_kernels(s);
	if (option)
		return cli_failf(
			in->cli, "%s is about events of the kernel: it cannot be used with --simulate", option);
	option = record_simulated_rings(s);
	if (option)
		return cli_failf(in->cli,
			"%s is about the reading of events while they come: it cannot be used with --simulate, which "
			"writes the recording when the command has ended",
			option);
	return record_simulated_refuse_chains(in);
}

static bool record_simulated_has_chains(const struct record_settings *s)
{
	return s->chains.mode != CALLGRAPH_NONE || s->call_graph_flag;
}

struct record_simulated_options { /* Options for the Valgrind tool. */
	struct arena arena;
	VEC(const char *) items;
};

/* option is NULL if its allocation failed. */
static bool record_simulated_add(struct record_simulated_options *options, const char *option)
{
	return option && vec_push(&options->items, option);
}

static bool record_simulated_has(const struct simulation_sampling *sampling, bool (*is_one)(uint32_t event))
{
	for (size_t i = 0; i < sampling->len; i++)
		if (is_one(sampling->events[i].event))
			return true;
	return false;
}

static bool record_simulated_is_l2(uint32_t event)
{
	return strncmp(simulation_event_name(event), "l2-", 3) == 0;
}

static bool record_simulated_is_of_model(uint32_t event)
{
	const char *kind = simulation_event_kind(event);
	return strcmp(kind, "caches") == 0 || strcmp(kind, "tlb") == 0;
}

static enum tally_status record_simulated_tell_model(const struct record_simulated_input *in,
	const struct simulation_sampling *sampling, struct diag *notes, struct record_simulated_options *options,
	struct tally_error *err)
{
	struct simulation_model model;
	char option[SIMULATION_OPTION_BYTES];
	bool is_used = record_simulated_has(sampling, record_simulated_is_of_model);
	struct simulation_caches caches;
	simulation_caches_read(&caches);
	enum tally_status status = simulation_model_make(
		in->kernel, &caches, in->settings->simulation.cache_model, &model, is_used ? notes : NULL, err);
	if (status != TALLY_OK)
		return status;
	if (model.parts[SIMULATION_L2].size == 0 && record_simulated_has(sampling, record_simulated_is_l2))
		return error_set(err, TALLY_INVALID, "the model has no L2 cache, whose events -e names");
	bool is_made = true;
	for (enum simulation_part_kind part = 0; is_made && part < SIMULATION_PARTS; part++)
		if (simulation_model_option(&model, part, option))
			is_made = record_simulated_add(options, arena_printf(&options->arena, "%s", option));
	for (size_t i = 0; is_made && in->settings->verbose && i < options->items.len; i++)
		diag_add(notes, DIAG_NOTE, "the simulator runs with %s", options->items.items[i]);
	return is_made ? TALLY_OK : error_nomem(err);
}

static enum tally_status record_simulated_tell_tool(const struct record_simulated_input *in,
	const struct simulation_sampling *sampling, struct diag *notes, struct record_simulated_options *options,
	struct tally_error *err)
{
	const struct record_settings *s = in->settings;
	unsigned stack_bytes = s->chains.stack_bytes ? s->chains.stack_bytes : STACK_BYTES_DEFAULT;
	struct text kinds = {0};
	for (size_t i = 0; i < sampling->len; i++)
		text_printf(&kinds, "%s%s", i ? "," : "", simulation_event_kind(sampling->events[i].event));
	bool is_made = !kinds.failed &&
		       record_simulated_add(
			       options, arena_printf(&options->arena, "--events=%.*s", (int)kinds.len, kinds.data)) &&
		       record_simulated_add(options, arena_printf(&options->arena, "--stack-bytes=%u",
							     record_simulated_has_chains(s) ? stack_bytes : 0)) &&
		       (!record_simulated_starts_off(s) || record_simulated_add(options, "--collect-at-start=no"));
	text_deinit(&kinds);
	for (size_t i = 0; is_made && i < sampling->len; i++)
		is_made = record_simulated_add(options, arena_printf(&options->arena, "--sample=%s:%llu",
								simulation_event_name(sampling->events[i].event),
								(unsigned long long)sampling->events[i].period));
	for (size_t i = 0; is_made && i < s->simulation.toggles.len; i++)
		is_made = record_simulated_add(
			options, arena_printf(&options->arena, "--toggle=%s", s->simulation.toggles.items[i]));
	return is_made ? record_simulated_tell_model(in, sampling, notes, options, err) : error_nomem(err);
}

static void record_simulated_say(const struct record_simulated_input *in,
	const struct simulation_recording_summary *sum, struct diag *notes, bool is_explained)
{
	const struct record_settings *s = in->settings;
	const char *program = in->cli->program;
	struct text lines = {0};
	cli_print_diag(in->cli, notes);
	if (sum->streams.lost_samples)
		cli_sayf("%s: warning: %llu samples were lost: the simulator's files in TMPDIR could not be written\n",
			program, (unsigned long long)sum->streams.lost_samples);
	if (sum->streams.damaged)
		cli_sayf("%s: warning: %llu damaged records of the simulator were left out\n", program,
			(unsigned long long)sum->streams.damaged);
	if (s->quiet)
		return;
	cli_sayf("[ %s record: Captured and wrote %.3f MB %s (%llu simulated samples) ]\n", program,
		(double)sum->bytes / 1024.0 / 1024.0, s->output.path, (unsigned long long)sum->streams.samples);
	record_live_print(&lines, &sum->live);
	struct tally_str rest = text_view(&lines), line;
	while (rest.len && str_next(&rest, '\n', &line))
		cli_sayf("[ %.*s ]\n", (int)line.len, line.data);
	text_deinit(&lines);
	if (sum->live.totals.ends.ends[UNWIND_STACK_SHORT] > sum->streams.samples / 100 &&
		s->chains.stack_bytes < SIM_STACK_BYTES_MOST)
		cli_sayf("%s: note: stacks that are cut may be deeper than their dumps: --call-graph dwarf,%u dumps "
			 "more\n",
			program, SIM_STACK_BYTES_MOST);
	if (sum->streams.samples == 0 && !is_explained)
		cli_sayf("%s: note: no event came as often as a sample stands for: try a lower -c\n", program);
}

struct record_simulated_job {
	const struct record_simulated_input *in;
	struct record_simulated_options options;
	struct simulation_recording *recording;
	struct simulation_recording_summary sum;
	struct diag notes;
	bool is_explained; /* Set if the notes explain why there are no samples. */
};

/* Runs the command, and writes the samples it produced, even if it failed. */
static enum tally_status record_simulated_record(
	struct record_simulated_job *job, struct record_summary *summary, struct tally_error *err)
{
	const struct record_settings *s = job->in->settings;
	const struct simulation_request request = {job->in->command, job->options.items.items, job->options.items.len};
	struct simulation_run run;
	struct simulation_counts counts;
	enum tally_status status = simulation_start(&request, &run, err);
	if (status != TALLY_OK)
		return status;
	status = simulation_wait(&run, err);
	if (status == TALLY_OK) {
		summary->has_child_status = true;
		summary->child_status = run.status;
		status = simulation_recording_write(job->recording, run.folder, &job->sum, err);
	}
	bool may_lack = job->sum.streams.samples == 0 || s->simulation.toggles.len > 0;
	if (may_lack && status == TALLY_OK && simulation_counts_read(run.folder, 0, &counts, NULL) == TALLY_OK) {
		simulation_counts_note_nothing(&counts, s->simulation.toggles.items, s->simulation.toggles.len,
			record_simulated_starts_off(s), &job->notes);
		job->is_explained = counts.values[SIM_INSTRUCTIONS] == 0;
	}
	simulation_end(&run, &job->notes);
	summary->signal = run.signal;
	return status;
}

static enum tally_status record_simulated_go(struct record_simulated_job *job,
	const struct simulation_sampling *sampling, struct record_summary *summary, struct tally_error *err)
{
	const struct record_simulated_input *in = job->in;
	const struct record_settings *s = in->settings;
	const struct simulation_recording_request what = {.kernel = in->kernel,
		.path = s->output.path,
		.compression_level = s->output.compression_level,
		.has_chains = record_simulated_has_chains(s),
		.keeps_stacks = s->keeps_stacks,
		.no_build_ids = s->no_build_ids,
		.wants_times = s->time_boundary,
		.all_build_ids = s->all_build_ids,
		.no_build_id_cache = s->no_build_id_cache,
		.store = symbol_options_of(in->cli, &(struct symbol_options){0}, NULL),
		.argv = in->argv,
		.diag = &job->notes};
	enum tally_status status = record_simulated_tell_tool(in, sampling, &job->notes, &job->options, err);
	if (status == TALLY_OK)
		status = simulation_recording_open(&what, &job->recording, err);
	return status == TALLY_OK ? record_simulated_record(job, summary, err) : status;
}

int record_simulated_run(const struct record_simulated_input *in, struct record_summary *summary)
{
	const struct record_settings *s = in->settings;
	struct record_simulated_job job = {.in = in};
	struct simulation_sampling sampling = {0};
	struct tally_error err = {0};
	enum tally_status status = TALLY_OK;
	*summary = (struct record_summary){0};
	int code = record_simulated_check(in);
	if (code != 0)
		return code;
	for (size_t i = 0; status == TALLY_OK && i < s->event_words.len; i++)
		status = simulation_sampling_add(&sampling, s->event_words.items[i].text, s->period, &err);
	if (status == TALLY_OK && sampling.len == 0)
		status = simulation_sampling_add(&sampling, EVENT_DEFAULT, s->period, &err);
	if (status != TALLY_OK)
		return cli_fail(in->cli, &err);
	if (s->dry_run)
		return 0;
	diag_init(&job.notes);
	arena_init(&job.options.arena);
	status = record_simulated_go(&job, &sampling, summary, &err);
	simulation_recording_destroy(job.recording);
	vec_free(&job.options.items);
	arena_deinit(&job.options.arena);
	if (status == TALLY_OK) {
		record_simulated_say(in, &job.sum, &job.notes, job.is_explained);
	} else {
		cli_print_diag(in->cli, &job.notes);
		code = cli_fail(in->cli, &err);
	}
	diag_deinit(&job.notes);
	return code;
}
