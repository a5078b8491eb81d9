/*
 * kernel_list_cache.h - the running kernel's list of symbols, kept from an earlier run: the kernel prints /proc/kallsyms
 * anew for each reader, which takes longer than reading a small recording.
 *
 * Only the kernel's own symbols are kept, and where to look in them. They stay where they are until the next boot; modules
 * come and go. What is kept serves as long as the live list begins with the same lines, of which the first say where this
 * boot has put the kernel, and whether this user may see it.
 *
 *	if (!kernel_list_cache_open(&place, &kept)) ... read live ... kernel_list_cache_save(&place, kallsyms.kernel, &marks);
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
	const char *live; /* /proc/kallsyms */
};

struct kernel_list { /* the caller closes the map, which the list's text is in, and deinits the marks */
	struct file_map map;
	struct kallsyms kallsyms; /* without modules */
	struct kallsyms_marks marks;
	char path[PATH_MAX];
};

/* False: there is none that serves. */
bool kernel_list_cache_open(const struct kernel_list_place *place, struct kernel_list *kept);
/* Keeps the list for other runs; where it cannot, they read it live. */
void kernel_list_cache_save(
	const struct kernel_list_place *place, struct tally_str list, const struct kallsyms_marks *marks);
/* What a file has, whose bytes the list borrows. False: it is none of these, damaged, or memory is out. */
bool kernel_list_parse(struct tally_bytes bytes, struct kallsyms *kallsyms, struct kallsyms_marks *marks);

#endif
