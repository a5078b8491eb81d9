/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvm_stat.h - adds up the work of a hypervisor for its guests: exits of virtual CPUs, MMIO accesses and port accesses,
 * with their durations.
 *
 * An exit lasts from kvm:kvm_exit to the next kvm:kvm_entry of the same thread, an MMIO write or a port access from its
 * own event to that entry, and an MMIO read from the exit to its own event. Events before the first entry of a thread
 * are not counted, because only entries name the virtual CPU.
 *
 * The job and its source belong to the caller. Not thread-safe.
 *
 *	struct kvm_stat_job job = {.settings = &settings};   ... data_source_open(..., &job.source, err) ...
 *	while (...) kvm_stat_take(&job, &sample);
 *	kvm_stat_print(&job, &text);
 *	kvm_stat_close(&job);
 */
#ifndef VERBS_KVM_KVM_STAT_H
#define VERBS_KVM_KVM_STAT_H

#include "base/map_u64.h"
#include "base/running_mean.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "tasks/session/data_source.h"

#define KVM_STAT_NAME 64

enum kvm_kind { KVM_EXITS, KVM_MMIO, KVM_IOPORT };

struct kvm_stat_settings {
	struct input_options input;
	enum kvm_kind kind;
	const char *pids; /* NULL for all processes. */
	uint64_t vcpu; /* UINT64_MAX for all. */
	bool by_time, is_json;
	uint64_t slow_us; /* Events of this duration, except halts, are reported in job->slow; 0 to report none. */
};

struct kvm_stat_thread { /* The thread of a virtual CPU. */
	uint64_t begin, key; /* Start time in ns, and row key, of the current event. */
	bool has_begun, has_key;
	bool is_known; /* It has entered a guest, so vcpu is valid. */
	uint64_t vcpu;
};

struct kvm_stat_row {
	char name[KVM_STAT_NAME];
	uint64_t total, least, most; /* Durations in ns; least is UINT64_MAX if there are none. */
	struct running_mean mean;
};

struct kvm_stat_job {
	const struct kvm_stat_settings *settings;
	struct data_source source;
	/* threads maps a thread ID to an index in states, and keys maps a row key to an index in rows. */
	struct map_u64 threads, keys;
	VEC(struct kvm_stat_thread) states;
	VEC(struct kvm_stat_row) rows;
	VEC(struct kvm_stat_row *) sorted; /* Set by kvm_stat_print. */
	struct text slow; /* Lines about slow events. */
	uint64_t exits, entries; /* Numbers of all exits and entries. */
	uint64_t count, total; /* Number and duration in ns of all counted events. */
	uint64_t open; /* Number of events that were not finished at the end of the recording. */
};

/* Adds a sample. Returns false if out of memory. */
bool kvm_stat_take(struct kvm_stat_job *job, const struct data_sample *s);
/* Discards unfinished events. Called after events were lost, because the lost ones may include the ends of these. */
void kvm_stat_give_up(struct kvm_stat_job *job);
/* Begins a new interval. An event that is not finished counts in the interval in which it ends. */
void kvm_stat_clear(struct kvm_stat_job *job);
void kvm_stat_print(struct kvm_stat_job *job, struct text *t);
void kvm_stat_close(struct kvm_stat_job *job);

/* Prints the table of a recording; returns the exit status. */
int kvm_stat_report(const struct cli *cli, const struct kvm_stat_settings *settings);

#endif
