/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/memory_limit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/file.h"

#define FILE_BYTES (1u << 16)
#define V1_NONE	   (UINT64_C(1) << 62) /* Version 1 reports a higher value if there is no limit. */

/* Files of one cgroup version, below the directory of a group. */
struct group_files {
	const char *mount, *limit, *usage;
	const char *cached[2]; /* Keys of page cache sizes in memory.stat. */
};

static const struct group_files version_2 = {
	"/sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file ", "active_file "}};
static const struct group_files version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	{"total_inactive_file ", "total_active_file "}};

static char *read_text(const char *path, size_t *len)
{
	char *text;
	return file_read(path, FILE_BYTES, &text, len, NULL) == TALLY_OK ? text : NULL;
}

static struct tally_str first_word(struct tally_str text)
{
	size_t len = 0;
	while (len < text.len && text.data[len] != ' ' && text.data[len] != '\n' && text.data[len] != '\t')
		len++;
	return (struct tally_str){text.data, len};
}

/* False if the file does not exist or contains no number ("max" means no limit). */
static bool memory_limit_read_number(const char *folder, const char *name, uint64_t *value)
{
	char path[PATH_MAX + 32];
	size_t len;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	char *text = read_text(path, &len);
	bool ok = text && str_to_u64(first_word((struct tally_str){text, len}), 10, value);
	free(text);
	return ok;
}

/* The number after the key at the beginning of a line; 0 if there is no such line. */
static uint64_t number_behind(struct tally_str text, const char *key)
{
	struct tally_str line, start = str_from(key);
	uint64_t value = 0;
	while (text.len > 0 && str_next(&text, '\n', &line)) {
		if (!str_starts_with(line, start))
			continue;
		line = (struct tally_str){line.data + start.len, line.len - start.len};
		while (line.len > 0 && line.data[0] == ' ')
			line = (struct tally_str){line.data + 1, line.len - 1};
		return str_to_u64(first_word(line), 10, &value) ? value : 0;
	}
	return 0;
}

static uint64_t cached_of(const struct group_files *files, const char *folder)
{
	char path[PATH_MAX + 32];
	size_t len;
	snprintf(path, sizeof(path), "%s/memory.stat", folder);
	char *text = read_text(path, &len);
	uint64_t bytes = 0;
	for (size_t i = 0; text && i < 2; i++)
		bytes += number_behind((struct tally_str){text, len}, files->cached[i]);
	free(text);
	return bytes;
}

static uint64_t left_of_group(const struct group_files *files, const char *folder)
{
	uint64_t limit, usage;
	if (!memory_limit_read_number(folder, files->limit, &limit) || limit >= V1_NONE ||
		!memory_limit_read_number(folder, files->usage, &usage))
		return UINT64_MAX;
	uint64_t cached = cached_of(files, folder);
	uint64_t held = cached < usage ? usage - cached : 0;
	return held < limit ? limit - held : 0;
}

/* The least memory left in the group and its ancestors, up to the mount point. */
static uint64_t left_of_groups(const struct group_files *files, const char *root, struct tally_str path)
{
	char folder[PATH_MAX];
	uint64_t least = UINT64_MAX;
	while (path.len > 0 && path.data[path.len - 1] == '/')
		path.len--;
	for (;;) {
		snprintf(folder, sizeof(folder), "%s%s%.*s", root, files->mount, (int)path.len, path.data);
		uint64_t left = left_of_group(files, folder);
		least = MIN(left, least);
		if (path.len == 0)
			return least;
		while (path.len > 0 && path.data[--path.len] != '/')
			;
	}
}

/* /proc/self/cgroup has lines such as "0::/a/b" (version 2) and "4:memory:/a/b" (version 1, maybe with several
 * controllers). */
static uint64_t left_of_all_groups(const char *root)
{
	char path[PATH_MAX];
	size_t len;
	uint64_t least = UINT64_MAX;
	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	char *text = read_text(path, &len);
	struct tally_str rest = {text, text ? len : 0}, line, number, controllers, one;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		if (!str_next(&line, ':', &number) || !str_next(&line, ':', &controllers))
			continue;
		bool has_memory = false, is_version_2 = controllers.len == 0;
		while (controllers.len > 0 && str_next(&controllers, ',', &one))
			has_memory |= str_equal(one, STR("memory"));
		if (!has_memory && !is_version_2)
			continue;
		uint64_t left = left_of_groups(is_version_2 ? &version_2 : &version_1, root, line);
		least = MIN(left, least);
	}
	free(text);
	return least;
}

/* `pages` is what this process uses of the limited memory. */
static uint64_t left_of_limit(const struct rlimit *limit, uint64_t pages)
{
	uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	if (limit->rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return used < limit->rlim_cur ? limit->rlim_cur - used : 0;
}

static uint64_t left_of_process(const char *root)
{
	char path[PATH_MAX];
	size_t len;
	uint64_t pages[6] = {0}; /* Size, resident, shared, text, library and data. */
	snprintf(path, sizeof(path), "%s/proc/self/statm", root);
	char *text = read_text(path, &len);
	struct tally_str rest = {text, text ? len : 0}, word;
	for (size_t i = 0; i < 6 && rest.len > 0 && str_next(&rest, ' ', &word); i++)
		if (!str_to_u64(first_word(word), 10, &pages[i]))
			pages[i] = 0;
	free(text);
	struct rlimit of_space, of_data;
	if (getrlimit(RLIMIT_AS, &of_space) != 0 || getrlimit(RLIMIT_DATA, &of_data) != 0)
		return UINT64_MAX;
	uint64_t space = left_of_limit(&of_space, pages[0]), data = left_of_limit(&of_data, pages[5]);
	return MIN(space, data);
}

static uint64_t left_of_machine(const char *root)
{
	char path[PATH_MAX];
	size_t len;
	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	char *text = read_text(path, &len);
	uint64_t kb = text ? number_behind((struct tally_str){text, len}, "MemAvailable:") : 0;
	free(text);
	return kb ? kb * 1024 : UINT64_MAX;
}

uint64_t memory_limit_left(const char *root)
{
	const uint64_t all[] = {left_of_all_groups(root), left_of_process(root), left_of_machine(root)};
	uint64_t least = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		least = MIN(all[i], least);
	return least;
}
