/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"

#define DEPTH_MAX 64 /* Maximum depth of nested cgroups; deeper ones are omitted. */

struct cgroups_walk {
	cgroup_visit visit;
	void *context;
	size_t root_len; /* Length of the mount point at the start of path. */
	char path[PATH_MAX];
};

static bool has_word(struct tally_str list, struct tally_str wanted)
{
	struct tally_str word;
	while (str_next(&list, ',', &word))
		if (str_equal(word, wanted))
			return true;
	return false;
}

struct tally_str cgroups_mount_point(struct tally_str mounts)
{
	struct tally_str line, found = {0};
	while (str_next(&mounts, '\n', &line)) {
		struct tally_str device, place, type, options;
		if (!str_next(&line, ' ', &device) || !str_next(&line, ' ', &place) || !str_next(&line, ' ', &type) ||
			!str_next(&line, ' ', &options))
			continue;
		if (str_equal(type, STR("cgroup")) && has_word(options, STR("perf_event")))
			return place;
		if (str_equal(type, STR("cgroup2")) && found.len == 0)
			found = place;
	}
	return found;
}

static bool cgroups_read_id(const char *path, uint64_t *id)
{
	union {
		struct file_handle handle;
		uint8_t room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} u = {.handle.handle_bytes = sizeof(uint64_t)};
	int mount_id;

	if (name_to_handle_at(AT_FDCWD, path, &u.handle, &mount_id, 0) != 0)
		return false;
	memcpy(id, u.handle.f_handle, sizeof(*id));
	return true;
}

static enum tally_status walk_group(struct cgroups_walk *w, size_t len, unsigned depth, struct tally_error *err)
{
	uint64_t id;
	struct dirent *entry;
	enum tally_status status = TALLY_OK;
	if (cgroups_read_id(w->path, &id)) {
		struct tally_str path = {w->path + w->root_len, len - w->root_len};
		status = w->visit(w->context, id, path.len ? path : STR("/"), err);
	}
	DIR *dir = status == TALLY_OK && depth < DEPTH_MAX ? opendir(w->path) : NULL;
	if (!dir)
		return status;
	while (status == TALLY_OK && (entry = readdir(dir))) {
		size_t name_len = strlen(entry->d_name);
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || len + 1 + name_len >= sizeof(w->path))
			continue;
		w->path[len] = '/';
		memcpy(w->path + len + 1, entry->d_name, name_len + 1);
		status = walk_group(w, len + 1 + name_len, depth + 1, err);
		w->path[len] = '\0';
	}
	closedir(dir);
	return status;
}

enum tally_status cgroups_each(
	const struct kernel_seam *kernel, cgroup_visit visit, void *context, struct tally_error *err)
{
	char path[PATH_MAX];
	char *text;
	size_t len;
	struct cgroups_walk w = {.visit = visit, .context = context};
	if ((size_t)snprintf(path, sizeof(path), "%s/proc/mounts", kernel->root) >= sizeof(path) ||
		file_read(path, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return TALLY_OK;
	struct tally_str place = cgroups_mount_point((struct tally_str){text, len});
	int n = place.len ? snprintf(w.path, sizeof(w.path), "%s%.*s", kernel->root, (int)place.len, place.data) : 0;
	free(text);
	if (n <= 0 || (size_t)n >= sizeof(w.path))
		return TALLY_OK;
	w.root_len = (size_t)n;
	return walk_group(&w, w.root_len, 0, err);
}
