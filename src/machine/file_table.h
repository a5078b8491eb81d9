/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_table.h - distinguishes files as the kernel does: by device, inode and build ID instead of path. It gives each
 * file a small number, and sorts the files.
 *
 * Owned by the machine, one thread until it is finished. binary_id.h handles paths and contents.
 *
 *	file_table_add(&files, &mmap, &file);	file: 0 where the record names none
 *	file_table_finish(&files);  file_table_rank(&files, file);
 */
#ifndef MACHINE_FILE_TABLE_H
#define MACHINE_FILE_TABLE_H

#include "abi/record_fields.h"
#include "base/id_table.h"

struct file_table {
	struct id_table ids; /* of a file's words: number - 1 */
	uint32_t *ranks; /* by id; when it is finished */
};

void file_table_init(struct file_table *files);
void file_table_deinit(struct file_table *files);
/* False: out of memory. */
bool file_table_add(struct file_table *files, const struct record_mmap *mmap, uint32_t *file);
/* May be called again. False: out of memory. */
bool file_table_finish(struct file_table *files);
/* The rank of a file by device, inode, generation and build id; 0 only for file 0. For a finished table. */
uint32_t file_table_rank(const struct file_table *files, uint32_t file);

#endif
