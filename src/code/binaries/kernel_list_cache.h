/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_list_cache.h - caches the symbol list of the running kernel between runs, because the kernel formats
 * /proc/kallsyms anew for each reader, which takes longer than reading a small recording.
 *
 * It also stores marks for searching the part without modules. A cached list is valid while /proc/kallsyms begins with
 * the same lines, which show the kernel's addresses since this boot and whether this user may see them, and while the
 * same modules have the same addresses.
 *
 *	if (!kernel_list_cache_open(&place, &kept)) ... read live ... kernel_list_cache_save(&place, &kallsyms, &marks);
 */
#ifndef CODE_BINARIES_KERNEL_LIST_CACHE_H
#define CODE_BINARIES_KERNEL_LIST_CACHE_H

#include <limits.h>

#include "base/file.h"
#include "code/symbols/kallsyms.h"
#include "object/elf/elf_image.h"

struct kernel_list_place {
	const char *index_dir; /* Same as in binary_store_options. */
	const struct elf_build_id *id; /* Build ID of the running kernel. */
	const char *live, *modules; /* Paths of /proc/kallsyms and /proc/modules. */
};

/* A cached list. The caller closes the map, which holds the text of the list, and frees the marks. */
struct kernel_list {
	struct file_map map;
	struct kallsyms kallsyms;
	struct kallsyms_marks marks;
	uint64_t modules; /* Checksum of the loaded modules and their addresses. */
	char path[PATH_MAX];
};

/* Reads the kernel's list at the path live into *text, which the caller frees. If the kernel hides the addresses, only
 * the first lines are read, because the others have no more information. */
TALLY_MUST_CHECK enum tally_status kernel_list_read(
	const char *live, char **text, size_t *len, struct tally_error *err);
/* Opens the cached list. Returns false if there is no valid one. */
bool kernel_list_cache_open(const struct kernel_list_place *place, struct kernel_list *kept);
/* Caches a list, as kallsyms_open splits it. If that fails, later runs read the kernel's list. */
void kernel_list_cache_save(
	const struct kernel_list_place *place, const struct kallsyms *kallsyms, const struct kallsyms_marks *marks);
/* Sets kallsyms, marks and modules of kept from the bytes of kept->map. Returns false if they are not a cached list,
 * are damaged, or memory runs out. */
bool kernel_list_parse(struct kernel_list *kept);

#endif
