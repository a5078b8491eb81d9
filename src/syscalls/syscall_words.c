/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_words.h"

const char *syscall_word_find(const struct syscall_words *words, uint64_t value)
{
	for (size_t i = 0; i < words->count; i++)
		if (words->words[i].value == value)
			return words->words[i].name;
	return NULL;
}

static void syscall_words_name(struct text *t, const struct syscall_words *words, const char *name, bool with_prefix)
{
	if (with_prefix)
		text_str(t, words->prefix);
	text_str(t, name);
	if (with_prefix)
		text_str(t, words->suffix);
}

/* True if the value contains a word with more bits that includes this word, such as TMPFILE for DIRECTORY. */
static bool syscall_words_is_covered(const struct syscall_words *words, uint64_t word, uint64_t value)
{
	for (size_t i = 0; i < words->count; i++) {
		uint64_t other = words->words[i].value;
		if (other != word && (other & word) == word && (value & other) == other)
			return true;
	}
	return false;
}

void syscall_words_print(struct text *t, const struct syscall_words *words, uint64_t value, bool with_prefix)
{
	const char *name = words->is_enum || value == 0 ? syscall_word_find(words, value) : NULL;
	uint64_t left = words->is_enum ? 0 : value;
	bool is_first = true;
	if (name) {
		syscall_words_name(t, words, name, with_prefix);
		return;
	}
	for (size_t i = 0; left && i < words->count; i++) {
		uint64_t word = words->words[i].value;
		if (word == 0 || (value & word) != word || syscall_words_is_covered(words, word, value))
			continue;
		if (!is_first)
			text_char(t, '|');
		syscall_words_name(t, words, words->words[i].name, with_prefix);
		is_first = false;
		left &= ~word;
	}
	if (left || is_first) {
		if (!is_first)
			text_char(t, '|');
		if (words->is_enum ? value < 4096 : value == 0) {
			text_u64(t, value);
			return;
		}
		text_str(t, "0x");
		text_hex(t, words->is_enum ? value : left, 0);
	}
}
