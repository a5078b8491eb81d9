/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_counts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/system/kernel_files.h"
#include "tasks/simulation/simulation_file.h"

/* Reads the pairs of a SIM_RECORD_COUNTS, which replace all earlier ones. */
static const char *simulation_counts_read_pairs(struct cursor *c, size_t end, struct simulation_image *image)
{
	memset(image->values, 0, sizeof(image->values));
	memset(image->is_counted, 0, sizeof(image->is_counted));
	cursor_u64(c); /* The record starts with its time. */
	while (!c->failed && c->pos < end) {
		uint64_t event = cursor_u64(c), value = cursor_u64(c);
		if (c->failed || c->pos > end)
			return "its counts are cut short";
		if (event >= SIM_EVENT_COUNT || image->is_counted[event])
			return "it counts an event that is not known, or one twice";
		image->is_counted[event] = true;
		image->values[event] = value;
	}
	return NULL;
}

/* The tool may update one record of counts in place, or append further ones; the last one is valid. */
static const char *simulation_counts_read_records(struct tally_bytes bytes, struct simulation_image *image)
{
	struct cursor c = cursor_make(bytes, false);
	while (cursor_left(&c) >= RECORD_HEADER_BYTES) {
		size_t start = c.pos;
		uint32_t type = cursor_u32(&c);
		uint16_t misc = cursor_u16(&c), size = cursor_u16(&c);
		const char *wrong = NULL;
		if (size < RECORD_HEADER_BYTES)
			return "it has a record that is shorter than its header";
		if (size > bytes.len - start)
			return NULL; /* The process was killed while it wrote this record. */
		if (type == SIM_RECORD_COUNTS) {
			wrong = simulation_counts_read_pairs(&c, start + size, image);
			image->is_final = misc & SIM_COUNTS_FINAL;
			image->toggles_ran = misc / SIM_COUNTS_TOGGLE(0);
		}
		if (wrong)
			return wrong;
		c.pos = start + size;
	}
	return NULL;
}

enum tally_status simulation_image_decode(
	struct tally_bytes bytes, struct simulation_image *image, struct tally_error *err)
{
	struct sim_header header = {0};
	struct simulation_image decoded = {0};
	const char *wrong = simulation_file_header(bytes, &header, &decoded.model);
	decoded.pid = header.pid;
	decoded.number = header.image;
	decoded.kinds = header.kinds;
	if (!wrong)
		wrong = simulation_counts_read_records(bytes_part(bytes, header.size, bytes.len), &decoded);
	if (wrong)
		return error_set(err, TALLY_CORRUPT, "%s", wrong);
	*image = decoded;
	return TALLY_OK;
}

static void simulation_counts_add(struct simulation_counts *counts, const struct simulation_image *image)
{
	for (size_t event = 0; event < SIM_EVENT_COUNT; event++) {
		if (__builtin_add_overflow(counts->values[event], image->values[event], &counts->values[event]))
			counts->values[event] = UINT64_MAX;
		/* An image that was killed before it counted anything does not tell which events it would have
		 * counted. */
		bool is_silent = !image->is_counted[SIM_INSTRUCTIONS];
		counts->is_counted[event] =
			(counts->is_counted[event] || counts->images == 0) && (is_silent || image->is_counted[event]);
	}
	if (!counts->model[0]) {
		struct text model = text_over(counts->model, sizeof(counts->model) - 1);
		text_visible(&model, image->model);
		counts->model[model.len] = '\0';
	}
	counts->silent +=
		!image->is_counted[SIM_INSTRUCTIONS] || (!image->is_final && image->values[SIM_INSTRUCTIONS] == 0);
	counts->toggles_ran |= image->toggles_ran;
	counts->images++;
	counts->processes += image->number == 0;
	counts->unfinished += !image->is_final;
}

static void simulation_counts_add_file(
	struct simulation_counts *counts, const char *path, const char *name, uint32_t pid, uint32_t number)
{
	struct file_map map;
	struct tally_error err;
	struct simulation_image image;
	if (file_map_open(path, &map, &err) != TALLY_OK) {
		if (counts->damaged++ == 0)
			snprintf(counts->damage, sizeof(counts->damage), "%.150s", err.text);
		return;
	}
	enum tally_status status = simulation_image_decode(map.bytes, &image, &err);
	if (status == TALLY_OK && (image.pid != pid || image.number != number))
		status = error_set(&err, TALLY_CORRUPT, "it is the stream of another process");
	if (status == TALLY_OK)
		simulation_counts_add(counts, &image);
	else if (counts->damaged++ == 0)
		snprintf(counts->damage, sizeof(counts->damage), "'%.40s': %.100s", name, err.text);
	file_map_close(&map);
}

enum tally_status simulation_counts_read(
	const char *folder, pid_t pid, struct simulation_counts *counts, struct tally_error *err)
{
	struct name_list names = {0};
	struct simulation_counts sums = {0};
	enum tally_status status = kernel_names(kernel_seam_linux(), &names, err, "%s", folder);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < names.len; i++) {
		char path[PATH_MAX];
		uint32_t of, number;
		if (!simulation_file_name(names.items[i], &of, &number) || (pid && of != (uint32_t)pid))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, names.items[i]);
		simulation_counts_add_file(&sums, path, names.items[i], of, number);
	}
	name_list_deinit(&names);
	if (sums.images == 0)
		return error_set(err, TALLY_NOT_FOUND, "the simulation left no counts%s%s", sums.damaged ? ": " : "",
			sums.damage);
	if (sums.silent == sums.images) /* Values that were never counted are unknown, not 0. */
		memset(sums.is_counted, 0, sizeof(sums.is_counted));
	*counts = sums;
	return TALLY_OK;
}

void simulation_counts_note(const struct simulation_counts *counts, struct diag *notes)
{
	if (counts->unfinished)
		diag_add(notes, DIAG_WARNING,
			"the counts of %zu of %zu process images are not complete: they were killed, or still run; "
			"each may lack %llu million instructions",
			counts->unfinished, counts->images, (unsigned long long)(SIM_COUNTS_INSTRUCTIONS / 1000000));
	if (counts->damaged)
		diag_add(notes, DIAG_WARNING, "the counts of %zu of %zu process images cannot be read: %s",
			counts->damaged, counts->images + counts->damaged, counts->damage);
}

void simulation_counts_note_nothing(const struct simulation_counts *counts, const char *const *toggles,
	size_t toggle_count, bool starts_off, struct diag *notes)
{
	bool is_nothing = counts->values[SIM_INSTRUCTIONS] == 0;
	for (size_t i = 0; i < toggle_count; i++)
		if (i < SIM_TOGGLES_TOLD ? !(counts->toggles_ran & 1u << i) : is_nothing)
			diag_add(notes, DIAG_WARNING,
				"no function that --toggle names as '%s' has run: check its name ('*' matches any "
				"part), and that the program has symbols",
				toggles[i]);
	if (is_nothing && toggle_count == 0 && starts_off)
		diag_add(notes, DIAG_WARNING,
			"with -D -1 counting begins where the program says so (tally/simulation.h), which it did not");
}
