/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_auto.h - chooses how call graphs are recorded on this machine and with these options, for --call-graph auto,
 * and for --wall without --call-graph.
 *
 *	record_auto_settle(kernel, &settings, &sentence);	// before record_plan_make
 */
#ifndef TASKS_RECORDING_RECORD_AUTO_H
#define TASKS_RECORDING_RECORD_AUTO_H

#include "tasks/recording/record_options.h"

/* Chooses the method for --call-graph auto, and for --wall without --call-graph: unwinding by BPF if this process may
 * load BPF programs, otherwise unwinding of stack dumps, otherwise frame pointers. Changes the settings accordingly,
 * and appends a sentence about the choice. In all other cases, changes and appends nothing. */
void record_auto_settle(const struct kernel_seam *kernel, struct record_settings *settings, struct text *sentence);
/* Returns the first given option that cannot be combined with unwinding while recording, or NULL if there is none. */
const char *record_auto_obstacle(const struct record_settings *settings, enum record_callgraph mode);

#endif
