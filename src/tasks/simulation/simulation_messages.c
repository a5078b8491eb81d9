/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_messages.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/system/kernel_files.h"

/* Maximum size of the messages of one process; those about one instruction take about 1 KiB. */
#define MESSAGES_BYTES_MOST	      (64u << 10)
#define MESSAGES_FILES_MOST	      64 /* Maximum number of processes for which messages are read. */
#define SIMULATION_MESSAGES_LINE_MOST 240 /* Maximum length in bytes of a line that is reported. */

static const struct tally_str unknown_instruction = STR("Unrecognised instruction at address");
static const struct tally_str unknown_bytes = STR("unhandled instruction bytes: ");
static const struct tally_str ended_by_signal = STR("Process terminating with default action of signal");

/* Returns the line without Valgrind's prefix "==123== " and surrounding blanks. */
static struct tally_str simulation_messages_line(struct tally_str line)
{
	struct tally_str mark = STR("==");
	if (str_starts_with(line, mark)) {
		const char *end = line.len > 2 ? memmem(line.data + 2, line.len - 2, "==", 2) : NULL;
		if (end)
			line = (struct tally_str){end + 2, line.len - (size_t)(end + 2 - line.data)};
	}
	line = str_trim(line);
	line.len = MIN(line.len, (size_t)SIMULATION_MESSAGES_LINE_MOST);
	return line;
}

static struct tally_str simulation_messages_after(struct tally_str line, struct tally_str words)
{
	const char *found = line.len ? memmem(line.data, line.len, words.data, words.len) : NULL;
	if (!found)
		return (struct tally_str){0};
	found += words.len;
	return (struct tally_str){found, line.len - (size_t)(found - line.data)};
}

/* Returns the first line, or an empty string if it only reports that a signal ended the process. */
static struct tally_str simulation_messages_first(struct tally_str text)
{
	struct tally_str line;
	while (str_next(&text, '\n', &line)) {
		line = simulation_messages_line(line);
		if (line.len > 0)
			return str_starts_with(line, ended_by_signal) ? (struct tally_str){0} : line;
	}
	return (struct tally_str){0};
}

static void simulation_messages_visible(struct text *out, struct tally_str s)
{
	text_visible(out, s);
	text_char(out, '\0');
}

void simulation_messages_note(struct diag *notes, const char *process, struct tally_str text)
{
	struct tally_str rest = text, line, bytes = {0};
	struct text shown = {0};
	bool is_unknown = false;
	while (str_next(&rest, '\n', &line)) {
		struct tally_str found = simulation_messages_after(line, unknown_bytes);
		if (found.data && !bytes.data)
			bytes = simulation_messages_line(found);
		is_unknown |= simulation_messages_after(line, unknown_instruction).data != NULL;
	}
	simulation_messages_visible(&shown, is_unknown ? bytes : simulation_messages_first(text));
	if (is_unknown && !shown.failed)
		diag_add(notes, DIAG_WARNING,
			"process %s executed an instruction that Valgrind does not know, and got SIGILL%s%s; a newer "
			"Valgrind may know it, or build the program for an older CPU (-march=x86-64-v3)",
			process, shown.data[0] ? ": " : "", shown.data);
	else if (!shown.failed && shown.data[0])
		diag_add(notes, DIAG_WARNING, "Valgrind says of process %s: %s", process, shown.data);
	text_deinit(&shown);
}

void simulation_messages_add(const char *folder, struct diag *notes)
{
	struct name_list names = {0};
	size_t files = 0, prefix_len = strlen(SIMULATION_MESSAGES_PREFIX);
	if (!notes || !folder[0] || kernel_names(kernel_seam_linux(), &names, NULL, "%s", folder) != TALLY_OK)
		return;
	for (size_t i = 0; i < names.len && files < MESSAGES_FILES_MOST; i++) {
		char path[PATH_MAX], *text;
		size_t len;
		if (strncmp(names.items[i], SIMULATION_MESSAGES_PREFIX, prefix_len) != 0)
			continue;
		int path_len = snprintf(path, sizeof(path), "%s/%s", folder, names.items[i]);
		files++;
		if (path_len >= PATH_MAX || file_read(path, MESSAGES_BYTES_MOST, &text, &len, NULL) != TALLY_OK)
			continue;
		simulation_messages_note(notes, names.items[i] + prefix_len, (struct tally_str){text, len});
		free(text);
	}
	name_list_deinit(&names);
}

enum tally_status simulation_messages_check_start(
	const char *folder, pid_t pid, const char *command, struct tally_error *err)
{
	char path[PATH_MAX], *text = NULL;
	size_t len = 0;
	struct text shown = {0};
	snprintf(path, sizeof(path), "%s/%d.0", folder, (int)pid);
	if (file_exists(path))
		return TALLY_OK;
	snprintf(path, sizeof(path), "%s/" SIMULATION_MESSAGES_PREFIX "%d", folder, (int)pid);
	if (file_read(path, MESSAGES_BYTES_MOST, &text, &len, NULL) == TALLY_OK)
		simulation_messages_visible(&shown, simulation_messages_first((struct tally_str){text, len}));
	enum tally_status status =
		error_set(err, TALLY_UNSUPPORTED, "cannot simulate '%s': Valgrind did not begin to run it%s%s", command,
			shown.len > 1 && !shown.failed ? ": " : "", shown.len > 1 && !shown.failed ? shown.data : "");
	text_deinit(&shown);
	free(text);
	return status;
}
