/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/idle_functions.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/name_identity.h"
#include "base/word_list.h"

#define IDLE_FUNCTIONS_LONGEST 256 /* Names are cut at this length. */

/* Functions that call handlers when work arrives do not belong here, because the handlers below them may wait as part
 * of the work. */
static const char *const idle_waits[] = {
	/* C libraries: event loops, servers and signals */
	"epoll_wait",
	"epoll_pwait",
	"epoll_pwait2",
	"accept",
	"accept4",
	"sigwait",
	"sigwaitinfo",
	"sigtimedwait",
	"sigsuspend",
	"pause",
	/* Their counterparts in the kernel. */
	"ep_poll",
	"do_epoll_wait",
	"io_cqring_wait",
	"inet_csk_accept",
	"inet_csk_wait_for_connect",
	"unix_accept",
	"do_sigtimedwait",
	"do_sys_pause",
	"n_tty_read",
	/* Functions of kernel threads. */
	"worker_thread",
	"rescuer_thread",
	"kthreadd",
	"kthread_worker_fn",
	"smpboot_thread_fn",
	"rcu_gp_kthread",
	"rcu_gp_fqs_loop",
	"rcu_tasks_kthread",
	"rcu_tasks_one_gp",
	"rcu_nocb_gp_kthread",
	"rcu_nocb_cb_kthread",
	"kswapd",
	"kcompactd",
	"khugepaged",
	"ksm_scan_thread",
	"oom_reaper",
	"kauditd_thread",
	"irq_thread",
	"kjournald2",
	"xfsaild",
	"scsi_error_handler",
	"hwrng_fillfn",
	"psi_rtpoll_worker",
	/* Event loops of libraries. */
	"g_main_context_poll",
	"g_main_context_poll_unlocked",
	"aeApiPoll",
	"epoll_dispatch",
	"epoll_poll",
	"select_epoll_poll",
	"ngx_epoll_process_events",
	/* Go, the Java virtual machine, Rust, OpenMP */
	"runtime.findRunnable",
	"runtime.findrunnable",
	"runtime.mPark",
	"runtime.stopm",
	"runtime.sysmon",
	"runtime.templateThread",
	"java.util.concurrent.ThreadPoolExecutor.getTask",
	"*ThreadPoolExecutor::getTask",
	"*ForkJoinPool::awaitWork",
	"*Reference::waitForReferencePendingList",
	"os::signal_wait",
	"CompileQueue::get",
	"WatcherThread::sleep",
	"tokio::runtime::*::park*",
	"rayon_core::sleep::Sleep::sleep",
	"gomp_team_barrier_wait_end",
	"gomp_barrier_wait_end",
	"kmp_fork_barrier",
};

/* Callers that use the functions above to wait for something specific, so that they are not idle. */
static const char *const idle_never[] = {
	"ProcSleep",
	"ProcWaitForSignal",
	"ConditionVariableSleep",
	"ConditionVariableTimedSleep",
	"SyncRepWaitForLSN",
	"WaitForParallelWorkersToFinish",
};

static bool idle_is_listed(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(names[i], name, 0) == 0)
			return true;
	return false;
}

/* Converts a name to the form in the lists, without the extra parts of "__GI_epoll_wait", "ep_poll.constprop.0" and
 * "read(int)". */
static void idle_plain_name(struct tally_str name, char plain[IDLE_FUNCTIONS_LONGEST + 1])
{
	static const char inner[] = "GI_";
	while (name.len > 0 && name.data[0] == '_')
		name = (struct tally_str){name.data + 1, name.len - 1};
	if (name.len > strlen(inner) && !memcmp(name.data, inner, strlen(inner)))
		name = (struct tally_str){name.data + strlen(inner), name.len - strlen(inner)};
	while (name.len > 0 && name.data[0] == '_')
		name = (struct tally_str){name.data + 1, name.len - 1};
	char buffer[4 * IDLE_FUNCTIONS_LONGEST];
	struct text room = text_over(buffer, sizeof(buffer));
	name = name_identity_function(name, &room);
	snprintf(plain, IDLE_FUNCTIONS_LONGEST + 1, "%.*s", (int)MIN(name.len, (size_t)IDLE_FUNCTIONS_LONGEST),
		name.data);
	plain[strcspn(plain, "(@")] = '\0';
}

/* A user's pattern is compared with the full name and with the plain one. */
static enum idle_kind idle_user_kind(const char *more, const char *name, const char *plain)
{
	enum idle_kind kind = IDLE_UNKNOWN;
	struct tally_str rest, word;
	rest = str_from(more);
	while (word_list_next(more, &rest, &word)) {
		char pattern[IDLE_FUNCTIONS_LONGEST + 1];
		bool is_never = word.len > 0 && word.data[0] == '!';
		snprintf(pattern, sizeof(pattern), "%.*s",
			(int)MIN(word.len - is_never, (size_t)IDLE_FUNCTIONS_LONGEST), word.data + is_never);
		if (pattern[0] && (fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, plain, 0) == 0))
			kind = is_never ? IDLE_NEVER : IDLE_WAITS;
		if (kind == IDLE_NEVER)
			break;
	}
	return kind;
}

enum idle_kind idle_function_kind(struct tally_str name, const char *more)
{
	char plain[IDLE_FUNCTIONS_LONGEST + 1], whole[IDLE_FUNCTIONS_LONGEST + 1];
	idle_plain_name(name, plain);
	snprintf(whole, sizeof(whole), "%.*s", (int)MIN(name.len, (size_t)IDLE_FUNCTIONS_LONGEST), name.data);
	enum idle_kind kind = more ? idle_user_kind(more, whole, plain) : IDLE_UNKNOWN;
	if (kind != IDLE_UNKNOWN)
		return kind;
	if (idle_is_listed(idle_never, ARRAY_LEN(idle_never), plain))
		return IDLE_NEVER;
	return idle_is_listed(idle_waits, ARRAY_LEN(idle_waits), plain) ? IDLE_WAITS : IDLE_UNKNOWN;
}
