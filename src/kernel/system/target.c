/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/target.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>

#include "base/error.h"
#include "base/order.h"
#include "base/text.h"
#include "kernel/system/cpu_topology.h"
#include "kernel/system/kernel_files.h"

struct pid_vec {
	pid_t *items;
	size_t len, cap;
};

static bool pid_parse(struct tally_str text, pid_t *pid)
{
	uint64_t value;
	if (!str_to_u64(str_trim(text), 10, &value) || value == 0 || value > INT_MAX)
		return false;
	*pid = (pid_t)value;
	return true;
}

static enum tally_status threads_add(
	const struct kernel_seam *kernel, pid_t pid, struct pid_vec *threads, struct tally_error *err)
{
	struct name_list names = {0};
	enum tally_status status = kernel_names(kernel, &names, err, "/proc/%d/task", (int)pid);
	if (status == TALLY_NOT_FOUND)
		return error_set(err, TALLY_NOT_FOUND, "no process %d; 'ps -e' lists those that run", (int)pid);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < names.len && status == TALLY_OK; i++) {
		pid_t tid;
		if (pid_parse(str_from(names.items[i]), &tid) && !vec_push(threads, tid))
			status = error_nomem(err);
	}
	name_list_deinit(&names);
	return status;
}

enum tally_status process_threads(
	const struct kernel_seam *kernel, pid_t pid, pid_t **threads, size_t *count, struct tally_error *err)
{
	struct pid_vec found = {0};
	enum tally_status status = threads_add(kernel, pid, &found, err);
	if (status != TALLY_OK) {
		vec_free(&found);
		return status;
	}
	if (found.len > 1)
		qsort(found.items, found.len, sizeof(pid_t), order_ints);
	*threads = found.items;
	*count = found.len;
	return TALLY_OK;
}

static enum tally_status pids_add(const struct kernel_seam *kernel, const char *list, bool whole_process,
	struct pid_vec *threads, struct tally_error *err)
{
	struct tally_str rest = str_from(list), part;
	const char *what = whole_process ? "process" : "thread";
	if (str_trim(rest).len == 0)
		return error_set(err, TALLY_NOT_FOUND, "no %s id given", what);
	while (str_next_item(&rest, &part)) {
		pid_t pid;
		if (!pid_parse(part, &pid))
			return error_set(err, TALLY_NOT_FOUND, "'%.*s' is not a %s id", (int)part.len, part.data, what);
		enum tally_status status = TALLY_OK;
		if (whole_process)
			status = threads_add(kernel, pid, threads, err);
		else if (!kernel_has(kernel, "/proc/%d", (int)pid))
			status = error_set(
				err, TALLY_NOT_FOUND, "no thread %d; 'ps -eL' lists those that run", (int)pid);
		else if (!vec_push(threads, pid))
			status = error_nomem(err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

static enum tally_status user_find(const char *user, uint64_t *uid, struct tally_error *err)
{
	if (str_to_u64(str_from(user), 10, uid))
		return TALLY_OK;
	struct passwd *entry = getpwnam(user);
	if (!entry)
		return error_set(err, TALLY_NOT_FOUND, "no user '%s'; 'getent passwd' lists them", user);
	*uid = entry->pw_uid;
	return TALLY_OK;
}

/* Compares the effective user ID, which is in the "Uid:" line of status. */
static bool process_is_of(const struct kernel_seam *kernel, const char *pid, uint64_t uid)
{
	char *text;
	if (kernel_text(kernel, &text, NULL, "/proc/%s/status", pid) != TALLY_OK)
		return false;
	char *line = strstr(text, "\nUid:");
	unsigned long long real, effective;
	bool is_his = line && sscanf(line, "\nUid: %llu %llu", &real, &effective) == 2 && effective == uid;
	free(text);
	return is_his;
}

/* Adds every process if user is NULL. Processes that end meanwhile are omitted. */
static enum tally_status processes_add(
	const struct kernel_seam *kernel, const char *user, struct pid_vec *threads, struct tally_error *err)
{
	uint64_t uid = 0;
	enum tally_status status = user ? user_find(user, &uid, err) : TALLY_OK;
	struct name_list names = {0};
	if (status == TALLY_OK)
		status = kernel_names(kernel, &names, err, "/proc");
	for (size_t i = 0; i < names.len && status == TALLY_OK; i++) {
		pid_t pid;
		if (!pid_parse(str_from(names.items[i]), &pid) || (user && !process_is_of(kernel, names.items[i], uid)))
			continue;
		status = threads_add(kernel, pid, threads, err);
		if (status == TALLY_NOT_FOUND)
			status = TALLY_OK;
	}
	name_list_deinit(&names);
	if (status == TALLY_OK && threads->len == 0)
		status = error_set(err, TALLY_NOT_FOUND, "user '%s' has no running process", user ? user : "");
	return status;
}

/* Appends a sorted list in the kernel's format: "2-7,99". */
static void cpu_ranges_append(struct text *t, const int *cpus, size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t first = i++;
		while (i < count && cpus[i] == cpus[i - 1] + 1)
			i++;
		text_printf(t, "%s%d", t->len ? "," : "", cpus[first]);
		if (i - first > 1)
			text_printf(t, "-%d", cpus[i - 1]);
	}
}

/* Retains the chosen CPUs that are online and lists the others in target->offline. */
static enum tally_status offline_set_apart(
	const int *online, size_t online_count, struct target *target, struct tally_error *err)
{
	size_t kept = 0, absent = 0;
	int *offline = calloc(target->cpu_count, sizeof(*offline));
	if (!offline)
		return error_nomem(err);
	for (size_t i = 0; i < target->cpu_count; i++)
		if (cpu_list_has(online, online_count, target->cpus[i]))
			target->cpus[kept++] = target->cpus[i];
		else
			offline[absent++] = target->cpus[i];
	target->cpu_count = kept;
	struct text t = {0};
	if (absent > 0) {
		cpu_ranges_append(&t, offline, absent);
		text_char(&t, '\0');
	}
	free(offline);
	if (t.failed) {
		text_deinit(&t);
		return error_nomem(err);
	}
	target->offline = t.data;
	return TALLY_OK;
}

static enum tally_status cpus_choose(const struct kernel_seam *kernel, const struct target_request *request,
	struct target *target, struct tally_error *err)
{
	if (!target->is_system_wide) {
		target->cpus = malloc(sizeof(int));
		if (!target->cpus)
			return error_nomem(err);
		target->cpus[0] = -1;
		target->cpu_count = 1;
		return TALLY_OK;
	}
	enum tally_status status = cpu_list_online(kernel, &target->cpus, &target->cpu_count, err);
	if (status != TALLY_OK || !request->cpus)
		return status;
	int *online = target->cpus;
	size_t online_count = target->cpu_count;
	target->cpus = NULL;
	status = cpu_list_parse(str_from(request->cpus), &target->cpus, &target->cpu_count, err);
	if (status == TALLY_OK && target->cpu_count == 0)
		status = error_set(err, TALLY_INVALID, "the CPU list is empty");
	if (status == TALLY_OK)
		status = offline_set_apart(online, online_count, target, err);
	if (status == TALLY_OK && target->cpu_count == 0)
		status = error_set(err, TALLY_NOT_FOUND,
			"no CPU %s is online; /sys/devices/system/cpu/online lists those that are", target->offline);
	free(online);
	return status;
}

static enum tally_status threads_choose(const struct kernel_seam *kernel, const struct target_request *request,
	struct pid_vec *threads, struct tally_error *err)
{
	if (request->pids)
		return pids_add(kernel, request->pids, true, threads, err);
	if (request->tids)
		return pids_add(kernel, request->tids, false, threads, err);
	if (request->user)
		return processes_add(kernel, request->user, threads, err);
	if (request->system_wide && request->per_thread)
		return processes_add(kernel, NULL, threads, err);
	return vec_push(threads, -1) ? TALLY_OK : error_nomem(err);
}

static enum tally_status label_make(
	const struct target_request *request, struct target *target, struct tally_error *err)
{
	struct text label = {0};
	if (request->pids)
		text_printf(&label, "process id '%s'", request->pids);
	else if (request->tids)
		text_printf(&label, "thread id '%s'", request->tids);
	else if (request->user)
		text_printf(&label, "user '%s'", request->user);
	else if (request->system_wide)
		text_str(&label, "'system wide'");
	else if (request->cpus)
		text_printf(&label, "'CPU(s) %s'", request->cpus);
	text_char(&label, '\0');
	if (label.failed) {
		text_deinit(&label);
		return error_nomem(err);
	}
	target->label = label.data;
	return TALLY_OK;
}

enum tally_status target_resolve(const struct kernel_seam *kernel, const struct target_request *request,
	struct target *target, struct tally_error *err)
{
	struct target made = {0};
	bool names_threads = request->pids || request->tids || request->user;
	made.is_system_wide = !names_threads && (request->system_wide || request->cpus) && !request->per_thread;
	made.is_overriding = names_threads && (request->system_wide || request->cpus);
	made.is_command = !names_threads && !request->system_wide && !request->cpus;
	if (made.is_command && !request->has_command)
		return error_set(
			err, TALLY_INVALID, "nothing to measure: give a command, -p PID, -t TID, -C CPUS or -a");
	struct pid_vec threads = {0};
	enum tally_status status = threads_choose(kernel, request, &threads, err);
	made.threads = threads.items;
	made.thread_count = threads.len;
	if (status == TALLY_OK && threads.len > 1) { /* A thread named twice would be counted twice. */
		qsort(made.threads, made.thread_count, sizeof(pid_t), order_ints);
		size_t unique = 1;
		for (size_t i = 1; i < threads.len; i++)
			if (made.threads[i] != made.threads[unique - 1])
				made.threads[unique++] = made.threads[i];
		made.thread_count = unique;
	}
	if (status == TALLY_OK)
		status = cpus_choose(kernel, request, &made, err);
	if (status == TALLY_OK)
		status = label_make(request, &made, err);
	if (status != TALLY_OK) {
		target_deinit(&made);
		return status;
	}
	made.measured_count = made.cpu_count;
	*target = made;
	return TALLY_OK;
}

enum tally_status target_spread_over_cpus(
	const struct kernel_seam *kernel, struct target *target, struct tally_error *err)
{
	if (target->cpu_count != 1 || target->cpus[0] != -1)
		return TALLY_OK;
	int *cpus;
	size_t count;
	enum tally_status status = cpu_list_online(kernel, &cpus, &count, err);
	if (status != TALLY_OK)
		return status;
	free(target->cpus);
	target->cpus = cpus;
	target->cpu_count = target->measured_count = count;
	return TALLY_OK;
}

enum tally_status target_add_other_cpus(
	const struct kernel_seam *kernel, struct target *target, struct tally_error *err)
{
	int *online;
	size_t count;
	enum tally_status status = cpu_list_online(kernel, &online, &count, err);
	if (status != TALLY_OK)
		return status;
	int *cpus = reallocarray(target->cpus, target->cpu_count + count, sizeof(*cpus));
	if (!cpus) {
		free(online);
		return error_nomem(err);
	}
	target->cpus = cpus;
	for (size_t i = 0; i < count; i++)
		if (!cpu_list_has(cpus, target->measured_count, online[i]))
			cpus[target->cpu_count++] = online[i];
	free(online);
	return TALLY_OK;
}

void target_deinit(struct target *target)
{
	free(target->cpus);
	free(target->threads);
	free(target->offline);
	free(target->label);
	*target = (struct target){0};
}
