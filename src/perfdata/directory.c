/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/directory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/order.h"
#include "base/vec.h"

bool directory_is(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

struct collected {
	struct spool bytes;
	VEC(size_t) ends;
	VEC(uint32_t) numbers;
	uint64_t mtime_ns; /* Modification time of the first file. */
};

/* *found is false if there is no such file. */
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

static int compare_part_numbers(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return COMPARE(a, b);
}

/* Lists the N of each data.N, so that a missing file does not hide the later ones. */
static enum tally_status list_numbers(struct collected *all, const char *path, struct tally_error *err)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	enum tally_status status = TALLY_OK;
	if (!dir)
		return error_set_errno(err, TALLY_IO, errno, "%s", path);
	while (status == TALLY_OK && (entry = file_next_entry(dir))) {
		struct tally_str name = str_from(entry->d_name);
		uint64_t number;
		if (!str_starts_with(name, STR("data.")) || name.len == strlen("data."))
			continue;
		struct tally_str digits = {name.data + strlen("data."), name.len - strlen("data.")};
		/* "data.07" and "data.old" are not names of a recording's files. */
		if ((digits.data[0] == '0' && digits.len > 1) || !str_to_u64(digits, 10, &number) ||
			number >= UINT32_MAX)
			continue;
		if (!vec_push(&all->numbers, (uint32_t)number))
			status = error_nomem(err);
	}
	if (status == TALLY_OK && errno != 0)
		status = error_set_errno(err, TALLY_IO, errno, "%s", path);
	closedir(dir);
	if (status == TALLY_OK && all->numbers.len > 1)
		qsort(all->numbers.items, all->numbers.len, sizeof(*all->numbers.items), compare_part_numbers);
	return status;
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
		status = error_set(err, TALLY_INVALID,
			"'%s' is a directory without a recording: it has no file 'data'; name a file in it", path);
	if (status == TALLY_OK)
		status = list_numbers(&all, path, err);
	for (size_t i = 0; status == TALLY_OK && i < all.numbers.len; i++) {
		snprintf(name + len, sizeof(name) - len, ".%u", all.numbers.items[i]);
		status = append_file(&all, name, &found, err);
		if (status == TALLY_OK && !found)
			status = error_set(err, TALLY_NOT_FOUND, "%s no longer exists", name);
	}
	struct directory_parts read = {all.bytes, all.ends.items, all.ends.len, all.numbers.items, all.mtime_ns};
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
	free(parts->numbers);
	*parts = (struct directory_parts){0};
}
