/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_auto.h - chooses how call graphs are recorded on this machine and with these options: for --call-graph auto, and for
 * --wall without --call-graph.
 *
 *	record_auto_settle(kernel, &settings, &sentence);	// before record_plan_make
 */
#ifndef TASKS_RECORDING_RECORD_AUTO_H
#define TASKS_RECORDING_RECORD_AUTO_H

#include "tasks/recording/record_options.h"

/* Replaces --call-graph auto, and with --wall none, by BPF if this process may load programs, else by unwinding of stack dumps,
 * else by frame pointers, and appends a sentence that says so. Otherwise changes nothing and appends nothing. */
void record_auto_settle(const struct kernel_seam *kernel, struct record_settings *settings, struct text *sentence);
/* The first given option that cannot be combined with unwinding while recording; NULL: there is none. */
const char *record_auto_obstacle(const struct record_settings *settings, enum record_callgraph mode);

#endif
