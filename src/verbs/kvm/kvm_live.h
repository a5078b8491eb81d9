/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvm_live.h - implements `kvm stat live`, which shows the work of a hypervisor for running guests: it passes the kvm
 * tracepoints from the ring buffers to a kvm_stat_job, and prints the job's table for each interval.
 *
 * It ends when q is pressed, on SIGINT, SIGTERM or SIGQUIT, or when the selected processes end. Memory contains only
 * the ring buffers and the rows of about one interval.
 *
 *	code = kvm_live_run(&(struct kvm_live_request){cli, &settings, argv});
 */
#ifndef VERBS_KVM_KVM_LIVE_H
#define VERBS_KVM_KVM_LIVE_H

#include "tasks/recording/record_options.h"
#include "verbs/kvm/kvm_stat.h"

struct kvm_live_settings {
	struct kvm_stat_settings stat;
	struct record_settings record; /* The target and the ring buffers. */
	uint64_t display_s; /* Seconds between two tables. */
};

struct kvm_live_request {
	const struct cli *cli;
	const struct kvm_live_settings *settings;
	char *const *argv; /* The whole command line, terminated by NULL. */
};

/* Returns the exit status. */
int kvm_live_run(const struct kvm_live_request *request);

#endif
