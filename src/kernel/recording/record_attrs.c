/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/record_attrs.h"

#include <string.h>
#include <sys/utsname.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "kernel/events/event_gates.h"

#define DUMMY_NAME	    "dummy:HG"
#define STACK_BYTES_DEFAULT 8192
/* Largest stack dump that leaves room for registers, a long call chain and all other fields. */
#define STACK_BYTES_FITTING 61440

static void record_attrs_flag_set(struct perf_attr *attr, enum attr_flag_bit bit, bool on)
{
	if (on)
		attr->flags |= ATTR_FLAG(bit);
	else
		attr->flags &= ~ATTR_FLAG(bit);
}

/* The architecture of the build, in case uname is denied. */
static const char *built_for(void)
{
#if defined(__x86_64__)
	return "x86_64";
#elif defined(__aarch64__)
	return "aarch64";
#elif defined(__i386__)
	return "i686";
#elif defined(__arm__)
	return "armv7l";
#elif defined(__riscv)
	return "riscv64";
#else
	return "";
#endif
}

const struct arch *record_host_arch(void)
{
	struct utsname host;
	return arch_find(uname(&host) == 0 ? host.machine : built_for());
}

uint64_t record_attrs_all_user_regs(void)
{
	const struct arch *arch = record_host_arch();
	return arch ? arch->general_registers : 0;
}

static void set_rate(struct event_spec *spec, const struct record_attr_options *o)
{
	struct perf_attr *attr = &spec->attr;
	bool has_term = spec->has_period || spec->has_freq;
	bool is_forced = !has_term && (o->rate.is_freq_given || o->rate.is_period_given);
	bool is_own = has_term || (attr->sample_period_or_freq != 0 && !is_forced);
	if (spec->has_freq || (!is_own && o->rate.period == 0)) {
		record_attrs_flag_set(attr, ATTR_BIT_FREQ, true);
		if (!spec->has_freq)
			attr->sample_period_or_freq = o->rate.freq;
		attr->sample_type |= SAMPLE_PERIOD;
	} else {
		record_attrs_flag_set(attr, ATTR_BIT_FREQ, false);
		if (!is_own)
			attr->sample_period_or_freq = o->rate.period;
	}
	if (o->modes.no_samples)
		attr->sample_period_or_freq = 0;
	if (o->fields.period)
		attr->sample_type |= SAMPLE_PERIOD;
}

/* The kernel fits the stack dump into the 65,535 bytes of a record as if no field followed it, and writes a wrong size
 * if one does. */
static uint32_t fitting_stack(const struct perf_attr *attr, uint32_t bytes)
{
	const uint64_t behind = SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT | SAMPLE_DATA_SRC | SAMPLE_TRANSACTION |
				SAMPLE_REGS_INTR | SAMPLE_PHYS_ADDR | SAMPLE_CGROUP | SAMPLE_DATA_PAGE_SIZE |
				SAMPLE_CODE_PAGE_SIZE;
	return (attr->sample_type & behind) && bytes > STACK_BYTES_FITTING ? STACK_BYTES_FITTING : bytes;
}

static void set_callgraph(struct perf_attr *attr, const struct record_attr_options *o)
{
	if (o->chains.mode == CALLGRAPH_NONE)
		return;
	attr->sample_type |= SAMPLE_CALLCHAIN;
	record_attrs_flag_set(attr, ATTR_BIT_EXCLUDE_CALLCHAIN_KERNEL, o->chains.no_kernel);
	record_attrs_flag_set(attr, ATTR_BIT_EXCLUDE_CALLCHAIN_USER, o->chains.no_user);
	if (o->chains.mode == CALLGRAPH_LBR) {
		attr->sample_type |= SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = BRANCH_USER | BRANCH_CALL_STACK | BRANCH_NO_CYCLES | BRANCH_NO_FLAGS;
		record_attrs_flag_set(attr, ATTR_BIT_EXCLUDE_CALLCHAIN_USER, true);
	}
	if (o->chains.mode == CALLGRAPH_BPF)
		record_attrs_flag_set(attr, ATTR_BIT_EXCLUDE_CALLCHAIN_USER, true);
	if (o->chains.mode == CALLGRAPH_DWARF) {
		attr->sample_type |= SAMPLE_REGS_USER | SAMPLE_STACK_USER;
		attr->sample_regs_user |= record_attrs_all_user_regs();
		attr->sample_stack_user =
			o->unwinds_live ? fitting_stack(attr, o->chains.stack_bytes) : o->chains.stack_bytes;
		/* In live unwinding, the kernel's frame pointer chain may continue where the stack dump ends. */
		record_attrs_flag_set(attr, ATTR_BIT_EXCLUDE_CALLCHAIN_USER, !o->unwinds_live || o->chains.no_user);
	}
}

static void set_sample_fields(struct event_spec *spec, const struct record_attr_options *o)
{
	struct perf_attr *attr = &spec->attr;
	bool is_live = (o->chains.mode == CALLGRAPH_DWARF || o->chains.mode == CALLGRAPH_BPF) && o->unwinds_live;
	bool has_address = o->fields.data_address || (o->chains.mode == CALLGRAPH_DWARF && !is_live);
	attr->sample_type |= SAMPLE_IP | SAMPLE_TID;
	if (!o->per_thread || o->fields.timestamp || is_live)
		attr->sample_type |= SAMPLE_TIME;
	if (o->is_system_wide || o->fields.cpu || o->fields.raw)
		attr->sample_type |= SAMPLE_CPU;
	if (o->fields.raw)
		attr->sample_type |= SAMPLE_RAW;
	if (has_address)
		attr->sample_type |= SAMPLE_ADDR;
	if (has_address || o->fields.data_source)
		attr->sample_type |= SAMPLE_DATA_SRC;
	if (o->fields.weight)
		attr->sample_type |= SAMPLE_WEIGHT_STRUCT;
	if (o->fields.transaction)
		attr->sample_type |= SAMPLE_TRANSACTION;
	if (o->fields.phys_addr)
		attr->sample_type |= SAMPLE_PHYS_ADDR;
	if (o->fields.data_page_size)
		attr->sample_type |= SAMPLE_DATA_PAGE_SIZE;
	if (o->fields.code_page_size)
		attr->sample_type |= SAMPLE_CODE_PAGE_SIZE;
	if (o->fields.cgroups)
		attr->sample_type |= SAMPLE_CGROUP;
	if (spec->attr.type == EVENT_TRACEPOINT)
		attr->sample_type |= SAMPLE_RAW | SAMPLE_CPU | SAMPLE_PERIOD;
	if (o->fields.branch_sample_type) {
		attr->sample_type |= SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = o->fields.branch_sample_type;
	}
	if (attr->aux_sample_size)
		attr->sample_type |= SAMPLE_AUX;
	if (o->fields.user_regs) {
		attr->sample_type |= SAMPLE_REGS_USER;
		attr->sample_regs_user |= o->fields.user_regs;
	}
	if (o->fields.intr_regs) {
		attr->sample_type |= SAMPLE_REGS_INTR;
		attr->sample_regs_intr = o->fields.intr_regs;
	}
	if (event_is_dummy(spec) && spec->attr.sample_period_or_freq == 0)
		attr->sample_type &= ~(uint64_t)SAMPLE_BRANCH_STACK;
}

/* The samples of this event, which are waits, are written by tally itself, all with these fields; the kernel's event
 * never samples. */
static void set_waits(struct perf_attr *attr)
{
	attr->sample_type =
		SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD | SAMPLE_CALLCHAIN | SAMPLE_RAW;
	attr->sample_period_or_freq = 1;
	record_attrs_flag_set(attr, ATTR_BIT_FREQ, false);
}

static void set_flags(struct event_spec *spec, const struct record_attr_options *o, bool is_leader, bool is_sideband)
{
	struct perf_attr *attr = &spec->attr;
	bool starts_at_exec = o->has_command && !o->is_system_wide && (!o->starts_disabled || is_sideband);
	attr->size =
		/* perf 6.1 reads no larger attributes. */
		attr->config3 || attr->config4 ? ATTR_SIZE_KNOWN : ATTR_SIZE_VER7;
	attr->read_format |= READ_FORMAT_ID | READ_FORMAT_LOST;
	if (o->modes.thread_counts || o->modes.running_time)
		attr->read_format |= READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING;
	record_attrs_flag_set(attr, ATTR_BIT_SAMPLE_ID_ALL, true);
	record_attrs_flag_set(attr, ATTR_BIT_INHERIT, !o->modes.no_inherit && !o->per_thread);
	record_attrs_flag_set(attr, ATTR_BIT_INHERIT_STAT, o->modes.thread_counts);
	/* Nothing enables a sideband event later, and its records from before the other events start are needed,
	 * too. */
	bool begins_now = is_sideband && (o->is_system_wide || !o->has_command);
	record_attrs_flag_set(attr, ATTR_BIT_DISABLED, is_leader && !begins_now);
	record_attrs_flag_set(attr, ATTR_BIT_ENABLE_ON_EXEC, is_leader && starts_at_exec);
	if (o->modes.all_user)
		record_attrs_flag_set(attr, ATTR_BIT_EXCLUDE_KERNEL, true);
	if (o->modes.all_kernel)
		record_attrs_flag_set(attr, ATTR_BIT_EXCLUDE_USER, true);
	if (o->modes.no_buffering) {
		record_attrs_flag_set(attr, ATTR_BIT_WATERMARK, false);
		attr->wakeup = 1;
	}
	if (o->modes.use_clockid) {
		record_attrs_flag_set(attr, ATTR_BIT_USE_CLOCKID, true);
		attr->clockid = o->modes.clockid;
	}
}

static void set_tracking(struct perf_attr *attr, const struct record_attr_options *o)
{
	attr->flags |= ATTR_FLAG(ATTR_BIT_MMAP) | ATTR_FLAG(ATTR_BIT_MMAP2) | ATTR_FLAG(ATTR_BIT_COMM) |
		       ATTR_FLAG(ATTR_BIT_COMM_EXEC) | ATTR_FLAG(ATTR_BIT_TASK) | ATTR_FLAG(ATTR_BIT_KSYMBOL);
	record_attrs_flag_set(attr, ATTR_BIT_MMAP_DATA,
		o->fields.data_address || o->fields.data_maps ||
			(o->chains.mode == CALLGRAPH_DWARF && !o->unwinds_live));
	record_attrs_flag_set(attr, ATTR_BIT_BPF_EVENT, !o->fields.no_bpf_event);
	record_attrs_flag_set(attr, ATTR_BIT_CONTEXT_SWITCH, o->fields.switch_events);
	record_attrs_flag_set(attr, ATTR_BIT_NAMESPACES, o->fields.namespaces);
	record_attrs_flag_set(attr, ATTR_BIT_CGROUP, o->fields.cgroups);
	record_attrs_flag_set(attr, ATTR_BIT_BUILD_ID, o->fields.build_id_mmap);
}

/* The leader samples with the counts of its group; members only count, except those with their own rate. If events are
 * inherited, the counts are those of the sampled thread and not those of CPUs. */
static void set_sampling_groups(struct event_list *events, const struct record_attr_options *o)
{
	for (size_t i = 0; i < events->len; i++) {
		struct event_spec *spec = &events->specs[i];
		struct event_spec *leader = &events->specs[spec->leader];
		if (!leader->is_sampling_leader)
			continue;
		spec->attr.sample_type |= SAMPLE_READ;
		spec->attr.read_format |= READ_FORMAT_GROUP;
		if (o->is_system_wide)
			record_attrs_flag_set(&spec->attr, ATTR_BIT_INHERIT, false);
		if (spec != leader && !spec->has_period && !spec->has_freq) {
			spec->attr.sample_period_or_freq = 0;
			record_attrs_flag_set(&spec->attr, ATTR_BIT_FREQ, false);
		}
	}
}

/* A single event needs no id in its samples. Several events need ID if their samples have the same layout, and
 * otherwise IDENTIFIER, whose position does not depend on other fields. */
static void record_attrs_set_ids(struct event_list *events, const struct record_attr_options *o)
{
	uint64_t first = events->specs[0].attr.sample_type;
	bool is_mixed = false;
	for (size_t i = 1; i < events->len; i++)
		is_mixed |= events->specs[i].attr.sample_type != first;
	bool has_stacks = o->chains.mode == CALLGRAPH_BPF; /* BPF stacks arrive as samples of an additional event. */
	if (events->len == 1 && !o->fields.identifier && !has_stacks)
		return;
	for (size_t i = 0; i < events->len; i++)
		events->specs[i].attr.sample_type |=
			is_mixed || has_stacks || o->fields.identifier ? SAMPLE_IDENTIFIER : SAMPLE_ID;
}

/* For these types the kernel cannot attach a BPF program to a single event. */
static bool is_tracing(const struct event_spec *spec)
{
	return spec->attr.type == EVENT_TRACEPOINT || event_is_probe(spec);
}

/* The options for this event, after its own terms. */
static struct record_attr_options with_terms(const struct record_attr_options *o, const struct event_spec *spec)
{
	const struct recording_terms *terms = &spec->recording;
	struct record_attr_options own = *o;
	if (terms->has_callgraph) {
		own.chains.mode = terms->callgraph;
		own.unwinds_live =
			o->unwinds_live && (o->chains.mode == CALLGRAPH_DWARF || o->chains.mode == CALLGRAPH_BPF);
	} else if (o->chains.mode == CALLGRAPH_BPF && is_tracing(spec)) {
		own.chains.mode = CALLGRAPH_DWARF; /* Stack dumps are unwound while recording. */
	}
	if (terms->stack_bytes)
		own.chains.stack_bytes = terms->stack_bytes;
	else if (own.chains.stack_bytes == 0)
		own.chains.stack_bytes = STACK_BYTES_DEFAULT;
	if (terms->inherit)
		own.modes.no_inherit = terms->inherit == TERM_NO;
	own.fields.timestamp |= terms->time == TERM_YES;
	if (terms->branch_sample_type)
		own.fields.branch_sample_type = terms->branch_sample_type;
	return own;
}

static enum tally_status add_sideband_event(struct event_list *events, struct tally_error *err)
{
	if (!vec_grow(&events->specs, &events->cap, sizeof(*events->specs), events->len + 1))
		return error_nomem(err);
	struct event_spec *spec = &events->specs[events->len];
	*spec = (struct event_spec){
		.name = DUMMY_NAME, .leader = (uint32_t)events->len, .member_count = 1, .scale = 1, .unit = ""};
	spec->attr.type = EVENT_SOFTWARE;
	spec->attr.config = SW_DUMMY;
	spec->attr.sample_period_or_freq = 1;
	spec->is_everywhere = true;
	events->len++;
	return TALLY_OK;
}

/* These events are single occurrences: each is sampled unless a rate is set. */
static bool is_told_each_time(const struct event_spec *spec)
{
	return spec->attr.type == EVENT_TRACEPOINT || spec->attr.type == EVENT_BREAKPOINT || event_is_probe(spec);
}

enum tally_status record_attrs_apply(
	struct event_list *events, const struct record_attr_options *o, struct tally_error *err)
{
	size_t tracking = 0;
	bool needs_sideband = o->is_system_wide || o->starts_disabled;
	if (events->len == 0)
		return error_set(err, TALLY_INVALID, "no event to record");
	bool is_carried = event_is_dummy(&events->specs[0]) && events->specs[0].member_count <= 1;
	bool needs_own = needs_sideband && !is_carried;
	if (o->modes.group && events->len > 1) {
		for (size_t i = 0; i < events->len; i++)
			events->specs[i].leader = 0;
		events->specs[0].member_count = (uint32_t)events->len;
	}
	if (needs_own) {
		enum tally_status status = add_sideband_event(events, err);
		if (status != TALLY_OK)
			return status;
		tracking = events->len - 1;
	}
	for (size_t i = 0; i < events->len; i++) {
		struct event_spec *spec = &events->specs[i];
		bool is_sideband = needs_sideband && i == tracking;
		if (is_told_each_time(spec) && !spec->has_freq && spec->attr.sample_period_or_freq == 0)
			spec->attr.sample_period_or_freq = 1;
		if (spec->is_precise_max)
			spec->attr.flags |= UINT64_C(3) << ATTR_BIT_PRECISE_IP;
		struct record_attr_options own = with_terms(o, spec);
		if (event_is_waits(spec)) {
			set_waits(&spec->attr);
		} else {
			set_sample_fields(spec, &own);
			set_rate(spec, &own);
			set_callgraph(&spec->attr, &own);
		}
		set_flags(spec, &own, spec->leader == i, is_sideband);
		if (spec->recording.time == TERM_NO)
			spec->attr.sample_type &= ~(uint64_t)SAMPLE_TIME;
		if (!event_is_inheritable(events, i))
			record_attrs_flag_set(&spec->attr, ATTR_BIT_INHERIT, false);
	}
	set_sampling_groups(events, o);
	record_attrs_set_ids(events, o);
	set_tracking(&events->specs[tracking].attr, o);
	return TALLY_OK;
}

bool record_attrs_is_walked(const struct perf_attr *attr, const struct record_attr_options *o)
{
	return o->chains.mode == CALLGRAPH_BPF && !o->chains.no_user && (attr->sample_type & SAMPLE_CALLCHAIN) != 0 &&
	       (attr->sample_type & SAMPLE_STACK_USER) == 0 && ATTR_HAS(attr, EXCLUDE_CALLCHAIN_USER);
}

struct perf_attr record_attrs_written(const struct perf_attr *attr, const struct record_attr_options *o)
{
	struct perf_attr written = *attr;
	if (record_attrs_is_walked(attr, o))
		record_attrs_flag_set(&written, ATTR_BIT_EXCLUDE_CALLCHAIN_USER, false);

	if (!o->unwinds_live || !(attr->sample_type & SAMPLE_STACK_USER))
		return written;
	written.sample_type &=
		~(uint64_t)(o->fields.user_regs ? SAMPLE_STACK_USER : SAMPLE_STACK_USER | SAMPLE_REGS_USER);
	written.sample_regs_user = o->fields.user_regs;
	return written;
}

size_t record_attrs_tracking(const struct event_list *events)
{
	for (size_t i = 0; i < events->len; i++)
		if (ATTR_HAS(&events->specs[i].attr, COMM))
			return i;
	return 0;
}

void record_attrs_leave_out_mappings(struct event_list *events)
{
	events->specs[record_attrs_tracking(events)].attr.flags &=
		~(ATTR_FLAG(ATTR_BIT_MMAP) | ATTR_FLAG(ATTR_BIT_MMAP2));
}

/* Newest features first. Without one of them the file has less information, but the rest keeps its meaning. */
static const struct drop_step {
	const char *what;
	uint64_t sample_type, read_format, flags;
} drop_steps[] = {
	{"lost counts per event", 0, READ_FORMAT_LOST, 0},
	{"build ids in mmap records", 0, 0, ATTR_FLAG(ATTR_BIT_BUILD_ID)},
	{"code page size", SAMPLE_CODE_PAGE_SIZE, 0, 0},
	{"data page size", SAMPLE_DATA_PAGE_SIZE, 0, 0},
	{"cgroup records", SAMPLE_CGROUP, 0, ATTR_FLAG(ATTR_BIT_CGROUP)},
	{"bpf records", 0, 0, ATTR_FLAG(ATTR_BIT_BPF_EVENT)},
	{"ksymbol records", 0, 0, ATTR_FLAG(ATTR_BIT_KSYMBOL)},
	{"namespace records", 0, 0, ATTR_FLAG(ATTR_BIT_NAMESPACES)},
	{"exec marks in comm records", 0, 0, ATTR_FLAG(ATTR_BIT_COMM_EXEC)},
	{"mmap2 records", 0, 0, ATTR_FLAG(ATTR_BIT_MMAP2)},
	{"exclusion of guests", 0, 0, ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HOST)},
};

bool record_attrs_drop_children(struct event_list *events)
{
	bool was_set = false;
	for (size_t i = 0; i < events->len; i++) {
		struct perf_attr *attr = &events->specs[i].attr;
		if (!(attr->sample_type & SAMPLE_READ) || !ATTR_HAS(attr, INHERIT))
			continue;
		record_attrs_flag_set(attr, ATTR_BIT_INHERIT, false);
		was_set = true;
	}
	return was_set;
}

const char *record_attrs_drop(struct event_list *events, unsigned *step)
{
	while (*step < ARRAY_LEN(drop_steps)) {
		const struct drop_step *drop = &drop_steps[(*step)++];
		bool was_set = false;
		for (size_t i = 0; i < events->len; i++) {
			struct perf_attr *attr = &events->specs[i].attr;
			was_set |= (attr->sample_type & drop->sample_type) || (attr->read_format & drop->read_format) ||
				   (attr->flags & drop->flags);
			attr->sample_type &= ~drop->sample_type;
			attr->read_format &= ~drop->read_format;
			attr->flags &= ~drop->flags;
		}
		if (was_set)
			return drop->what;
	}
	return NULL;
}
