/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/standin/standin_refusal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/standin/thread_status.h"
#include "kernel/system/capabilities.h"
#include "kernel/system/kernel_files.h"
#include "kernel/system/surroundings.h"

#define YAMA_PATH	"/proc/sys/kernel/yama/ptrace_scope"
#define YAMA_CHILDREN	1
#define YAMA_CAPABILITY 2
#define YAMA_NOBODY	3

static void explain_tracer(const struct kernel_seam *kernel, pid_t tid, pid_t tracer, struct text *reason)
{
	char *name = NULL;
	bool is_known = kernel_text(kernel, &name, NULL, "/proc/%d/comm", (int)tracer) == TALLY_OK;
	if (is_known)
		name[strcspn(name, "\n")] = '\0';
	text_printf(reason,
		"process %d is traced by process %d%s%s%s already, and a program has one tracer: end that one first",
		(int)tid, (int)tracer, is_known ? " (" : "", is_known ? name : "", is_known ? ")" : "");
	free(name);
}

/* Returns false if Yama does not forbid ptrace. */
static bool explain_yama(const struct kernel_seam *kernel, enum surroundings where, struct text *reason)
{
	int64_t scope = kernel_number(kernel, 0, YAMA_PATH);
	if (scope >= YAMA_NOBODY) {
		text_printf(reason,
			"kernel.yama.ptrace_scope is %lld, which forbids ptrace to everybody until the next boot",
			(long long)scope);
		return true;
	}
	if (scope < YAMA_CHILDREN || capability_is_held(kernel, CAPABILITY_SYS_PTRACE))
		return false;
	text_printf(reason, "kernel.yama.ptrace_scope is %lld, which allows ptrace %s: ", (long long)scope,
		scope == YAMA_CAPABILITY ? "to no program without CAP_SYS_PTRACE"
					 : "only of programs that the tracer starts");
	text_str(reason, scope == YAMA_CHILDREN ? "let tally start the program, or " : "");
	remedy_capability(where, "SYS_PTRACE", reason);
	text_str(reason, ", or ");
	remedy_sysctl(where, "kernel.yama.ptrace_scope", scope == YAMA_CHILDREN ? 0 : 1, reason);
	return true;
}

static void explain_ptrace(const struct kernel_seam *kernel, pid_t tid, int errnum, struct text *reason)
{
	enum surroundings where = surroundings_find(kernel);
	struct thread_status status = {0};
	bool is_known = thread_status_read(kernel, tid, &status);
	bool is_able = capability_is_held(kernel, CAPABILITY_SYS_PTRACE);
	if (is_known && status.tracer) {
		explain_tracer(kernel, tid, status.tracer, reason);
	} else if (is_known && status.user != geteuid() && !is_able) {
		text_printf(reason, "process %d belongs to another user (%u): run as that user, or ", (int)tid,
			(unsigned)status.user);
		remedy_capability(where, "SYS_PTRACE", reason);
	} else if (explain_yama(kernel, where, reason)) {
		return;
	} else if (own_status_number(kernel, "\nSeccomp:", 10) == 2) {
		text_printf(reason, "a seccomp filter (a container's, most likely) or policy %s ptrace: ",
			errnum == ENOSYS ? "hides" : "forbids");
		remedy_capability(where, "SYS_PTRACE", reason);
	} else {
		text_printf(reason,
			"process %d may not be traced: it has changed its privileges, is not dumpable, or a security "
			"module forbids it; root, or a program with CAP_SYS_PTRACE, may",
			(int)tid);
	}
}

bool standin_refusal(const struct kernel_seam *kernel, pid_t tid, int errnum, struct text *reason)
{
	switch (errnum) {
	case ENOENT:
	case EINVAL:
		text_str(reason, "without perf events (--rung timer), cpu-clock and task-clock can be sampled in user "
				 "mode, and nothing else");
		return true;
	case EACCES:
		text_str(reason, tid > 0 ? "without perf events (--rung timer), user mode alone can be sampled: add "
					   "the modifier :u"
					 : "without perf events (--rung timer), programs of one's own can be sampled, "
					   "but not whole CPUs");
		return true;
	case EPERM:
	case ENOSYS:
		explain_ptrace(kernel, tid, errnum, reason);
		return true;
	default:
		return false;
	}
}
