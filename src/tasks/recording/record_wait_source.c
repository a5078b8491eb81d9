/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_wait_source.h"

#include <string.h>

#include "base/error.h"

static enum tally_status record_wait_source_try(const struct record_wait_source_config *config, enum wait_source kind,
	struct record_wait_source *source, struct tally_error *err)
{
	struct switch_waits_config switches = config->switches;
	*source = (struct record_wait_source){.kind = kind};
	if (kind == WAIT_SOURCE_BPF)
		return off_cpu_create(&config->bpf, &source->off_cpu, err);
	if (config->bpf.cgroup_count)
		return error_set(err, TALLY_UNSUPPORTED,
			"the waits of a cgroup alone (-G) are measured by BPF only: use -p instead");
	switches.source = kind;
	return switch_waits_create(&switches, &source->switches, err);
}

/* Removes the option's name from the start of a message, because the text to which it is appended has it already. */
static const char *record_wait_source_reason(const struct record_wait_source_config *config, const char *text)
{
	size_t len = strlen(config->bpf.what);
	bool is_named = strncmp(text, config->bpf.what, len) == 0 && strncmp(text + len, ": ", 2) == 0;
	return is_named ? text + len + 2 : text;
}

static const char *record_wait_source_what(enum wait_source kind)
{
	return kind == WAIT_SOURCE_BPF		 ? "BPF"
	       : kind == WAIT_SOURCE_TRACEPOINTS ? "the tracepoints sched_switch and sched_waking"
						 : "context-switch records and /proc";
}

static void record_wait_source_say(const struct record_wait_source_config *config,
	const struct record_wait_source *source, const struct text *refusals)
{
	struct tally_str name = wait_source_name(source->kind);
	if (source->kind != WAIT_SOURCE_BPF)
		diag_add(config->diag, DIAG_NOTE, "waits are measured from %s%s (--wall-source %.*s)%.*s",
			record_wait_source_what(source->kind),
			switch_waits_has_stacks(source->switches) ? "" : ", with the stacks of longer ones only",
			(int)name.len, name.data, (int)refusals->len, refusals->data ? refusals->data : "");
}

enum tally_status record_wait_source_open(
	const struct record_wait_source_config *config, struct record_wait_source *source, struct tally_error *err)
{
	struct text refusals = {0};
	enum tally_status status = TALLY_OK;
	struct tally_error first = {0}, last;
	bool is_auto = config->wanted == WAIT_SOURCE_UNKNOWN;
	for (unsigned kind = is_auto ? WAIT_SOURCE_BPF : config->wanted; kind < WAIT_SOURCES; kind++) {
		last = (struct tally_error){0};
		status = record_wait_source_try(config, (enum wait_source)kind, source, &last);
		if (first.status == TALLY_OK)
			first = last;
		if (status == TALLY_OK || status == TALLY_NOMEM || !is_auto)
			break;
		text_printf(&refusals, "; not from %s: %s", record_wait_source_what((enum wait_source)kind),
			record_wait_source_reason(config, last.text));
	}
	if (status == TALLY_OK)
		record_wait_source_say(config, source, &refusals);
	else
		*source = (struct record_wait_source){0};
	text_deinit(&refusals);
	if (status == TALLY_OK)
		return status;
	if (err)
		*err = is_auto && status != TALLY_LIMIT ? first : last;
	return is_auto && status != TALLY_LIMIT
		       ? error_prefix(err, "waits cannot be measured, neither by BPF nor from context switches")
		       : status;
}

void record_wait_source_close(struct record_wait_source *source)
{
	off_cpu_destroy(source->off_cpu);
	switch_waits_destroy(source->switches);
	*source = (struct record_wait_source){0};
}

enum tally_status record_wait_source_start(
	struct record_wait_source *source, const pid_t *pids, size_t pid_count, struct tally_error *err)
{
	return source->switches ? switch_waits_start(source->switches, err)
				: off_cpu_read_tables(source->off_cpu, pids, pid_count, err);
}

enum tally_status record_wait_source_begin(struct record_wait_source *source, struct tally_error *err)
{
	if (source->switches)
		return switch_waits_begin(source->switches, err);
	off_cpu_set_running(source->off_cpu, true);
	return TALLY_OK;
}

enum tally_status record_wait_source_add_thread(struct record_wait_source *source, uint32_t tid, uint32_t pid,
	const struct off_cpu_before *before, struct tally_error *err)
{
	return source->switches ? switch_waits_add_thread(source->switches, tid, pid, before, err)
				: off_cpu_add_thread(source->off_cpu, tid, pid, before, err);
}

enum tally_status record_wait_source_set_running(
	struct record_wait_source *source, bool is_running, struct tally_error *err)
{
	if (source->switches)
		return switch_waits_set_running(source->switches, is_running, err);
	off_cpu_set_running(source->off_cpu, is_running);
	return TALLY_OK;
}

enum tally_status record_wait_source_drain(struct record_wait_source *source, bool takes_sums, bool is_last,
	const struct off_cpu_sink *sink, struct tally_error *err)
{
	if (source->switches)
		return is_last ? switch_waits_finish(source->switches, sink, err)
			       : switch_waits_drain(source->switches, takes_sums, sink, err);
	return is_last ? off_cpu_finish(source->off_cpu, sink, err)
		       : off_cpu_drain(source->off_cpu, takes_sums, sink, err);
}

enum tally_status record_wait_source_give_lasting(
	struct record_wait_source *source, const struct off_cpu_sink *sink, struct tally_error *err)
{
	return source->off_cpu ? off_cpu_give_lasting(source->off_cpu, sink, err) : TALLY_OK;
}

struct off_cpu_losses record_wait_source_losses(const struct record_wait_source *source)
{
	return source->switches ? switch_waits_losses(source->switches) : off_cpu_losses(source->off_cpu);
}
