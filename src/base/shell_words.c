/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shell_words.h"

#include <stdlib.h>
#include <string.h>

static bool shell_words_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == 0;
}

/*
 * Copies one word without its quotation marks, and moves line past it. Returns false if a quotation mark is not closed.
 */
static bool shell_words_take(struct tally_str *line, char **to)
{
	char quote = 0;
	while (line->len && (quote || !shell_words_is_blank(*line->data))) {
		char c = *line->data;
		*line = (struct tally_str){line->data + 1, line->len - 1};
		if (quote ? c == quote : (c == '"' || c == '\'')) {
			quote = quote ? 0 : c;
			continue;
		}
		bool is_escaped = c == '\\' && line->len && quote != '\'';
		if (is_escaped && (!quote || *line->data == '"' || *line->data == '\\')) {
			c = *line->data;
			*line = (struct tally_str){line->data + 1, line->len - 1};
		}
		*(*to)++ = c;
	}
	*(*to)++ = 0;
	return quote == 0;
}

bool shell_words_split(struct tally_str line, char ***words)
{
	/* Each word has at least one byte, and a blank before the next one. */
	size_t most = line.len / 2 + 2;
	char **made = malloc(most * sizeof(*made) + line.len + 1);
	size_t count = 0;
	bool is_good = made != NULL;
	*words = made;
	char *to = is_good ? (char *)(made + most) : NULL;
	while (is_good) {
		while (line.len && shell_words_is_blank(*line.data))
			line = (struct tally_str){line.data + 1, line.len - 1};
		if (line.len == 0)
			break;
		char *word = to;
		is_good = shell_words_take(&line, &to);
		if (is_good)
			made[count++] = word;
	}
	if (made)
		made[count] = NULL;
	return is_good;
}

void shell_words_put_quoted(struct text *text, struct tally_str word)
{
	text_char(text, '\'');
	for (size_t i = 0; i < word.len; i++)
		if (word.data[i] == '\'')
			text_str(text, "'\\''");
		else
			text_char(text, word.data[i]);
	text_char(text, '\'');
}

static bool shell_words_is_plain(struct tally_str word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:+=@%,-";
	for (size_t i = 0; i < word.len; i++)
		if (!memchr(plain, word.data[i], sizeof(plain) - 1))
			return false;
	return word.len > 0;
}

void shell_words_put(struct text *text, struct tally_str word)
{
	if (shell_words_is_plain(word))
		text_bytes(text, word.data, word.len);
	else
		shell_words_put_quoted(text, word);
}
