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

/* Opens path as the process would, to read. Neither links nor ".." lead out of its root. INVALID: not a regular file. */
TALLY_MUST_CHECK enum tally_status process_root_open(int32_t pid, const char *path, int *fd, struct tally_error *err);
/* The same, but a path that is itself a symbolic link is refused. */
TALLY_MUST_CHECK enum tally_status process_root_open_itself(
	int32_t pid, const char *path, int *fd, struct tally_error *err);
/* Whether the process has another mount namespace than tally, so that its paths name other files. */
bool process_is_elsewhere(int32_t pid);

struct process_mapping {
	const char *link; /* /proc/PID/map_files/START-END, in the arena: opens the file */
	bool is_deleted; /* its name was removed, or belongs to another file now */
};

/* The file that the process maps by that path; false: none, or the process is gone or not ours to see. */
bool process_maps_find(struct arena *arena, int32_t pid, const char *path, struct process_mapping *mapping);
/* /proc/PID/exe if it is the program at that path; otherwise NULL. */
const char *process_exe(struct arena *arena, int32_t pid, const char *path);

#endif
