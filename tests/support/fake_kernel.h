/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_kernel.h - replaces perf_event_open in tests: it logs each call as a line of text, and refuses or counts as the
 * test says.
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
	uint64_t config; /* FAKE_ANY: all of the type */
	uint64_t without_flags; /* refuses only attrs that lack all of these flags */
	pid_t pid; /* 0: any */
	int errnum; /* 0: a count */
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
	size_t counters; /* of the PMU, 0: any number; a pinned group of more hardware events reads as end of file */
	size_t group_limit; /* EINVAL for members of a group beyond so many; 0: none */
	size_t fd_limit; /* EMFILE beyond; 0: none */
	uint64_t ring_head; /* bytes that each mapped ring begins with */
	int seccomp_errnum; /* a filter's answer to every call, whatever its arguments; 0: none */
};

void fake_kernel_init(struct fake_kernel *fake, const char *root);
void fake_kernel_deinit(struct fake_kernel *fake);
void fake_kernel_refuse(struct fake_kernel *fake, uint32_t type, uint64_t config, int errnum);
/* EACCES unless the attr has all of flags. */
void fake_kernel_require(struct fake_kernel *fake, uint32_t type, uint64_t flags);
/* ESRCH for the thread. */
void fake_kernel_end_thread(struct fake_kernel *fake, pid_t pid);
void fake_kernel_count(
	struct fake_kernel *fake, uint32_t type, uint64_t config, uint64_t value, uint64_t enabled, uint64_t running);
/* The log so far; it begins anew after. Valid until the next call. */
const char *fake_kernel_log(struct fake_kernel *fake);

#endif
