/* SPDX-License-Identifier: Apache-2.0 */
#include "base/own_home.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PASSWD_BYTES 4096

/* True if root runs this, and the directory or its nearest existing ancestor belongs to another user. */
static bool is_anothers(const char *path)
{
	char above[PATH_MAX];
	struct stat st;
	size_t len = strlen(path);
	if (geteuid() != 0 || len >= sizeof(above))
		return false;
	memcpy(above, path, len + 1);
	while (stat(above, &st) != 0) {
		char *slash = strrchr(above, '/');
		if (!slash || slash == above)
			return false;
		*slash = '\0';
	}
	return st.st_uid != 0;
}

static bool folder_of_variable(const char *name, char folder[PATH_MAX])
{
	const char *value = getenv(name);
	if (!value || value[0] != '/' || strlen(value) >= PATH_MAX)
		return false;
	snprintf(folder, PATH_MAX, "%s", value);
	return true;
}

bool own_home(char home[PATH_MAX])
{
	struct passwd entry, *found = NULL;
	char text[PASSWD_BYTES];
	if (!folder_of_variable("HOME", home))
		return false;
	if (!is_anothers(home))
		return true;
	if (getpwuid_r(0, &entry, text, sizeof(text), &found) != 0 || !found || found->pw_dir[0] != '/')
		return false;
	int len = snprintf(home, PATH_MAX, "%s", found->pw_dir);
	return len > 0 && len < PATH_MAX && !is_anothers(home);
}

bool own_cache_home(char folder[PATH_MAX])
{
	return folder_of_variable("XDG_CACHE_HOME", folder) && !is_anothers(folder);
}
