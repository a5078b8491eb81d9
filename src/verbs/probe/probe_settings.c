/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/probe/probe_settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"

enum tally_status probe_settings_open(const struct probe_settings *settings, const struct probe_target *target,
	struct probe_binary **binary, struct tally_error *err)
{
	if (target->kind == PROBE_PROGRAM && settings->namespace_pid == 0 && !settings->symfs && target->name &&
		access(target->name, F_OK) != 0)
		return error_set_errno(
			err, TALLY_NOT_FOUND, errno, "Failed to get the absolute path of %s", target->name);
	bool is_file = target->name && (target->kind == PROBE_PROGRAM || strchr(target->name, '/'));
	const struct probe_binary_options options = {.kind = target->kind,
		.path = is_file ? target->name : NULL,
		.module = target->kind == PROBE_MODULE && !is_file ? target->name : NULL,
		.symfs = settings->symfs,
		.vmlinux = settings->vmlinux,
		.root_pid = (int32_t)settings->namespace_pid};
	return probe_binary_open(&options, binary, err);
}

/* Returns perf's exit code, which is a negative errno. */
static int probe_settings_code(const struct tally_error *err)
{
	if (err->errnum > 0 && err->errnum < 128)
		return 256 - err->errnum;
	switch (err->status) {
	case TALLY_INVALID:
	case TALLY_CORRUPT:
		return 256 - EINVAL;
	case TALLY_UNSUPPORTED:
		return 256 - ENODATA;
	case TALLY_DENIED:
		return 256 - EACCES;
	case TALLY_NOMEM:
	case TALLY_LIMIT:
		return 256 - ENOMEM;
	case TALLY_OK:
	case TALLY_END:
	case TALLY_IO:
	case TALLY_NOT_FOUND:
		break;
	}
	return 256 - ENOENT;
}

void probe_settings_print_notes(const struct probe_settings *settings, const char *const *notes, size_t count)
{
	for (size_t i = 0; i < count && !settings->is_quiet; i++)
		cli_sayf("%s\n", notes[i]);
}

int probe_settings_fail(const struct probe_settings *settings, const struct tally_error *err, const char *what)
{
	fflush(stdout);
	if (!settings->is_quiet) {
		cli_sayf("%s\n", err->text);
		cli_sayf("  Error: Failed to %s.\n", what);
	}
	return probe_settings_code(err);
}
