/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rung_losses.h - words what sampling by timers and ptrace has missed, and what it has changed for the program.
 *
 *	rung_losses_print(&text, standin);	// "12 threads could not be sampled: ...; /usr/bin/sudo ran without ..."
 */
#ifndef TASKS_RECORDING_RUNG_LOSSES_H
#define TASKS_RECORDING_RUNG_LOSSES_H

#include "base/text.h"

struct standin;

/* What tracing changes for any program; a part of a sentence. */
extern const char rung_changes_always[];
/* What happened to this one: parts of a sentence, each after "; " but the first; nothing if nothing did. */
void rung_losses_print(struct text *out, struct standin *standin);

#endif
