/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_kernel.h - replaces perf_event_open in tests: it logs each call as a line of text, and fails or counts as the
 * test requests.
 *
 * Descriptors begin at FAKE_FD and do not refer to files. The log looks like this:
 *	open cpu=0 pid=-1 group=-1 software/0x2 read=3 disabled inherit exclude_guest = 1000
 *	enable 1000
 *	close 1000
 *
 *	struct fake_kernel fake;
 *	fake_kernel_init(&fake, root);
 *	fake_kernel_refuse(&fake, EVENT_HARDWARE, FAKE_ANY, ENOENT);
 *	... run code on &fake.seam ...
 *	assert_string_equal(fake_kernel_log(&fake), "...");
 *	fake_kernel_deinit(&fake);
 */
#ifndef TESTS_SUPPORT_FAKE_KERNEL_H
#define TESTS_SUPPORT_FAKE_KERNEL_H

#include "base/text.h"
#include "kernel/system/kernel_seam.h"

#define FAKE_FD	    1000
#define FAKE_ANY    UINT64_MAX
#define FAKE_RULES  32
#define FAKE_EVENTS 4096

struct fake_rule {
	uint32_t type;
	uint64_t config; /* FAKE_ANY for all events of the type. */
	uint64_t without_flags; /* The rule refuses only attrs that lack any of these flags; 0 for all attrs. */
	pid_t pid; /* 0 for any process. */
	int errnum; /* Error of the refused call; 0 if the rule sets a count. */
	uint64_t value, enabled_ns, running_ns;
};

struct fake_event {
	struct perf_attr attr;
	int group_fd;
	bool is_open;
};

struct fake_kernel {
	struct kernel_seam seam;
	struct text log;
	struct fake_rule rules[FAKE_RULES];
	size_t rule_count;
	struct fake_event events[FAKE_EVENTS];
	size_t event_count;
	size_t open_count;
	/* Number of counters of the PMU, 0 for no limit. Reading a pinned group of more hardware events gives end of
	 * file. */
	size_t counters;
	size_t group_limit; /* Largest group, including its leader; more members fail with EINVAL. 0 for no limit. */
	size_t fd_limit; /* Largest number of open events; more fail with EMFILE. 0 for no limit. */
	uint64_t ring_head; /* Initial data_head of each mapped ring buffer, in bytes. */
	/* errno of every call, whatever its arguments, as a seccomp filter gives it; 0 for no filter. */
	int seccomp_errnum;
};

void fake_kernel_init(struct fake_kernel *fake, const char *root);
void fake_kernel_deinit(struct fake_kernel *fake);
void fake_kernel_refuse(struct fake_kernel *fake, uint32_t type, uint64_t config, int errnum);
/* Makes opening events of the type fail with EACCES unless the attr has all of the flags. */
void fake_kernel_require(struct fake_kernel *fake, uint32_t type, uint64_t flags);
/* Makes opening events on the thread fail with ESRCH. */
void fake_kernel_end_thread(struct fake_kernel *fake, pid_t pid);
void fake_kernel_count(
	struct fake_kernel *fake, uint32_t type, uint64_t config, uint64_t value, uint64_t enabled, uint64_t running);
/* Returns the log and begins a new one. The text is valid until the next call. */
const char *fake_kernel_log(struct fake_kernel *fake);

#endif
