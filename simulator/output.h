/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - writes the stream of one process image. Records are buffered; the counts are rewritten in place.
 *
 * Records that cannot be written are counted and dropped, and the tool reports that once; see stream.h.
 */
#ifndef SIMULATOR_OUTPUT_H
#define SIMULATOR_OUTPUT_H

#include "core.h"

/* Record types of the kernel, with their numbers. */
enum sim_output_type {
	SIM_OUTPUT_COMM = 3,
	SIM_OUTPUT_EXIT = 4,
	SIM_OUTPUT_FORK = 7,
	SIM_OUTPUT_SAMPLE = 9,
	SIM_OUTPUT_MMAP2 = 10,
};
#define SIM_OUTPUT_MISC_USER 2u
#define SIM_OUTPUT_MISC_EXEC 0x2000u

/* Creates the file of this process image. If that fails, the program ends, unless it is a forked child, which continues
 * unobserved. */
void sim_output_open(Bool is_forked);
/* Returns space for a record of this type with size bytes after its header. The caller must fill it at once. */
UChar *sim_output_record(UInt type, UInt misc, UInt size);
/* Writes out the records of the buffer and the counts. */
void sim_output_flush(Bool is_final);
/* Writes the counts if the last ones are old. */
void sim_output_keep_up(void);
/* Stops using the file in a forked child; it belongs to the parent. */
void sim_output_leave(void);

#endif
