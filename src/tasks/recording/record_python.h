/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_python.h - writes the symbols of Python's code objects (bpf/python_frames.h) to /tmp/perf-PID.map, where perf
 * and tally search for maps of generated code. Only processes with a Python frame in a stack get a file. Files stay
 * after the recording, because its reports need them, as with runtimes that have a JIT compiler. If a process already
 * has such a map, and it belongs to this user, lines are appended; this is safe because the addresses that a recording
 * assigns differ from all others.
 *
 * The caller owns the value, which must not move while it is used. Only one thread at a time may use it.
 *
 *	record_python_init(&python);
 *	config.python = record_python_map(&python);
 *	... record_python_close(&python, false);
 */
#ifndef TASKS_RECORDING_RECORD_PYTHON_H
#define TASKS_RECORDING_RECORD_PYTHON_H

#include "base/text.h"
#include "base/vec.h"
#include "bpf/python_frames.h"

struct record_python {
	VEC(uint32_t) made; /* Processes for which a map was created. */
};

void record_python_init(struct record_python *python);
/* removes deletes the created maps, because nobody will read them. */
void record_python_close(struct record_python *python, bool removes);
struct python_map record_python_map(struct record_python *python);
/* Appends the losses as lines that start with a newline. frames may be NULL. */
void record_python_print(struct python_frames *frames, struct text *out);

#endif
