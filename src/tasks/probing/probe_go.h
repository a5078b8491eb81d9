/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_go.h - refuses return probes in Go code, which end the program, and names its return instructions instead.
 *
 * A return probe puts an address of its own on the stack. The runtime of Go finds it there when it moves or walks the
 * stack, and ends the program ("unexpected return pc"). Probes at the return instructions see the same results.
 *
 *	status = probe_go_check_return(binary, place, err);   // UNSUPPORTED: it is Go code
 */
#ifndef TASKS_PROBING_PROBE_GO_H
#define TASKS_PROBING_PROBE_GO_H

#include "code/probing/probe_place.h"

/* Whether the runtime of Go is in the binary. */
bool probe_go_is_in(const struct probe_binary *binary);
TALLY_MUST_CHECK enum tally_status probe_go_check_return(
	struct probe_binary *binary, const struct probe_place *place, struct tally_error *err);

#endif
