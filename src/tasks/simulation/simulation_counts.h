/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_counts.h - adds up the counts in the streams of a simulation (simulator/stream.h), over all process
 * images.
 *
 * Each stream contains the counts of one image: of a process since its start or its last exec. They are final once the
 * image has ended; those of a killed process lack what it did after the tool had written them last. Values; notes are
 * owned by the caller.
 *
 *	struct simulation_counts counts;
 *	if (simulation_counts_read(run.folder, 0, &counts, err) == TALLY_OK)
 *		... counts.values[SIM_INSTRUCTIONS], simulation_counts_note(&counts, &notes);
 */
#ifndef TASKS_SIMULATION_SIMULATION_COUNTS_H
#define TASKS_SIMULATION_SIMULATION_COUNTS_H

#include <sys/types.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "simulator/stream.h"

#define SIMULATION_MODEL_BYTES 512 /* Maximum size of the description of the model, including the NUL byte. */

/* The contents of one stream. */
struct simulation_image {
	uint32_t pid, number; /* PID, and number of the image within the process. */
	uint32_t kinds; /* Bit mask of enum sim_kind. */
	struct tally_str model; /* Points into the stream. */
	uint64_t values[SIM_EVENT_COUNT];
	bool is_counted[SIM_EVENT_COUNT];
	bool is_final;
	/* Bit mask of the first SIM_TOGGLES_TOLD patterns of --toggle; set for those with a function that has run. */
	uint32_t toggles_ran;
};

struct simulation_counts {
	uint64_t values[SIM_EVENT_COUNT]; /* Sums over all images. */
	bool is_counted[SIM_EVENT_COUNT]; /* The event was counted in all images. */
	uint32_t toggles_ran; /* Bit mask as in struct simulation_image, over all images. */
	size_t images, processes;
	size_t silent; /* Number of images that were killed before they counted anything. */
	size_t unfinished; /* Number of images with counts that are not final. */
	size_t damaged; /* Number of streams that cannot be read. */
	char damage[160]; /* Description of the first damage. */
	char model[SIMULATION_MODEL_BYTES]; /* Description of the model, such as "valgrind=3.19.0 i1=32768,8,64 ...". */
};

/* Decodes the bytes of a stream. Returns CORRUPT with a description of the damage. If there are no counts, because the
 * process was killed right after its start, they are 0 and not final. */
TALLY_MUST_CHECK enum tally_status simulation_image_decode(
	struct tally_bytes bytes, struct simulation_image *image, struct tally_error *err);
/* Reads the streams in a folder: those of a process, or all if pid is 0. Returns NOT_FOUND if no stream can be read. */
TALLY_MUST_CHECK enum tally_status simulation_counts_read(
	const char *folder, pid_t pid, struct simulation_counts *counts, struct tally_error *err);
/* Adds notes about incomplete counts. */
void simulation_counts_note(const struct simulation_counts *counts, struct diag *notes);
/* Adds notes about what was not counted: patterns of --toggle without a function that has run, or everything if
 * starts_off is set and the program did not start the counting. */
void simulation_counts_note_nothing(const struct simulation_counts *counts, const char *const *toggles,
	size_t toggle_count, bool starts_off, struct diag *notes);

#endif
