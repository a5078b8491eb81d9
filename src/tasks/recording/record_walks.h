/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_walks.h - implements --call-graph bpf: it attaches the stack walk in the kernel to the events of a recorder,
 * provides rings for its stacks, and tells record_live which events they belong to.
 *
 * record_opening owns it. One thread.
 *
 *	record_walks_create(request, &walks, err);	// before events are opened; NULL: not asked for
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
/* The BPF programs whose unwind tables others may use (walk_tables_share); NULL: walks is. */
struct bpf_object *record_walks_object(const struct record_walks *walks);
/* Of these stacks; NULL: walks is. */
struct python_frames *record_walks_python(const struct record_walks *walks);
enum tally_status record_walks_attach(void *walks, size_t event, int fd, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status record_walks_start(struct record_walks *walks, const struct recorder *recorder,
	const struct target *target, struct record_live *live, struct tally_error *err);
/* Prints the losses so far, as lines without line ends. */
void record_walks_print(const struct record_walks *walks, struct text *out);

#endif
