/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_file.h - recognizes the files of the Valgrind tool (simulator/stream.h) by their names and headers.
 *
 *	struct sim_header header;
 *	struct tally_str model;
 *	const char *wrong = simulation_file_header(bytes, &header, &model);
 */
#ifndef TASKS_SIMULATION_SIMULATION_FILE_H
#define TASKS_SIMULATION_SIMULATION_FILE_H

#include <stdbool.h>

#include "base/bytes.h"
#include "simulator/stream.h"

/* Parses a name such as "1234.0", for the first image of process 1234. Returns false if the file is not the tool's. */
bool simulation_file_name(const char *name, uint32_t *pid, uint32_t *image);
/* Checks the header, and finds the model, a slice of bytes. Returns NULL, or a description of the error, such as "it is
 * shorter than a header". */
const char *simulation_file_header(struct tally_bytes bytes, struct sim_header *header, struct tally_str *model);

#endif
