/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_failures.h"

#include <string.h>
#include <sys/wait.h>

#include "kernel/system/spawn.h"

#define SHELL_CANNOT_RUN 126 /* Exit status of a shell for a command that exists but cannot be executed (sh(1)). */
#define SHELL_NOT_FOUND	 127

bool stat_failures_is_success(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void stat_failures_add(struct stat_failures *failures, int status)
{
	unsigned i = 0;
	failures->runs++;
	if (stat_failures_is_success(status))
		return;
	failures->failed++;
	failures->last_status = status;
	while (i < failures->kind_count && failures->kinds[i].status != status)
		i++;
	if (i == STAT_FAILURE_KINDS)
		return;
	if (i == failures->kind_count)
		failures->kinds[failures->kind_count++].status = status;
	failures->kinds[i].count++;
}

bool stat_failures_is_hopeless(const struct stat_failures *failures)
{
	for (unsigned i = 0; i < failures->kind_count; i++) {
		int status = failures->kinds[i].status;
		if (WIFEXITED(status) &&
			(WEXITSTATUS(status) == SHELL_NOT_FOUND || WEXITSTATUS(status) == SHELL_CANNOT_RUN))
			return true;
	}
	return false;
}

static void kind_tell(struct text *t, int status)
{
	if (!WIFEXITED(status)) {
		text_printf(t, "signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
		return;
	}
	text_printf(t, "exit status %d", WEXITSTATUS(status));
	if (WEXITSTATUS(status) == SHELL_NOT_FOUND)
		text_str(t, ", command not found");
	else if (WEXITSTATUS(status) == SHELL_CANNOT_RUN)
		text_str(t, ", command cannot be run");
}

void stat_failures_tell(struct text *t, const struct stat_failures *failures)
{
	uint64_t told = 0;
	text_printf(t, "%llu of %llu runs failed: ", (unsigned long long)failures->failed,
		(unsigned long long)failures->runs);
	for (unsigned i = 0; i < failures->kind_count; i++) {
		text_str(t, i ? ", " : "");
		kind_tell(t, failures->kinds[i].status);
		told += failures->kinds[i].count;
	}
	if (told < failures->failed)
		text_str(t, " and others");
}

void stat_failures_json(struct json *json, const struct stat_failures *failures)
{
	struct text reason = {0};
	stat_failures_tell(&reason, failures);
	json_object(json, "failures");
	json_u64(json, "runs", failures->runs);
	json_u64(json, "failed", failures->failed);
	json_i64(json, "exit-status", spawn_exit_code(failures->last_status));
	if (WIFSIGNALED(failures->last_status))
		json_i64(json, "signal", WTERMSIG(failures->last_status));
	json_string(json, "reason", text_view(&reason));
	json_object_end(json);
	json->out->failed |= reason.failed;
	text_deinit(&reason);
}
