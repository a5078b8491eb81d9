/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/sample_options.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/word_list.h"
#include "machine/machine.h"
#include "tasks/session/cpu_filter.h"

#define ROW(member) .offset = offsetof(struct sample_options, member)

static const struct option sample_rows[] = {
	{"time", 0, OPTION_STRING, "str", ROW(times),
		.help = "Time span of interest (start,stop), or percentages of the recording (10%-20%, 10%/2)"},
	{"cpu", 'C', OPTION_STRING, "cpu", ROW(cpus), .help = "only samples of these CPUs (0-3,8)"},
	{"comms", 'c', OPTION_STRING, "comm[,comm...]", ROW(filters.comms),
		.help = "only samples of threads with these names (file://FILE lists them, one per line)"},
	{"pid", 0, OPTION_STRING, "pid[,pid...]", ROW(filters.pids), .help = "only samples of these processes"},
	{"tid", 0, OPTION_STRING, "tid[,tid...]", ROW(filters.tids), .help = "only samples of these threads"},
};
const struct option_table sample_option_table = {sample_rows, ARRAY_LEN(sample_rows), false};

static const struct option place_rows[] = {
	{"dsos", 'd', OPTION_STRING, "dso[,dso...]", ROW(filters.dsos),
		.help = "only samples in these DSOs (file://FILE lists them, one per line)"},
	{"symbols", 'S', OPTION_STRING, "symbol[,symbol...]", ROW(filters.symbols),
		.help = "only samples in these functions (file://FILE lists them, one per line)"},
};
const struct option_table place_option_table = {place_rows, ARRAY_LEN(place_rows), false};

static const struct option idle_rows[] = {
	{"no-idle", 0, OPTION_FLAG, ROW(filters.no_idle),
		.help = "hide waits of threads that only wait for work: in event loops, thread pools, kernel threads"},
	{"idle-functions", 0, OPTION_STRING, "function[,function...]", ROW(filters.idle_functions),
		.help = "for --no-idle: more functions that wait for work (pool_*), or that never do (!query)"},
};
#undef ROW
const struct option_table idle_option_table = {idle_rows, ARRAY_LEN(idle_rows), false};

bool sample_options_are_asked(const struct sample_options *options)
{
	const struct profile_filter_lists *lists = &options->filters;
	return options->times || options->cpus || lists->comms || lists->pids || lists->tids || lists->dsos ||
	       lists->symbols;
}

enum tally_status sample_options_check(
	const struct sample_options *options, const struct perfdata_reader *reader, struct tally_error *err)
{
	if (options->cpus && !perfdata_reader_has_samples_with(reader, SAMPLE_CPU))
		return error_set(err, TALLY_INVALID, "File does not contain CPU events. Remove -C option to proceed.");
	return TALLY_OK;
}

enum tally_status sample_filter_init(struct sample_filter *filter, const struct sample_options *options,
	struct perfdata_reader *reader, struct tally_error *err)
{
	*filter = (struct sample_filter){.options = *options};
	enum tally_status status = word_files_read_filters(&filter->files, &filter->options.filters, err);
	if (status == TALLY_OK)
		status = sample_options_check(options, reader, err);
	if (status == TALLY_OK && options->cpus)
		status = cpu_filter_parse(options->cpus, &filter->cpus, err);
	if (status == TALLY_OK && options->times)
		status = time_spans_read(options->times, reader, &filter->spans, err);
	return status;
}

void sample_filter_deinit(struct sample_filter *filter)
{
	time_spans_deinit(&filter->spans);
	word_files_deinit(&filter->files);
	free(filter->cpus);
	*filter = (struct sample_filter){0};
}

bool sample_filter_has_cpu(const struct sample_filter *filter, uint32_t cpu)
{
	return !filter->cpus || (cpu < LIMIT_CPUS && filter->cpus[cpu]);
}

bool sample_filter_is_within(const struct sample_filter *filter, const struct sample *sample)
{
	if (filter->spans.items.len > 0 && !time_spans_have(&filter->spans, sample->time))
		return false;
	return !filter->cpus || (sample->present & SAMPLE_CPU && sample_filter_has_cpu(filter, sample->cpu));
}

bool sample_filter_wants_thread(
	const struct sample_filter *filter, const struct machine *machine, const struct sample *sample, uint64_t clock)
{
	const struct profile_filter_lists *lists = &filter->options.filters;
	int32_t tid = (int32_t)sample->tid;
	if (lists->pids && !word_list_has_number(lists->pids, (int32_t)sample->pid))
		return false;
	if (lists->tids && !word_list_has_number(lists->tids, tid))
		return false;
	if (!lists->comms)
		return true;
	uint32_t comm = machine_comm_at(machine, tid, clock);
	return comm != INTERN_NONE && word_list_has(lists->comms, machine_string(machine, comm));
}

bool sample_filter_wants(
	const struct sample_filter *filter, const struct machine *machine, const struct sample *sample, uint64_t clock)
{
	return sample_filter_is_within(filter, sample) && sample_filter_wants_thread(filter, machine, sample, clock);
}
