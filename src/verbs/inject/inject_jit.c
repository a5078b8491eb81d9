/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/inject/inject_jit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/encode.h"
#include "arch/arch.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/order.h"
#include "object/elf/elf_function.h"
#include "tasks/session/symbol_options.h"

#define POINTER_BYTES 8
#define FILE_MODE     0644

struct lines {
	VEC(struct elf_function_line) items;
};

static const struct inject_jit_dump *find_dump(const struct inject_jit *jit, const struct record_mmap *mmap)
{
	for (size_t i = 0; i < jit->dumps.len; i++) {
		const struct inject_jit_dump *dump = &jit->dumps.items[i];
		if (dump->pid == (int32_t)mmap->pid && str_equal(str_from(dump->path), mmap->filename))
			return dump;
	}
	return NULL;
}

static bool is_marker(const struct record *record, struct record_fields *fields)
{
	return (record->type == RECORD_MMAP || record->type == RECORD_MMAP2) &&
	       record_decode(record, fields, NULL) == TALLY_OK && jit_code_is_marker(&fields->mmap);
}

static enum tally_status check_dump(
	struct perfdata_reader *reader, const struct inject_jit_dump *dump, struct tally_error *err)
{
	if (!dump->dump)
		return TALLY_OK;
	if (!jit_code_has_times(reader, dump->dump) || !dump->seen.has_time)
		return error_set(err, TALLY_INVALID,
			"--jit needs timestamps of the clock that %s uses: record with -k mono", dump->path);
	if (!arch_find_elf(dump->dump->elf_machine, POINTER_BYTES))
		return error_set(err, TALLY_UNSUPPORTED, "--jit: %s is of ELF machine %u, which is not supported yet",
			dump->path, dump->dump->elf_machine);
	return TALLY_OK;
}

static enum tally_status add_dump(struct inject_jit *jit, struct perfdata_reader *reader, const struct record *record,
	const struct record_mmap *mmap, struct tally_error *err)
{
	if (jit->dumps.len >= LIMIT_JITDUMPS || find_dump(jit, mmap))
		return TALLY_OK;
	const struct perfdata_event *event = perfdata_reader_event_of(reader, record);
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	if (!event && count == 0)
		return TALLY_OK;
	struct inject_jit_dump dump = {.pid = (int32_t)mmap->pid,
		.path = strndup(mmap->filename.data, mmap->filename.len),
		.layout = event ? &event->layout : &events[0].layout};
	if (!dump.path || !vec_push(&jit->dumps, dump)) {
		free(dump.path);
		return error_nomem(err);
	}
	struct inject_jit_dump *kept = &jit->dumps.items[jit->dumps.len - 1];
	(void)perfdata_reader_sample_id(reader, record, &kept->seen);
	enum tally_status status = jit_code_dump(jit->store, reader, kept->pid, str_from(kept->path), &kept->dump, err);
	return status == TALLY_OK ? check_dump(reader, kept, err) : status;
}

static enum tally_status find_dumps(struct inject_jit *jit, struct perfdata_reader *reader, struct tally_error *err)
{
	struct record record;
	struct record_fields fields;
	enum tally_status status = TALLY_OK;
	/* If the recording is truncated, the error is reported when it is copied. */
	while (status == TALLY_OK && perfdata_reader_next(reader, &record, NULL) == TALLY_OK)
		if (is_marker(&record, &fields))
			status = add_dump(jit, reader, &record, &fields.mmap, err);
	perfdata_reader_rewind(reader);
	return status;
}

/* Returns a path such as "/tmp/jitted-4711-1.so" for the dump "/tmp/jit-4711.dump", with the number of the function
 * in the dump. The caller frees it. NULL if out of memory. */
static char *function_path(const struct inject_jit_dump *dump, size_t number)
{
	char *path;
	const char *slash = strrchr(dump->path, '/');
	int folder = slash ? (int)(slash + 1 - dump->path) : 0;
	return asprintf(&path, "%.*sjitted-%d-%zu.so", folder, dump->path, dump->pid, number) < 0 ? NULL : path;
}

static int by_offset(const void *left, const void *right)
{
	const struct elf_function_line *a = left, *b = right;
	return COMPARE(a->offset, b->offset);
}

static bool inject_jit_read_lines(const struct jitdump *dump, const struct jitdump_code *code, struct lines *lines)
{
	struct jitdump_lines from = jitdump_lines_of(dump, code);
	struct jitdump_row row;
	while (jitdump_lines_next(&from, &row)) {
		struct elf_function_line line = {row.offset, row.line, row.path};
		if (row.path && row.offset < code->size && !vec_push(&lines->items, line))
			return false;
	}
	if (lines->items.len)
		qsort(lines->items.items, lines->items.len, sizeof(*lines->items.items), by_offset);
	return true;
}

/* An existing file of this name may belong to another run or user, so it is replaced rather than overwritten. */
static enum tally_status inject_jit_write_file(const char *path, const struct writer *image, struct tally_error *err)
{
	if (unlink(path) != 0 && errno != ENOENT)
		return error_set_errno(err, TALLY_IO, errno, "cannot replace %s", path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot write %s", path);
	enum tally_status status = file_write_all(fd, image->data, image->len, err);
	if (close(fd) != 0 && status == TALLY_OK)
		status = error_set_errno(err, TALLY_IO, errno, "cannot write %s", path);
	return status;
}

static enum tally_status write_function(
	const struct inject_jit_dump *dump, const struct jitdump_code *code, const char *path, struct tally_error *err)
{
	struct writer image = {0};
	struct lines lines = {0};
	enum tally_status status;
	if (!path || !inject_jit_read_lines(dump->dump, code, &lines)) {
		status = error_nomem(err);
	} else {
		const struct elf_function function = {.machine = dump->dump->elf_machine,
			.is_swapped = dump->dump->swap,
			.name = code->name,
			.code = {dump->dump->bytes.data + code->offset, (size_t)code->size},
			.eh_frame = code->eh_frame,
			.eh_frame_header = code->eh_frame_header,
			.lines = lines.items.items,
			.line_count = lines.items.len};
		elf_function_write(&image, &function);
		status = image.failed ? error_nomem(err) : inject_jit_write_file(path, &image, err);
	}
	vec_free(&lines.items);
	writer_deinit(&image);
	return status;
}

static enum tally_status inject_jit_add_mapping(struct inject_jit *jit, const struct inject_jit_dump *dump,
	const struct jitdump_place *place, const char *path, struct tally_error *err)
{
	struct record_fields fields = {.type = RECORD_MMAP2};
	struct sample_id id = dump->seen;
	struct inject_timed record = {.time = place->time, .offset = jit->bytes.len};
	id.time = place->time;
	fields.mmap = (struct record_mmap){.pid = (uint32_t)dump->pid,
		.tid = (uint32_t)dump->pid,
		.start = place->address,
		.len = place->size,
		.pgoff = ELF_FUNCTION_CODE_OFFSET,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_SHARED,
		.filename = str_from(path)};
	if (!record_encode(&jit->bytes, &fields, MISC_CPUMODE_USER, dump->layout, &id))
		return error_set(err, TALLY_INVALID, "the name %s is too long for a record", path);
	record.len = jit->bytes.len - record.offset;
	return jit->bytes.failed || !vec_push(&jit->records, record) ? error_nomem(err) : TALLY_OK;
}

static enum tally_status inject_jit_add_functions(
	struct inject_jit *jit, const struct inject_jit_dump *dump, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < dump->dump->codes.len; i++) {
		char *path = function_path(dump, i + 1);
		status = write_function(dump, &dump->dump->codes.items[i], path, err);
		free(path);
	}
	for (size_t i = 0; status == TALLY_OK && i < dump->dump->places.len; i++) {
		const struct jitdump_place *place = &dump->dump->places.items[i];
		const struct jitdump_code *code = jitdump_find(dump->dump, place->offset);
		if (!code)
			continue;
		char *path = function_path(dump, (size_t)(code - dump->dump->codes.items) + 1);
		status = path ? inject_jit_add_mapping(jit, dump, place, path, err) : error_nomem(err);
		free(path);
	}
	return status;
}

static int inject_jit_by_time(const void *left, const void *right)
{
	const struct inject_timed *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return COMPARE(a->offset, b->offset);
}

enum tally_status inject_jit_read(
	const struct cli *cli, struct perfdata_reader *reader, struct inject_jit *jit, struct tally_error *err)
{
	const struct binary_store_options options = symbol_options_of(cli, &(struct symbol_options){0}, reader);
	enum tally_status status = binary_store_create(&options, &jit->store, err);
	jit->bytes.swap = perfdata_reader_is_swapped(reader);
	if (status == TALLY_OK)
		status = find_dumps(jit, reader, err);
	for (size_t i = 0; status == TALLY_OK && i < jit->dumps.len; i++) {
		if (jit->dumps.items[i].dump)
			status = inject_jit_add_functions(jit, &jit->dumps.items[i], err);
		else
			cli_failf(cli, "%s: cannot read %s: the generated code of process %d has no symbols",
				cli->program, jit->dumps.items[i].path, jit->dumps.items[i].pid);
	}
	if (status == TALLY_OK && jit->records.len)
		qsort(jit->records.items, jit->records.len, sizeof(*jit->records.items), inject_jit_by_time);
	return status;
}

void inject_jit_deinit(struct inject_jit *jit)
{
	for (size_t i = 0; i < jit->dumps.len; i++)
		free(jit->dumps.items[i].path);
	vec_free(&jit->dumps);
	vec_free(&jit->records);
	writer_deinit(&jit->bytes);
	if (jit->store)
		binary_store_destroy(jit->store);
}

enum inject_change inject_jit_record(void *context, const struct record *record, struct writer *out)
{
	const struct inject_jit *jit = context;
	struct record_fields fields;
	(void)out;
	if (!is_marker(record, &fields))
		return INJECT_KEPT;
	const struct inject_jit_dump *dump = find_dump(jit, &fields.mmap);
	return dump && dump->dump ? INJECT_DROPPED : INJECT_KEPT;
}
