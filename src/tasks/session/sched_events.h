/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_events.h - reads the scheduler's events of a recording in time order, with their fields decoded, and the forks
 * and exits of tasks.
 *
 * Borrows the source, which must have with_sideband set. One thread. Events on CPUs beyond LIMIT_CPUS are skipped.
 *
 *	while ((status = sched_events_next(&source, &event, err)) == TALLY_OK)
 *		switch (event.kind) ...
 */
#ifndef TASKS_SESSION_SCHED_EVENTS_H
#define TASKS_SESSION_SCHED_EVENTS_H

#include "analysis/sched_history.h"
#include "tasks/session/data_source.h"

struct sched_settings {
	struct input_options input;
	bool dump;
	unsigned verbose;
	const char *cpus, *sort; /* latency: cpus and so on of the verb that was asked for */
	const char *histogram_mode; /* "log", "linear"; NULL: not given */
	bool by_pid, with_waking, with_histogram, is_json;
	bool is_compact;
	const char *colour_cpus, *colour_pids, *task_name; /* map */
	bool has_fuzzy_name;
	const char *prios; /* timehist: this and all that follows */
	bool with_prio, with_pre_migrations;
	const char *pids, *tids, *times;
	struct symbol_options symbols;
	bool with_chains, only_idle, with_migrations, with_next, only_summary, with_summary, with_cpus, with_wakes,
		with_state;
	uint64_t max_stack;
};

enum sched_kind {
	SCHED_UNKNOWN,
	SCHED_SWITCH,
	SCHED_WAKEUP,
	SCHED_WAKEUP_NEW,
	SCHED_WAKING,
	SCHED_RUNTIME,
	SCHED_MIGRATE,
	SCHED_FORK,
	SCHED_EXIT,
	SCHED_LOST, /* events, of the CPU if that is below LIMIT_CPUS, else of any */
	SCHED_NAMED, /* a task takes a name, maybe the one it had */
	SCHED_KINDS
};

struct sched_event {
	enum sched_kind kind;
	struct data_sample sample;
	uint64_t time_ns;
	uint32_t cpu;
	int32_t tid; /* who leaves, is woken, ran, migrates, is forked, exits */
	int32_t pid, parent; /* of a fork */
	int32_t next; /* switch */
	uint64_t state; /* switch: prev_state; 0: could run on */
	int32_t prio; /* switch: prev_prio */
	uint64_t ran_ns;
	int32_t from_cpu, to_cpu;
};

#define SCHED_STATE_PREEMPTED 0x100 /* prev_state of a task that was preempted while it went to sleep */
#define SCHED_STATE_BLOCKED   0x02

TALLY_MUST_CHECK enum tally_status sched_events_next(
	struct data_source *source, struct sched_event *event, struct tally_error *err);
/* The rest of an event whose sample is set; false: none of the scheduler's. */
bool sched_event_read(struct data_source *source, struct sched_event *event);
/* Whether the recording has such an event at all. */
bool sched_events_have(const struct data_source *source, enum sched_kind kind);
bool sched_is_runnable(uint64_t state);
enum sched_left sched_left_of(uint64_t state);
/* The task's name at that time of the source's clock. */
struct tally_str sched_comm(const struct data_source *source, int32_t tid, uint64_t clock, char room[16]);
/* CPUs of the machine, as far as the recording says. */
uint32_t sched_cpu_count(const struct data_source *source);

#endif
