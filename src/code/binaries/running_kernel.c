/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/running_kernel.h"

#include <stdlib.h>

#include "code/binaries/load_kernel.h"

/* Caches the list, unless it is not sorted or has no addresses. */
static void running_kernel_keep(const struct kernel_list_place *place, struct tally_str text)
{
	struct kallsyms kallsyms;
	struct kallsyms_marks marks;
	kallsyms_open(text.data, text.len, &kallsyms);
	if (kallsyms_mark(&kallsyms, &marks) == TALLY_OK && !marks.is_hidden)
		kernel_list_cache_save(place, &kallsyms, &marks);
	kallsyms_marks_deinit(&marks);
}

bool running_kernel_open(struct running_kernel *kernel)
{
	const struct elf_build_id id = host_kernel_notes("/sys/kernel/notes");
	const struct kernel_list_place place = {NULL, &id, "/proc/kallsyms", "/proc/modules"};
	size_t len;
	*kernel = (struct running_kernel){.live = NULL};
	if (kernel_list_cache_open(&place, &kernel->kept)) {
		kernel->text = kernel->kept.kallsyms.kernel;
		return true;
	}
	if (kernel_list_read(place.live, &kernel->live, &len, NULL) != TALLY_OK) {
		kernel->live = NULL;
		return false;
	}
	kernel->text = (struct tally_str){kernel->live, len};
	running_kernel_keep(&place, kernel->text);
	return true;
}

void running_kernel_close(struct running_kernel *kernel)
{
	kallsyms_marks_deinit(&kernel->kept.marks);
	file_map_close(&kernel->kept.map);
	free(kernel->live);
	*kernel = (struct running_kernel){.live = NULL};
}
