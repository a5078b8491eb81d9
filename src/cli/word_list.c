#include "cli/word_list.h"

#include "base/text.h"

bool word_list_has(const char *list, struct tally_str word)
{
	struct tally_str rest = str_from(list);
	struct tally_str part;
	while (str_next(&rest, ',', &part))
		if (str_equal(part, word))
			return true;
	return false;
}

bool word_list_has_number(const char *list, int32_t number)
{
	char buffer[16];
	struct text t = {.data = buffer, .cap = sizeof(buffer)};
	text_i64(&t, number);
	return word_list_has(list, (struct tally_str){buffer, t.len});
}
