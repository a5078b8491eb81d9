/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_table.h - identifies files as the kernel does, by device, inode and build ID instead of path. It assigns a small
 * number to each file, and sorts the files.
 *
 * Owned by the machine, and used by one thread until it is finished. binary_id.h handles paths and contents.
 *
 *	file_table_add(&files, &mmap, &file);	// file: 0 if the record identifies none
 *	file_table_finish(&files);  file_table_rank(&files, file);
 */
#ifndef MACHINE_FILE_TABLE_H
#define MACHINE_FILE_TABLE_H

#include "abi/record_fields.h"
#include "base/id_table.h"

struct file_table {
	struct id_table ids; /* Words that identify a file; its number is the ID + 1. */
	uint32_t *ranks; /* Ranks by ID; valid after file_table_finish. */
};

void file_table_init(struct file_table *files);
void file_table_deinit(struct file_table *files);
/* Sets *file to the number of the file, or to 0 if the record does not identify one. Returns false if out of memory. */
bool file_table_add(struct file_table *files, const struct record_mmap *mmap, uint32_t *file);
/* Sorts the files; may be called again. Returns false if out of memory. */
bool file_table_finish(struct file_table *files);
/*
 * Returns the rank of a file by device, inode, generation and build ID; 0 only for file 0. The table must be finished.
 */
uint32_t file_table_rank(const struct file_table *files, uint32_t file);

#endif
