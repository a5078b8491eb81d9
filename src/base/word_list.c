/* SPDX-License-Identifier: Apache-2.0 */
#include "base/word_list.h"

#include <string.h>

#include "base/text.h"

bool word_list_next(const char *list, struct tally_str *rest, struct tally_str *word)
{
	return str_next(rest, strchr(list, '\n') ? '\n' : ',', word);
}

bool word_list_has(const char *list, struct tally_str word)
{
	struct tally_str rest = str_from(list);
	struct tally_str part;
	while (word_list_next(list, &rest, &part))
		if (str_equal(part, word) || str_equal(str_trim(part), word))
			return true;
	return false;
}

bool word_list_has_number(const char *list, int32_t number)
{
	char buffer[16];
	struct text t = text_over(buffer, sizeof(buffer));
	text_i64(&t, number);
	return word_list_has(list, (struct tally_str){buffer, t.len});
}

struct tally_str word_list_single(const char *list)
{
	struct tally_str rest = str_from(list);
	struct tally_str word, found = {0};
	while (word_list_next(list, &rest, &word)) {
		if (word.len && found.len)
			return (struct tally_str){0};
		if (word.len)
			found = word;
	}
	return found;
}
