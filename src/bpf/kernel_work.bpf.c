/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Adds up, for kwork -b, how long interrupts, softirqs and work items ran and waited, and how long tasks ran without
 * them. The rules are those of analysis/kernel_work.h and analysis/cpu_usage.h. User space loads the programs of the
 * kinds that it needs.
 *
 * A row of a sum belongs to one CPU, on which a piece of work never runs twice at the same time, so rows are changed
 * without atomic operations.
 */
#include "abi/kernel_work_map.h"
#include "bpf/kernel_types.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* After a return value of 0 the kernel would pass the event on to nobody else, so recordings would lack it. */
#define GO_ON 1

enum { WORK_OF_IRQ, WORK_OF_SOFTIRQ, WORK_OF_QUEUE };

/* Records of the tracepoints. Their layouts are kernel ABI (events/irq/irq_handler_entry/format and so on). */
struct irq_record {
	__u64 common;
	int irq;
	__u32 name; /* Length and offset of the text within the record. */
};

struct softirq_record {
	__u64 common;
	__u32 vector;
};

struct work_record {
	__u64 common;
	__u64 work, function; /* workqueue_activate_work has no function before Linux 6.11. */
};

const volatile struct {
	bool has_cpus;
	bool adds_tasks; /* True to add up tasks and CPUs; false to add up work. */
} work_wanted;

bool is_adding;
struct work_map_losses work_losses; /* Updated atomically by all CPUs. */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct work_map_key);
	__type(value, __u64);
} raises SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct work_map_key);
	__type(value, struct work_map_sum);
} work_sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct work_map_sum);
} no_sum SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct work_map_cpu);
} work_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct work_map_task);
	__type(value, struct work_map_runtime);
} runtimes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WORK_MAP_CPUS);
	__type(key, __u32);
	__type(value, __u8);
} listed_cpus SEC(".maps");

static __always_inline bool work_is_wanted(void)
{
	if (!is_adding)
		return false;
	if (!work_wanted.has_cpus)
		return true;
	__u32 cpu = bpf_get_smp_processor_id();
	__u8 *is_listed = bpf_map_lookup_elem(&listed_cpus, &cpu);
	return is_listed && *is_listed;
}

static __always_inline struct work_map_sum *work_sum(const struct work_map_key *key)
{
	struct work_map_sum *sum = bpf_map_lookup_elem(&work_sums, key);
	__u32 zero = 0;
	if (sum)
		return sum;
	struct work_map_sum *empty = bpf_map_lookup_elem(&no_sum, &zero);
	if (empty)
		bpf_map_update_elem(&work_sums, key, empty, BPF_NOEXIST);
	sum = bpf_map_lookup_elem(&work_sums, key);
	if (!sum)
		__sync_fetch_and_add(&work_losses.without_sum, 1);
	return sum;
}

static __always_inline void work_times_add(struct work_map_times *times, __u64 from_ns, __u64 to_ns)
{
	__u64 ns = to_ns - from_ns;
	if (times->count == 0 || ns > times->max_ns) {
		times->max_ns = ns;
		times->max_from_ns = from_ns;
		times->max_to_ns = to_ns;
	}
	times->count++;
	times->total_ns += ns;
}

/* ---- work ---- */

static __always_inline struct work_map_key work_key(__u32 kind, __u64 id, bool is_raise)
{
	struct work_map_key key = {.kind = kind, .cpu = bpf_get_smp_processor_id(), .id = id};
	if (is_raise && kind == WORK_OF_QUEUE)
		key.cpu = WORK_MAP_ANY;
	return key;
}

static __always_inline void work_is_raised(__u32 kind, __u64 id)
{
	struct work_map_key key = work_key(kind, id, true);
	__u64 now = bpf_ktime_get_ns();
	/* Only the first raise counts; later ones fail with -EEXIST. */
	if (bpf_map_update_elem(&raises, &key, &now, BPF_NOEXIST) != 0 && !bpf_map_lookup_elem(&raises, &key))
		__sync_fetch_and_add(&work_losses.without_raise, 1);
}

static __always_inline struct work_map_sum *work_enters(__u32 kind, __u64 id)
{
	struct work_map_key key = work_key(kind, id, false), raise_key = work_key(kind, id, true);
	struct work_map_sum *sum = work_sum(&key);
	__u64 now = bpf_ktime_get_ns();
	if (!sum)
		return NULL;
	if (sum->entered_ns)
		sum->unmatched_entries++;
	sum->entered_ns = now;
	if (!sum->first_ns)
		sum->first_ns = now;
	sum->last_ns = now;
	if (kind == WORK_OF_IRQ)
		return sum;
	__u64 *raised_ns = bpf_map_lookup_elem(&raises, &raise_key);
	if (raised_ns && *raised_ns <= now)
		work_times_add(&sum->delay, *raised_ns, now);
	else
		sum->unraised++;
	if (raised_ns)
		bpf_map_delete_elem(&raises, &raise_key);
	return sum;
}

static __always_inline void work_exits(__u32 kind, __u64 id)
{
	struct work_map_key key = work_key(kind, id, false);
	struct work_map_sum *sum = work_sum(&key);
	__u64 now = bpf_ktime_get_ns();
	if (!sum)
		return;
	if (!sum->entered_ns) {
		sum->unmatched_exits++;
		return;
	}
	work_times_add(&sum->run, sum->entered_ns, now);
	sum->last_ns = now;
	sum->entered_ns = 0;
}

/* ---- CPUs ---- */

static __always_inline void work_interrupts(bool is_softirq, bool begins)
{
	__u32 zero = 0;
	struct work_map_cpu *cpu = bpf_map_lookup_elem(&work_cpus, &zero);
	__u64 now = bpf_ktime_get_ns();
	if (!cpu)
		return;
	if (begins) {
		if (is_softirq) {
			cpu->softirq_from_ns = now;
			cpu->within_ns = 0;
		} else {
			cpu->interrupt_from_ns = now;
		}
		return;
	}
	__u64 from_ns = is_softirq ? cpu->softirq_from_ns : cpu->interrupt_from_ns;
	if (!from_ns)
		return;
	__u64 ns = now - from_ns;
	if (is_softirq) {
		ns = ns > cpu->within_ns ? ns - cpu->within_ns : 0;
		cpu->softirq_ns += ns;
		cpu->softirq_from_ns = 0;
	} else {
		cpu->interrupt_ns += ns;
		cpu->within_ns += ns;
		cpu->interrupt_from_ns = 0;
	}
	cpu->taken_ns += ns;
}

static __always_inline void work_adds_runtime(__u64 ns)
{
	struct work_map_task key = {.tid = (int)bpf_get_current_pid_tgid(), .cpu = bpf_get_smp_processor_id()};
	struct work_map_runtime *runtime = bpf_map_lookup_elem(&runtimes, &key);
	if (!runtime) {
		struct work_map_runtime first = {.ns = ns};
		bpf_get_current_comm(first.comm, sizeof(first.comm));
		if (bpf_map_update_elem(&runtimes, &key, &first, BPF_ANY) != 0)
			__sync_fetch_and_add(&work_losses.without_task, 1);
		return;
	}
	runtime->ns += ns;
	bpf_get_current_comm(runtime->comm, sizeof(runtime->comm));
}

SEC("tracepoint/sched/sched_switch")
int task_leaves(void *ctx)
{
	__u32 zero = 0;
	if (!work_is_wanted())
		return GO_ON;
	struct work_map_cpu *cpu = bpf_map_lookup_elem(&work_cpus, &zero);
	__u64 now = bpf_ktime_get_ns();
	if (!cpu)
		return GO_ON;
	if (cpu->switched_ns) {
		__u64 ns = now - cpu->switched_ns, own_ns = ns > cpu->taken_ns ? ns - cpu->taken_ns : 0;
		cpu->total_ns += ns;
		if ((__u32)bpf_get_current_pid_tgid() == 0)
			cpu->idle_ns += own_ns;
		work_adds_runtime(own_ns);
	}
	cpu->switched_ns = now;
	cpu->taken_ns = 0;
	return GO_ON;
}

/* ---- events ---- */

SEC("tracepoint/irq/irq_handler_entry")
int irq_enters(struct irq_record *record)
{
	if (!work_is_wanted())
		return GO_ON;
	if (work_wanted.adds_tasks) {
		work_interrupts(false, true);
		return GO_ON;
	}
	struct work_map_sum *sum = work_enters(WORK_OF_IRQ, (__u64)record->irq);
	__u32 at = record->name & 0xffff;
	if (sum && !sum->name[0])
		bpf_probe_read_kernel_str(sum->name, sizeof(sum->name), (char *)record + at);
	return GO_ON;
}

SEC("tracepoint/irq/irq_handler_exit")
int irq_exits(struct irq_record *record)
{
	if (!work_is_wanted())
		return GO_ON;
	if (work_wanted.adds_tasks)
		work_interrupts(false, false);
	else
		work_exits(WORK_OF_IRQ, (__u64)record->irq);
	return GO_ON;
}

SEC("tracepoint/irq/softirq_raise")
int softirq_is_raised(struct softirq_record *record)
{
	if (work_is_wanted())
		work_is_raised(WORK_OF_SOFTIRQ, record->vector);
	return GO_ON;
}

SEC("tracepoint/irq/softirq_entry")
int softirq_enters(struct softirq_record *record)
{
	if (!work_is_wanted())
		return GO_ON;
	if (work_wanted.adds_tasks)
		work_interrupts(true, true);
	else
		work_enters(WORK_OF_SOFTIRQ, record->vector);
	return GO_ON;
}

SEC("tracepoint/irq/softirq_exit")
int softirq_exits(struct softirq_record *record)
{
	if (!work_is_wanted())
		return GO_ON;
	if (work_wanted.adds_tasks)
		work_interrupts(true, false);
	else
		work_exits(WORK_OF_SOFTIRQ, record->vector);
	return GO_ON;
}

SEC("tracepoint/workqueue/workqueue_activate_work")
int item_is_raised(struct work_record *record)
{
	/* The item may run on another CPU than this one, so the filter of CPUs does not apply yet. */
	if (is_adding)
		work_is_raised(WORK_OF_QUEUE, record->work);
	return GO_ON;
}

SEC("tracepoint/workqueue/workqueue_execute_start")
int item_enters(struct work_record *record)
{
	if (!work_is_wanted())
		return GO_ON;
	struct work_map_sum *sum = work_enters(WORK_OF_QUEUE, record->work);
	if (sum)
		sum->function = record->function;
	return GO_ON;
}

SEC("tracepoint/workqueue/workqueue_execute_end")
int item_exits(struct work_record *record)
{
	if (work_is_wanted())
		work_exits(WORK_OF_QUEUE, record->work);
	return GO_ON;
}
