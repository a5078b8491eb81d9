/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped_file.h - opens exactly the file that a process has mapped: its path may name another file by now, or mean
 * another file in the mount namespace of the process. A file is identified by device and inode, or by its build ID.
 *
 * It opens only regular files, and never blocks on a FIFO. No state; any thread.
 *
 *	struct mapped_file file = {.pid = pid, .start = start, .end = end, .path = path, .major = ..., .inode = ...};
 *	if (!mapped_file_ask_id(&file, &id)) { fd = mapped_file_open(&file); ... }
 */
#ifndef CODE_BINARIES_MAPPED_FILE_H
#define CODE_BINARIES_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "object/elf/elf_image.h"

struct mapped_file {
	int32_t pid;
	uint64_t start, end; /* Address range of the mapping. */
	const char *path; /* Path in the mount namespace of the process. */
	uint32_t major, minor;
	uint64_t inode; /* 0 if device and inode are not known. */
	/* Generation of the inode, because inode numbers are reused after a file is removed; 0 if not known. */
	uint64_t generation;
	struct elf_build_id id; /* Its size is 0 if it is not known. */
};

/* Requests the build ID from the kernel (PROCMAP_QUERY, Linux 6.11). Returns false if the kernel does not support it,
 * the process has ended, or another file is mapped there. If the file has no build ID, found has size 0. */
bool mapped_file_ask_id(const struct mapped_file *file, struct elf_build_id *found);
/* Opens the file for reading. Returns the descriptor, which the caller closes; -1 if the file can be reached neither
 * through the process nor by its path, or cannot be identified. */
int mapped_file_open(const struct mapped_file *file);
/* Returns whether the open file has that device, inode and generation as shown in mappings; on some file systems
 * stat(2) returns other device numbers. */
bool mapped_file_is_same(int fd, const struct mapped_file *file);

#endif
