/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_python.h - writes the symbols of Python's code objects (bpf/python_frames.h) to /tmp/perf-PID.map, where perf
 * and we look for maps of generated code. A process that has no Python frame in a stack gets no file. Files stay after
 * the recording, because its reports need them, as those of runtimes with a JIT compiler do. Where the process itself
 * has such a map that is ours to write, lines are appended: addresses of recordings differ from all others.
 *
 * The caller owns the value, which must not move while it is used. One thread at a time.
 *
 *	record_python_init(&python);   config.python = record_python_map(&python);   ... record_python_close(&python, false);
 */
#ifndef TASKS_RECORDING_RECORD_PYTHON_H
#define TASKS_RECORDING_RECORD_PYTHON_H

#include "base/text.h"
#include "base/vec.h"
#include "bpf/python_frames.h"

struct record_python {
	VEC(uint32_t) made; /* processes whose maps are new */
};

void record_python_init(struct record_python *python);
/* removes: nobody will read the new ones. */
void record_python_close(struct record_python *python, bool removes);
struct python_map record_python_map(struct record_python *python);
/* What was lost, as lines that begin with a newline; frames may be NULL. */
void record_python_print(struct python_frames *frames, struct text *out);

#endif
