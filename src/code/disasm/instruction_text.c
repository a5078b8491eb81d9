/* SPDX-License-Identifier: Apache-2.0 */
#include "code/disasm/instruction_text.h"

#include <stdio.h>

static bool instruction_text_opens(char c)
{
	return c == '(' || c == '[' || c == '{';
}

static bool instruction_text_closes(char c)
{
	return c == ')' || c == ']' || c == '}';
}

static void instruction_text_add_word(struct operand_words *words, const char *text, size_t len)
{
	while (len > 0 && text[0] == ' ') {
		text++;
		len--;
	}
	while (len > 0 && text[len - 1] == ' ')
		len--;
	if (words->count < OPERANDS_MAX && len > 0)
		snprintf(words->text[words->count++], OPERAND_TEXT_BYTES, "%.*s", (int)len, text);
}

void operand_words_split(struct operand_words *words, const char *text)
{
	unsigned depth = 0;
	const char *start = text;
	words->count = 0;
	for (; *text; text++) {
		if (instruction_text_opens(*text))
			depth++;
		else if (instruction_text_closes(*text) && depth > 0)
			depth--;
		else if (*text == ',' && depth == 0) {
			instruction_text_add_word(words, start, (size_t)(text - start));
			start = text + 1;
		}
	}
	instruction_text_add_word(words, start, (size_t)(text - start));
}

void operand_words_insert(struct operand_words *words, size_t index, const char *text)
{
	if (words->count == OPERANDS_MAX || index > words->count)
		return;
	memmove(words->text[index + 1], words->text[index], (words->count - index) * OPERAND_TEXT_BYTES);
	snprintf(words->text[index], OPERAND_TEXT_BYTES, "%s", text);
	words->count++;
}

void operand_words_remove(struct operand_words *words, size_t index)
{
	memmove(words->text[index], words->text[index + 1], (words->count - index - 1) * OPERAND_TEXT_BYTES);
	words->count--;
}

void operand_words_join(const struct operand_words *words, const char *separator, struct instruction *instruction)
{
	size_t used = 0;
	instruction->operands[0] = 0;
	for (size_t i = 0; i < words->count; i++) {
		int n = snprintf(instruction->operands + used, INSTRUCTION_OPERANDS_BYTES - used, "%s%s",
			i ? separator : "", words->text[i]);
		if (n < 0 || (size_t)n >= INSTRUCTION_OPERANDS_BYTES - used)
			return;
		used += (size_t)n;
	}
}
