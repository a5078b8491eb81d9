/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_frames.h - assigns addresses to the Python frames in stacks that were walked in the kernel, and symbols to
 * these addresses. It tells the BPF programs which files contain an interpreter, receives the code objects from them,
 * and writes perf maps as JIT compilers do (/tmp/perf-*.map), which perf reads, too.
 *
 * In such a map, each code object has addresses for each of its source lines, and is named "py::NAME:FILE:FIRST LINE".
 * Processes that run the same code share its addresses, which differ between recordings. Each process needs a mapping
 * of these addresses in the recording, and a line for the code object in its perf map, before its first sample with
 * such a frame: python_frames_tell provides both.
 *
 * Owned by walk_tables. python_frames_add may be called only by its thread, the other functions by any thread.
 *
 *	if (python_frames_name(frames, ips, count) && python_frames_tell(frames, pid, ips, count, &mapping)) ...
 */
#ifndef BPF_PYTHON_FRAMES_H
#define BPF_PYTHON_FRAMES_H

#include <sys/types.h>
#include <tally/status.h>

#include "abi/record_fields.h"
#include "bpf/python_layout.h"

struct bpf_object; /* A type of libbpf. */
struct python_version;
struct python_frames;

struct python_map { /* Destination of symbols; the caller owns the perf maps. */
	/*
	 * Appends lines to the perf map of a process; returns false if it cannot be written. NULL if Python frames are
	 * not recognized.
	 */
	bool (*put)(void *context, uint32_t pid, struct tally_bytes text);
	void *context;
};

struct python_losses_total {
	uint64_t threads, frames, codes; /* Sums of the members of struct python_losses. */
	uint64_t unnamed; /* Number of frames with an unknown code object. */
	uint64_t unwritten; /* Number of code objects that could not be written to a process's perf map. */
};

/* object is loaded. Sets *frames to NULL if map->put is NULL. */
TALLY_MUST_CHECK enum tally_status python_frames_create(struct bpf_object *object, const struct python_map *map,
	struct python_frames **frames, struct tally_error *err);
void python_frames_destroy(struct python_frames *frames);
/* Makes object use the maps of python.bpf.h of another, loaded object. Call it before object is loaded. */
TALLY_MUST_CHECK enum tally_status python_frames_share(
	struct bpf_object *object, struct bpf_object *from, struct tally_error *err);
/*
 * Registers the interpreter in the open file fd and returns its index in python_binaries; 0 if the file has none, or
 * frames or version is NULL. base is the link-time address that corresponds to row address 0 (walk_layout.h).
 */
uint32_t python_frames_add(struct python_frames *frames, const struct python_version *version, int fd, uint64_t base);
/* Replaces the encoded Python frames in ips by addresses; returns true if there were any. frames may be NULL. */
bool python_frames_name(struct python_frames *frames, uint64_t *ips, size_t count);
/*
 * Adds symbols of the Python frames in a call chain to the process's perf map, unless it has them already. Returns true
 * if mapping was set and must be recorded now, which happens once for each process and again after an exec. frames may
 * be NULL.
 */
bool python_frames_tell(
	struct python_frames *frames, uint32_t pid, const uint64_t *ips, size_t count, struct record_mmap *mapping);
/* Returns zeros if frames is NULL. */
struct python_losses_total python_frames_losses(struct python_frames *frames);

#endif
