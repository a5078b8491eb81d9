/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_ctf.h - writes the samples of a recording as a CTF trace in the layout of `perf data convert --to-ctf`: an event
 * class per event, with fields such as perf_ip and perf_tid.
 */
#ifndef VERBS_CONVERT_DATA_CTF_H
#define VERBS_CONVERT_DATA_CTF_H

#include "tasks/session/data_source.h"

struct data_ctf_options {
	const char *path; /* The directory of the trace. */
	bool replace; /* Replaces an existing trace. */
	bool all; /* Also writes mappings, thread names, forks and exits (perf_mmap, perf_comm ...). */
	/* Writes wall-clock times; data_ctf_write returns INVALID if the recording does not relate its clock to
	 * them. */
	bool wall_clock;
};

/* The intact part of a truncated recording is written before its error is returned. */
TALLY_MUST_CHECK enum tally_status data_ctf_write(struct data_source *source, const struct data_ctf_options *options,
	struct data_result *result, struct tally_error *err);

#endif
