/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvm_live.h - shows what a hypervisor does for its guests while they run: it feeds the tracepoints of kvm from the
 * kernel's rings into a kvm_stat_job, and prints the job's table for each interval.
 *
 * It ends with the key q, with SIGINT, SIGTERM and SIGQUIT, or with the processes that were named. Memory holds the
 * rings and the rows of about one interval.
 *
 *	code = kvm_live_run(&(struct kvm_live_request){cli, &settings, argv});
 */
#ifndef VERBS_KVM_KVM_LIVE_H
#define VERBS_KVM_KVM_LIVE_H

#include "tasks/recording/record_options.h"
#include "verbs/kvm/kvm_stat.h"

struct kvm_live_settings {
	struct kvm_stat_settings stat;
	struct record_settings record; /* the target and the rings */
	uint64_t display_s;
};

struct kvm_live_request {
	const struct cli *cli;
	const struct kvm_live_settings *settings;
	char *const *argv; /* the whole command line, NULL at its end */
};

/* Returns the exit status. */
int kvm_live_run(const struct kvm_live_request *request);

#endif
