/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvm_stat.h - adds up what a hypervisor did for its guests: exits of virtual CPUs, accesses to devices in memory and to
 * ports, each with the time that it took.
 *
 * An exit lasts from kvm:kvm_exit to the next kvm:kvm_entry of the same thread; a write to a device, or an access to a
 * port, from its own event to that entry; a read of a device from the exit to its own event. Nothing counts before the
 * first entry of a thread, which says which virtual CPU it is.
 *
 * The job and its source belong to the caller. One thread.
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
	const char *pids; /* NULL: of all processes */
	uint64_t vcpu; /* UINT64_MAX: all */
	bool by_time, is_json;
	uint64_t slow_us; /* what takes so long, other than a halt, is a line of job->slow; 0: nothing is */
};

struct kvm_stat_thread { /* a virtual CPU */
	uint64_t begin, key;
	bool has_begun, has_key;
	bool is_known; /* it has entered a guest: vcpu is valid */
	uint64_t vcpu;
};

struct kvm_stat_row {
	char name[KVM_STAT_NAME];
	uint64_t total, least, most;
	struct running_mean mean;
};

struct kvm_stat_job {
	const struct kvm_stat_settings *settings;
	struct data_source source;
	struct map_u64 threads, keys; /* indexes of what follows, by thread and by key */
	VEC(struct kvm_stat_thread) states;
	VEC(struct kvm_stat_row) rows;
	VEC(struct kvm_stat_row *) sorted; /* what was printed last */
	struct text slow;
	uint64_t exits, entries; /* all of them */
	uint64_t count, total;
	uint64_t open; /* exits that no entry follows */
};

/* False: out of memory. */
bool kvm_stat_take(struct kvm_stat_job *job, const struct data_sample *s);
/* Events were lost: what has begun may have ended. */
void kvm_stat_give_up(struct kvm_stat_job *job);
/* Begins a new interval: exits that are under way count in it when they end. */
void kvm_stat_clear(struct kvm_stat_job *job);
void kvm_stat_print(struct kvm_stat_job *job, struct text *t);
void kvm_stat_close(struct kvm_stat_job *job);

/* Prints the table of a recording; returns the exit status. */
int kvm_stat_report(const struct cli *cli, const struct kvm_stat_settings *settings);

#endif
