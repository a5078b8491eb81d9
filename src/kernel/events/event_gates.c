/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/event_gates.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "abi/wait_record.h"
#include "base/error.h"
#include "kernel/events/breakpoint_probe.h"
#include "kernel/system/kernel_files.h"

#define EVENT_GATES_DEVICES "/sys/bus/event_source/devices"

bool event_is_hardware(const struct event_spec *spec)
{
	return !spec->pmu &&
	       (spec->attr.type == EVENT_HARDWARE || spec->attr.type == EVENT_HW_CACHE || spec->attr.type == EVENT_RAW);
}

bool event_is_dummy(const struct event_spec *spec)
{
	return spec->attr.type == EVENT_SOFTWARE && spec->attr.config == SW_DUMMY;
}

bool event_is_waits(const struct event_spec *spec)
{
	return spec->attr.type == EVENT_SOFTWARE && spec->attr.config == SW_BPF_OUTPUT &&
	       strcmp(spec->name, WAIT_EVENT_NAME) == 0;
}

bool event_is_probe(const struct event_spec *spec)
{
	return spec->pmu && (strcmp(spec->pmu, "kprobe") == 0 || strcmp(spec->pmu, "uprobe") == 0);
}

bool event_happens_in_kernel(const struct event_spec *spec)
{
	if (spec->attr.type != EVENT_SOFTWARE)
		return spec->attr.type == EVENT_TRACEPOINT;
	switch (spec->attr.config) {
	case SW_CONTEXT_SWITCHES:
	case SW_CPU_MIGRATIONS:
	case SW_BPF_OUTPUT:
	case SW_CGROUP_SWITCHES:
		return true;
	default:
		return false;
	}
}

/* A core PMU is called cpu or lists its cores in the file "cpus". */
bool kernel_has_core_pmu(const struct kernel_seam *kernel)
{
	struct name_list names = {0};
	bool found = false;
	if (kernel_names(kernel, &names, NULL, "%s", EVENT_GATES_DEVICES) != TALLY_OK)
		return true; /* Without sysfs nothing is known. */
	for (size_t i = 0; i < names.len && !found; i++)
		found = strcmp(names.items[i], "cpu") == 0 ||
			kernel_has(kernel, EVENT_GATES_DEVICES "/%s/cpus", names.items[i]);
	name_list_deinit(&names);
	return found;
}

bool kernel_file_has(const struct kernel_seam *kernel, const char *path, const char *word)
{
	char *text;
	if (kernel_text(kernel, &text, NULL, "%s", path) != TALLY_OK)
		return false;
	bool found = strstr(text, word) != NULL;
	free(text);
	return found;
}

bool machine_is_virtual(const struct kernel_seam *kernel)
{
	return kernel_file_has(kernel, "/proc/cpuinfo", " hypervisor") || kernel_has(kernel, "/sys/hypervisor/type") ||
	       kernel_has(kernel, "/proc/device-tree/hypervisor") ||
	       kernel_file_has(kernel, "/sys/class/dmi/id/sys_vendor", "QEMU");
}

static bool is_sampling(const struct perf_attr *attr)
{
	return attr->sample_period_or_freq != 0;
}

static void no_pmu(const struct kernel_seam *kernel, struct text *reason)
{
	text_str(reason, machine_is_virtual(kernel)
				 ? "no PMU in this virtual machine (its host must give it one); software "
				   "events such as cpu-clock and page-faults work"
				 : "the kernel found no PMU on this machine ('dmesg | grep -i perf' says "
				   "why); software events such as cpu-clock and page-faults work");
}

/* Explains EOPNOTSUPP for an existing event by the property that its PMU lacks; false if the event requests none. */
static bool missing_feature(const struct perf_attr *attr, struct text *reason)
{
	unsigned precise = attr_precise_ip(attr);
	if (attr->sample_type & SAMPLE_BRANCH_STACK)
		text_str(reason,
			"branch stacks (-b, -j) need a PMU that records branches, and an event of it: leave them out");
	else if (ATTR_HAS(attr, AUX_OUTPUT) || (attr->sample_type & SAMPLE_AUX))
		text_str(reason, "no PMU here writes this event into an AUX area: leave aux-output or aux-sample out");
	else if (precise)
		text_printf(reason, "this PMU cannot sample as precisely as modifier %.*s asks: use fewer p, or none",
			(int)precise, "ppp");
	else if (is_sampling(attr))
		text_str(reason, "the PMU has no interrupt, so that the event can be counted ('stat') but not sampled: "
				 "sample cpu-clock instead");
	else
		return false;
	return true;
}

static void no_breakpoint(const struct event_request *request, struct text *reason)
{
	bool is_code = (request->spec->attr.bp_type & BREAKPOINT_X) != 0;
	if (breakpoint_probe(request->kernel, &request->spec->attr) != BREAKPOINT_SILENT) {
		text_str(reason, "this CPU or virtual machine has no hardware breakpoints of this kind");
		return;
	}
	text_str(reason, "hardware breakpoints can be opened on this machine but never fire");
	if (machine_is_virtual(request->kernel))
		text_str(reason, " (its hypervisor does not deliver them)");
	text_str(reason, is_code ? "; a uprobe ('tally probe -x') counts calls of a function instead"
				 : "; only another machine or virtual machine monitor can count such accesses");
}

void gate_hardware(const struct event_request *request, struct text *reason)
{
	const struct event_spec *spec = request->spec;
	const struct kernel_seam *kernel = request->kernel;
	if (request->errnum == ENODEV && request->cpu >= 0 &&
		kernel_number(kernel, 1, "/sys/devices/system/cpu/cpu%d/online", request->cpu) == 0)
		text_printf(reason,
			"CPU %d is offline: leave it out of -C, or 'echo 1 | sudo tee "
			"/sys/devices/system/cpu/cpu%d/online'",
			request->cpu, request->cpu);
	else if (event_is_hardware(spec) && !kernel_has_core_pmu(kernel))
		no_pmu(kernel, reason);
	else if (spec->pmu && kernel_has(kernel, EVENT_GATES_DEVICES "/software") &&
		 !kernel_has(kernel, EVENT_GATES_DEVICES "/%s", spec->pmu))
		text_printf(reason, "no such PMU on this machine: %s (" EVENT_GATES_DEVICES " has those there are)",
			spec->pmu);
	else if (request->errnum == EOPNOTSUPP && missing_feature(&spec->attr, reason))
		return;
	else if (spec->pmu && spec->is_uncore)
		text_printf(reason, "PMU %s counts whole CPUs (%s), not processes, and takes no modifiers: use -a",
			spec->pmu, spec->cpus ? spec->cpus : "any");
	else if (spec->pmu)
		text_printf(reason, "PMU %s cannot count this event with these modifiers, or not for one process",
			spec->pmu);
	else if (spec->attr.type == EVENT_BREAKPOINT)
		no_breakpoint(request, reason);
	else if (event_is_hardware(spec) && !kernel_has(request->kernel, EVENT_GATES_DEVICES))
		text_str(reason, "this machine has no PMU, or its PMU does not have this event (/sys is not mounted, "
				 "which would tell)");
	else if (event_is_hardware(spec))
		text_str(reason, "this CPU's PMU has no such event, or not with these modifiers");
	else
		text_str(reason, "this kernel does not have the event, or not with these modifiers");
}

void gate_busy(const struct event_request *request, struct text *reason)
{
	const struct event_spec *spec = request->spec;
	if (spec->attr.type == EVENT_BREAKPOINT)
		text_str(reason, "all breakpoint registers of the CPU are in use (x86 has four): fewer mem: events, "
				 "or end the debugger that holds some");
	else if (spec->pmu)
		text_printf(reason, "PMU %s serves one user at a time and another one has it: end that one first",
			spec->pmu);
	else if (event_is_hardware(spec) && kernel_number(request->kernel, 0, "/proc/sys/kernel/nmi_watchdog") == 1) {
		text_str(reason, "the PMU is held by another user, and the NMI watchdog holds a counter: ");
		remedy_sysctl(surroundings_find(request->kernel), "kernel.nmi_watchdog", 0, reason);
		text_str(reason, " frees it");
	} else
		text_str(reason, "the PMU is held by another user (a profiler with exclusive use): end that one first");
}

void gate_combination(const struct event_request *request, struct text *reason)
{
	const struct perf_attr *attr = &request->spec->attr;
	int64_t max_rate = kernel_number(request->kernel, INT64_MAX, "/proc/sys/kernel/perf_event_max_sample_rate");
	if (request->errnum == E2BIG)
		text_str(reason, "this kernel is too old for a requested feature (its perf_event_attr is shorter): "
				 "omit the option or term that needs it");
	else if (request->cpu >= 0 && kernel_has(request->kernel, "/sys/devices/system/cpu/cpu0") &&
		 !kernel_has(request->kernel, "/sys/devices/system/cpu/cpu%d", request->cpu))
		text_printf(reason, "there is no CPU %d on this machine", request->cpu);
	else if (ATTR_HAS(attr, FREQ) && max_rate > 0 && attr->sample_period_or_freq > (uint64_t)max_rate) {
		text_printf(reason,
			"%llu samples a second are more than perf_event_max_sample_rate allows, %lld: -F max, or ",
			(unsigned long long)attr->sample_period_or_freq, (long long)max_rate);
		remedy_sysctl(surroundings_find(request->kernel), "kernel.perf_event_max_sample_rate",
			(int64_t)(attr->sample_period_or_freq & INT64_MAX), reason);
	} else if (attr->type == EVENT_BREAKPOINT)
		text_printf(reason,
			"the CPU has no breakpoint like this: %llu bytes at %#llx (a length of 1, 2, 4 or 8, an "
			"address that is a multiple of it; x for itself, never with r or w; the kernel's addresses not "
			"with :u)",
			(unsigned long long)attr->config2, (unsigned long long)attr->config1);
	else if (attr->type == EVENT_TRACEPOINT && is_sampling(attr))
		text_str(reason, "the kernel gives no samples of this tracepoint: count it ('stat')");
	else {
		text_str(reason, "this kernel or PMU does not take the combination of event, modifiers and target");
		if (ATTR_HAS(attr, PINNED) || ATTR_HAS(attr, EXCLUSIVE))
			text_str(reason, "; pinned (:D) and exclusive (:e) are for the first event of a group");
		else if (event_is_hardware(request->spec))
			text_str(reason,
				"; or its group needs more counters than the PMU has (event constraints): make the "
				"group smaller, or let it be split (:W)");
	}
}

void gate_files(const struct event_request *request, struct text *reason)
{
	enum surroundings where = surroundings_find(request->kernel);
	struct rlimit limit;
	if (request->errnum == ENFILE) {
		text_str(reason, "the system's limit of open files is reached: raise 'sysctl fs.file-max'");
		if (where != SURROUNDINGS_HOST)
			text_str(reason, where == SURROUNDINGS_KUBERNETES ? " on the node" : " on the host");
		return;
	}
	rlim_t now = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < RLIM_INFINITY / 2 ? limit.rlim_cur : 512;
	text_printf(reason, "too many open files: the limit is %llu; raise it with ", (unsigned long long)now);
	remedy_files(where, 2 * now, reason);
	text_str(reason, ", or measure fewer events, CPUs or threads");
}

static void too_deep(const struct event_request *request, struct text *reason)
{
	int64_t most = kernel_number(request->kernel, 127, "/proc/sys/kernel/perf_event_max_stack");
	unsigned asked = request->spec->attr.sample_max_stack;
	text_printf(reason,
		"call chains of %u frames are more than perf_event_max_stack allows, %lld: --max-stack %lld, or ",
		asked, (long long)most, (long long)most);
	remedy_sysctl(surroundings_find(request->kernel), "kernel.perf_event_max_stack", asked, reason);
	text_str(reason, " while nothing records call chains");
}

void gate_other(const struct event_request *request, struct text *reason)
{
	const struct event_spec *spec = request->spec;
	char detail[128];
	switch (request->errnum) {
	case EBADF:
		text_str(reason, spec->cgroup ? "the cgroup, or the event that leads the group, is no longer open"
					      : "the event that leads the group is no longer open");
		break;
	case EFAULT:
		text_str(reason, "the kernel could not read the request's memory (a fault of the program)");
		break;
	case EINTR:
		text_str(reason, "ftrace has a uprobe at this place already, and the kernel does not mix the two: "
				 "remove it from tracefs' uprobe_events");
		break;
	case EOVERFLOW:
		too_deep(request, reason);
		break;
	case ENOSYS:
		if (spec->attr.sample_type & SAMPLE_STACK_USER)
			text_str(reason, "this kernel cannot copy user stacks on this CPU: --call-graph fp instead of "
					 "dwarf");
		else
			text_str(reason, "this kernel is built without perf events, or a sandbox hides them");
		break;
	default:
		text_str(reason, error_describe(request->errnum, detail, sizeof(detail)));
		break;
	}
}
