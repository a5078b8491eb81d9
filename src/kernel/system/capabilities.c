/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/capabilities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/system/kernel_files.h"

#define FIRST_NAMESPACE "user:[4026531837]" /* the kernel gives the first user namespace this fixed inode */

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

/* The first namespace maps all ids to themselves; so may another one, which the link tells better. */
static bool uid_map_is_whole(const struct kernel_seam *kernel)
{
	char *text;
	unsigned long long inside, outside, count;
	if (kernel_text(kernel, &text, NULL, "/proc/self/uid_map") != TALLY_OK)
		return true; /* a kernel without user namespaces */
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

bool capability_is_held(const struct kernel_seam *kernel, enum capability capability)
{
	return (own_status_number(kernel, "\nCapEff:", 16) >> capability & 1) != 0 && !user_namespace_is_nested(kernel);
}
