/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_files.h - opens program files as a running process sees them: in its own root, or through its mapping even if
 * the file's name is gone. For recordings of this machine.
 *
 * PIDs are reused, so callers must check that the file has the recorded build ID, or that the process maps a file of
 * that name (process_maps_find).
 */
#ifndef CODE_PROCESS_FILES_H
#define CODE_PROCESS_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/status.h>

#include "base/arena.h"
#include "object/elf/elf_image.h"

/* Opens path for reading as the process would; the caller closes *fd. Neither symbolic links nor ".." can leave its
 * root. INVALID: not a regular file. */
TALLY_MUST_CHECK enum tally_status process_root_open(int32_t pid, const char *path, int *fd, struct tally_error *err);
/* Works like process_root_open, but refuses a path whose last component is a symbolic link. */
TALLY_MUST_CHECK enum tally_status process_root_open_itself(
	int32_t pid, const char *path, int *fd, struct tally_error *err);
/* Returns whether the process has another root or mount namespace than tally, so that its paths name other files. */
bool process_is_elsewhere(int32_t pid);

struct process_mapping {
	const char *link; /* Path /proc/PID/map_files/START-END, which opens the mapped file; in the arena. */
	bool is_deleted; /* The file was unlinked, or its name belongs to another file now. */
};

/* Finds the file that the process maps by that path. Returns false if there is none, the process has ended, or access
 * is denied. */
bool process_maps_find(struct arena *arena, int32_t pid, const char *path, struct process_mapping *mapping);
/* Returns /proc/PID/exe if the process runs the program at that path; otherwise NULL. */
const char *process_exe(struct arena *arena, int32_t pid, const char *path);

#endif
