/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_exclude.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"

/* Names of processes that own terminals. A trace of all processes excludes those that display its own output. */
static const char *const terminals[] = {"sshd", "sshd-session", "gnome-terminal-", "tmux: server", "screen"};

static enum tally_status trace_exclude_add(struct trace_job *job, uint64_t pid, struct tally_error *err)
{
	return map_u64_set(&job->excluded, pid, 1) ? TALLY_OK : error_nomem(err);
}

enum tally_status trace_exclude_listed(struct trace_job *job, struct tally_error *err)
{
	struct tally_str rest = str_from(job->settings->filter_pids ? job->settings->filter_pids : ""), word;
	enum tally_status status = TALLY_OK;
	uint64_t pid;
	while (status == TALLY_OK && str_next_item(&rest, &word)) {
		if (!str_to_u64(word, 10, &pid) || pid > INT32_MAX)
			return error_set(err, TALLY_INVALID,
				"--filter-pids takes numbers of processes, and '%.*s' is none",
				(int)(MIN(word.len, 40)), word.data);
		status = trace_exclude_add(job, pid, err);
	}
	return status;
}

/* Reads the name and the parent of a process; false if it has ended. */
static bool read_parent(pid_t pid, char name[64], pid_t *parent)
{
	char path[64], text[512];
	int number;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (file)
		fclose(file);
	text[len] = 0;
	const char *begin = strchr(text, '(');
	char *end = strrchr(text, ')');
	if (!begin || !end || end < begin || sscanf(end + 1, " %*c %d", &number) != 1)
		return false;
	*end = 0;
	snprintf(name, 64, "%s", begin + 1);
	*parent = number;
	return true;
}

static enum tally_status add_terminals(struct trace_job *job, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	char name[64];
	pid_t parent;
	for (pid_t pid = getppid(); status == TALLY_OK && pid > 1 && read_parent(pid, name, &parent); pid = parent)
		for (size_t i = 0; status == TALLY_OK && i < ARRAY_LEN(terminals); i++)
			if (strcmp(name, terminals[i]) == 0)
				status = trace_exclude_add(job, (uint64_t)pid, err);
	return status;
}

enum tally_status trace_exclude_find(struct trace_job *job, bool traces_all, struct tally_error *err)
{
	enum tally_status status = trace_exclude_add(job, (uint64_t)getpid(), err);
	if (status == TALLY_OK)
		status = trace_exclude_listed(job, err);
	return status == TALLY_OK && traces_all ? add_terminals(job, err) : status;
}
