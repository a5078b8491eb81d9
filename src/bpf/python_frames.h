/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_frames.h - gives Python frames in stacks of the walk in the kernel their addresses, and these addresses their
 * names. It tells the programs which files have the interpreter, takes the code objects that they meet, and writes a map of
 * symbols as runtimes with a JIT compiler do (/tmp/perf-*.map), which perf reads, too.
 *
 * In such a map each code object has addresses for each of its source lines, and is named
 * "py::NAME:FILE:FIRST LINE". Processes that run the same code have the same addresses for it; other recordings have
 * others. Each process needs a mapping of these addresses in the recording, and a line for the code object in its map,
 * before its first sample with such a frame: python_frames_tell sees to both.
 *
 * Owned by walk_tables. python_frames_add belongs to its thread; the others may be called by any.
 *
 *	if (python_frames_name(frames, ips, count) && python_frames_tell(frames, pid, ips, count, &mapping)) ...
 */
#ifndef BPF_PYTHON_FRAMES_H
#define BPF_PYTHON_FRAMES_H

#include <sys/types.h>
#include <tally/status.h>

#include "abi/record_fields.h"
#include "bpf/python_layout.h"

struct bpf_object; /* libbpf's */
struct python_version;
struct python_frames;

struct python_map { /* of symbols; the caller has the files */
	/* Appends lines to that of a process; false: it cannot be written. NULL: Python frames are not looked for. */
	bool (*put)(void *context, uint32_t pid, struct tally_bytes text);
	void *context;
};

struct python_losses_total {
	uint64_t threads, frames, codes; /* as struct python_losses */
	uint64_t unnamed; /* frames whose code object is not known */
	uint64_t unwritten; /* code objects that a process's map could not get */
};

TALLY_MUST_CHECK enum tally_status python_frames_create(struct bpf_object *object, const struct python_map *map,
	struct python_frames **frames, struct tally_error *err);
void python_frames_destroy(struct python_frames *frames);
/* As walk_tables_share. */
TALLY_MUST_CHECK enum tally_status python_frames_share(
	struct bpf_object *object, struct bpf_object *from, struct tally_error *err);
/* The programs know the interpreter of an open file from now on, by the number that is returned; 0: it has none. base:
 * link-time address that rows count from. */
uint32_t python_frames_add(struct python_frames *frames, const struct python_version *version, int fd, uint64_t base);
/* Replaces numbers of Python frames by addresses; true: there were such. frames may be NULL. */
bool python_frames_name(struct python_frames *frames, uint64_t *ips, size_t count);
/* Addresses of a call chain, some of them of Python frames: the process's map gets the names that it lacks. True, once
 * for each process and again after an exec: the mapping has to be recorded now. */
bool python_frames_tell(
	struct python_frames *frames, uint32_t pid, const uint64_t *ips, size_t count, struct record_mmap *mapping);
struct python_losses_total python_frames_losses(struct python_frames *frames);

#endif
