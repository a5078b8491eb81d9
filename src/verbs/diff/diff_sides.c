/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_sides.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static char side_options[][8] = {"--base", "--new", "--aa"};

/* Returns the side option that the word is, with or without "=VALUE", or NULL if it is none. */
static char *side_option(const char *word, bool *has_value)
{
	for (size_t i = 0; i < ARRAY_LEN(side_options); i++) {
		size_t len = strlen(side_options[i]);
		if (strncmp(word, side_options[i], len) != 0 || (word[len] && word[len] != '='))
			continue;
		*has_value = word[len] == '=';
		return side_options[i];
	}
	return NULL;
}

char **diff_sides_expand(int *argc, char **argv)
{
	char **words = calloc((size_t)*argc * 2 + 1, sizeof(char *));
	char *option = NULL; /* The option that the following words belong to; NULL if there is none. */
	bool is_first = false; /* Set if the next word directly follows the option, which is then not repeated. */
	int count = 0;
	if (!words)
		return NULL;
	for (int i = 0; i < *argc; i++) {
		bool has_value = false;
		char *side = i ? side_option(argv[i], &has_value) : NULL;
		bool is_option = argv[i][0] == '-' && argv[i][1];
		if (i && is_option) {
			option = side;
			is_first = side && !has_value;
		} else if (option) {
			if (!is_first)
				words[count++] = option;
			is_first = false;
		}
		words[count++] = argv[i];
	}
	*argc = count;
	return words;
}
