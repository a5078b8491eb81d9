/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/doctor/machine_checks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/bpf_probe.h"
#include "kernel/events/event_gates.h"
#include "kernel/events/event_parser.h"
#include "kernel/events/privileges.h"
#include "kernel/system/kernel_files.h"
#include "tasks/doctor/event_trials.h"

#define CHECK_PERIOD	  1000000000 /* With this period, an event generates no samples during its test. */
#define CHECK_EVENT_BYTES 200

enum check_target { CHECK_OF_PROCESS, CHECK_OF_CPU };

struct check_kind {
	const char *name, *what;
	const char *event; /* NULL if the event is determined at run time. */
	enum check_target target;
};

static const struct check_kind kinds[CHECK_COUNT] = {
	[CHECK_SOFTWARE] = {"software", "cpu-clock, task-clock, page-faults of your own programs", "cpu-clock:u",
		CHECK_OF_PROCESS},
	[CHECK_KERNEL_MODE] = {"kernel-mode", "the same with what the kernel does for them", "cpu-clock",
		CHECK_OF_PROCESS},
	[CHECK_ALL_PROCESSES] = {"all-processes", "all processes of a CPU (-a, -C)", "cpu-clock", CHECK_OF_CPU},
	[CHECK_RING] = {"ring", "a ring buffer for samples", "cpu-clock:u", CHECK_OF_PROCESS},
	[CHECK_HARDWARE] = {"hardware", "cycles, instructions, branch-misses", "cycles:u", CHECK_OF_PROCESS},
	[CHECK_CACHE] = {"cache", "L1-dcache-load-misses, LLC-loads, dTLB-load-misses", "L1-dcache-load-misses:u",
		CHECK_OF_PROCESS},
	[CHECK_RAW] = {"raw", "numbers of the CPU's manual (rNNN) and vendors' events", "r3c:u", CHECK_OF_PROCESS},
	[CHECK_PRECISE] = {"precise", "samples of the exact instruction (cycles:pp)", "cycles:upp", CHECK_OF_PROCESS},
	[CHECK_BRANCHES] = {"branches", "records of the last branches (-b, --call-graph lbr)", "cycles:u",
		CHECK_OF_PROCESS},
	[CHECK_AUX] = {"aux", "traces of all instructions (intel_pt, cs_etm, arm_spe)", NULL, CHECK_OF_PROCESS},
	[CHECK_TRACEPOINT] = {"tracepoint", "events of the kernel's subsystems, such as sched:sched_switch",
		"sched:sched_switch", CHECK_OF_CPU},
	[CHECK_BREAKPOINT] = {"breakpoint", "accesses to an address (mem:ADDRESS)", NULL, CHECK_OF_PROCESS},
	[CHECK_UPROBE] = {"uprobe", "calls of a program's functions", NULL, CHECK_OF_CPU},
	[CHECK_KPROBE] = {"kprobe", "calls of the kernel's functions", "kprobe/func=do_exit/", CHECK_OF_CPU},
	[CHECK_BPF] = {"bpf", "programs in the kernel: unwinding, waits (--wall, --off-cpu), filters", NULL,
		CHECK_OF_CPU},
};

struct checking {
	const struct kernel_seam *kernel;
	struct event_catalogue *catalogue;
	struct machine_checks *checks;
	bool is_out_of_memory;
};

static void checking_refuse(struct checking *c, struct machine_check *check, const char *reason)
{
	check->is_allowed = false;
	check->reason = arena_string(&c->checks->arena, reason, strlen(reason));
	c->is_out_of_memory |= !check->reason;
}

/* Address for the breakpoint; it is never written. */
static int checked_variable;

static const char *checking_aux_pmu(const struct event_catalogue *catalogue)
{
	static const char *const names[] = {"intel_pt", "cs_etm", "arm_spe_0", "intel_bts"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (size_t k = 0; k < catalogue->pmu_count; k++)
			if (strcmp(catalogue->pmus[k].name, names[i]) == 0)
				return names[i];
	return NULL;
}

/* Sets check->event. Returns false, with a reason, if this machine cannot have the event. */
static bool checking_event(struct checking *c, enum machine_check_id id, struct machine_check *check)
{
	char event[CHECK_EVENT_BYTES];
	check->event = kinds[id].event;
	if (check->event)
		return true;
	if (id == CHECK_AUX) {
		const char *pmu = checking_aux_pmu(c->catalogue);
		if (!pmu) {
			checking_refuse(c, check, "this CPU has no such unit, or the hypervisor does not pass it on");
			return false;
		}
		snprintf(event, sizeof(event), "%s//u", pmu);
	} else if (id == CHECK_BREAKPOINT) {
		snprintf(event, sizeof(event), "mem:%p:w:u", (void *)&checked_variable);
	} else {
		struct text uprobe = {0};
		event_trial_name_uprobe(&uprobe);
		snprintf(event, sizeof(event), "%.*s", (int)uprobe.len, uprobe.data ? uprobe.data : "");
		text_deinit(&uprobe);
	}
	check->event = arena_string(&c->checks->arena, event, strlen(event));
	c->is_out_of_memory |= !check->event;
	return check->event != NULL;
}

static void checking_map(struct checking *c, struct machine_check *check, int fd)
{
	const struct kernel_seam *kernel = c->kernel;
	size_t size = 2 * (size_t)sysconf(_SC_PAGESIZE);
	if (!kernel->mmap)
		return;
	void *ring = kernel->mmap(kernel->context, size, PROT_READ | PROT_WRITE, fd, 0);
	if (ring != MAP_FAILED) {
		bool fills = event_trial_ring_fills(kernel, fd, ring);
		kernel->munmap(kernel->context, ring, size);
		if (!fills)
			checking_refuse(c, check,
				"the ring can be mapped, but the timer of cpu-clock gave no sample while the program "
				"ran: this machine has no working timer interrupt for events");
		return;
	}
	struct text reason = {0};
	text_str(&reason, "the limit of locked memory does not allow even one page: ");
	remedy_locked_memory(surroundings_find(kernel), &reason);
	text_char(&reason, '\0');
	if (reason.failed)
		c->is_out_of_memory = true;
	else
		checking_refuse(c, check, reason.data);
	text_deinit(&reason);
}

static void checking_open(
	struct checking *c, enum machine_check_id id, struct machine_check *check, struct event_spec *spec)
{
	const struct kernel_seam *kernel = c->kernel;
	struct perf_attr *attr = &spec->attr;
	bool is_of_cpu = kinds[id].target == CHECK_OF_CPU;
	pid_t pid = is_of_cpu ? -1 : 0;
	int cpu = is_of_cpu ? 0 : -1;
	attr->flags |= ATTR_FLAG(ATTR_BIT_DISABLED);
	if (id == CHECK_RING || id == CHECK_PRECISE || id == CHECK_BRANCHES) {
		attr->sample_period_or_freq = id == CHECK_RING ? TRIAL_RING_PERIOD_NS : CHECK_PERIOD;
		attr->sample_type = SAMPLE_IP | SAMPLE_TID;
	}
	if (id == CHECK_BRANCHES) {
		attr->sample_type |= SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	}
	if (id == CHECK_TRACEPOINT) {
		attr->sample_period_or_freq = CHECK_PERIOD;
		attr->sample_type = SAMPLE_RAW;
	}
	int fd = event_trial_open(kernel, spec, pid, cpu);
	struct text reason = {0};
	if (fd < 0)
		refusal_reason(kernel, spec, pid, cpu, errno, &reason);
	else if (id == CHECK_RING)
		checking_map(c, check, fd);
	if (fd >= 0)
		kernel->close(kernel->context, fd);
	if (fd >= 0 && event_trials_pass(kernel, c->catalogue, check->name, &reason))
		return;
	text_char(&reason, '\0');
	if (reason.failed)
		c->is_out_of_memory = true;
	else
		checking_refuse(c, check, reason.data);
	text_deinit(&reason);
}

static bool checking_has_tracefs(const struct kernel_seam *kernel)
{
	return kernel_has(kernel, "/sys/kernel/tracing/events") ||
	       kernel_has(kernel, "/sys/kernel/debug/tracing/events");
}

static void checking_try(struct checking *c, enum machine_check_id id)
{
	struct machine_check *check = &c->checks->items[id];
	struct event_list list = {0};
	struct tally_error err = {0};
	*check = (struct machine_check){.name = kinds[id].name, .what = kinds[id].what, .is_allowed = true};
	if (id == CHECK_BPF) {
		check->event = "a small program";
		if (bpf_probe(c->kernel, "--call-graph bpf", &err) != TALLY_OK)
			checking_refuse(c, check, err.text);
		return;
	}
	if (!checking_event(c, id, check))
		return;
	/* As root, parsing the event would mount tracefs, but a check must not change the machine. */
	if (id == CHECK_TRACEPOINT && geteuid() == 0 && !checking_has_tracefs(c->kernel)) {
		checking_refuse(c, check,
			"tracefs is not mounted: 'sudo mount -t tracefs nodev /sys/kernel/tracing' (as root, record "
			"mounts it)");
		return;
	}
	if ((id == CHECK_UPROBE || id == CHECK_KPROBE) &&
		!kernel_has(c->kernel, "/sys/bus/event_source/devices/%s", check->name)) {
		checking_refuse(c, check,
			!kernel_has(c->kernel, "/sys/bus") ? "/sys is not mounted, which has the type of such events: "
							     "'sudo mount -t sysfs sysfs /sys'"
			: id == CHECK_UPROBE
				? "this kernel has no uprobes: it has to be built with CONFIG_UPROBE_EVENTS"
				: "this kernel has no kprobes: it has to be built with CONFIG_KPROBE_EVENTS");
		return;
	}
	if (event_parse(c->catalogue, check->event, &list, &err) == TALLY_OK && list.len > 0)
		checking_open(c, id, check, &list.specs[0]);
	else
		checking_refuse(c, check, err.text);
	event_list_deinit(&list);
}

enum tally_status machine_checks_make(
	const struct kernel_seam *kernel, struct machine_checks *checks, struct tally_error *err)
{
	struct checking c = {.kernel = kernel, .checks = checks};
	*checks = (struct machine_checks){0};
	arena_init(&checks->arena);
	enum tally_status status = event_catalogue_create(kernel, &c.catalogue, err);
	if (status != TALLY_OK) {
		machine_checks_deinit(checks);
		return status;
	}
	for (int id = 0; id < CHECK_COUNT; id++)
		checking_try(&c, (enum machine_check_id)id);
	event_catalogue_destroy(c.catalogue);
	if (!c.is_out_of_memory)
		return TALLY_OK;
	machine_checks_deinit(checks);
	return error_nomem(err);
}

void machine_checks_deinit(struct machine_checks *checks)
{
	arena_deinit(&checks->arena);
	*checks = (struct machine_checks){0};
}
