/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sdt_arguments.c - converts the operands of a statically defined probe for each machine: the output is a list of "
 * argN=..." without other blanks, and each operand is either written or counted as skipped.
 */
#include "code/probing/sdt_arguments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool find_symbol(void *context, struct tally_str name, uint64_t *address)
{
	(void)context;
	*address = name.len * 0x1000;
	return name.len % 2;
}

static void check_list(struct tally_str list)
{
	struct tally_str rest = list, item;
	(void)str_next(&rest, ' ', &item); /* The text before the first blank is empty. */
	if (list.len > 0 && item.len > 0)
		abort();
	while (rest.len > 0 && str_next(&rest, ' ', &item)) {
		if (!str_starts_with(item, STR("arg")) || !memchr(item.data, '=', item.len))
			abort();
		for (size_t i = 0; i < item.len; i++)
			if (!isgraph((unsigned char)item.data[i]))
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct arch *arch;
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; (arch = arch_at(i)); i++) {
		struct sdt_arguments_place place = {
			.arch = arch, .address = 0x1000, .offset = 0x200, .find_symbol = i % 2 ? NULL : find_symbol};
		struct sdt_arguments_left left;
		struct text out = {0};
		sdt_arguments_write(&place, text, &out, &left);
		check_list(text_view(&out));
		if ((left.count > 0) != (*left.why != '\0'))
			abort();
		text_deinit(&out);
	}
	free(text);
	return 0;
}
