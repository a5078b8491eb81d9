/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_bpf.h - measures for `ftrace latency -b`, by BPF programs, until the command or the target ends or a signal
 * comes.
 *
 *	status = ftrace_bpf_measure(&settings, argv, &histogram, &lost, err);
 */
#ifndef VERBS_FTRACE_FTRACE_BPF_H
#define VERBS_FTRACE_FTRACE_BPF_H

#include "verbs/ftrace/ftrace_settings.h"

/* Adds to the histogram; lost: begins that found no room. */
TALLY_MUST_CHECK enum tally_status ftrace_bpf_measure(const struct ftrace_settings *settings, char **argv,
	struct duration_histogram *histogram, uint64_t *lost, struct tally_error *err);

#endif
