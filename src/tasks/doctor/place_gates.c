/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "kernel/events/event_gates.h"
#include "kernel/system/kernel_files.h"
#include "tasks/doctor/gating.h"

#define PLACE_FIRST_PIDS "pid:[4026531836]" /* The initial PID namespace has this fixed inode number. */

/* Returns whether this process is in another PID namespace than the initial one, or false if that is unknown. */
static bool place_has_own_pids(const struct kernel_seam *kernel)
{
	char path[4096], target[64];
	struct text text = text_over(path, sizeof(path));
	text_str(&text, kernel->root);
	text_str(&text, "/proc/self/ns/pid");
	text_char(&text, '\0');
	ssize_t len = text.failed ? -1 : readlink(path, target, sizeof(target));
	return len > 0 &&
	       ((size_t)len != strlen(PLACE_FIRST_PIDS) || memcmp(target, PLACE_FIRST_PIDS, (size_t)len) != 0);
}

void gate_container(struct gating *g)
{
	static const struct {
		const char *name, *remedy;
	} places[] = {[SURROUNDINGS_HOST] = {"none", "run outside of the PID namespace"},
		[SURROUNDINGS_DOCKER] = {"Docker", "'docker run --pid=host'"},
		[SURROUNDINGS_PODMAN] = {"Podman", "'sudo podman run --pid=host'"},
		[SURROUNDINGS_KUBERNETES] = {"Kubernetes", "hostPID: true in the pod's spec"},
		[SURROUNDINGS_CONTAINER] = {"a container", "run on the host"}};
	bool has_own_pids = place_has_own_pids(g->kernel);
	struct text value = {0};
	text_str(&value, places[g->gates->where].name);
	if (has_own_pids)
		text_str(&value, ", with PIDs of its own");
	gating_add(g,
		(struct machine_gate){.name = "container",
			.value = gating_keep(g, &value),
			.is_in_the_way = has_own_pids && machine_checks_allow(g->checks, CHECK_ALL_PROCESSES),
			.stops = "telling processes outside of the container apart: -a records all of them with PID 0 "
				 "and without their mappings",
			.remedy = places[g->gates->where].remedy,
			.exposes = "the container sees the machine's processes, and its root can signal them"});
}

/* word is a part of the DMI vendor or of /sys/hypervisor/type. remedy is how the hypervisor provides a PMU. */
static const struct {
	const char *word, *name, *remedy;
} hypervisors[] = {
	{"Amazon", "Amazon EC2", "an instance type that fills a whole socket, or one of bare metal"},
	{"Google", "Google Compute Engine",
		"'gcloud compute instances create --performance-monitoring-unit=standard', on a machine type that has "
		"it"},
	{"Microsoft", "Hyper-V", "'Set-VMProcessor NAME -Perfmon @(\"pmu\")' on the host"},
	{"VMware", "VMware", "'vpmc.enable = \"TRUE\"' in the machine's .vmx file"},
	{"QEMU", "QEMU", "'-cpu host,pmu=on' for QEMU, or <pmu state='on'/> among the features of libvirt"},
	{"xen", "Xen", "'vpmu=on' on Xen's command line"},
	{"innotek", "VirtualBox", "another hypervisor: VirtualBox has no virtual PMU"},
};

void gate_hypervisor(struct gating *g)
{
	const char *name = "one that does not say its name",
		   *remedy = "the host has to give the machine a PMU (QEMU: '-cpu host,pmu=on'; Firecracker has none)";
	bool is_virtual = machine_is_virtual(g->kernel), has_pmu = false;
	for (size_t i = 0; i < ARRAY_LEN(hypervisors); i++) {
		if (!kernel_file_has(g->kernel, "/sys/class/dmi/id/sys_vendor", hypervisors[i].word) &&
			!kernel_file_has(g->kernel, "/sys/hypervisor/type", hypervisors[i].word))
			continue;
		name = hypervisors[i].name;
		remedy = hypervisors[i].remedy;
		break;
	}
	has_pmu = machine_checks_allow(g->checks, CHECK_HARDWARE) || kernel_has_core_pmu(g->kernel);
	gating_add(g, (struct machine_gate){.name = "hypervisor",
			      .value = is_virtual ? name : "none",
			      .is_in_the_way = is_virtual && !has_pmu,
			      .stops = "hardware, cache and raw events, precise samples and records of branches: the "
				       "virtual machine has no PMU",
			      .remedy = remedy,
			      .exposes = "programs in the machine can observe the shared CPU more exactly, which helps "
					 "attacks by side channels"});
}

void gate_tracefs(struct gating *g)
{
	static const char *const folders[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	const char *mounted = NULL;
	bool is_readable = false;
	struct text remedy = {0};
	for (size_t i = 0; i < ARRAY_LEN(folders) && !is_readable; i++) {
		char *id = NULL;
		is_readable =
			kernel_text(g->kernel, &id, NULL, "%s/events/sched/sched_switch/id", folders[i]) == TALLY_OK;
		free(id);
		/* A directory that this user may not enter is a mounted tracefs: the empty mount point is accessible
		 * to everybody. */
		bool is_closed = g->kernel->root[0] == '\0' && kernel_has(g->kernel, "%s", folders[i]) &&
				 access(folders[i], X_OK) != 0;
		if (!mounted && (is_readable || is_closed || kernel_has(g->kernel, "%s/events", folders[i])))
			mounted = folders[i];
	}
	remedy_tracefs(g->gates->where, mounted, &remedy);
	gating_add(g, (struct machine_gate){.name = "tracefs",
			      .value = is_readable ? "mounted"
				       : mounted   ? "mounted, closed to this user"
						   : "not mounted",
			      .is_in_the_way = !is_readable,
			      .stops = "tracepoints, sched, lock, kmem, trace and uprobes by name",
			      .remedy = gating_keep(g, &remedy),
			      .exposes = mounted ? "your group can read what the kernel traces, and its trace buffers"
						 : NULL});
}

void gate_processes(struct gating *g)
{
	bool is_mounted = kernel_has(g->kernel, "/proc/self");
	bool is_visible = kernel_has(g->kernel, "/proc/1/comm");
	gating_add(
		g, (struct machine_gate){.name = "/proc",
			   .value = is_visible	 ? "shows all processes"
				    : is_mounted ? "hides other users' processes"
						 : "not mounted",
			   .is_in_the_way = !is_visible,
			   .stops = is_mounted ? "names and mappings of processes that run already"
					       : "names and mappings of processes that run already, and names of the "
						 "kernel's functions; what decides here is not known",
			   .remedy = is_mounted ? "'sudo mount -o remount,hidepid=0 /proc'"
						: "'sudo mount -t proc proc /proc'",
			   .exposes = is_mounted ? "every user sees which processes run" : NULL});
}

void gate_btf(struct gating *g)
{
	bool is_there = kernel_has(g->kernel, "/sys/kernel/btf/vmlinux"),
	     has_sys = kernel_has(g->kernel, "/sys/kernel");
	gating_add(g,
		(struct machine_gate){.name = "BTF",
			.value = is_there  ? "in the kernel"
				 : has_sys ? "not in this kernel"
					   : "unknown: /sys is not mounted",
			.is_in_the_way = !is_there,
			.stops = "BPF programs: they need to know the layout of the kernel's structures",
			.remedy = has_sys ? "a kernel with CONFIG_DEBUG_INFO_BTF, which all larger distributions build"
					  : "'sudo mount -t sysfs sysfs /sys'"});
}

/* With a root directory, the seam describes another machine, whose folders are taken to be writable. */
static bool folder_is_writable(const struct kernel_seam *kernel, const char *folder)
{
	return kernel->root[0] != '\0' || access(folder, W_OK | X_OK) == 0;
}

void gate_folders(struct gating *g)
{
	const char *temporary = getenv("TMPDIR");
	if (!temporary || !*temporary)
		temporary = "/tmp";
	bool has_here = folder_is_writable(g->kernel, "."), has_temporary = folder_is_writable(g->kernel, temporary);
	struct text value = {0};
	if (has_here && has_temporary)
		text_printf(&value, "the current folder and %s", temporary);
	else
		text_printf(&value, "%s", has_here ? "the current folder" : has_temporary ? temporary : "none of them");
	gating_add(g,
		(struct machine_gate){.name = "writable folders",
			.value = gating_keep(g, &value),
			.is_in_the_way = !has_here || !has_temporary,
			.stops = has_here ? "flamegraph and summary of a command, which record to a temporary file"
				 : has_temporary ? "record without -o, which writes perf.data to the current folder"
						 : "record without -o, and flamegraph and summary of a command",
			.remedy =
				has_here
					? "'export TMPDIR=FOLDER' with a folder that you may write to, such as /dev/shm"
				: has_temporary ? "'-o FILE' in a folder that you may write to"
						: "'-o FILE' and 'export TMPDIR=FOLDER' with a folder that you may "
						  "write to, such as /dev/shm"});
}
