/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rung_losses.h - describes what sampling by timers and ptrace has missed, and what it has changed for the program.
 *
 *	rung_losses_print(&text, standin);	// "12 threads could not be sampled: ...; /usr/bin/sudo ran without ..."
 */
#ifndef TASKS_RECORDING_RUNG_LOSSES_H
#define TASKS_RECORDING_RUNG_LOSSES_H

#include "base/text.h"

struct standin;

/* Part of a sentence that describes what tracing changes for every program. */
extern const char rung_changes_always[];
/* Appends what happened in this recording as parts of a sentence, separated by "; ", or nothing. */
void rung_losses_print(struct text *out, struct standin *standin);

#endif
