/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_walks.h"

#include <stdlib.h>

#include "base/error.h"
#include "bpf/bpf_sample_stacks.h"
#include "kernel/events/event_gates.h"
#include "kernel/recording/record_attrs.h"
#include "tasks/recording/record_python.h"

struct record_walks {
	const struct record_request *request;
	struct bpf_sample_stacks *stacks;
};

enum tally_status record_walks_create(const struct record_request *q, const struct python_map *python,
	struct record_walks **walks, struct tally_error *err)
{
	*walks = NULL;
	if (q->plan.attrs.chains.mode != CALLGRAPH_BPF)
		return TALLY_OK;
	struct record_walks *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	made->request = q;
	const struct walk_tables_config config = {
		.kernel = q->kernel, .arch = record_host_arch(), .store = q->store, .python = *python};
	enum tally_status status = bpf_sample_stacks_create(&config, &made->stacks, err);
	if (status == TALLY_OK)
		*walks = made;
	else
		free(made);
	return status;
}

void record_walks_destroy(struct record_walks *walks)
{
	if (walks)
		bpf_sample_stacks_destroy(walks->stacks);
	free(walks);
}

struct bpf_object *record_walks_object(const struct record_walks *walks)
{
	return walks ? bpf_sample_stacks_object(walks->stacks) : NULL;
}

struct python_frames *record_walks_python(const struct record_walks *walks)
{
	return walks ? bpf_sample_stacks_python(walks->stacks) : NULL;
}

/* Implements live_interpreted.name: assigns addresses to Python frames in a call chain. Returns true if their mapping
 * must be written first. */
static bool record_walks_name(void *context, uint32_t pid, uint64_t *ips, size_t count, struct record_mmap *mapping)
{
	struct python_frames *frames = record_walks_python(context);
	return python_frames_name(frames, ips, count) && python_frames_tell(frames, pid, ips, count, mapping);
}

enum tally_status record_walks_attach(void *context, size_t event, int fd, struct tally_error *err)
{
	const struct record_walks *walks = context;
	const struct event_spec *spec = &walks->request->events->specs[event];
	if (event_is_dummy(spec) || !record_attrs_is_walked(&spec->attr, &walks->request->plan.attrs))
		return TALLY_OK;
	enum tally_status status = bpf_sample_stacks_attach(walks->stacks, fd, err);
	return status == TALLY_OK ? status : error_prefix(err, "%s", spec->name);
}

/* Assigns each CPU's stacks to the ring of that CPU. */
static enum tally_status record_walks_add_rings(struct record_walks *walks, const struct recorder *recorder,
	const struct perf_attr *attr, struct tally_error *err)
{
	size_t count;
	const struct recorder_source *sources = recorder_sources(recorder, &count);
	bool *has_ring = calloc(recorder_ring_count(recorder) + 1, sizeof(*has_ring));
	enum tally_status status = has_ring ? TALLY_OK : error_nomem(err);
	for (size_t i = 0; status == TALLY_OK && i < count; i++) {
		const struct recorder_source *source = &sources[i];
		if (source->cpu < 0 || source->fd < 0 || has_ring[source->ring])
			continue;
		has_ring[source->ring] = true;
		status = bpf_sample_stacks_add_ring(
			walks->stacks, attr, source->cpu, recorder_ring_fd(recorder, source->ring), err);
	}
	free(has_ring);
	return status;
}

enum tally_status record_walks_start(struct record_walks *walks, const struct recorder *recorder,
	const struct target *target, struct record_live *live, struct tally_error *err)
{
	const struct perf_attr attr = bpf_sample_stacks_attr(&walks->request->events->specs[0].attr);
	size_t count;
	enum tally_status status = record_walks_add_rings(walks, recorder, &attr, err);
	const uint64_t *ids = bpf_sample_stacks_ids(walks->stacks, &count);
	if (status == TALLY_OK)
		status = record_live_add_stacks(live, &attr, ids, count, err);
	record_live_set_interpreted(live, &(struct live_interpreted){record_walks_name, walks});
	bool has_pids = !target->is_system_wide && !target->is_command;
	return status == TALLY_OK ? bpf_sample_stacks_start(
					    walks->stacks, target->threads, has_pids ? target->thread_count : 0, err)
				  : status;
}

void record_walks_print(const struct record_walks *walks, struct text *out)
{
	const struct bpf_sample_stacks_totals totals = bpf_sample_stacks_totals(walks->stacks);
	const struct walk_tables_totals *t = &totals.tables;
	if (totals.lost)
		text_printf(out, "\n%llu samples have the kernel's call chain only: rings had no room for their stacks",
			(unsigned long long)totals.lost);
	if (t->missed)
		text_printf(out, "\n%llu questions for unwind tables were lost, their stacks end early",
			(unsigned long long)t->missed);
	if (t->refused_tables)
		text_printf(out, "\nthe unwind tables of %llu programs had no room in the kernel's map",
			(unsigned long long)t->refused_tables);
	if (t->refused_files)
		text_printf(out, "\n%llu stacks met a program or library that had no room in the kernel's map of files",
			(unsigned long long)t->refused_files);
	if (t->unread_processes)
		text_printf(out,
			"\nthe unwind tables of %llu mapped files cannot be read: /proc or the files are closed to us",
			(unsigned long long)t->unread_processes);
	if (t->refused_processes)
		text_printf(out, "\nthe mappings of %llu processes had no room in the kernel's map",
			(unsigned long long)t->refused_processes);
	record_python_print(record_walks_python(walks), out);
}
