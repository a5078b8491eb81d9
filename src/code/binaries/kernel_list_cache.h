/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_list_cache.h - caches the symbol list of the running kernel between runs, because the kernel prints
 * /proc/kallsyms anew for each reader, which takes longer than reading a small recording.
 *
 * It also stores marks for searching the kernel's own part. A cached list is valid while the live list begins with the
 * same lines, which show the kernel's addresses of this boot and whether this user may see them, and while the same
 * modules have the same addresses.
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
	const char *index_dir; /* as binary_store_options has it */
	const struct elf_build_id *id; /* of the running kernel */
	const char *live, *modules; /* /proc/kallsyms, /proc/modules */
};

struct kernel_list { /* the caller closes the map, which the list's text is in, and deinits the marks */
	struct file_map map;
	struct kallsyms kallsyms;
	struct kallsyms_marks marks;
	uint64_t modules; /* identifies the modules and their addresses */
	char path[PATH_MAX];
};

/* Reads what the kernel prints, like file_read. If the list hides its addresses, only the first lines are read, because
 * the others have no information. */
TALLY_MUST_CHECK enum tally_status kernel_list_read(
	const char *live, char **text, size_t *len, struct tally_error *err);
/* False: there is no valid list. */
bool kernel_list_cache_open(const struct kernel_list_place *place, struct kernel_list *kept);
/* Keeps a list, as kallsyms_open splits it, for later runs. If that fails, they read the kernel's list. */
void kernel_list_cache_save(
	const struct kernel_list_place *place, const struct kallsyms *kallsyms, const struct kallsyms_marks *marks);
/* The bytes of kept->map. False: they are no such list, damaged, or memory runs out. */
bool kernel_list_parse(struct kernel_list *kept);

#endif
