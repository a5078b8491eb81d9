/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - writes the stream of one process image: records through a buffer, the counts in place.
 *
 * When the file cannot take records, they are counted and dropped, and the tool says so once; see stream.h.
 */
#ifndef SIMULATOR_OUTPUT_H
#define SIMULATOR_OUTPUT_H

#include "core.h"

/* Types of the kernel's records, and its misc of what runs in user space. */
enum sim_output_type {
	SIM_OUTPUT_COMM = 3,
	SIM_OUTPUT_EXIT = 4,
	SIM_OUTPUT_FORK = 7,
	SIM_OUTPUT_SAMPLE = 9,
	SIM_OUTPUT_MMAP2 = 10,
};
#define SIM_OUTPUT_MISC_USER 2u
#define SIM_OUTPUT_MISC_EXEC 0x2000u

/* Creates the file of this process image. Without it, the first image ends here; a forked child goes on unobserved. */
void sim_output_open(Bool is_forked);
/* Room for a record of this type with so many bytes behind its header; the caller fills it at once. */
UChar *sim_output_record(UInt type, UInt misc, UInt size);
/* Writes out the records of the buffer and the counts. */
void sim_output_flush(Bool is_final);
/* Writes the counts if they are old. */
void sim_output_keep_up(void);
/* A forked child leaves the file to its parent. */
void sim_output_leave(void);

#endif
