/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/control.h"
#include "tally_config.h"

TALLY_PRINTF(3, 0)
static void error_fill(struct tally_error *err, enum tally_status status, const char *format, va_list args)
{
	err->status = status;
	err->errnum = 0;
	err->offset = TALLY_NO_OFFSET;
	vsnprintf(err->text, sizeof(err->text), format, args);
	control_spell_message(format, err->text, sizeof(err->text));
}

static void error_append(struct tally_error *err, const char *separator, const char *text)
{
	size_t len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, "%s%s", separator, text);
}

enum tally_status error_set(struct tally_error *err, enum tally_status status, const char *format, ...)
{
	if (!err)
		return status;
	va_list args;
	va_start(args, format);
	error_fill(err, status, format, args);
	va_end(args);
	return status;
}

const char *error_describe(int errnum, char *buffer, size_t size)
{
#if HAVE_GNU_STRERROR_R
	return strerror_r(errnum, buffer, size);
#else
	return strerror_r(errnum, buffer, size) == 0 ? buffer : "unknown error";
#endif
}

enum tally_status error_set_errno(
	struct tally_error *err, enum tally_status status, int errnum, const char *format, ...)
{
	if (!err)
		return status;
	va_list args;
	va_start(args, format);
	error_fill(err, status, format, args);
	va_end(args);
	char buffer[128];
	err->errnum = errnum;
	error_append(err, ": ", error_describe(errnum, buffer, sizeof(buffer)));
	return status;
}

enum tally_status error_set_at(
	struct tally_error *err, enum tally_status status, uint64_t offset, const char *format, ...)
{
	if (!err)
		return status;
	va_list args;
	va_start(args, format);
	error_fill(err, status, format, args);
	va_end(args);
	char number[24];
	snprintf(number, sizeof(number), "0x%" PRIx64, offset);
	err->offset = offset;
	error_append(err, " at offset ", number);
	return status;
}

enum tally_status error_prefix(struct tally_error *err, const char *format, ...)
{
	if (!err)
		return TALLY_OK;
	char text[sizeof(err->text)];
	memcpy(text, err->text, sizeof(text));
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	control_spell_message(format, err->text, sizeof(err->text));
	error_append(err, ": ", text);
	return err->status;
}

/* Set once memory has run out anywhere, even if the caller ignores the error. */
static atomic_bool memory_ran_out;

bool error_memory_ran_out(void)
{
	return atomic_load_explicit(&memory_ran_out, memory_order_relaxed);
}

enum tally_status error_nomem(struct tally_error *err)
{
	atomic_store_explicit(&memory_ran_out, true, memory_order_relaxed);
	return error_set(err, TALLY_NOMEM, "out of memory");
}
