/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/capabilities.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/system/kernel_files.h"

#define FIRST_PIDS	0xeffffffcu /* Inode of the first PID namespace in all versions of Linux. */
#define FIRST_NAMESPACE "user:[4026531837]" /* The first user namespace has this fixed inode. */

uint64_t own_status_number(const struct kernel_seam *kernel, const char *field, int base)
{
	char *text;
	uint64_t value = 0;
	if (kernel_text(kernel, &text, NULL, "/proc/self/status") != TALLY_OK)
		return 0;
	char *line = strstr(text, field);
	if (line)
		value = strtoull(line + strlen(field), NULL, base);
	free(text);
	return value;
}

/* True if all user IDs are mapped to themselves, as in the first user namespace; a nested one may do so, too. */
static bool uid_map_is_whole(const struct kernel_seam *kernel)
{
	char *text;
	unsigned long long inside, outside, count;
	if (kernel_text(kernel, &text, NULL, "/proc/self/uid_map") != TALLY_OK)
		return true; /* This kernel has no user namespaces. */
	bool is_whole = sscanf(text, "%llu %llu %llu", &inside, &outside, &count) == 3 && inside == 0 && outside == 0 &&
			count == UINT32_MAX;
	free(text);
	return is_whole;
}

bool user_namespace_is_nested(const struct kernel_seam *kernel)
{
	char path[4096], target[64];
	snprintf(path, sizeof(path), "%s/proc/self/ns/user", kernel->root);
	ssize_t len = readlink(path, target, sizeof(target));
	if (len <= 0)
		return !uid_map_is_whole(kernel);
	return (size_t)len != strlen(FIRST_NAMESPACE) || memcmp(target, FIRST_NAMESPACE, (size_t)len) != 0;
}

bool pid_namespace_is_nested(const struct kernel_seam *kernel)
{
	char path[4096];
	struct stat st;
	int len = snprintf(path, sizeof(path), "%s/proc/self/ns/pid", kernel->root);
	return len < (int)sizeof(path) && stat(path, &st) == 0 && st.st_ino != FIRST_PIDS;
}

/* Queries the kernel directly, in case /proc is not mounted. */
static uint64_t capabilities_asked(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	if (syscall(SYS_capget, &header, data) != 0)
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

bool capability_is_held(const struct kernel_seam *kernel, enum capability capability)
{
	bool is_hidden = kernel->root[0] == '\0' && !kernel_has(kernel, "/proc/self/status");
	uint64_t held = is_hidden ? capabilities_asked() : own_status_number(kernel, "\nCapEff:", 16);
	return (held >> capability & 1) != 0 && !user_namespace_is_nested(kernel);
}
