/* SPDX-License-Identifier: Apache-2.0 */
/*
 * old_recording.h - renames an existing file to NAME.old before a new recording takes its name, as perf does.
 *
 * It renames regular files and directories that contain a recording, but no devices, FIFOs or other directories. An
 * older NAME.old is removed.
 *
 *	if (old_recording_keep("perf.data", err) != TALLY_OK) ...
 */
#ifndef PERFDATA_OLD_RECORDING_H
#define PERFDATA_OLD_RECORDING_H

#include <tally/status.h>

/* Renames the file or directory at path. Does nothing if there is none, or the file is empty. */
TALLY_MUST_CHECK enum tally_status old_recording_keep(const char *path, struct tally_error *err);
/* Removes the files of a recording that is a directory, and then the directory if it is empty. */
void old_recording_remove_directory(const char *path);

#endif
