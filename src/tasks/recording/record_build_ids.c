/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_build_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/recording_pass.h"
#include "analysis/wait_events.h"
#include "base/error.h"
#include "code/binaries/mapped_file.h"
#include "tasks/session/build_id.h"

#define RECORD_BUILD_IDS_KERNEL_NAME "[kernel.kallsyms]"
#define ANY_PID			     (-1)
#define PROGRESS_BYTES		     (1u << 20)

struct closing_pass {
	struct perfdata_reader *reader;
	struct recording_pass records;
	uint8_t *is_hit; /* Indexed by the machine's binary numbers: 1 if a sample lies in the binary. */
	struct record_files *files; /* Files that were kept open during the recording; NULL if none were. */
};

static void record_build_ids_note_time(struct record_build_ids *out, uint64_t time_ns)
{
	if (time_ns == 0)
		return;
	if (out->first_ns == 0 || time_ns < out->first_ns)
		out->first_ns = time_ns;
	if (time_ns > out->last_ns)
		out->last_ns = time_ns;
}

static void record_build_ids_note_sample(
	struct closing_pass *pass, const struct record *record, struct record_build_ids *out)
{
	const struct perfdata_event *event = perfdata_reader_event_of(pass->reader, record);
	struct sample sample;
	out->samples++;
	if (!event || sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK)
		return;
	uint64_t time = wait_sample_time(event, &sample);
	record_build_ids_note_time(out, time);
	struct resolve_where where = resolver_where(&pass->records.resolver, (int32_t)sample.pid, time);
	uint32_t id = resolver_frame(&pass->records.resolver, &where, record->misc & MISC_CPUMODE_MASK, sample.ip);
	if (pass->records.resolver.failed)
		return;
	uint32_t binary = resolved_frame_get(&pass->records.resolver.frames, id).binary;
	if (binary != RESOLVE_NONE)
		pass->is_hit[binary] = 1;
	if (chain_survey_wants(&out->chains) && chain_survey_is_of(&event->attr))
		chain_survey_add(&out->chains, &pass->records.resolver, &where, &sample);
}

/* Reads the build ID of exactly the mapped file, because another file may have its path: a process in a container may
 * see another file there than we do, and the program may have been replaced. */
static bool read_file_id(const struct machine_binary *binary, const char *path, int held, struct record_build_id *id)
{
	const struct mapped_file file = {.pid = binary->pid,
		.path = path,
		.major = binary->file.major,
		.minor = binary->file.minor,
		.inode = binary->file.inode,
		.generation = binary->file.generation};
	char self[32];
	int fd = held >= 0 ? held : file.inode ? mapped_file_open(&file) : -1;
	if (fd < 0)
		return false;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	bool has_id = build_id_of_file(self, id);
	if (fd != held)
		close(fd);
	return has_id;
}

static bool read_build_id_of(
	const struct machine_binary *binary, struct tally_str path, int held, struct record_build_id *id)
{
	switch (binary->kind) {
	case MACHINE_KERNEL:
		return build_id_of_kernel(id);
	case MACHINE_VDSO:
		return build_id_of_vdso(path, id);
	case MACHINE_USER_FILE:
		return path.len && path.data[0] == '/' && read_file_id(binary, path.data, held, id);
	case MACHINE_KERNEL_MODULE:
		return path.len && path.data[0] == '/' && build_id_of_file(path.data, id);
	case MACHINE_ANON_JIT:
	case MACHINE_JITDUMP:
	case MACHINE_ANON_DATA:
	case MACHINE_NO_FILE:
	case MACHINE_BPF:
	default:
		return false;
	}
}

static struct tally_str record_build_ids_name_of(const struct machine_binary *binary, struct tally_str path)
{
	switch (binary->kind) {
	case MACHINE_KERNEL:
		return STR(RECORD_BUILD_IDS_KERNEL_NAME);
	case MACHINE_VDSO:
	case MACHINE_USER_FILE:
	case MACHINE_KERNEL_MODULE:
	case MACHINE_ANON_JIT:
	case MACHINE_JITDUMP:
	case MACHINE_ANON_DATA:
	case MACHINE_NO_FILE:
	case MACHINE_BPF:
	default:
		return path;
	}
}

/* Returns whether the path is listed with this build ID. Several entries may have the same path, one for each build
 * that ran there. */
static bool record_build_ids_is_listed(
	const struct record_build_ids *out, struct tally_str name, const struct record_build_id *id)
{
	for (size_t i = 0; i < out->known; i++)
		if (out->items[i].size == id->size && !memcmp(out->items[i].bytes, id->bytes, id->size) &&
			str_equal(out->items[i].filename, name))
			return true;
	return false;
}

static int held_file(struct closing_pass *pass, const struct machine_binary *binary)
{
	struct binary_key key = {.build_id_size = binary->build_id.size,
		.major = binary->file.major,
		.minor = binary->file.minor,
		.inode = binary->file.inode,
		.generation = binary->file.generation};
	memcpy(key.build_id, binary->build_id.bytes, sizeof(key.build_id));
	return pass->files && binary->kind == MACHINE_USER_FILE ? record_files_find(pass->files, &key) : -1;
}

static enum tally_status list_binary(struct closing_pass *pass, const struct machine_binary *binary,
	struct record_build_ids *out, struct tally_error *err)
{
	struct tally_str path = machine_string(pass->records.sideband.machine, binary->path);
	struct tally_str name = record_build_ids_name_of(binary, path);
	struct record_build_id id = binary->build_id;
	bool is_kernel = binary->kind == MACHINE_KERNEL || binary->kind == MACHINE_KERNEL_MODULE;
	int held = held_file(pass, binary);
	if ((id.size == 0 && !read_build_id_of(binary, path, held, &id)) || record_build_ids_is_listed(out, name, &id))
		return TALLY_OK;
	char *kept = arena_string(&out->arena, name.data, name.len);
	if (!kept)
		return error_nomem(err);
	out->files[out->known] = (struct record_build_id_file){held, binary->pid};
	struct perfdata_build_id *item = &out->items[out->known++];
	*item = (struct perfdata_build_id){ANY_PID,
		(uint16_t)((is_kernel ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER) | MISC_BUILD_ID_SIZE), id.size, {0},
		{kept, name.len}};
	memcpy(item->bytes, id.bytes, sizeof(item->bytes));
	return TALLY_OK;
}

enum listing { LISTED_FIRST, LISTED_NEXT, NOT_LISTED, LISTINGS };

/* Returns where to list a binary. Readers assign the first entry of a path to the last file with this path whose map
 * records have no build ID. They could not assign entries of earlier such files, so those get none. */
static enum listing listing_of(const struct machine *machine, size_t index)
{
	const struct machine_binary *binary = machine_binary_get(machine, (uint32_t)index);
	if (binary->has_own_id || binary->kind != MACHINE_USER_FILE)
		return LISTED_NEXT;
	for (size_t i = index + 1; i < machine_binary_count(machine); i++) {
		const struct machine_binary *later = machine_binary_get(machine, (uint32_t)i);
		if (later->path == binary->path && !later->has_own_id && later->kind == MACHINE_USER_FILE)
			return NOT_LISTED;
	}
	return LISTED_FIRST;
}

static enum tally_status list_binaries(
	struct closing_pass *pass, bool all, struct record_build_ids *out, struct tally_error *err)
{
	const struct machine *machine = pass->records.sideband.machine;
	size_t count = machine_binary_count(machine);
	enum tally_status status = TALLY_OK;
	out->items = arena_array(&out->arena, struct perfdata_build_id, count);
	out->files = arena_array(&out->arena, struct record_build_id_file, count);
	if (!out->items || !out->files)
		return error_nomem(err);
	for (unsigned listing = 0; listing < LISTINGS; listing++) {
		for (size_t i = 0; status == TALLY_OK && i < count; i++)
			if ((all || pass->is_hit[i]) && listing_of(machine, i) == listing)
				status = list_binary(pass, machine_binary_get(machine, (uint32_t)i), out, err);
		if (listing == LISTED_NEXT)
			out->len = out->known;
	}
	return status;
}

static enum tally_status run_pass(struct closing_pass *pass, bool all, struct progress *progress,
	struct record_build_ids *out, struct tally_error *err)
{
	struct record record;
	size_t position = 0, told = 0;
	enum tally_status status =
		recording_pass_open(&pass->records, pass->reader, &(struct recording_pass_input){0}, err);
	if (status != TALLY_OK)
		return status;
	size_t count = machine_binary_count(pass->records.sideband.machine);
	pass->is_hit = calloc(count ? count : 1, 1);
	if (!pass->is_hit)
		return error_nomem(err);
	progress_begin(progress, "finding the files that samples hit", pass->records.sideband.end);
	while (position < pass->records.sideband.end &&
		record_run_next(&pass->records.run, &position, &record, err) == TALLY_OK) {
		if (record.type == RECORD_SAMPLE)
			record_build_ids_note_sample(pass, &record, out);
		if (position - told < PROGRESS_BYTES)
			continue;
		progress_add(progress, position - told);
		told = position;
	}
	if (pass->records.resolver.failed)
		return error_nomem(err);
	out->lost_events = pass->records.sideband.health.lost_events;
	return list_binaries(pass, all, out, err);
}

enum tally_status record_build_ids_read(const char *path, bool all, struct record_files *files,
	struct progress *progress, struct record_build_ids *out, struct tally_error *err)
{
	struct closing_pass pass = {.files = files};
	enum tally_status status = perfdata_reader_open(path, &pass.reader, err);
	if (status != TALLY_OK)
		return status;
	*out = (struct record_build_ids){0};
	arena_init(&out->arena);
	status = run_pass(&pass, all, progress, out, err);
	recording_pass_close(&pass.records);
	free(pass.is_hit);
	perfdata_reader_destroy(pass.reader);
	if (status != TALLY_OK)
		record_build_ids_deinit(out);
	return status;
}

void record_build_ids_deinit(struct record_build_ids *ids)
{
	arena_deinit(&ids->arena);
	*ids = (struct record_build_ids){0};
}
