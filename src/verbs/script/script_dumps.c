/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_dumps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* A slash in an event's name must not separate directories. */
static char *dump_path(const char *input, struct tally_str event)
{
	struct text path = {0};
	text_str(&path, input);
	text_char(&path, '.');
	for (size_t i = 0; i < event.len; i++)
		text_char(&path, event.data[i] == '/' ? '_' : event.data[i]);
	text_bytes(&path, ".dump", sizeof(".dump"));
	if (path.failed) {
		text_deinit(&path);
		return NULL;
	}
	return path.data;
}

enum tally_status script_dumps_open(
	struct script_dumps *dumps, const char *input, const struct perfdata_reader *reader, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	*dumps = (struct script_dumps){.items = calloc(count ? count : 1, sizeof(*dumps->items))};
	if (!dumps->items)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++) {
		struct script_dump *dump = &dumps->items[i];
		dump->file.fd = -1;
		dump->path = dump_path(input, events[i].name);
		dumps->count = i + 1;
		if (!dump->path)
			return error_nomem(err);
		if (output_file_open(dump->path, NULL, &dump->file, err) != TALLY_OK)
			return error_prefix(err, "cannot write");
		text_to_fd(&dump->text, dump->file.fd);
	}
	return TALLY_OK;
}

struct text *script_dumps_text(struct script_dumps *dumps, const struct perfdata_event *event)
{
	struct script_dump *dump = &dumps->items[event->index];
	dump->samples++;
	return &dump->text;
}

enum tally_status script_dumps_finish(struct script_dumps *dumps, struct text *summary, struct tally_error *err)
{
	for (size_t i = 0; i < dumps->count; i++) {
		struct script_dump *dump = &dumps->items[i];
		struct stat info;
		if (!text_flush(&dump->text) || fstat(dump->file.fd, &info) < 0)
			return error_set_errno(err, TALLY_IO, dump->text.write_errno ? dump->text.write_errno : errno,
				"cannot write %s", dump->path);
		if (dump->text.failed)
			return error_nomem(err);
		enum tally_status status = output_file_finish(&dump->file, TALLY_OK, err);
		if (status != TALLY_OK)
			return status;
		text_str(summary, "[ tally script: Wrote ");
		text_fixed(summary, (double)info.st_size / 1024 / 1024, 3);
		text_printf(summary, " MB %s (%llu samples) ]\n", dump->path, (unsigned long long)dump->samples);
	}
	return TALLY_OK;
}

void script_dumps_close(struct script_dumps *dumps)
{
	for (size_t i = 0; i < dumps->count; i++) {
		/* Discards the file unless script_dumps_finish has completed it. */
		(void)!output_file_finish(&dumps->items[i].file, TALLY_END, NULL);
		text_deinit(&dumps->items[i].text);
		free(dumps->items[i].path);
	}
	free(dumps->items);
	*dumps = (struct script_dumps){0};
}
