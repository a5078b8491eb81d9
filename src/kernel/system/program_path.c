/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/program_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"

#define DEFAULT_PATHS "/bin:/usr/bin" /* Default of execvp without PATH. */

static bool program_path_is_program(const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return false;
	if (S_ISREG(st.st_mode))
		return access(path, X_OK) == 0;
	errno = EACCES;
	return false;
}

bool program_path_find(const char *command, char path[PATH_MAX])
{
	const char *paths = getenv("PATH");
	struct tally_str rest = str_from(paths ? paths : DEFAULT_PATHS), folder;
	if (strchr(command, '/'))
		return snprintf(path, PATH_MAX, "%s", command) < PATH_MAX && program_path_is_program(path);
	bool is_denied = false;
	while (str_next(&rest, ':', &folder)) {
		int len = snprintf(
			path, PATH_MAX, "%.*s%s%s", (int)folder.len, folder.data, folder.len ? "/" : "", command);
		if (len > 0 && len < PATH_MAX && program_path_is_program(path))
			return true;
		is_denied |= errno == EACCES;
	}
	errno = is_denied ? EACCES : ENOENT;
	return false;
}
