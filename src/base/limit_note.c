/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limit_note.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static atomic_bool is_claimed, is_written;
static char noted[512];

void limit_note(const char *format, ...)
{
	if (atomic_exchange(&is_claimed, true))
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(noted, sizeof(noted), format, args);
	va_end(args);
	atomic_store(&is_written, true);
}

const char *limit_noted(void)
{
	return atomic_load(&is_written) ? noted : NULL;
}
