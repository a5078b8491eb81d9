/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_counts.h - adds up the counts in the streams of a simulation (simulator/stream.h), over all process images.
 *
 * Each stream has the counts of one image: of a process since its begin or its last exec. They are final once the image
 * has ended; those of a killed process lack what it did since the tool wrote them last. Values; notes are the caller's.
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

#define SIMULATION_MODEL_BYTES 512 /* of the model as text */

struct simulation_image { /* what one stream says */
	uint32_t pid, number; /* of the process, and which of its images */
	uint32_t kinds; /* enum sim_kind */
	struct tally_str model; /* in the stream */
	uint64_t values[SIM_EVENT_COUNT];
	bool is_counted[SIM_EVENT_COUNT];
	bool is_final;
	uint32_t
		toggles_ran; /* bits of the patterns of --toggle of which a function has run: the first SIM_TOGGLES_TOLD */
};

struct simulation_counts {
	uint64_t values[SIM_EVENT_COUNT]; /* sums */
	bool is_counted[SIM_EVENT_COUNT]; /* by all images */
	uint32_t toggles_ran; /* in some image */
	size_t images, processes;
	size_t silent; /* images that were killed before they counted anything */
	size_t unfinished; /* images whose counts are not final */
	size_t damaged; /* streams that cannot be read */
	char damage[160]; /* what is wrong with the first of them */
	char model[SIMULATION_MODEL_BYTES]; /* as text: "valgrind=3.19.0 i1=32768,8,64 ..." */
};

/* The bytes of a stream. CORRUPT: what is wrong with them. No counts at all (the process was killed at its very begin)
 * are counts of 0 that are not final. */
TALLY_MUST_CHECK enum tally_status simulation_image_decode(
	struct tally_bytes bytes, struct simulation_image *image, struct tally_error *err);
/* The streams of a folder; pid: of this process only; 0: of all. NOT_FOUND: no stream can be read. */
TALLY_MUST_CHECK enum tally_status simulation_counts_read(
	const char *folder, pid_t pid, struct simulation_counts *counts, struct tally_error *err);
/* Says which counts are not complete. */
void simulation_counts_note(const struct simulation_counts *counts, struct diag *notes);
/* Says what was not counted: a pattern of --toggle of which no function ran, or (starts_off) all, as the program never
 * began the counting. */
void simulation_counts_note_nothing(const struct simulation_counts *counts, const char *const *toggles,
	size_t toggle_count, bool starts_off, struct diag *notes);

#endif
