/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_record.h - implements `mem record` and `c2c record`, which run record with the events of this machine that
 * sample memory accesses.
 *
 *	return memory_record(cli, &(struct memory_record){.is_c2c = true}, argc, argv);
 */
#ifndef VERBS_MEMORY_MEMORY_RECORD_H
#define VERBS_MEMORY_MEMORY_RECORD_H

#include "cli/cli.h"

struct memory_record { /* Options before the word "record". */
	const char *type, *cpus; /* As typed; NULL for the default. */
	bool physical, data_pages;
	bool is_c2c; /* c2c: physical addresses are recorded, and -u and -k select user space and the kernel. */
};

/* argv has the argc words after "record". Returns the exit code. */
int memory_record(const struct cli *cli, const struct memory_record *wanted, int argc, char **argv);

#endif
