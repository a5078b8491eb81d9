/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_dump.h - implements `mem -D report`, which prints a line for each memory access.
 *
 *	status = mem_dump(cli, &(struct mem_dump){.input = {.file.path = path}}, &out, err);
 */
#ifndef VERBS_MEMORY_MEM_DUMP_H
#define VERBS_MEMORY_MEM_DUMP_H

#include "tasks/session/data_source.h"

struct mem_dump {
	struct data_input input;
	const char *separator; /* NULL for a blank. */
	bool with_physical, with_data_pages, hides_unresolved;
};

TALLY_MUST_CHECK enum tally_status mem_dump(
	const struct cli *cli, const struct mem_dump *dump, struct text *out, struct tally_error *err);

#endif
