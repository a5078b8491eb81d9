/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_auto.h - what --call-graph auto comes to on this machine and with these options.
 *
 *	record_auto_settle(kernel, &settings, &sentence);	// before record_plan_make
 */
#ifndef TASKS_RECORDING_RECORD_AUTO_H
#define TASKS_RECORDING_RECORD_AUTO_H

#include "tasks/recording/record_options.h"

/* Puts in place of --call-graph auto what it comes to here, and the sentence that says so, to be printed; else the sentence
 * is empty. BPF if this process may, else unwinding of stack dumps, else frame pointers. */
void record_auto_settle(const struct kernel_seam *kernel, struct record_settings *settings, struct text *sentence);
/* Of options that do not go with stacks that are unwound while recording, one that is given; NULL: none is. */
const char *record_auto_obstacle(const struct record_settings *settings, enum record_callgraph mode);

#endif
