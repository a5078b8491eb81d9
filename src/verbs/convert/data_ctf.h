/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_ctf.h - writes the samples of a recording as a CTF trace in the form of `perf data convert --to-ctf`: an event
 * class per event, whose fields are perf_ip, perf_tid ...
 */
#ifndef VERBS_CONVERT_DATA_CTF_H
#define VERBS_CONVERT_DATA_CTF_H

#include "tasks/session/data_source.h"

struct data_ctf_options {
	const char *path; /* the directory */
	bool replace; /* replaces an existing trace */
	bool all; /* mappings, names, forks and exits too: perf_mmap, perf_comm ... */
	bool wall_clock; /* times of day, where the recording relates its clock to them; else INVALID */
};

/* The intact part of a truncated recording is written before its error is returned. */
TALLY_MUST_CHECK enum tally_status data_ctf_write(struct data_source *source, const struct data_ctf_options *options,
	struct data_result *result, struct tally_error *err);

#endif
