/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvm_stat.h - adds up what a hypervisor did for its guests: exits of virtual CPUs, accesses to devices in memory and to
 * ports, each with the time that it took.
 *
 * An exit lasts from kvm:kvm_exit to the next kvm:kvm_entry of the same thread; a write to a device, or an access to a
 * port, from its own event to that entry; a read of a device from the exit to its own event. Nothing counts before the
 * first entry of a thread, which says which virtual CPU it is.
 */
#ifndef VERBS_KVM_KVM_STAT_H
#define VERBS_KVM_KVM_STAT_H

#include "cli/cli.h"
#include "tasks/session/recording_input.h"

enum kvm_kind { KVM_EXITS, KVM_MMIO, KVM_IOPORT };

struct kvm_stat_settings {
	struct input_options input;
	enum kvm_kind kind;
	const char *pids; /* NULL: of all processes */
	uint64_t vcpu; /* UINT64_MAX: all */
	bool by_time, is_json;
};

/* Prints the table of a recording; returns the exit status. */
int kvm_stat_report(const struct cli *cli, const struct kvm_stat_settings *settings);

#endif
