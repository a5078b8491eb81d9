/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/control.h"
#include "base/limits.h"
#include "base/vec.h"

void diag_init(struct diag *diag)
{
	*diag = (struct diag){0};
}

void diag_deinit(struct diag *diag)
{
	for (size_t i = 0; i < diag->len; i++)
		free(diag->entries[i].text);
	free(diag->entries);
	*diag = (struct diag){0};
}

void diag_add(struct diag *diag, enum diag_level level, const char *format, ...)
{
	if (!diag)
		return;
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	control_spell_message(format, text, sizeof(text));
	for (size_t i = 0; i < diag->len; i++) {
		if (diag->entries[i].level == level && strcmp(diag->entries[i].text, text) == 0) {
			diag->entries[i].count++;
			return;
		}
	}
	char *copy = diag->len < LIMIT_DIAG_TEXTS ? strdup(text) : NULL;
	if (!copy || (diag->len == diag->cap &&
			     !vec_grow(&diag->entries, &diag->cap, sizeof(*diag->entries), diag->len + 1))) {
		free(copy);
		diag->dropped++;
		return;
	}
	diag->entries[diag->len++] = (struct diag_entry){.level = level, .text = copy, .count = 1};
}

void diag_add_all(struct diag *to, const struct diag *other)
{
	for (size_t i = 0; i < other->len; i++)
		for (uint64_t n = 0; n < other->entries[i].count; n++)
			diag_add(to, other->entries[i].level, "%s", other->entries[i].text);
	if (to)
		to->dropped += other->dropped;
}
