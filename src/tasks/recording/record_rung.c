/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_rung.h"

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "kernel/events/event_denial.h"
#include "kernel/standin/standin.h"
#include "kernel/system/kernel_files.h"
#include "tasks/recording/record_config.h"
#include "tasks/recording/rung_losses.h"

#define RECORD_RUNG_NS_PER_S UINT64_C(1000000000)

static bool names_processes(const struct target_request *t)
{
	return t->pids || t->tids;
}

/* Returns an option that timer-based sampling does not support, or NULL if there is none. */
static const char *rung_obstacle(const struct record_settings *s, bool has_command)
{
	const struct target_request *t = &s->target;
	enum record_callgraph mode = record_config_chains(s).mode;
	return t->system_wide				     ? "-a"
	       : t->cpus && !names_processes(t)		     ? "-C"
	       : t->user				     ? "-u"
	       : !has_command && !names_processes(t)	     ? "measuring all CPUs (name a process by -p)"
	       : record_settings_have(s, RECORD_WORD_CGROUP) ? "-G"
	       : record_settings_have(s, RECORD_WORD_FILTER) ? "--filter"
	       : s->wall				     ? "--wall"
	       : s->off_cpu				     ? "--off-cpu"
	       : s->has_any_branch || s->has_branch_filter   ? "-b"
	       : s->overwrites				     ? "--overwrite"
	       : s->latency				     ? "--latency"
	       : s->output.threads != THREADS_NONE	     ? "--threads"
	       : mode == CALLGRAPH_BPF			     ? "--call-graph bpf"
	       : mode == CALLGRAPH_LBR			     ? "--call-graph lbr"
							     : NULL;
}

static enum tally_status start_standin(struct record_rung *rung, struct record_settings *s, struct tally_error *err)
{
	const struct record_event_word word = {RECORD_WORD_EVENT, "cpu-clock:u"};
	if (!kernel_has(rung->kernel, "/proc/self/status"))
		return error_set(err, TALLY_UNSUPPORTED,
			"sampling by timers and ptrace (--rung timer) needs /proc, which is not mounted here: mount "
			"it, or measure by 'stat', which does without");
	enum tally_status status = standin_create(&rung->standin, err);
	if (status != TALLY_OK)
		return status;
	rung->kernel = standin_seam(rung->standin);
	if (record_config_chains(s).mode == CALLGRAPH_AUTO)
		s->chains.mode = CALLGRAPH_DWARF;
	if (!record_settings_have(s, RECORD_WORD_EVENT) && !record_settings_have(s, RECORD_WORD_PFM) &&
		!vec_push(&s->event_words, word))
		return error_nomem(err);
	return TALLY_OK;
}

static enum tally_status refuse_obstacle(
	const char *obstacle, bool is_denied, const struct text *gate, struct tally_error *err)
{
	return is_denied ? error_set(err, TALLY_DENIED,
				   "%s needs perf events, and the kernel denies them all: %.*s; 'tally doctor' shows "
				   "what else is in the way",
				   obstacle, (int)gate->len, gate->data)
			 : error_set(err, TALLY_UNSUPPORTED,
				   "%s needs perf events: it cannot be used with --rung timer", obstacle);
}

static enum tally_status descend(struct record_rung *rung, struct record_settings *s, bool has_command,
	const struct text *gate, struct text *sentence, struct tally_error *err)
{
	bool is_denied = gate->len != 0;
	const char *obstacle = rung_obstacle(s, has_command);
	if (s->rung.requires_event)
		return error_set(err, TALLY_DENIED,
			"the kernel denies all perf events, which --require-event asks for: %.*s; 'tally doctor' shows "
			"what else is in the way",
			(int)gate->len, gate->data);
	if (obstacle)
		return refuse_obstacle(obstacle, is_denied, gate, err);
	enum tally_status status = start_standin(rung, s, err);
	if (status != TALLY_OK)
		return status;
	text_printf(sentence,
		"sampling by timers of CPU time and ptrace (--rung timer), at most %u times a second: it sees user "
		"mode of your own programs, but not the kernel's functions, hardware events, waits or the functions of "
		"interpreted programs (python3 -X perf names those of Python); %s",
		standin_max_hz(), rung_changes_always);
	if (is_denied)
		text_printf(sentence,
			"; the kernel denies all perf events: %.*s; 'tally doctor' says what else is in the way",
			(int)gate->len, gate->data);
	return TALLY_OK;
}

enum tally_status record_rung_choose(struct record_rung *rung, const struct kernel_seam *kernel,
	struct record_settings *s, bool has_command, struct text *sentence, struct tally_error *err)
{
	struct text gate = {0};
	*rung = (struct record_rung){.kernel = kernel};
	if (s->rung.rung == RUNG_TIMER && s->rung.requires_event)
		return error_set(err, TALLY_INVALID, "--rung timer and --require-event cannot be used together");
	bool is_denied = s->rung.rung != RUNG_TIMER && events_are_denied(kernel, &gate);
	enum tally_status status = gate.failed ? error_nomem(err) : TALLY_OK;
	/* With --rung events, the error for the requested event explains how to allow it. */
	bool descends =
		s->rung.rung == RUNG_TIMER || (is_denied && (s->rung.rung == RUNG_AUTO || s->rung.requires_event));
	if (status == TALLY_OK && descends)
		status = descend(rung, s, has_command, &gate, sentence, err);
	text_deinit(&gate);
	return status;
}

void record_rung_limit(const struct record_rung *rung, struct record_rate *rate)
{
	uint64_t most = standin_max_hz();
	if (!rung->standin)
		return;
	if (rate->period == 0)
		rate->freq = MIN(rate->freq, most);
	else
		rate->period = MAX(rate->period, RECORD_RUNG_NS_PER_S / most);
}

void record_rung_say_losses(const struct record_rung *rung, struct text *sentence)
{
	if (rung->standin)
		rung_losses_print(sentence, rung->standin);
}

uint64_t record_rung_unsampled(const struct record_rung *rung, uint64_t lost)
{
	return rung->standin ? MIN(lost, standin_get_losses(rung->standin).unsampled) : 0;
}

struct perfdata_origin record_rung_origin(const struct record_rung *rung)
{
	if (!rung->standin)
		return (struct perfdata_origin){0};
	return (struct perfdata_origin){ORIGIN_TIMER, STR("timers of each thread's CPU time, and ptrace"),
		STR("the kernel's functions, hardware events, waits and the functions of interpreted programs (python3 "
		    "-X perf names those of Python); time in the kernel counts for its callers"),
		str_from(rung_changes_always)};
}

void record_rung_end(struct record_rung *rung)
{
	standin_destroy(rung->standin);
	rung->standin = NULL;
}
