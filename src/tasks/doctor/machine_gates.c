/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/doctor/machine_gates.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "kernel/events/privileges.h"
#include "kernel/system/capabilities.h"
#include "kernel/system/kernel_files.h"
#include "tasks/doctor/gating.h"

#define GATE_UNKNOWN	 INT64_MIN
#define GATE_USUAL_RATE	 4000 /* The default frequency of record. */
#define GATE_FILES_A_CPU 8 /* Estimated number of descriptors for each CPU: one for each event. */
#define GATE_OTHER_FILES 64
#define GATE_PARANOID	 "kernel.perf_event_paranoid"
#define GATE_KPTR	 "kernel.kptr_restrict"

const char *gating_keep(struct gating *g, struct text *text)
{
	const char *kept =
		text->failed ? NULL : arena_string(&g->gates->arena, text->data ? text->data : "", text->len);
	g->is_out_of_memory |= !kept;
	text_deinit(text);
	return kept ? kept : "";
}

static const char *gating_number(struct gating *g, int64_t number)
{
	struct text text = {0};
	if (number == GATE_UNKNOWN)
		return "unknown";
	text_i64(&text, number);
	return gating_keep(g, &text);
}

static const char *gating_sysctl(struct gating *g, const char *name, int64_t value)
{
	struct text text = {0};
	remedy_sysctl(g->gates->where, name, value, &text);
	return gating_keep(g, &text);
}

void gating_add(struct gating *g, struct machine_gate gate)
{
	if (!gate.is_in_the_way)
		gate.remedy = gate.exposes = gate.sysctl = NULL;
	g->is_out_of_memory |= !vec_push(&g->gates->items, gate);
}

static void gate_paranoid(struct gating *g)
{
	static const char *const stopped[] = {"nothing", "reading the fields of tracepoints",
		"measuring all processes of a CPU, and reading the fields of tracepoints",
		"measuring kernel mode or all processes of a CPU, and reading the fields of tracepoints",
		"every event"};
	int64_t value = kernel_number(g->kernel, GATE_UNKNOWN, "/proc/sys/kernel/perf_event_paranoid");
	bool allows_all = g->is_capable || value < 0;
	size_t at = value == GATE_UNKNOWN || value < 0 ? 0 : value > 2 ? 4 : (size_t)value + 1;
	bool stops_own = !g->is_capable && value > 2;
	int64_t wanted = stops_own ? 2 : value == 2 ? 1 : -1;
	gating_add(g,
		(struct machine_gate){.name = GATE_PARANOID,
			.value = gating_number(g, value),
			.is_in_the_way = value != GATE_UNKNOWN && !allows_all,
			.stops = allows_all ? "nothing, with the privileges of this process" : stopped[at],
			.remedy = gating_sysctl(g, GATE_PARANOID, wanted),
			.sysctl = GATE_PARANOID,
			.sysctl_value = wanted,
			.exposes = stops_own	? "every user can count events of programs of their own"
				   : value == 2 ? "every user can profile the kernel's work for programs of their own"
						: "every user can watch all processes of the machine"});
}

/* Collects the names of the required capabilities without CAP_: those that this process lacks, or all if it lacks
 * none. */
static void privileges_find(struct gating *g)
{
	static const struct {
		enum capability number;
		const char *name;
		bool is_split; /* CAP_SYS_ADMIN includes the capability, from which it was split off. */
	} wanted[GATES_CAPABILITIES] = {{CAPABILITY_PERFMON, "PERFMON", true}, {CAPABILITY_BPF, "BPF", true},
		{CAPABILITY_SYS_PTRACE, "SYS_PTRACE", false}, {CAPABILITY_SYSLOG, "SYSLOG", false}};
	struct machine_gates *gates = g->gates;
	bool is_old = kernel_number(g->kernel, CAPABILITY_BPF, "/proc/sys/kernel/cap_last_cap") < CAPABILITY_PERFMON;
	bool has_admin = capability_is_held(g->kernel, CAPABILITY_SYS_ADMIN);
	for (int pass = 0; pass < 2 && gates->capability_count == 0; pass++) {
		gates->lacks_capabilities = pass == 0;
		for (size_t i = is_old ? 1 : 0; i < ARRAY_LEN(wanted); i++) {
			bool is_held =
				capability_is_held(g->kernel, wanted[i].number) || (wanted[i].is_split && has_admin);
			if (!is_held || pass == 1)
				gates->capabilities[gates->capability_count++] =
					is_old && wanted[i].is_split ? "SYS_ADMIN" : wanted[i].name;
		}
	}
}

void machine_gates_put_capabilities(
	const struct machine_gates *gates, const char *before, const char *between, struct text *out)
{
	for (size_t i = 0; i < gates->capability_count; i++) {
		text_str(out, i ? between : "");
		text_str(out, before);
		text_str(out, gates->capabilities[i]);
	}
}

void machine_gates_put_setcap(const struct machine_gates *gates, struct text *out)
{
	text_str(out, "'sudo setcap ");
	size_t start = out->len;
	machine_gates_put_capabilities(gates, "cap_", ",", out);
	for (size_t i = start; i < out->len; i++)
		if (out->data[i] >= 'A' && out->data[i] <= 'Z')
			out->data[i] = (char)(out->data[i] + 'a' - 'A');
	text_str(out, "+ep \"$(command -v tally)\"'");
}

static const char *privileges_remedy(struct gating *g)
{
	const struct machine_gates *gates = g->gates;
	struct text text = {0};
	bool is_host = gates->where == SURROUNDINGS_HOST;
	uint64_t bound = own_status_number(g->kernel, "\nCapBnd:", 16);
	if (user_namespace_is_nested(g->kernel)) {
		remedy_user_namespace(gates->where, gates->capabilities[0], &text);
	} else if (is_host) {
		text_str(&text, "run as root, or ");
		machine_gates_put_setcap(gates, &text);
	} else if ((bound >> CAPABILITY_PERFMON & 1) && (bound >> CAPABILITY_BPF & 1)) {
		text_str(&text, "be root in the container, which has these capabilities");
	} else if (gates->where == SURROUNDINGS_KUBERNETES) {
		text_str(&text, "securityContext: {runAsUser: 0, capabilities: {add: [");
		machine_gates_put_capabilities(gates, "", ", ", &text);
		text_str(&text, "]}}");
	} else if (gates->where == SURROUNDINGS_CONTAINER) {
		text_str(&text, "give the container ");
		machine_gates_put_capabilities(gates, "CAP_", ", ", &text);
		text_str(&text, ", and be root in it");
	} else {
		text_str(&text, gates->where == SURROUNDINGS_DOCKER ? "'docker run" : "'sudo podman run");
		machine_gates_put_capabilities(gates, " --cap-add ", "", &text);
		text_str(&text, "', and be root in the container");
	}
	return gating_keep(g, &text);
}

static void gate_privileges(struct gating *g)
{
	struct text value = {0};
	const struct machine_gates *gates = g->gates;
	privileges_find(g);
	if (gates->lacks_capabilities) {
		text_str(&value, "without ");
		machine_gates_put_capabilities(gates, "CAP_", ", ", &value);
	} else {
		text_str(&value, "all that are needed");
	}
	gating_add(g, (struct machine_gate){.name = "capabilities",
			      .value = gating_keep(g, &value),
			      .is_in_the_way = gates->lacks_capabilities,
			      .stops = "other users' processes, kernel mode, BPF programs and names of the kernel's "
				       "functions, as far as the sysctls do not allow them to every user",
			      .remedy = privileges_remedy(g),
			      .exposes = gates->where == SURROUNDINGS_HOST
						 ? "whoever may run that file sees what all processes execute"
						 : "programs in the container can see what all processes of the "
						   "machine execute"});
}

static void gate_seccomp(struct gating *g)
{
	struct text remedy = {0};
	bool forbids = seccomp_forbids_events(g->kernel);
	bool has_filter = own_status_number(g->kernel, "\nSeccomp:", 10) == 2;
	remedy_seccomp(g->gates->where, capability_is_held(g->kernel, CAPABILITY_PERFMON), &remedy);
	gating_add(g, (struct machine_gate){.name = "seccomp",
			      .value = !has_filter ? "no filter"
				       : forbids   ? "a filter forbids perf_event_open"
						   : "a filter allows it",
			      .is_in_the_way = forbids,
			      .stops = "every event",
			      .remedy = gating_keep(g, &remedy),
			      .exposes = "programs in the same container can call perf_event_open, too"});
}

static void gate_user_namespace(struct gating *g)
{
	bool is_nested = user_namespace_is_nested(g->kernel);
	struct text remedy = {0};
	if (is_nested)
		remedy_user_namespace(g->gates->where, "PERFMON", &remedy);
	else
		remedy_capability(g->gates->where, "PERFMON", &remedy);
	gating_add(g, (struct machine_gate){.name = "user namespace",
			      .value = is_nested ? "one of this container or sandbox" : "the machine's",
			      .is_in_the_way = is_nested && !g->is_capable,
			      .stops = "the use of this process's capabilities: they do not count for the machine",
			      .remedy = gating_keep(g, &remedy),
			      .exposes = "root of the container has privileges on the machine"});
}

/* Returns whether /proc/kallsyms shows addresses, which depends on kptr_restrict, perf_event_paranoid and
 * capabilities. */
static bool gating_sees_kernel_symbols(const struct kernel_seam *kernel)
{
	char *text = NULL;
	bool found = false;
	if (kernel_text(kernel, &text, NULL, "/proc/kallsyms") != TALLY_OK)
		return false;
	for (const char *at = text; *at != '\0' && !found; at++) {
		found = strtoull(at, NULL, 16) != 0;
		at = strchr(at, '\n');
		if (!at)
			break;
	}
	free(text);
	return found;
}

static void gate_kernel_symbols(struct gating *g)
{
	int64_t value = kernel_number(g->kernel, GATE_UNKNOWN, "/proc/sys/kernel/kptr_restrict");
	bool is_covered = kernel_is_empty(g->kernel, "/proc/kallsyms"),
	     is_in_the_way = !gating_sees_kernel_symbols(g->kernel);
	bool exists = !is_covered && kernel_has(g->kernel, "/proc/kallsyms");
	/* With kptr_restrict 0, the addresses are visible to those who may profile the kernel. */
	const char *sysctl = !exists ? NULL : value == 0 ? GATE_PARANOID : GATE_KPTR;
	struct text shown = {0};
	text_str(&shown, gating_number(g, value));
	if (is_in_the_way && value == 0 && exists)
		text_str(&shown, ", with which " GATE_PARANOID " decides");
	gating_add(g,
		(struct machine_gate){.name = GATE_KPTR,
			.value = gating_keep(g, &shown),
			.is_in_the_way = is_in_the_way,
			.stops = exists	      ? "names of the kernel's functions"
				 : is_covered ? "names of the kernel's functions: an empty file covers /proc/kallsyms"
					      : "names of the kernel's functions: there is no /proc/kallsyms here",
			.remedy = sysctl       ? gating_sysctl(g, sysctl, value == 0 ? 1 : 0)
				  : is_covered ? "'sudo umount /proc/kallsyms', or start the container without the "
						 "file that covers it"
					       : "mount /proc, or use a kernel with CONFIG_KALLSYMS",
			.sysctl = sysctl,
			.sysctl_value = value == 0 ? 1 : 0,
			.exposes = exists ? "every user can read where the kernel's code lies in memory" : NULL});
}

static void gate_ptrace(struct gating *g)
{
	int64_t value = kernel_number(g->kernel, GATE_UNKNOWN, "/proc/sys/kernel/yama/ptrace_scope");
	bool may = value <= 0 || (value < 3 && capability_is_held(g->kernel, CAPABILITY_SYS_PTRACE));
	gating_add(g,
		(struct machine_gate){.name = "kernel.yama.ptrace_scope",
			.value = value == GATE_UNKNOWN ? "not in this kernel" : gating_number(g, value),
			.is_in_the_way = !may,
			.stops = "reading the memory of processes that tally did not start: stacks of waits that began "
				 "before a recording",
			.remedy = value == 3 ? "boot with another value: 3 cannot be changed"
					     : gating_sysctl(g, "kernel.yama.ptrace_scope", 0),
			.sysctl = value == 3 ? NULL : "kernel.yama.ptrace_scope",
			.sysctl_value = 0,
			.exposes = "a user's programs can read each other's memory"});
}

static void gate_lockdown(struct gating *g)
{
	char *text = NULL;
	const char *value = "none";
	if (kernel_text(g->kernel, &text, NULL, "/sys/kernel/security/lockdown") == TALLY_OK)
		value = strstr(text, "[confidentiality]") ? "confidentiality"
			: strstr(text, "[integrity]")	  ? "integrity"
							  : "none";
	free(text);
	gating_add(g, (struct machine_gate){.name = "lockdown",
			      .value = value,
			      .is_in_the_way = strcmp(value, "confidentiality") == 0,
			      .stops = "events, BPF programs and addresses of the kernel, whatever the privileges",
			      .remedy = "boot with lockdown=integrity or none",
			      .exposes = "root can read the kernel's memory"});
}

static void gate_locked_memory(struct gating *g)
{
	struct rlimit limit = {0};
	struct text value = {0}, remedy = {0};
	const struct machine_check *ring = &g->checks->items[CHECK_RING];
	bool is_ring = machine_checks_allow(g->checks, CHECK_SOFTWARE) && !ring->is_allowed;
	int64_t kib = kernel_number(g->kernel, GATE_UNKNOWN, "/proc/sys/kernel/perf_event_mlock_kb");
	text_str(&value, gating_number(g, kib));
	text_str(&value, " KiB a user and CPU, ulimit -l ");
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
		text_str(&value, "unlimited");
	else
		text_printf(&value, "%llu KiB", (unsigned long long)limit.rlim_cur / 1024);
	remedy_locked_memory(g->gates->where, &remedy);
	gating_add(g, (struct machine_gate){.name = "locked memory",
			      .value = gating_keep(g, &value),
			      .is_in_the_way = is_ring,
			      .stops = "ring buffers, and so samples",
			      .remedy = gating_keep(g, &remedy),
			      .exposes = "users can lock more of the machine's memory"});
}

static void gate_open_files(struct gating *g)
{
	struct rlimit limit = {0};
	struct text value = {0}, remedy = {0};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t needed = (uint64_t)(cpus > 0 ? cpus : 1) * GATE_FILES_A_CPU + GATE_OTHER_FILES;
	bool is_known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
	if (is_known && limit.rlim_max != RLIM_INFINITY)
		text_u64(&value, limit.rlim_max);
	else
		text_str(&value, is_known ? "unlimited" : "unknown");
	remedy_files(g->gates->where, needed, &remedy);
	gating_add(g, (struct machine_gate){.name = "open files",
			      .value = gating_keep(g, &value),
			      .is_in_the_way = is_known && limit.rlim_max < needed,
			      .stops = "measuring all CPUs, which takes a file for each event and CPU",
			      .remedy = gating_keep(g, &remedy)});
}

static void gate_watchdog(struct gating *g)
{
	int64_t value = kernel_number(g->kernel, GATE_UNKNOWN, "/proc/sys/kernel/nmi_watchdog");
	gating_add(g, (struct machine_gate){.name = "kernel.nmi_watchdog",
			      .value = value == GATE_UNKNOWN ? "not in this kernel" : gating_number(g, value),
			      .is_in_the_way = value == 1 && machine_checks_allow(g->checks, CHECK_HARDWARE),
			      .stops = "one hardware counter: the watchdog holds it, so that more events take turns",
			      .remedy = gating_sysctl(g, "kernel.nmi_watchdog", 0),
			      .sysctl = "kernel.nmi_watchdog",
			      .sysctl_value = 0,
			      .exposes = "the kernel does not notice CPUs that hang"});
}

static void gate_sample_rate(struct gating *g)
{
	int64_t value = kernel_number(g->kernel, GATE_UNKNOWN, "/proc/sys/kernel/perf_event_max_sample_rate");
	gating_add(g, (struct machine_gate){.name = "kernel.perf_event_max_sample_rate",
			      .value = gating_number(g, value),
			      .is_in_the_way = value != GATE_UNKNOWN && value < GATE_USUAL_RATE,
			      .stops = "the usual frequency of 4,000 samples a second; the kernel lowers this limit by "
				       "itself when samples take too long",
			      .remedy = gating_sysctl(g, "kernel.perf_event_max_sample_rate", GATE_USUAL_RATE),
			      .sysctl = "kernel.perf_event_max_sample_rate",
			      .sysctl_value = GATE_USUAL_RATE});
}

enum tally_status machine_gates_make(const struct kernel_seam *kernel, const struct machine_checks *checks,
	struct machine_gates *gates, struct tally_error *err)
{
	static void (*const makers[])(struct gating * g) = {gate_container, gate_hypervisor, gate_paranoid,
		gate_privileges, gate_seccomp, gate_user_namespace, gate_lockdown, gate_kernel_symbols, gate_ptrace,
		gate_locked_memory, gate_open_files, gate_watchdog, gate_sample_rate, gate_tracefs, gate_processes,
		gate_btf, gate_folders};
	struct gating g = {.kernel = kernel, .checks = checks, .gates = gates, .is_capable = may_measure_all(kernel)};
	*gates = (struct machine_gates){.where = surroundings_find(kernel)};
	arena_init(&gates->arena);
	for (size_t i = 0; i < ARRAY_LEN(makers); i++)
		makers[i](&g);
	if (!g.is_out_of_memory)
		return TALLY_OK;
	machine_gates_deinit(gates);
	return error_nomem(err);
}

void machine_gates_deinit(struct machine_gates *gates)
{
	vec_free(&gates->items);
	arena_deinit(&gates->arena);
	*gates = (struct machine_gates){0};
}
