/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/ftrace/ftrace_bpf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/bpf_latency.h"
#include "kernel/events/tracepoints.h"
#include "tasks/recording/command_watch.h"
#include "verbs/ftrace/ftrace_run.h"

#define FTRACE_BPF_LOOK_MS 100
#define NAME_MAX_BYTES	   128

struct ftrace_bpf_event {
	char system[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
};

/* Parses the name of a tracepoint, such as "sched:sched_switch", and checks that the kernel has it. */
static enum tally_status ftrace_bpf_find_event(
	struct tally_str word, struct ftrace_bpf_event *event, struct tally_error *err)
{
	struct tally_str rest = word, system = {0};
	uint64_t id;
	if (!str_next(&rest, ':', &system) || !rest.data || rest.len == 0 || word.len >= NAME_MAX_BYTES)
		return error_set(err, TALLY_INVALID, "-e: '%.*s' is no tracepoint, which is named SYSTEM:NAME",
			(int)MIN(word.len, (size_t)100), word.data);
	snprintf(event->system, sizeof(event->system), "%.*s", (int)system.len, system.data);
	snprintf(event->name, sizeof(event->name), "%.*s", (int)rest.len, rest.data);
	return tracepoint_id(kernel_seam_linux(), system, rest, &id, err);
}

static enum tally_status ftrace_bpf_set_cpus(
	const struct ftrace_settings *s, const struct target *target, bool **cpus, struct tally_error *err)
{
	if (!s->target.cpus)
		return TALLY_OK;
	*cpus = calloc(LATENCY_MAP_CPUS, sizeof(**cpus));
	if (!*cpus)
		return error_nomem(err);
	for (size_t i = 0; i < target->measured_count; i++)
		if (target->cpus[i] >= 0 && target->cpus[i] < LATENCY_MAP_CPUS)
			(*cpus)[target->cpus[i]] = true;
	return TALLY_OK;
}

static enum tally_status ftrace_bpf_open(const struct ftrace_settings *s, const struct command_watch *watch,
	const struct duration_histogram *h, struct bpf_latency **latency, struct tally_error *err)
{
	struct ftrace_bpf_event events[2];
	struct bpf_latency_config config = {.functions = s->functions.items,
		.function_count = s->functions.len,
		.bucket_count = h->len,
		.unit_ns = s->scale.in_ns ? 1 : 1000,
		.range = s->scale.range,
		.min = s->scale.min};
	enum tally_status status = TALLY_OK;
	bool *cpus = NULL;
	for (size_t i = 0; status == TALLY_OK && s->functions.len == 0 && i < 2; i++) {
		status = ftrace_bpf_find_event(s->events[i], &events[i], err);
		config.systems[i] = events[i].system;
		config.events[i] = events[i].name;
	}
	if (status == TALLY_OK)
		status = ftrace_bpf_set_cpus(s, &watch->target, &cpus, err);
	config.cpus = cpus;
	/* A command and -p select all threads of a process, including later ones, by its process ID. Only -t selects
	 * single threads. */
	config.of_threads = s->target.tids != NULL && !watch->target.is_system_wide;
	config.of_processes = !config.of_threads && !watch->target.is_system_wide;
	if (status == TALLY_OK)
		status = bpf_latency_create(kernel_seam_linux(), &config, latency, err);
	free(cpus);
	return status;
}

static enum tally_status ftrace_bpf_read(
	const struct bpf_latency *latency, struct duration_histogram *h, uint64_t *lost, struct tally_error *err)
{
	struct latency_map_sum sum;
	struct latency_map_losses losses;
	enum tally_status status = bpf_latency_read(latency, h->counts, &sum, &losses, err);
	if (status != TALLY_OK)
		return status;
	h->count = sum.count;
	h->total_ns = sum.total_ns;
	h->max_ns = sum.max_ns;
	h->min_ns = sum.count ? sum.min_ns : UINT64_MAX;
	*lost = losses.without_start;
	return TALLY_OK;
}

enum tally_status ftrace_bpf_measure(
	struct ftrace_job *job, struct duration_histogram *histogram, struct tally_error *err)
{
	const struct target_request request = ftrace_target_of(job->settings, job->argv[0] != NULL);
	struct command_watch watch;
	struct bpf_latency *latency = NULL;
	enum tally_status status = command_watch_open(&watch, kernel_seam_linux(), &request, job->argv, err);
	if (status == TALLY_OK)
		status = ftrace_bpf_open(job->settings, &watch, histogram, &latency, err);
	const struct target *target = &watch.target;
	for (size_t i = 0; status == TALLY_OK && !target->is_system_wide && i < target->thread_count; i++)
		status = bpf_latency_watch(latency, (uint32_t)target->threads[i], err);
	if (status == TALLY_OK) {
		bpf_latency_start(latency);
		status = command_watch_start(&watch, err);
	}
	while (status == TALLY_OK && !watch.is_over)
		status = command_watch_wait(&watch, FTRACE_BPF_LOOK_MS, err);
	if (latency)
		bpf_latency_stop(latency);
	if (status == TALLY_OK)
		status = ftrace_bpf_read(latency, histogram, &job->lost, err);
	bpf_latency_destroy(latency);
	job->exit_code = command_watch_exit_code(&watch);
	command_watch_close(&watch);
	return status;
}
