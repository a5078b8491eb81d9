/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_events.h - reads the scheduler's events of a recording in time order, with their fields decoded, and the forks
 * and exits of tasks.
 *
 * Borrows the source, which must have with_sideband set. Not thread-safe. Events on CPUs beyond LIMIT_CPUS are skipped.
 *
 *	while ((status = sched_events_next(&source, &event, err)) == TALLY_OK)
 *		switch (event.kind) ...
 */
#ifndef TASKS_SESSION_SCHED_EVENTS_H
#define TASKS_SESSION_SCHED_EVENTS_H

#include "analysis/sched_history.h"
#include "tasks/session/data_source.h"

/* Settings of all subverbs of sched. */
struct sched_settings {
	struct input_options input;
	bool dump;
	unsigned verbose;
	const char *cpus, *sort; /* cpus is shared by several verbs; sort is for latency. */
	const char *histogram_mode; /* "log" or "linear"; NULL if not given. */
	bool by_pid, with_waking, with_histogram, is_json;
	bool is_compact;
	const char *colour_cpus, *colour_pids, *task_name; /* For map. */
	bool has_fuzzy_name;
	const char *prios; /* For timehist, as are most of the following members. */
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
	SCHED_LOST, /* Events were lost: on the given CPU, or on any CPU if cpu is not below LIMIT_CPUS. */
	SCHED_NAMED, /* A task was named, possibly by the same name. */
	SCHED_KINDS
};

struct sched_event {
	enum sched_kind kind;
	struct data_sample sample;
	uint64_t time_ns;
	uint32_t cpu;
	int32_t tid; /* The task that leaves the CPU, is woken, ran, migrates, is forked or exits. */
	int32_t pid, parent; /* For SCHED_FORK. */
	int32_t next; /* For SCHED_SWITCH: the task that runs next. */
	uint64_t state; /* For SCHED_SWITCH: prev_state; 0 if the task is still runnable. */
	int32_t prio; /* For SCHED_SWITCH: prev_prio. */
	uint64_t ran_ns; /* For SCHED_RUNTIME. */
	int32_t from_cpu, to_cpu; /* For SCHED_MIGRATE. */
};

#define SCHED_STATE_PREEMPTED 0x100 /* Set in prev_state of a task that was preempted while it was about to sleep. */
#define SCHED_STATE_BLOCKED   0x02

TALLY_MUST_CHECK enum tally_status sched_events_next(
	struct data_source *source, struct sched_event *event, struct tally_error *err);
/* Fills in the other members of an event of which sample is set. Returns false if the sample is not from an event of
 * the scheduler, or if its CPU is beyond LIMIT_CPUS. */
bool sched_event_read(struct data_source *source, struct sched_event *event);
/* Returns whether the recording contains this kind of event. */
bool sched_events_have(const struct data_source *source, enum sched_kind kind);
bool sched_is_runnable(uint64_t state);
enum sched_left sched_left_of(uint64_t state);
/* Returns the task's name at that time of the source's clock. */
struct tally_str sched_comm(const struct data_source *source, int32_t tid, uint64_t clock, char room[16]);
/* Returns the number of the machine's CPUs according to the recording, at least 1. */
uint32_t sched_cpu_count(const struct data_source *source);

#endif
