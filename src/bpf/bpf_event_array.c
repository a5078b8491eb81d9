/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_event_array.h"

#include <errno.h>

#include "base/error.h"
#include "tally_config.h"

#if HAVE_BPF
#include <bpf/bpf.h>

static enum tally_status bpf_event_array_refuse(
	const char *what, const char *event, const char *step, struct tally_error *err)
{
	int errnum = errno;
	return error_set_errno(err, errnum == EPERM || errnum == EACCES ? TALLY_DENIED : TALLY_IO, errnum, "%s: %s%s",
		what, step, event);
}

static enum tally_status bpf_event_array_put(const struct kernel_seam *kernel, const char *what, int map,
	uint32_t first, const struct bpf_counted_event *event, struct tally_error *err)
{
	struct perf_attr attr = event->spec->attr;
	attr.sample_period_or_freq = 0;
	attr.flags &= ~(ATTR_FLAG(ATTR_BIT_FREQ) | ATTR_FLAG(ATTR_BIT_INHERIT) | ATTR_FLAG(ATTR_BIT_DISABLED) |
			ATTR_FLAG(ATTR_BIT_ENABLE_ON_EXEC));
	attr.read_format = 0;
	for (size_t i = 0; i < event->cpu_count; i++) {
		int fd = kernel->perf_event_open(kernel->context, &attr, -1, event->cpus[i], -1, 0);
		if (fd < 0)
			return bpf_event_array_refuse(what, event->spec->name, "cannot open ", err);
		uint32_t key = first + (uint32_t)event->cpus[i];
		int failed = bpf_map_update_elem(map, &key, &fd, BPF_ANY);
		if (failed)
			bpf_event_array_refuse(what, event->spec->name, "BPF programs cannot read ", err);
		kernel->close(kernel->context, fd);
		if (failed)
			return err ? err->status : TALLY_IO;
	}
	return TALLY_OK;
}

enum tally_status bpf_event_array_fill(const struct kernel_seam *kernel, const char *what,
	const struct bpf_event_array *array, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < array->event_count; i++)
		status = bpf_event_array_put(
			kernel, what, array->map, (uint32_t)i * (uint32_t)array->possible_cpus, &array->events[i], err);
	return status;
}
#endif
