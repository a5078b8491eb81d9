/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/old_recording.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

static bool is_part(const char *name)
{
	return strcmp(name, "data") == 0 ||
	       (strncmp(name, "data.", 5) == 0 && name[5] && name[5 + strspn(name + 5, "0123456789")] == '\0');
}

void old_recording_remove_directory(const char *path)
{
	char name[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (is_part(entry->d_name) &&
			(size_t)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) < sizeof(name))
			(void)unlink(name);
	closedir(dir);
	(void)rmdir(path);
}

static bool old_recording_is(const char *directory)
{
	char name[PATH_MAX];
	return (size_t)snprintf(name, sizeof(name), "%s/data", directory) < sizeof(name) && file_exists(name);
}

enum tally_status old_recording_keep(const char *path, struct tally_error *err)
{
	struct stat st;
	char old[PATH_MAX];
	if (stat(path, &st) != 0 || (S_ISREG(st.st_mode) && st.st_size == 0))
		return TALLY_OK;
	if (!S_ISREG(st.st_mode) && !(S_ISDIR(st.st_mode) && old_recording_is(path)))
		return TALLY_OK;
	if ((size_t)snprintf(old, sizeof(old), "%s.old", path) >= sizeof(old))
		return error_set(err, TALLY_INVALID, "the path '%s' is too long", path);
	if (old_recording_is(old))
		old_recording_remove_directory(old);
	else if (S_ISDIR(st.st_mode))
		(void)unlink(old); /* A directory cannot replace a file. */
	if (rename(path, old) != 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot rename the old file '%s' to '%s'", path, old);
	return TALLY_OK;
}
