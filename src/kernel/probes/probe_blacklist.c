/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/probes/probe_blacklist.h"

#include <stdlib.h>

#include "kernel/system/kernel_files.h"

void probe_blacklist_read(const struct kernel_seam *kernel, struct probe_blacklist *list)
{
	if (kernel_text(kernel, &list->text, NULL, "/sys/kernel/debug/kprobes/blacklist") != TALLY_OK)
		list->text = NULL;
}

void probe_blacklist_deinit(struct probe_blacklist *list)
{
	free(list->text);
	list->text = NULL;
}

/* Lines have the form "0xffffffff81000000-0xffffffff81000040\tNAME". */
bool probe_blacklist_has(const struct probe_blacklist *list, uint64_t address, struct tally_str name)
{
	struct tally_str rest = str_from(list->text), line, first, last;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		uint64_t start, end;
		if (!str_next(&line, '-', &first) || !str_next(&line, '\t', &last) || !str_to_u64(first, 0, &start) ||
			!str_to_u64(last, 0, &end))
			continue;
		if (address ? address >= start && address < end : str_equal(str_trim(line), name))
			return true;
	}
	return false;
}
