/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/bpf_load.h"
#include "tally_config.h"

#define BPF_LATENCY_WHAT "ftrace latency -b"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/latency.skel.h"

struct bpf_latency {
	const struct kernel_seam *kernel;
	struct latency_bpf *skeleton;
	struct bpf_link **links; /* Two for each function, or one for each event. */
	size_t link_count;
	size_t bucket_count;
};

/* Processes and threads are identified by their IDs in the PID namespace of this process. */
static enum tally_status bpf_latency_find_namespace(struct latency_bpf *s, struct tally_error *err)
{
	struct stat st;
	if (stat("/proc/self/ns/pid", &st) != 0)
		return error_set_errno(err, TALLY_IO, errno,
			BPF_LATENCY_WHAT " finds processes by the numbers of this PID namespace: /proc/self/ns/pid");
	/* The kernel encodes a device number in another way internally than in stat(2). */
	s->rodata->latency.ns_device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	s->rodata->latency.ns_inode = st.st_ino;
	return TALLY_OK;
}

static void bpf_latency_configure(struct latency_bpf *s, const struct bpf_latency_config *config)
{
	bool has_functions = config->function_count > 0;
	bool is_one_event = !has_functions && strcmp(config->systems[0], config->systems[1]) == 0 &&
			    strcmp(config->events[0], config->events[1]) == 0;
	s->rodata->latency.has_cpus = config->cpus != NULL;
	s->rodata->latency.has_processes = config->of_processes;
	s->rodata->latency.has_threads = config->of_threads;
	s->rodata->latency.is_one_event = is_one_event;
	s->rodata->latency.buckets = (uint32_t)config->bucket_count;
	s->rodata->latency.unit_ns = config->unit_ns;
	s->rodata->latency.range = config->range;
	s->rodata->latency.min = config->min;
	bpf_map__set_max_entries(s->maps.buckets, (uint32_t)config->bucket_count);
	bpf_program__set_autoload(s->progs.function_begins, has_functions);
	bpf_program__set_autoload(s->progs.function_ends, has_functions);
	bpf_program__set_autoload(s->progs.first_event, !has_functions);
	bpf_program__set_autoload(s->progs.second_event, !has_functions && !is_one_event);
}

static enum tally_status bpf_latency_refuse_function(const char *function, int errnum, struct tally_error *err)
{
	if (errnum == ENOENT || errnum == EINVAL)
		return error_set(err, TALLY_NOT_FOUND,
			BPF_LATENCY_WHAT
			": the kernel cannot probe a function '%.100s', or has no kprobes (CONFIG_KPROBES); without "
			"-b, the tracer function_graph measures it",
			function);
	return error_set_errno(err, TALLY_UNSUPPORTED, errnum,
		BPF_LATENCY_WHAT ": the kernel cannot probe '%.100s' (it needs CONFIG_KPROBES)", function);
}

static enum tally_status bpf_latency_attach_functions(
	struct bpf_latency *l, const struct bpf_latency_config *config, struct tally_error *err)
{
	const struct latency_bpf *s = l->skeleton;
	for (size_t i = 0; i < 2 * config->function_count; i++) {
		bool is_end = i % 2 == 0; /* The end is attached first, so that no begin lacks its end. */
		const char *function = config->functions[i / 2];
		struct bpf_link *link = bpf_program__attach_kprobe(
			is_end ? s->progs.function_ends : s->progs.function_begins, is_end, function);
		if (!link)
			return bpf_latency_refuse_function(function, errno, err);
		l->links[l->link_count++] = link;
	}
	return TALLY_OK;
}

static enum tally_status bpf_latency_attach_events(
	struct bpf_latency *l, const struct bpf_latency_config *config, struct tally_error *err)
{
	const struct latency_bpf *s = l->skeleton;
	for (int i = s->rodata->latency.is_one_event ? 0 : 1; i >= 0; i--) {
		struct bpf_link *link = bpf_program__attach_tracepoint(
			i ? s->progs.second_event : s->progs.first_event, config->systems[i], config->events[i]);
		if (!link)
			return error_set_errno(err, TALLY_NOT_FOUND, errno,
				BPF_LATENCY_WHAT ": cannot attach to the tracepoint '%s:%s'", config->systems[i],
				config->events[i]);
		l->links[l->link_count++] = link;
	}
	return TALLY_OK;
}

static enum tally_status bpf_latency_set_cpus(const struct bpf_latency *l, const bool *cpus, struct tally_error *err)
{
	int fd = bpf_map__fd(l->skeleton->maps.latency_cpus);
	for (uint32_t cpu = 0; cpu < LATENCY_MAP_CPUS; cpu++) {
		const uint8_t yes = 1;
		if (cpus[cpu] && bpf_map_update_elem(fd, &cpu, &yes, BPF_ANY) != 0)
			return error_set_errno(err, TALLY_IO, errno, BPF_LATENCY_WHAT ": its map of CPUs");
	}
	return TALLY_OK;
}

static enum tally_status bpf_latency_open(
	struct bpf_latency *l, const struct bpf_latency_config *config, struct tally_error *err)
{
	l->links = calloc(2 * config->function_count + 2, sizeof(struct bpf_link *));
	l->skeleton = latency_bpf__open();
	if (!l->links)
		return error_nomem(err);
	if (!l->skeleton)
		return bpf_explain(l->kernel, BPF_LATENCY_WHAT, errno, err);
	bpf_latency_configure(l->skeleton, config);
	enum tally_status status =
		config->of_processes || config->of_threads ? bpf_latency_find_namespace(l->skeleton, err) : TALLY_OK;
	if (status == TALLY_OK)
		status = bpf_load(l->kernel, BPF_LATENCY_WHAT, l->skeleton->skeleton, err);
	if (status == TALLY_OK && config->cpus)
		status = bpf_latency_set_cpus(l, config->cpus, err);
	if (status != TALLY_OK)
		return status;
	return config->function_count ? bpf_latency_attach_functions(l, config, err)
				      : bpf_latency_attach_events(l, config, err);
}

enum tally_status bpf_latency_create(const struct kernel_seam *kernel, const struct bpf_latency_config *config,
	struct bpf_latency **latency, struct tally_error *err)
{
	enum tally_status status = bpf_open(kernel, BPF_LATENCY_WHAT, err);
	if (status != TALLY_OK)
		return status;
	struct bpf_latency *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	made->kernel = kernel;
	made->bucket_count = config->bucket_count;
	status = bpf_latency_open(made, config, err);
	if (status == TALLY_OK)
		*latency = made;
	else
		bpf_latency_destroy(made);
	return status;
}

enum tally_status bpf_latency_watch(struct bpf_latency *latency, uint32_t id, struct tally_error *err)
{
	const uint8_t yes = 1;
	int fd = bpf_map__fd(latency->skeleton->maps.latency_tasks);
	if (bpf_map_update_elem(fd, &id, &yes, BPF_ANY) != 0)
		return error_set_errno(err, TALLY_IO, errno, BPF_LATENCY_WHAT ": its map of threads");
	return TALLY_OK;
}

void bpf_latency_start(struct bpf_latency *latency)
{
	__atomic_store_n(&latency->skeleton->bss->is_measuring, true, __ATOMIC_RELEASE);
}

void bpf_latency_stop(struct bpf_latency *latency)
{
	__atomic_store_n(&latency->skeleton->bss->is_measuring, false, __ATOMIC_RELEASE);
}

static void bpf_latency_join(struct latency_map_sum *sum, const struct latency_map_sum *part)
{
	if (part->count == 0)
		return;
	sum->min_ns = sum->count ? MIN(sum->min_ns, part->min_ns) : part->min_ns;
	sum->max_ns = MAX(sum->max_ns, part->max_ns);
	sum->count += part->count;
	sum->total_ns += part->total_ns;
}

enum tally_status bpf_latency_read(const struct bpf_latency *latency, uint64_t *counts, struct latency_map_sum *sum,
	struct latency_map_losses *losses, struct tally_error *err)
{
	const struct latency_bpf *s = latency->skeleton;
	int cpus = libbpf_num_possible_cpus();
	*sum = (struct latency_map_sum){0};
	*losses = s->bss->latency_losses;
	if (cpus <= 0)
		return error_set_errno(err, TALLY_IO, -cpus, BPF_LATENCY_WHAT ": the CPUs cannot be counted");
	uint64_t *values = calloc((size_t)cpus, sizeof(*values));
	struct latency_map_sum *parts = calloc((size_t)cpus, sizeof(*parts));
	enum tally_status status = values && parts ? TALLY_OK : error_nomem(err);
	for (uint32_t i = 0; status == TALLY_OK && i < latency->bucket_count; i++) {
		counts[i] = 0;
		if (bpf_map_lookup_elem(bpf_map__fd(s->maps.buckets), &i, values) != 0)
			status = error_set_errno(err, TALLY_IO, errno, BPF_LATENCY_WHAT ": its map of buckets");
		for (int cpu = 0; status == TALLY_OK && cpu < cpus; cpu++)
			counts[i] += values[cpu];
	}
	uint32_t zero = 0;
	if (status == TALLY_OK && bpf_map_lookup_elem(bpf_map__fd(s->maps.latency_sums), &zero, parts) != 0)
		status = error_set_errno(err, TALLY_IO, errno, BPF_LATENCY_WHAT ": its map of sums");
	for (int cpu = 0; status == TALLY_OK && cpu < cpus; cpu++)
		bpf_latency_join(sum, &parts[cpu]);
	free(values);
	free(parts);
	return status;
}

void bpf_latency_destroy(struct bpf_latency *latency)
{
	if (!latency)
		return;
	for (size_t i = 0; i < latency->link_count; i++)
		bpf_link__destroy(latency->links[i]);
	latency_bpf__destroy(latency->skeleton);
	free((void *)latency->links);
	free(latency);
}
#else
/* In a build without BPF, bpf_open always fails, so the functions below never receive an object. */
enum tally_status bpf_latency_create(const struct kernel_seam *kernel, const struct bpf_latency_config *config,
	struct bpf_latency **latency, struct tally_error *err)
{
	return bpf_open(kernel, BPF_LATENCY_WHAT, err);
}

enum tally_status bpf_latency_watch(struct bpf_latency *latency, uint32_t id, struct tally_error *err)
{
	return bpf_refusal_expected(NULL, BPF_LATENCY_WHAT, err);
}

void bpf_latency_start(struct bpf_latency *latency)
{
}

void bpf_latency_stop(struct bpf_latency *latency)
{
}

enum tally_status bpf_latency_read(const struct bpf_latency *latency, uint64_t *counts, struct latency_map_sum *sum,
	struct latency_map_losses *losses, struct tally_error *err)
{
	return bpf_refusal_expected(NULL, BPF_LATENCY_WHAT, err);
}

void bpf_latency_destroy(struct bpf_latency *latency)
{
}
#endif
