/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/wait_quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "kernel/system/kernel_files.h"

#define PIDS_MOST   1024
#define GROUPS_MOST 256
#define LOOKS	    32 /* Number of processes that are read at a time. */

void wait_quota_deinit(struct wait_quota *q)
{
	for (size_t i = 0; i < q->groups.len; i++)
		free(q->groups.items[i].directory);
	vec_free(&q->groups);
	vec_free(&q->pids);
	map_u64_deinit(&q->known);
}

void wait_quota_add(struct wait_quota *q, uint32_t pid)
{
	uint64_t unused;
	if (pid == 0 || q->pids.len >= PIDS_MOST || map_u64_find(&q->known, pid, &unused))
		return;
	if (map_u64_set(&q->known, pid, 1))
		(void)vec_push(&q->pids, pid);
}

/* Reads "throttled_time" in nanoseconds (cgroup version 1) or "throttled_usec" in microseconds (version 2). */
static bool wait_quota_read(const struct wait_quota *q, const char *directory, uint64_t *ns)
{
	char *text;
	bool is_found = false;
	if (kernel_text(q->kernel, &text, NULL, "%s/cpu.stat", directory) != TALLY_OK)
		return false;
	struct tally_str rest = str_from(text), line, name;
	while (!is_found && str_next(&rest, '\n', &line)) {
		bool is_ns, is_us;
		if (!str_next(&line, ' ', &name))
			continue;
		is_ns = str_equal(name, STR("throttled_time"));
		is_us = str_equal(name, STR("throttled_usec"));
		is_found = (is_ns || is_us) && str_to_u64(str_trim(line), 10, ns);
		if (is_found && is_us && __builtin_mul_overflow(*ns, UINT64_C(1000), ns))
			is_found = false;
	}
	free(text);
	return is_found;
}

static void wait_quota_add_group(struct wait_quota *q, const char *directory)
{
	uint64_t ns;
	for (size_t i = 0; i < q->groups.len; i++)
		if (strcmp(q->groups.items[i].directory, directory) == 0)
			return;
	if (q->groups.len >= GROUPS_MOST || !wait_quota_read(q, directory, &ns))
		return;
	struct wait_quota_group group = {strdup(directory), ns, ns};
	if (group.directory && !vec_push(&q->groups, group))
		free(group.directory);
}

/* Adds a cgroup, given as in /proc/PID/cgroup, and all of its parents. */
static void wait_quota_add_path(struct wait_quota *q, struct tally_str mount, struct tally_str path)
{
	char directory[4096];
	int len = snprintf(
		directory, sizeof(directory), "%.*s%.*s", (int)mount.len, mount.data, (int)path.len, path.data);
	if (len < 0 || (size_t)len >= sizeof(directory))
		return;
	for (char *end; strlen(directory) > mount.len && (end = strrchr(directory, '/')); *end = '\0')
		wait_quota_add_group(q, directory);
}

/* Returns whether a comma-separated list contains "cpu". */
static bool wait_quota_has_cpu(struct tally_str list)
{
	struct tally_str word;
	while (str_next(&list, ',', &word))
		if (str_equal(word, STR("cpu")))
			return true;
	return false;
}

/* Finds the mount point of the hierarchy that limits CPU time; version 2 has one hierarchy for all controllers. */
static bool wait_quota_mount(struct tally_str mounts, bool is_v2, struct tally_str *mount)
{
	struct tally_str line, device, path, type, options;
	while (str_next(&mounts, '\n', &line)) {
		if (!str_next(&line, ' ', &device) || !str_next(&line, ' ', &path) || !str_next(&line, ' ', &type) ||
			!str_next(&line, ' ', &options))
			continue;
		if (is_v2 ? str_equal(type, STR("cgroup2"))
			  : str_equal(type, STR("cgroup")) && wait_quota_has_cpu(options)) {
			*mount = path;
			return true;
		}
	}
	return false;
}

/* Adds the cgroups of a process. Lines of its file are "0::/a/b" (version 2) and "4:cpu,cpuacct:/a/b" (version 1). */
static void wait_quota_look_at(struct wait_quota *q, struct tally_str mounts, uint32_t pid)
{
	char *text;
	if (kernel_text(q->kernel, &text, NULL, "/proc/%u/cgroup", pid) != TALLY_OK)
		return;
	struct tally_str rest = str_from(text), line, number, controllers, mount;
	while (str_next(&rest, '\n', &line)) {
		if (!str_next(&line, ':', &number) || !str_next(&line, ':', &controllers))
			continue;
		bool is_v2 = str_equal(number, STR("0")) && controllers.len == 0;
		if ((is_v2 || wait_quota_has_cpu(controllers)) && wait_quota_mount(mounts, is_v2, &mount))
			wait_quota_add_path(q, mount, line);
	}
	free(text);
}

void wait_quota_look(struct wait_quota *q)
{
	char *mounts;
	/* Known cgroups are read before new ones are added, because the time of a new one starts now. */
	for (size_t i = 0; i < q->groups.len; i++) {
		uint64_t ns;
		if (wait_quota_read(q, q->groups.items[i].directory, &ns) && ns > q->groups.items[i].last_ns)
			q->groups.items[i].last_ns = ns;
	}
	if (q->pids.len == 0 || kernel_text(q->kernel, &mounts, NULL, "/proc/self/mounts") != TALLY_OK)
		return;
	for (size_t i = 0; i < MIN(q->pids.len, (size_t)LOOKS); i++)
		wait_quota_look_at(q, str_from(mounts), q->pids.items[q->next++ % q->pids.len]);
	free(mounts);
}

uint64_t wait_quota_ns(const struct wait_quota *q)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < q->groups.len; i++)
		ns += q->groups.items[i].last_ns - q->groups.items[i].first_ns;
	return ns;
}
