/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/standin/standin_rights.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "kernel/standin/thread_status.h"

#define LINK_BYTES 32

bool program_lacks_rights(const struct kernel_seam *kernel, pid_t pid, char *path, size_t path_bytes)
{
	char link[LINK_BYTES];
	struct stat file;
	struct statvfs system;
	struct thread_status status;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	if (stat(link, &file) != 0 || statvfs(link, &system) != 0 || (system.f_flag & ST_NOSUID) ||
		!thread_status_read(kernel, pid, &status) || status.has_no_new_rights)
		return false;
	bool lacks_user = (file.st_mode & S_ISUID) && status.effective_user != file.st_uid;
	/* Without group execute permission, this bit means mandatory locking. */
	bool lacks_group =
		(file.st_mode & S_ISGID) && (file.st_mode & S_IXGRP) && status.effective_group != file.st_gid;
	bool lacks_capabilities = status.effective_user != 0 && status.capabilities == 0 &&
				  getxattr(link, "security.capability", NULL, 0) > 0;
	if (!lacks_user && !lacks_group && !lacks_capabilities)
		return false;
	ssize_t len = readlink(link, path, path_bytes - 1);
	path[len > 0 ? len : 0] = '\0';
	return true;
}
