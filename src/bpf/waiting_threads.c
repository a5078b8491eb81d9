/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/waiting_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/interrupts.h"
#include "bpf/bpf_load.h"
#include "bpf/wait_calls.h"
#include "tally_config.h"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/off_cpu.bpf.h"
#include "bpf/waiting_threads.bpf.h"
#include "bpf/waiting_threads.skel.h"

#define TARGETS_LEAST 8192
#define READ_BYTES    (64u << 10)

_Static_assert(WAITING_REGISTERS == WAITING_REGISTERS_MOST, "the program's and the reader's registers");

struct waiting_threads {
	struct waiting_threads_config config;
	struct waiting_threads_bpf *skeleton;
	struct bpf_link *visit;
};

static enum tally_status waiting_threads_size(struct waiting_threads *w, struct tally_error *err)
{
	const struct waiting_threads_config *c = &w->config;
	struct waiting_threads_bpf *s = w->skeleton;
	static const char *const shared[] = {"threads", "cpus"};
	size_t targets = c->all_threads ? 1 : MIN(2 * c->thread_count + TARGETS_LEAST, (size_t)1 << 22);
	s->rodata->all_threads = c->all_threads;
	s->rodata->wants_preempted = c->wants_preempted;
	s->rodata->wants_kernel = !c->no_kernel_stacks;
	s->rodata->has_cpus = c->has_cpus;
	s->rodata->own_tgid = (uint32_t)getpid();
	for (size_t i = 0; i < MIN(c->restart_count, (size_t)OFF_CPU_RESTARTS); i++)
		s->rodata->restarts[i] = (struct off_cpu_restart){
			.function = c->restarts[i].function, .syscall = c->restarts[i].syscall};
	if (bpf_map__set_max_entries(s->maps.targets, (uint32_t)targets) != 0)
		return bpf_explain(c->kernel, c->what, errno, err);
	return bpf_share_maps(s->obj, c->waits, shared, ARRAY_LEN(shared), err);
}

enum tally_status waiting_threads_create(
	const struct waiting_threads_config *config, struct waiting_threads **threads, struct tally_error *err)
{
	struct waiting_threads *w = calloc(1, sizeof(*w));
	if (!w)
		return error_nomem(err);
	w->config = *config;
	w->skeleton = waiting_threads_bpf__open();
	enum tally_status status =
		w->skeleton ? waiting_threads_size(w, err) : bpf_explain(config->kernel, config->what, errno, err);
	if (status == TALLY_OK)
		status = bpf_load(config->kernel, config->what, w->skeleton->skeleton, err);
	if (status == TALLY_OK) {
		w->visit = bpf_program__attach_iter(w->skeleton->progs.waiting_visit, NULL);
		if (!w->visit)
			status = bpf_explain(config->kernel, config->what, errno, err);
	}
	if (status != TALLY_OK) {
		waiting_threads_destroy(w);
		return status;
	}
	*threads = w;
	return TALLY_OK;
}

void waiting_threads_destroy(struct waiting_threads *w)
{
	if (!w)
		return;
	bpf_link__destroy(w->visit);
	waiting_threads_bpf__destroy(w->skeleton);
	free(w);
}

enum tally_status waiting_threads_add_target(
	struct waiting_threads *w, uint32_t id, bool is_process, struct tally_error *err)
{
	uint8_t kind = WAITING_THREAD | (is_process ? WAITING_PROCESS : 0);
	if (bpf_map_update_elem(bpf_map__fd(w->skeleton->maps.targets), &id, &kind, BPF_ANY) == 0)
		return TALLY_OK;
	return error_set_errno(err, TALLY_IO, errno, "%s: cannot name a thread to the BPF program", w->config.what);
}

static enum tally_status waiting_threads_give(
	const struct waiting_record *record, const struct waiting_threads_sink *sink, struct tally_error *err)
{
	uint64_t kernel[WAITING_FRAMES];
	struct waiting_thread thread = {.tid = record->tid,
		.pid = record->tgid,
		.stack = record->stack,
		.switches = record->switches,
		.has_registers = record->has_registers,
		.kernel = kernel,
		.kernel_count = record->kernel_count};
	memcpy(thread.registers, record->registers, sizeof(thread.registers));
	memcpy(kernel, record->kernel, record->kernel_count * sizeof(*kernel));
	return sink->take(sink->context, &thread, err);
}

/* Handles all complete records, and sets *used to their size in bytes. */
static enum tally_status waiting_threads_take(const uint8_t *bytes, size_t count, size_t *used,
	const struct waiting_threads_sink *sink, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	*used = 0;
	while (status == TALLY_OK && count - *used >= WAITING_RECORD_BYTES) {
		struct waiting_record record;
		memcpy(&record, bytes + *used, WAITING_RECORD_BYTES);
		size_t kernel_bytes = MIN(record.kernel_count, (size_t)WAITING_FRAMES) * sizeof(uint64_t);
		if (count - *used - WAITING_RECORD_BYTES < kernel_bytes)
			break;
		memcpy(record.kernel, bytes + *used + WAITING_RECORD_BYTES, kernel_bytes);
		record.kernel_count = (uint16_t)(kernel_bytes / sizeof(uint64_t));
		*used += WAITING_RECORD_BYTES + kernel_bytes;
		status = waiting_threads_give(&record, sink, err);
	}
	return status;
}

static enum tally_status waiting_threads_read(
	struct waiting_threads *w, int fd, const struct waiting_threads_sink *sink, struct tally_error *err)
{
	uint8_t *bytes = malloc(READ_BYTES);
	size_t count = 0, used;
	ssize_t got = 1;
	unsigned interrupts = 0;
	enum tally_status status = bytes ? TALLY_OK : error_nomem(err);
	while (status == TALLY_OK && got != 0) {
		got = read(fd, bytes + count, READ_BYTES - count);
		/* The kernel pauses after a million threads. */
		if (got < 0 && (errno == EAGAIN || is_interrupted(&interrupts)))
			continue;
		if (got < 0)
			status = error_set_errno(err, TALLY_IO, errno,
				"%s: the BPF program cannot visit the machine's threads", w->config.what);
		else if (w->skeleton->bss->reader != (uint32_t)getpid())
			status = error_set(err, TALLY_UNSUPPORTED,
				"%s: threads have other numbers in the kernel than in this PID namespace",
				w->config.what);
		if (got <= 0 || status != TALLY_OK)
			break;
		count += (size_t)got;
		status = waiting_threads_take(bytes, count, &used, sink, err);
		memmove(bytes, bytes + used, count - used);
		count -= used;
	}
	free(bytes);
	return status;
}

enum tally_status waiting_threads_find(struct waiting_threads *w, const struct waiting_threads_pass *pass,
	const struct waiting_threads_sink *sink, struct tally_error *err)
{
	w->skeleton->bss->begin_ns = pass->begin_ns;
	w->skeleton->bss->generation = pass->generation;
	w->skeleton->bss->only_partial = pass->only_partial;
	int fd = bpf_iter_create(bpf_link__fd(w->visit));
	if (fd < 0)
		return error_set_errno(
			err, TALLY_IO, errno, "%s: the BPF program cannot visit the machine's threads", w->config.what);
	enum tally_status status = waiting_threads_read(w, fd, sink, err);
	close(fd);
	return status;
}

uint64_t waiting_threads_lost(const struct waiting_threads *w)
{
	return w->skeleton->bss->lost_threads;
}
#else
/* In a build without BPF, waiting_threads_create always fails, so the functions below never receive an object. */
enum tally_status waiting_threads_create(
	const struct waiting_threads_config *config, struct waiting_threads **threads, struct tally_error *err)
{
	return bpf_refusal_expected(config->kernel, config->what, err);
}

void waiting_threads_destroy(struct waiting_threads *threads)
{
}

enum tally_status waiting_threads_add_target(
	struct waiting_threads *threads, uint32_t id, bool is_process, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

enum tally_status waiting_threads_find(struct waiting_threads *threads, const struct waiting_threads_pass *pass,
	const struct waiting_threads_sink *sink, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

uint64_t waiting_threads_lost(const struct waiting_threads *threads)
{
	return 0;
}
#endif
