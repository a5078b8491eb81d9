/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_walks.h - implements --call-graph bpf: it attaches the kernel's stack unwinder to the events of a recorder,
 * provides rings for its stacks, and registers the events that carry them with record_live.
 *
 * record_opening owns it. Not thread-safe.
 *
 *	record_walks_create(request, &python, &walks, err);	// before events are opened; NULL if not requested
 *	record_walks_attach(walks, event, fd, err);	// as recorder_config.opened
 *	record_walks_start(walks, recorder, &target, live, err);
 */
#ifndef TASKS_RECORDING_RECORD_WALKS_H
#define TASKS_RECORDING_RECORD_WALKS_H

#include "bpf/python_frames.h"
#include "tasks/recording/record_request.h"

struct bpf_object;
struct record_walks;

TALLY_MUST_CHECK enum tally_status record_walks_create(const struct record_request *request,
	const struct python_map *python, struct record_walks **walks, struct tally_error *err);
void record_walks_destroy(struct record_walks *walks);
/* Returns the BPF programs with unwind tables that others may use (walk_tables_share). Returns NULL if walks is
 * NULL. */
struct bpf_object *record_walks_object(const struct record_walks *walks);
/* Returns the Python frames of these stacks. Returns NULL if walks is NULL. */
struct python_frames *record_walks_python(const struct record_walks *walks);
enum tally_status record_walks_attach(void *walks, size_t event, int fd, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_walks_start(struct record_walks *walks, const struct recorder *recorder,
	const struct target *target, struct record_live *live, struct tally_error *err);
/* Appends the losses so far as lines, without a newline after the last one. */
void record_walks_print(const struct record_walks *walks, struct text *out);

#endif
