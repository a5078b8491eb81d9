/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_record.h - implements `mem record` and `c2c record`: runs record with the events of this machine that sample
 * memory accesses.
 *
 *	return memory_record(cli, &(struct memory_record){.is_c2c = true}, argc, argv);	what follows "record"
 */
#ifndef VERBS_MEMORY_MEMORY_RECORD_H
#define VERBS_MEMORY_MEMORY_RECORD_H

#include "cli/cli.h"

struct memory_record { /* what stood before the word record */
	const char *type, *cpus; /* as typed; NULL: default */
	bool physical, data_pages;
	bool is_c2c; /* physical addresses, and -u and -k for users and kernel */
};

int memory_record(const struct cli *cli, const struct memory_record *wanted, int argc, char **argv);

#endif
