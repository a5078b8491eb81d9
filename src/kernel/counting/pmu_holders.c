/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/pmu_holders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "kernel/system/kernel_files.h"

enum watchdog_state watchdog_state(const struct kernel_seam *kernel)
{
	switch (kernel_number(kernel, -1, "/proc/sys/kernel/nmi_watchdog")) {
	case 0:
		return WATCHDOG_OFF;
	case 1:
		return WATCHDOG_HOLDS_COUNTER;
	default:
		return WATCHDOG_UNKNOWN;
	}
}

static size_t perf_events_of(const struct kernel_seam *kernel, pid_t pid, bool *was_seen)
{
	struct name_list names = {0};
	size_t events = 0;
	*was_seen = kernel_names(kernel, &names, NULL, "/proc/%d/fd", (int)pid) == TALLY_OK;
	for (size_t i = 0; *was_seen && i < names.len; i++) {
		char path[4096], target[64];
		int len = snprintf(path, sizeof(path), "%s/proc/%d/fd/%s", kernel->root, (int)pid, names.items[i]);
		if (len < 0 || (size_t)len >= sizeof(path))
			continue;
		ssize_t size = readlink(path, target, sizeof(target) - 1);
		if (size <= 0)
			continue;
		target[size] = '\0';
		events += strcmp(target, "anon_inode:[perf_event]") == 0;
	}
	name_list_deinit(&names);
	return events;
}

static enum tally_status holder_add(const struct kernel_seam *kernel, struct pmu_holders *holders, pid_t pid,
	size_t events, struct tally_error *err)
{
	char *comm;
	if (kernel_text(kernel, &comm, NULL, "/proc/%d/comm", (int)pid) != TALLY_OK)
		comm = strdup("?");
	if (!comm || (holders->len == holders->cap &&
			     !vec_grow(&holders->items, &holders->cap, sizeof(*holders->items), holders->len + 1))) {
		free(comm);
		return error_nomem(err);
	}
	holders->items[holders->len++] = (struct pmu_holder){pid, comm, events};
	return TALLY_OK;
}

enum tally_status pmu_holders_find(
	const struct kernel_seam *kernel, struct pmu_holders *holders, struct tally_error *err)
{
	struct name_list names = {0};
	*holders = (struct pmu_holders){0};
	enum tally_status status = kernel_names(kernel, &names, err, "/proc");
	if (status == TALLY_NOT_FOUND)
		status = TALLY_OK; /* Without /proc no process is visible. */
	for (size_t i = 0; status == TALLY_OK && i < names.len; i++) {
		uint64_t pid;
		bool was_seen;
		if (!str_to_u64(str_from(names.items[i]), 10, &pid) || pid > INT32_MAX || (pid_t)pid == getpid())
			continue;
		size_t events = perf_events_of(kernel, (pid_t)pid, &was_seen);
		holders->unseen += !was_seen;
		if (events > 0)
			status = holder_add(kernel, holders, (pid_t)pid, events, err);
	}
	name_list_deinit(&names);
	if (status != TALLY_OK)
		pmu_holders_deinit(holders);
	return status;
}

void pmu_holders_deinit(struct pmu_holders *holders)
{
	for (size_t i = 0; i < holders->len; i++)
		free(holders->items[i].comm);
	free(holders->items);
	*holders = (struct pmu_holders){0};
}
