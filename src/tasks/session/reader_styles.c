/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/reader_styles.h"

static bool are_known(const char *list, const char *const *names)
{
	struct tally_str rest = str_from(list), part;
	bool has_one = false;
	while (str_next(&rest, ',', &part)) {
		size_t i = 0;
		while (names[i] && !str_equal(part, str_from(names[i])))
			i++;
		if (!names[i])
			return false;
		has_one = true;
	}
	return has_one;
}

const char *unwind_style_check(const struct option_use *use)
{
	static const char *const names[] = {"libdw", "libunwind", NULL};
	return are_known(use->value, names) ? NULL : "expects libdw or libunwind, or both";
}

const char *addr2line_style_check(const struct option_use *use, struct tally_str *first)
{
	static const char *const names[] = {"libdw", "llvm", "libbfd", "addr2line", NULL};
	struct tally_str rest = str_from(use->value);
	if (!are_known(use->value, names))
		return "expects styles of libdw, llvm, libbfd and addr2line";
	(void)str_next(&rest, ',', first);
	return NULL;
}
