/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_waits.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/map_u64.h"
#include "base/spool.h"
#include "kernel/events/event_gates.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/system/kernel_files.h"
#include "tasks/recording/record_early.h"
#include "tasks/recording/wait_filter.h"
#include "tasks/recording/wait_quota.h"

#define RECORD_WAITS_OUT_BYTES (256u << 10) /* Output is passed on in blocks of about this size. */
#define SUMS_MS		       500 /* Default interval at which sums are emitted, in milliseconds. */

struct record_waits {
	/* Cgroups of the recorded threads, as directories, and as names below the mount point. */
	const char **cgroups, **cgroup_names;
	size_t cgroup_count; /* 0 if threads of all cgroups count. */
	struct record_waits_config config;
	struct record_wait_source source;
	struct wait_filter filter;
	struct wait_quota quota; /* Only used with sources that cannot attribute throttling to threads. */
	struct record_layout layout;
	struct map_u64 ids; /* IDs of the event by CPU. */
	uint64_t any_id;
	struct writer out, raw, sum;
	/* Sums of --off-cpu, which are written last: as in perf, their times are after all other samples. */
	struct spool sums;
	uint64_t sums_count;
	const struct record_sink *sink; /* Valid during a drain only. */
	int64_t sums_ms;
	uint64_t parts;
	uint64_t floor_ns, drained_ns; /* Start times of the previous drain and of the current one. */
	struct record_early early;
	bool is_running;
	bool wants_sums; /* Set if the next drain must emit sums. */
};

size_t record_waits_event(const struct event_list *events)
{
	for (size_t i = 0; i < events->len; i++)
		if (event_is_waits(&events->specs[i]))
			return i;
	return events->len;
}

/* ---- Opening ---- */

static enum tally_status record_waits_find_ids(
	struct record_waits *w, const struct recorder *recorder, struct tally_error *err)
{
	size_t count, event = record_waits_event(w->config.events);
	const struct recorder_source *sources = recorder_sources(recorder, &count);
	for (size_t i = 0; i < count; i++) {
		if (sources[i].event != event || sources[i].fd < 0)
			continue;
		w->any_id = sources[i].id;
		if (!map_u64_set(&w->ids, (uint64_t)sources[i].cpu, sources[i].id))
			return error_nomem(err);
	}
	w->layout = record_layout_make(&w->config.events->specs[event].attr, false);
	return TALLY_OK;
}

/* Collects the cgroups of the sampled events. If one event has no cgroup, there is no limit. */
static enum tally_status record_waits_find_cgroups(struct record_waits *w, struct tally_error *err)
{
	const struct event_list *events = w->config.events;
	w->cgroups = calloc(events->len + 1, sizeof(*w->cgroups));
	w->cgroup_names = calloc(events->len + 1, sizeof(*w->cgroup_names));
	if (!w->cgroups || !w->cgroup_names)
		return error_nomem(err);
	for (size_t i = 0; i < events->len; i++) {
		const struct event_spec *spec = &events->specs[i];
		size_t at = 0;
		if (event_is_dummy(spec) || event_is_waits(spec))
			continue;
		if (!spec->cgroup_path) {
			w->cgroup_count = 0;
			return TALLY_OK;
		}
		while (at < w->cgroup_count && strcmp(w->cgroups[at], spec->cgroup_path) != 0)
			at++;
		w->cgroups[at] = spec->cgroup_path;
		w->cgroup_names[at] = spec->cgroup;
		w->cgroup_count += at == w->cgroup_count;
	}
	return TALLY_OK;
}

static size_t record_waits_running_threads(const struct kernel_seam *kernel)
{
	char *text;
	uint64_t count = 0;
	/* The format is "0.1 0.2 0.3 2/345 6789": load averages, running and existing threads, last PID. */
	if (kernel_text(kernel, &text, NULL, "/proc/loadavg") != TALLY_OK)
		return 0;
	struct tally_str rest = str_from(text), word;
	for (unsigned i = 0; i < 4 && str_next(&rest, ' ', &word); i++)
		if (i == 3 && str_next(&word, '/', &(struct tally_str){0}) && !str_to_u64(word, 10, &count))
			count = 0;
	free(text);
	return (size_t)count;
}

enum tally_status record_waits_create(
	const struct record_waits_config *config, struct record_waits **waits, struct tally_error *err)
{
	struct record_waits *w = calloc(1, sizeof(*w));
	if (!w)
		return error_nomem(err);
	w->config = *config;
	w->quota.kernel = config->kernel;
	spool_init(&w->sums);
	const struct target *t = config->target;
	enum tally_status status =
		wait_filter_init(&w->filter, config->events, config->options.is_wall, config->diag, err);
	if (status == TALLY_OK)
		status = record_waits_find_cgroups(w, err);
	struct record_wait_source_config source = {.wanted = config->options.source, .diag = config->diag};
	source.bpf = (struct off_cpu_config){.kernel = config->kernel,
		.what = config->options.is_wall ? "--wall" : "--off-cpu",
		.all_threads = t->is_system_wide,
		.cgroups = w->cgroups,
		.cgroup_count = w->cgroup_count,
		.cpus = t->cpus,
		.cpu_count = t->is_system_wide && config->is_cpu_list ? t->measured_count : 0,
		.no_inherit = config->no_inherit,
		.wants_preempted = config->options.is_wall,
		.no_kernel_stacks = config->no_kernel_stacks,
		.no_user_stacks = config->no_user_stacks,
		.threshold_ns = config->options.threshold_ns,
		.arch = record_host_arch(),
		.store = config->store,
		.walks = config->walks,
		.walks_python = config->walks_python,
		.python = config->python,
		.thread_count = record_waits_running_threads(config->kernel)};
	source.switches = (struct switch_waits_config){.kernel = config->kernel,
		.recorder = config->recorder,
		.attrs = config->attrs,
		.target = t,
		.store = config->store,
		.wants_preempted = config->options.is_wall,
		.no_kernel_stacks = config->no_kernel_stacks,
		.no_user_stacks = config->no_user_stacks,
		.no_inherit = config->no_inherit,
		.threshold_ns = config->options.threshold_ns};
	if (status == TALLY_OK)
		status = record_wait_source_open(&source, &w->source, err);
	const struct record_early_config early = {.kernel = config->kernel,
		.target = t,
		.source = &w->source,
		.store = config->store,
		.diag = config->diag,
		.cgroup_names = w->cgroup_names,
		.cgroup_count = w->cgroup_count,
		.is_process_list = config->is_process_list,
		.no_user_stacks = config->no_user_stacks};
	w->early.config = early;
	if (status == TALLY_OK)
		config->events->specs[record_waits_event(config->events)].attr.config1 = w->source.kind;
	if (status != TALLY_OK) {
		record_waits_destroy(w);
		return status;
	}
	*waits = w;
	return TALLY_OK;
}

void record_waits_destroy(struct record_waits *w)
{
	if (!w)
		return;
	record_early_deinit(&w->early);
	wait_quota_deinit(&w->quota);
	record_wait_source_close(&w->source);
	map_u64_deinit(&w->ids);
	writer_deinit(&w->out);
	writer_deinit(&w->raw);
	writer_deinit(&w->sum);
	spool_deinit(&w->sums);
	free(w->cgroups);
	free(w->cgroup_names);
	free(w);
}

/* ---- Starting and stopping ---- */

enum tally_status record_waits_start(
	struct record_waits *w, const struct recorder *recorder, bool starts_disabled, struct tally_error *err)
{
	const struct target *t = w->config.target;
	enum tally_status status = record_waits_find_ids(w, recorder, err);
	if (status == TALLY_OK)
		status = record_wait_source_start(
			&w->source, t->threads, t->is_system_wide || t->is_command ? 0 : t->thread_count, err);
	w->sums_ms = clock_ms();
	return status == TALLY_OK && starts_disabled ? record_early_begin(&w->early, true, err) : status;
}

enum tally_status record_waits_begin(struct record_waits *w, struct tally_error *err)
{
	enum tally_status status = record_wait_source_begin(&w->source, err);
	w->is_running = status == TALLY_OK;
	/* Before its exec, the command is stopped by us, which does not count as a wait. */
	return status == TALLY_OK ? record_early_begin(&w->early, w->config.target->is_command, err) : status;
}

enum tally_status record_waits_end(struct record_waits *w, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (w->is_running)
		status = record_wait_source_set_running(&w->source, false, err);
	w->is_running = false;
	return status;
}

enum tally_status record_waits_set_running(struct record_waits *w, bool is_running, struct tally_error *err)
{
	bool begins = is_running && !w->is_running;
	enum tally_status status = record_wait_source_set_running(&w->source, is_running, err);
	w->is_running = is_running;
	return status == TALLY_OK && begins ? record_early_begin(&w->early, false, err) : status;
}

/* ---- Writing samples ---- */

static enum tally_status record_waits_flush(struct record_waits *w, struct tally_error *err)
{
	struct tally_bytes bytes = writer_view(&w->out);
	if (w->out.failed || w->raw.failed)
		return error_nomem(err);
	enum tally_status status = bytes.len ? w->sink->take(w->sink->context, &bytes, 1, err) : TALLY_OK;
	writer_clear(&w->out);
	return status;
}

/* Stores a sum of --off-cpu until the end of the recording, with a time from WAIT_SUMS_NS on, by which perf's scripts
 * distinguish sums from single waits. */
static enum tally_status record_waits_keep_sum(
	struct record_waits *w, struct sample *s, struct wait_record *record, unsigned misc, struct tally_error *err)
{
	record->flags |= WAIT_FLAG_END;
	record->end_ns = s->time;
	s->time = WAIT_SUMS_NS + w->sums_count++;
	writer_clear(&w->raw);
	wait_record_encode(&w->raw, s, record);
	s->raw = writer_view(&w->raw);
	writer_clear(&w->sum);
	(void)sample_encode(&w->sum, &w->layout, (uint16_t)misc, s);
	struct tally_bytes bytes = writer_view(&w->sum);
	bool is_kept = !w->raw.failed && !w->sum.failed && spool_append(&w->sums, bytes.data, bytes.len);
	return is_kept ? TALLY_OK : error_nomem(err);
}

/* Passes on the stored sums as complete records, in blocks of about RECORD_WAITS_OUT_BYTES. */
static enum tally_status record_waits_give_sums(struct record_waits *w, struct tally_error *err)
{
	struct tally_bytes rest = spool_view(&w->sums);
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && rest.len > 0) {
		struct tally_bytes part = {rest.data, 0};
		do {
			struct perf_event_header header;
			memcpy(&header, part.data + part.len, sizeof(header));
			part.len += header.size;
		} while (part.len < rest.len && part.len < RECORD_WAITS_OUT_BYTES);
		status = w->sink->take(w->sink->context, &part, 1, err);
		rest.data += part.len;
		rest.len -= part.len;
	}
	return status;
}

/* Emits the mapping for the Python frames of a call chain if their process does not have it yet. */
static void record_waits_put_mapping(
	struct record_waits *w, uint32_t pid, const uint64_t *ips, size_t count, const struct sample *s)
{
	struct record_fields fields = {.type = RECORD_MMAP2};
	if (!python_frames_tell(
		    (w->source.off_cpu ? off_cpu_python(w->source.off_cpu) : NULL), pid, ips, count, &fields.mmap))
		return;
	const struct sample_id id = {.pid = pid, .tid = pid, .cpu = s->cpu, .time = s->time, .id = s->id};
	(void)record_encode(&w->out, &fields, MISC_CPUMODE_USER, &w->layout, &id);
}

static enum tally_status record_waits_take(void *context, const struct off_cpu_wait *wait, struct tally_error *err)
{
	struct record_waits *w = context;
	struct wait_record record = wait->record;
	if (!wait_filter_passes(&w->filter, wait->pid, wait->tid))
		return TALLY_OK;
	w->parts += record.count;
	if (w->source.switches)
		wait_quota_add(&w->quota, wait->pid);
	/* A sum of a single wait has no own time either, because only the end of its last part is known. */
	record.flags |= wait->is_summed ? WAIT_FLAG_SUM : 0;
	bool is_kernel = wait->ips_count && wait->ips[0] == CONTEXT_KERNEL;
	uint16_t misc = is_kernel ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER;
	struct sample s = {.present = w->layout.sample_type,
		.ip = wait->ips_count > 1 ? wait->ips[1] : 0,
		.pid = wait->pid,
		.tid = wait->tid,
		.cpu = wait->cpu,
		.id = w->any_id,
		.time = MAX(wait->end_ns, w->floor_ns),
		.period = wait->period_ns,
		.callchain = {(const uint8_t *)wait->ips, (uint32_t)wait->ips_count}};
	(void)map_u64_find(&w->ids, wait->cpu, &s.id);
	if (record.flags & WAIT_FLAG_BEGAN_BEFORE && !record_early_note(&w->early, wait))
		return error_nomem(err);
	record_waits_put_mapping(w, wait->pid, wait->ips, wait->ips_count, &s);
	record_waits_put_mapping(w, record.waker_pid, wait->waker_ips, wait->waker_count, &s);
	record.waker_ips = (struct sample_array){(const uint8_t *)wait->waker_ips, (uint32_t)wait->waker_count};
	if (wait->is_summed && !w->config.options.is_wall)
		return record_waits_keep_sum(w, &s, &record, misc, err);
	writer_clear(&w->raw);
	wait_record_encode(&w->raw, &s, &record);
	s.raw = writer_view(&w->raw);
	(void)sample_encode(&w->out, &w->layout, misc, &s);
	return w->out.len >= RECORD_WAITS_OUT_BYTES ? record_waits_flush(w, err) : TALLY_OK;
}

enum tally_status record_waits_drain(
	struct record_waits *w, const struct record_sink *sink, bool is_last, struct tally_error *err)
{
	const struct off_cpu_sink to_samples = {record_waits_take, w};
	int64_t now_ms = clock_ms();
	int64_t sums_ms = w->config.options.sums_ms ? w->config.options.sums_ms : SUMS_MS;
	bool is_wanted = w->wants_sums, takes_sums = is_wanted || now_ms - w->sums_ms >= sums_ms;
	w->floor_ns = w->drained_ns;
	w->drained_ns = clock_ns();
	w->sink = sink;
	w->wants_sums = false;
	if (takes_sums)
		w->sums_ms = now_ms;
	if (takes_sums || is_last)
		wait_quota_look(&w->quota);
	enum tally_status status = record_early_read_stacks(&w->early, is_last, err);
	if (status == TALLY_OK)
		status = record_wait_source_drain(&w->source, takes_sums, is_last, &to_samples, err);
	if (status == TALLY_OK && is_wanted && !is_last)
		status = record_wait_source_give_lasting(&w->source, &to_samples, err);
	if (status == TALLY_OK)
		status = record_waits_flush(w, err);
	return status == TALLY_OK && is_last ? record_waits_give_sums(w, err) : status;
}

void record_waits_want_sums(struct record_waits *w)
{
	w->wants_sums = true;
}

struct python_frames *record_waits_python(const struct record_waits *w)
{
	return (w->source.off_cpu ? off_cpu_python(w->source.off_cpu) : NULL);
}

uint64_t record_waits_parts(const struct record_waits *w)
{
	return w->parts;
}

struct off_cpu_losses record_waits_losses(const struct record_waits *w)
{
	struct off_cpu_losses losses = record_wait_source_losses(&w->source);
	record_early_add_losses(&w->early, &losses);
	losses.throttled_ns = wait_quota_ns(&w->quota);
	return losses;
}

int record_waits_pause_ms(const struct record_waits *w)
{
	if (record_early_is_reading(&w->early))
		return RECORD_EARLY_PAUSE_MS;
	return w->source.switches ? SWITCH_WAITS_PAUSE_MS : RECORD_EARLY_LOOK_MS;
}

void record_waits_print_losses(struct text *out, const struct off_cpu_losses *l)
{
	if (l->threads)
		text_printf(out, "%llu switches are missing from waits: there were too many threads\n",
			(unsigned long long)l->threads);
	if (l->switches)
		text_printf(out,
			"%llu context switches are missing from waits, and the waits that were under way then: rings "
			"had no room\n",
			(unsigned long long)l->switches);
	if (l->waits)
		text_printf(out, "%llu waits (%.3f s) were lost: too many different ones came at once\n",
			(unsigned long long)l->waits, (double)l->waits_ns / 1e9);
	if (l->stacks)
		text_printf(out, "%llu waits have lost their stacks: too many different ones came at once\n",
			(unsigned long long)l->stacks);
	if (l->cut_stacks)
		text_printf(out, "%llu stacks of waits are cut after 127 frames\n", (unsigned long long)l->cut_stacks);
	if (l->partial)
		text_printf(out,
			"%llu waits (%.3f s) may lack callers: they ended before the unwind tables of their programs "
			"were read\n",
			(unsigned long long)l->partial, (double)l->partial_ns / 1e9);
	if (l->mistaken_stacks)
		text_printf(out,
			"%llu stacks of waits were recognized wrongly; please report this, with the kernel's version\n",
			(unsigned long long)l->mistaken_stacks);
	if (l->summed)
		text_printf(out, "%llu long waits are only in sums: more came than could be written\n",
			(unsigned long long)l->summed);
	if (l->throttled_ns)
		text_printf(out,
			"CPU quotas of cgroups throttled threads for %.3f s in sum (cpu.stat); this is in 'runnable', "
			"as only --wall-source bpf sees which threads\n",
			(double)l->throttled_ns / 1e9);
	if (l->unreached)
		text_printf(out,
			"%llu waits of 0.1 s and more that began before the recording have only the innermost frame of "
			"their user stacks: they, or the recording, ended before these were read\n",
			(unsigned long long)l->unreached);
	if (l->unreadable)
		text_printf(out,
			"%llu waits that began before the recording have only the innermost frame of their user "
			"stacks: reading these needs CAP_SYS_PTRACE\n",
			(unsigned long long)l->unreadable);
}
