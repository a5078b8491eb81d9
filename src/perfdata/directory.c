#include "perfdata/directory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"

bool directory_is(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

struct collected {
	struct spool bytes;
	VEC(size_t) ends;
	uint64_t mtime_ns; /* of the first file */
};

/* found: false if there is no such file. */
static enum tally_status append_file(struct collected *all, const char *path, bool *found, struct tally_error *err)
{
	struct file_map map;
	struct stat st;

	*found = stat(path, &st) == 0;
	if (!*found)
		return TALLY_OK;
	enum tally_status status = file_map_open(path, &map, err);
	if (status != TALLY_OK)
		return status;
	if (all->ends.len == 0)
		all->mtime_ns = map.mtime_ns;
	bool fits = spool_append(&all->bytes, map.bytes.data, map.bytes.len) && vec_push(&all->ends, all->bytes.len);
	file_map_close(&map);
	return fits ? TALLY_OK : error_nomem(err);
}

enum tally_status directory_read(const char *path, struct directory_parts *parts, struct tally_error *err)
{
	char name[PATH_MAX];
	struct collected all = {0};
	spool_init(&all.bytes);
	bool found = false;
	enum tally_status status = TALLY_OK;

	if ((size_t)snprintf(name, sizeof(name), "%s/data", path) >= sizeof(name) - 16)
		return error_set(err, TALLY_INVALID, "the path '%s' is too long", path);
	size_t len = strlen(name);
	status = append_file(&all, name, &found, err);
	if (status == TALLY_OK && !found)
		status = error_set_errno(err, TALLY_INVALID, EISDIR, "'%s' is a directory, and no recording", path);
	for (unsigned i = 0; status == TALLY_OK && found && i < UINT_MAX; i++) {
		snprintf(name + len, sizeof(name) - len, ".%u", i);
		status = append_file(&all, name, &found, err);
	}
	struct directory_parts read = {all.bytes, all.ends.items, all.ends.len, all.mtime_ns};
	if (status == TALLY_OK)
		*parts = read;
	else
		directory_parts_deinit(&read);
	return status;
}

void directory_parts_deinit(struct directory_parts *parts)
{
	if (parts->bytes.base)
		spool_deinit(&parts->bytes);
	free(parts->ends);
	*parts = (struct directory_parts){0};
}
