/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_kernel.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "abi/perf_constants.h"
#include "base/array.h"

static const char *const flag_names[ATTR_BIT_COUNT] = {
	[ATTR_BIT_DISABLED] = "disabled",
	[ATTR_BIT_INHERIT] = "inherit",
	[ATTR_BIT_PINNED] = "pinned",
	[ATTR_BIT_EXCLUSIVE] = "exclusive",
	[ATTR_BIT_EXCLUDE_USER] = "exclude_user",
	[ATTR_BIT_EXCLUDE_KERNEL] = "exclude_kernel",
	[ATTR_BIT_EXCLUDE_HV] = "exclude_hv",
	[ATTR_BIT_EXCLUDE_IDLE] = "exclude_idle",
	[ATTR_BIT_MMAP] = "mmap",
	[ATTR_BIT_COMM] = "comm",
	[ATTR_BIT_FREQ] = "freq",
	[ATTR_BIT_ENABLE_ON_EXEC] = "enable_on_exec",
	[ATTR_BIT_TASK] = "task",
	[ATTR_BIT_WATERMARK] = "watermark",
	[ATTR_BIT_SAMPLE_ID_ALL] = "sample_id_all",
	[ATTR_BIT_EXCLUDE_HOST] = "exclude_host",
	[ATTR_BIT_EXCLUDE_GUEST] = "exclude_guest",
	[ATTR_BIT_MMAP2] = "mmap2",
	[ATTR_BIT_COMM_EXEC] = "comm_exec",
	[ATTR_BIT_KSYMBOL] = "ksymbol",
	[ATTR_BIT_BPF_EVENT] = "bpf_event",
	[ATTR_BIT_BUILD_ID] = "build_id",
};

static void attr_log(struct text *log, const struct perf_attr *attr)
{
	static const char *const types[] = {"hardware", "software", "tracepoint", "hw_cache", "raw", "breakpoint"};
	if (attr->type < ARRAY_LEN(types))
		text_printf(log, " %s", types[attr->type]);
	else
		text_printf(log, " type%u", attr->type);
	text_printf(log, "/0x%llx read=%llu", (unsigned long long)attr->config, (unsigned long long)attr->read_format);
	for (unsigned bit = 0; bit < ATTR_BIT_COUNT; bit++)
		if ((attr->flags & ATTR_FLAG(bit)) && flag_names[bit])
			text_printf(log, " %s", flag_names[bit]);
	if (attr_precise_ip(attr))
		text_printf(log, " precise=%u", attr_precise_ip(attr));
}

static bool rule_fits(const struct fake_rule *rule, const struct perf_attr *attr)
{
	return rule->type == attr->type && (rule->config == FAKE_ANY || rule->config == attr->config);
}

static int refusal_for(const struct fake_kernel *fake, const struct perf_attr *attr, pid_t pid)
{
	if (fake->fd_limit && fake->open_count >= fake->fd_limit)
		return EMFILE;
	for (size_t i = 0; i < fake->rule_count; i++) {
		const struct fake_rule *rule = &fake->rules[i];
		if (rule->pid && rule->pid == pid)
			return rule->errnum;
		bool lacks = !rule->without_flags || (attr->flags & rule->without_flags) != rule->without_flags;
		if (!rule->pid && rule->errnum && rule_fits(rule, attr) && lacks)
			return rule->errnum;
	}
	return 0;
}

static int fake_open(void *context, const struct perf_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	struct fake_kernel *fake = context;
	text_printf(&fake->log, "open cpu=%d pid=%d group=%d", cpu, (int)pid, group_fd);
	if (flags & ~(unsigned long)OPEN_FD_CLOEXEC)
		text_printf(&fake->log, " flags=%lu", flags);
	attr_log(&fake->log, attr);
	int errnum = refusal_for(fake, attr, pid);
	if (flags >> 31) /* No kernel knows these flags, and the kernel checks flags before anything else. */
		errnum = EINVAL;
	size_t members = 1;
	for (size_t i = 0; i < fake->event_count; i++)
		members += fake->events[i].is_open && fake->events[i].group_fd == group_fd;
	if (fake->group_limit && group_fd >= 0 && members >= fake->group_limit)
		errnum = EINVAL;
	if (fake->seccomp_errnum)
		errnum = fake->seccomp_errnum;
	if (fake->event_count >= FAKE_EVENTS)
		errnum = ENFILE;
	if (errnum) {
		text_printf(&fake->log, " = %s\n", strerrorname_np(errnum));
		errno = errnum;
		return -1;
	}
	int fd = FAKE_FD + (int)fake->event_count;
	fake->events[fake->event_count++] = (struct fake_event){*attr, group_fd, true};
	fake->open_count++;
	text_printf(&fake->log, " = %d\n", fd);
	return fd;
}

static struct fake_event *event_of(struct fake_kernel *fake, int fd)
{
	size_t index = (size_t)(fd - FAKE_FD);
	if (fd < FAKE_FD || index >= fake->event_count || !fake->events[index].is_open) {
		fprintf(stderr, "fake_kernel: descriptor %d is not open\n", fd);
		abort();
	}
	return &fake->events[index];
}

static int fake_ioctl(void *context, int fd, unsigned long request, void *argument)
{
	struct fake_kernel *fake = context;
	static const char *const names[] = {"enable", "disable", "refresh", "reset"};
	event_of(fake, fd);
	unsigned long number = _IOC_NR(request);
	if (number < ARRAY_LEN(names))
		text_printf(&fake->log, "%s %d\n", names[number], fd);
	else if (number == 6)
		text_printf(&fake->log, "filter %d %s\n", fd, (const char *)argument);
	else
		text_printf(&fake->log, "ioctl%lu %d\n", number, fd);
	return 0;
}

static struct fake_rule count_of(const struct fake_kernel *fake, const struct fake_event *event)
{
	for (size_t i = fake->rule_count; i > 0; i--)
		if (!fake->rules[i - 1].errnum && rule_fits(&fake->rules[i - 1], &event->attr))
			return fake->rules[i - 1];
	return (struct fake_rule){.value = 1, .enabled_ns = 1000, .running_ns = 1000};
}

/* Returns whether the group is pinned and needs more counters than the PMU has. */
static bool is_in_error(const struct fake_kernel *fake, const struct fake_event *leader, int fd)
{
	size_t needed = 0;
	for (size_t i = 0; i < fake->event_count; i++) {
		const struct fake_event *event = &fake->events[i];
		bool is_member = event->is_open && (event == leader || event->group_fd == fd);
		needed += is_member && event->attr.type != EVENT_SOFTWARE;
	}
	return fake->counters && ATTR_HAS(&leader->attr, PINNED) && needed > fake->counters;
}

static ssize_t fake_read(void *context, int fd, void *buffer, size_t size)
{
	struct fake_kernel *fake = context;
	const struct fake_event *event = event_of(fake, fd);
	if (is_in_error(fake, event, fd))
		return 0;
	struct fake_rule count = count_of(fake, event);
	uint64_t words[3 + 2 * 64] = {0}, members = 0;
	size_t len = 3;
	if (!(event->attr.read_format & READ_FORMAT_GROUP)) {
		words[0] = count.value;
		words[1] = count.enabled_ns;
		words[2] = count.running_ns;
	} else {
		words[1] = count.enabled_ns;
		words[2] = count.running_ns;
		for (size_t i = 0; i < fake->event_count && members < 64; i++) {
			const struct fake_event *member = &fake->events[i];
			if (!member->is_open || (member != event && member->group_fd != fd))
				continue;
			words[3 + 2 * members] = count_of(fake, member).value;
			words[4 + 2 * members] = i + 1;
			members++;
		}
		words[0] = members;
		len = 3 + 2 * members;
	}
	if (size < len * sizeof(uint64_t)) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(buffer, words, len * sizeof(uint64_t));
	return (ssize_t)(len * sizeof(uint64_t));
}

static void *fake_mmap(void *context, size_t size, int protection, int fd, off_t offset)
{
	const struct fake_kernel *fake = context;
	(void)fd;
	(void)offset;
	void *ring = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring != MAP_FAILED && fake->ring_head)
		((struct perf_event_mmap_page *)ring)->data_head = fake->ring_head;
	return ring;
}

static int fake_munmap(void *context, void *address, size_t size)
{
	(void)context;
	return munmap(address, size);
}

static int fake_close(void *context, int fd)
{
	struct fake_kernel *fake = context;
	event_of(fake, fd)->is_open = false;
	fake->open_count--;
	text_printf(&fake->log, "close %d\n", fd);
	return 0;
}

static int fake_poll(void *context, void *pollfds, size_t count, int timeout_ms)
{
	(void)context;
	(void)pollfds;
	(void)count;
	(void)timeout_ms;
	return 0;
}

void fake_kernel_init(struct fake_kernel *fake, const char *root)
{
	memset(fake, 0, sizeof(*fake));
	fake->seam = (struct kernel_seam){
		.context = fake,
		.root = root,
		.perf_event_open = fake_open,
		.ioctl = fake_ioctl,
		.read = fake_read,
		.mmap = fake_mmap,
		.munmap = fake_munmap,
		.close = fake_close,
		.poll = fake_poll,
	};
}

void fake_kernel_deinit(struct fake_kernel *fake)
{
	text_deinit(&fake->log);
}

static void rule_add(struct fake_kernel *fake, struct fake_rule rule)
{
	if (fake->rule_count >= FAKE_RULES)
		abort();
	fake->rules[fake->rule_count++] = rule;
}

void fake_kernel_refuse(struct fake_kernel *fake, uint32_t type, uint64_t config, int errnum)
{
	rule_add(fake, (struct fake_rule){.type = type, .config = config, .errnum = errnum});
}

void fake_kernel_require(struct fake_kernel *fake, uint32_t type, uint64_t flags)
{
	rule_add(fake, (struct fake_rule){.type = type, .config = FAKE_ANY, .without_flags = flags, .errnum = EACCES});
}

void fake_kernel_end_thread(struct fake_kernel *fake, pid_t pid)
{
	rule_add(fake, (struct fake_rule){.pid = pid, .errnum = ESRCH});
}

void fake_kernel_count(
	struct fake_kernel *fake, uint32_t type, uint64_t config, uint64_t value, uint64_t enabled, uint64_t running)
{
	rule_add(fake,
		(struct fake_rule){
			.type = type, .config = config, .value = value, .enabled_ns = enabled, .running_ns = running});
}

const char *fake_kernel_log(struct fake_kernel *fake)
{
	text_char(&fake->log, '\0');
	fake->log.len = 0;
	return fake->log.data;
}
