/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_go.h - rejects return probes of Go functions, because these probes make the program crash, and suggests probes
 * at the return instructions instead.
 *
 * A return probe replaces the return address on the stack. The Go runtime finds the replacement when it moves or walks
 * the stack, and aborts the program ("unexpected return pc"). Probes at the return instructions see the same results.
 *
 *	status = probe_go_check_return(binary, place, err);   // UNSUPPORTED if the place is in Go code
 */
#ifndef TASKS_PROBING_PROBE_GO_H
#define TASKS_PROBING_PROBE_GO_H

#include "code/probing/probe_place.h"

/* Returns whether the binary contains the Go runtime. */
bool probe_go_is_in(const struct probe_binary *binary);
/* Returns UNSUPPORTED if the place is in Go code; the message lists the return instructions of the function. */
TALLY_MUST_CHECK enum tally_status probe_go_check_return(
	struct probe_binary *binary, const struct probe_place *place, struct tally_error *err);

#endif
