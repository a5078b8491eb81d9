/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id_rows.h - prints lines of a build ID and a name, as buildid-list does.
 *
 * Names are copied. Each pair of a name and a build ID is listed once. The caller owns the rows. Not thread-safe.
 *
 *	build_id_rows_init(&rows);   build_id_rows_add(&rows, name, &id);   build_id_rows_print(&rows, &text);
 */
#ifndef TASKS_SESSION_BUILD_ID_ROWS_H
#define TASKS_SESSION_BUILD_ID_ROWS_H

#include "abi/record.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/vec.h"
#include "cli/cli.h"

#define BUILD_ID_HEX_BYTES 41 /* 20 bytes as hexadecimal digits, and a NUL byte. */

struct build_id_row {
	struct record_build_id id; /* The size is 0 if the build ID is unknown. */
	struct tally_str name;
};

struct build_id_rows {
	struct arena arena; /* Memory for the names. */
	struct intern seen; /* Set of the pairs of build ID and name. */
	VEC(struct build_id_row) rows;
};

void build_id_rows_init(struct build_id_rows *rows);
void build_id_rows_deinit(struct build_id_rows *rows);
/* Returns false if memory runs out. */
bool build_id_rows_add(struct build_id_rows *rows, struct tally_str name, const struct record_build_id *id);
void build_id_rows_print(const struct build_id_rows *rows, struct text *t);

void build_id_to_hex(const struct record_build_id *id, char hex[BUILD_ID_HEX_BYTES]);
/* Prints build ID, start, end and name of the running kernel and its modules. Returns the exit status. */
int build_id_print_kernel_maps(const struct cli *cli);

#endif
