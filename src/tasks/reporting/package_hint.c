/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/package_hint.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"

#define DPKG_LISTS "/var/lib/dpkg/info"
#define LIST_END   ".list"

/* Returns whether the line of os-release is ID or ID_LIKE with this distribution. */
static bool line_names(struct tally_str line, const char *name)
{
	struct tally_str key;
	if (!str_next(&line, '=', &key) || !(str_equal(key, STR("ID")) || str_equal(key, STR("ID_LIKE"))))
		return false;
	return memmem(line.data, line.len, name, strlen(name)) != NULL;
}

void package_hints_init(struct package_hints *hints)
{
	char *text;
	size_t len;
	struct tally_str line;
	*hints = (struct package_hints){0};
	if (file_read("/etc/os-release", LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return;
	struct tally_str rest = {text, len};
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		hints->is_debian = hints->is_debian || line_names(line, "debian") || line_names(line, "ubuntu");
		hints->is_fedora = hints->is_fedora || line_names(line, "fedora") || line_names(line, "rhel");
	}
	free(text);
}

static bool list_has(const char *list, const char *path)
{
	char *text;
	size_t len;
	if (file_read(list, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return false;
	size_t path_len = strlen(path);
	bool has = false;
	for (const char *at = text; !has && (at = strstr(at, path)); at += path_len)
		has = (at == text || at[-1] == '\n') && (at[path_len] == '\n' || at[path_len] == '\0');
	free(text);
	return has;
}

/* Returns whether the list of a package's files contains the path. In lists, files of /usr/lib may be in /lib on
 * systems with a merged /usr. */
static bool package_hint_is_listed(const char *list, const char *path)
{
	return list_has(list, path) || (strncmp(path, "/usr/", 5) == 0 && list_has(list, path + 4));
}

const char *package_of(struct arena *arena, const char *path)
{
	DIR *lists = path[0] == '/' && path[1] ? opendir(DPKG_LISTS) : NULL;
	const char *package = NULL;
	if (!lists)
		return NULL;
	for (struct dirent *item; !package && (item = readdir(lists));) {
		char list[sizeof(DPKG_LISTS) + 1 + sizeof(item->d_name)];
		size_t len = strlen(item->d_name), end = strlen(LIST_END);
		if (len <= end || strcmp(item->d_name + len - end, LIST_END) != 0)
			continue;
		snprintf(list, sizeof(list), DPKG_LISTS "/%s", item->d_name);
		/* The name is like "libc6:amd64.list". */
		if (package_hint_is_listed(list, path))
			package = arena_string(arena, item->d_name,
				strcspn(item->d_name, ":") < len - end ? strcspn(item->d_name, ":") : len - end);
	}
	closedir(lists);
	return package;
}

void package_hint_print(const struct package_hints *hints, struct text *out, const char *path, const char *build_id)
{
	struct arena arena;
	arena_init(&arena);
	const char *package = hints->is_debian ? package_of(&arena, path) : NULL;
	if (package && strcmp(package, "libc6") == 0)
		/* The package with glibc's debug files keeps its old name, and is in the main archive. */
		text_str(out, "apt-get install libc6-dbg");
	else if (package)
		text_printf(out, "apt-get install %s-dbgsym (from the debug archive of the distribution; or %s-dbg)",
			package, package);
	else if (hints->is_fedora && *build_id)
		text_printf(out, "dnf --enablerepo='*debug*' install 'debuginfo(build-id) = %s'", build_id);
	else if (hints->is_fedora)
		text_printf(out, "dnf debuginfo-install %s", path);
	else if (hints->is_debian)
		text_str(out, "no package owns it: build it with -g and do not strip it, or keep its debug file");
	else
		text_str(out,
			"the debug package of the one it comes from (PACKAGE-dbgsym, PACKAGE-debuginfo), or build "
			"it with -g and do not strip it");
	arena_deinit(&arena);
}
