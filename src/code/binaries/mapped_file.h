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
	uint64_t start, end; /* where the process has it */
	const char *path; /* as the process sees it */
	uint32_t major, minor;
	uint64_t inode; /* 0: device and inode are not known */
	uint64_t generation; /* of the inode, which is used again when a file was removed; 0: not known */
	struct elf_build_id id; /* size 0: not known */
};

/* Asks the kernel for the build id (PROCMAP_QUERY, Linux 6.11). False: the kernel does not support it, the process has
 * ended, or another file is mapped there. If the file has no build ID, found has size 0. */
bool mapped_file_ask_id(const struct mapped_file *file, struct elf_build_id *found);
/* A descriptor of the file, to read; -1: neither the process nor the path leads to it, or it cannot be identified. */
int mapped_file_open(const struct mapped_file *file);
/* Whether the open file has that device, inode and generation, as mappings show them; on some file systems stat(2)
 * returns other device numbers. */
bool mapped_file_is_same(int fd, const struct mapped_file *file);

#endif
