/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/exec_stop.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/bytes.h"
#include "kernel/system/kernel_files.h"
#include "kernel/system/program_path.h"

#define TASK_EXITING	      0x4 /* PF_EXITING of the flags in /proc/PID/stat. */
#define EXEC_STOP_FLAGS_FIELD 7 /* Number of the field "flags", counted from the state behind the name. */

bool thread_is_ending(const struct kernel_seam *kernel, pid_t tid)
{
	char *text;
	if (kernel_text(kernel, &text, NULL, "/proc/%d/stat", (int)tid) != TALLY_OK)
		return true;
	const char *name_end = strrchr(text, ')'); /* The name may contain any character. */
	bool is_ending = true;
	if (name_end) {
		struct tally_str rest = str_trim(str_from(name_end + 1)), field = {0};
		char state = rest.len ? rest.data[0] : 'X';
		uint64_t flags = 0;
		bool has_flags = true;
		for (int i = 0; i < EXEC_STOP_FLAGS_FIELD && has_flags; i++)
			has_flags = str_next(&rest, ' ', &field);
		is_ending = state == 'Z' || state == 'X' ||
			    (has_flags && str_to_u64(field, 10, &flags) && (flags & TASK_EXITING));
	}
	free(text);
	return is_ending;
}

/* Explains why executing the file grants privileges; NULL if it grants none. The kernel ignores the set-user-ID and
 * set-group-ID bits and the file capabilities of scripts, of files on nosuid mounts, and under no_new_privs. */
static const char *rights_gained(const char *path)
{
	struct stat st;
	struct statvfs fs;
	char head[2] = {0};
	if (stat(path, &st) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
		(statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOSUID)))
		return NULL;
	FILE *file = fopen(path, "re");
	bool is_script = file && fread(head, 1, sizeof(head), file) == sizeof(head) && memcmp(head, "#!", 2) == 0;
	if (file)
		fclose(file);
	if (is_script)
		return NULL;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return "it is set-user-ID";
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid())
		return "it is set-group-ID";
	if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return "it has file capabilities";
	return NULL;
}

bool exec_stop_explain(const char *command, struct text *reason)
{
	char path[PATH_MAX];
	if (!program_path_find(command, path))
		return false;
	if (access(path, R_OK) != 0 && errno == EACCES) {
		text_printf(reason, "%s may be run but not read by this user", path);
		return true;
	}
	const char *gain = rights_gained(path);
	if (gain)
		text_printf(reason, "%s changes privileges (%s)", path, gain);
	return gain != NULL;
}

void exec_sentinel_open(struct exec_sentinel *s, const struct kernel_seam *kernel, pid_t thread)
{
	const struct perf_attr attr = {.type = EVENT_SOFTWARE,
		.size = ATTR_SIZE_VER0,
		.config = SW_DUMMY,
		.flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV)};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	*s = (struct exec_sentinel){.kernel = kernel, .thread = thread, .ring_bytes = 2 * page};
	s->fd = kernel->perf_event_open(kernel->context, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd < 0)
		return;
	s->ring = kernel->mmap(kernel->context, s->ring_bytes, PROT_READ | PROT_WRITE, s->fd, 0);
	if (s->ring != MAP_FAILED)
		return;
	kernel->close(kernel->context, s->fd);
	s->fd = -1;
}

bool exec_sentinel_is_cut_off(const struct exec_sentinel *s)
{
	struct pollfd poll_fd = {.fd = s->fd};
	return s->fd >= 0 && s->kernel->poll(s->kernel->context, &poll_fd, 1, 0) > 0 && (poll_fd.revents & POLLHUP) &&
	       !thread_is_ending(s->kernel, s->thread);
}

void exec_sentinel_close(struct exec_sentinel *s)
{
	if (s->fd < 0)
		return;
	s->kernel->munmap(s->kernel->context, s->ring, s->ring_bytes);
	s->kernel->close(s->kernel->context, s->fd);
	s->fd = -1;
}
