/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/record_fallback.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/events/event_gates.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/system/kernel_files.h"
#include "kernel/system/surroundings.h"

/* Replaces cycles by cpu-clock with the same modifiers. Period and frequency remain as they are. */
static void become_cpu_clock(struct record_fallback *f, struct event_spec *spec)
{
	const char *colon = strrchr(spec->name, ':');
	const char *modifiers = colon ? colon + 1 : "";
	diag_add(f->diag, DIAG_NOTE,
		"the %.*s event is not supported here (no hardware PMU); recording cpu-clock instead",
		(int)strcspn(spec->name, ":"), spec->name);
	spec->attr.type = EVENT_SOFTWARE;
	spec->attr.config = SW_CPU_CLOCK;
	const char *best = strchr(modifiers, 'P'); /* perf writes P as ppp. */
	char kept[32];
	snprintf(kept, sizeof(kept), "%.*s%s%s", (int)(best ? best - modifiers : (ptrdiff_t)strlen(modifiers)),
		modifiers, best ? "ppp" : "", best ? best + 1 : "");
	if (!f->events->has_arena) {
		arena_init(&f->events->arena);
		f->events->has_arena = true;
	}
	const char *made = arena_printf(&f->events->arena, "cpu-clock%s%s", *kept ? ":" : "", kept);
	if (made)
		spec->name = made;
}

static void say_no_kernel(struct record_fallback *f, int64_t paranoid)
{
	struct text remedy = {0};
	if (may_measure_all(f->kernel) || paranoid < 2) {
		diag_add(f->diag, DIAG_WARNING,
			"samples of the kernel are not allowed here (by a security policy; 'tally doctor' shows what "
			"is in the way): recording user space only");
		return;
	}
	remedy_sysctl(surroundings_find(f->kernel), "kernel.perf_event_paranoid", 1, &remedy);
	diag_add(f->diag, DIAG_WARNING,
		"samples of the kernel are not allowed here (kernel.perf_event_paranoid is %lld): recording user space "
		"only; to allow them: %.*s",
		(long long)paranoid, (int)remedy.len, remedy.data ? remedy.data : "");
	text_deinit(&remedy);
}

static bool leave_out_kernel(struct record_fallback *f, size_t event)
{
	int64_t paranoid = kernel_number(f->kernel, 2, "/proc/sys/kernel/perf_event_paranoid");
	const char *name = f->events->specs[event].name;
	if (event_spec_restrict_to_user(f->events, event, NULL) != TALLY_OK)
		return false;
	/* The kernel never samples the event of waits, so there is nothing to warn of. */
	if (event_is_waits(&f->events->specs[event]))
		return true;
	say_no_kernel(f, paranoid);
	if (event_happens_in_kernel(&f->events->specs[event])) /* The event never occurs in user mode. */
		diag_add(f->diag, DIAG_WARNING,
			"'%s' occurs only in the kernel: without kernel samples, nothing would be recorded", name);
	return true;
}

/* Whether anything could be recorded without the kernel; otherwise the refusal is the better answer. */
static bool has_use_without_kernel(const struct event_list *events)
{
	for (size_t i = 0; i < events->len; i++)
		if (!event_happens_in_kernel(&events->specs[i]) && !event_is_dummy(&events->specs[i]))
			return true;
	return false;
}

bool record_fallback_next(struct record_fallback *f, size_t event, enum refusal refusal, int errnum)
{
	struct event_spec *spec = &f->events->specs[event];
	if (refusal == REFUSAL_NO_HARDWARE && spec->attr.type == EVENT_HARDWARE && spec->attr.config == HW_CPU_CYCLES) {
		become_cpu_clock(f, spec);
		return true;
	}
	if (refusal == REFUSAL_PERMISSION && !ATTR_HAS(&spec->attr, EXCLUDE_KERNEL) &&
		!ATTR_HAS(&spec->attr, EXCLUDE_USER) && !spec->has_exclude && !f->keeps_kernel &&
		spec->attr.type != EVENT_TRACEPOINT && has_use_without_kernel(f->events)) {
		return leave_out_kernel(f, event);
	}
	if (errnum == EINVAL && refusal == REFUSAL_OLD_KERNEL && record_attrs_drop_children(f->events)) {
		diag_add(f->diag, DIAG_NOTE,
			"this kernel lacks samples of new threads and children for groups with :S: recording without "
			"them");
		return true;
	}
	if ((errnum == EINVAL || errnum == EOPNOTSUPP) && attr_precise_ip(&spec->attr) && spec->is_precise_max) {
		uint64_t precise = attr_precise_ip(&spec->attr) - 1;
		spec->attr.flags &= ~(UINT64_C(3) << ATTR_BIT_PRECISE_IP);
		spec->attr.flags |= precise << ATTR_BIT_PRECISE_IP;
		return true;
	}
	const char *what = refusal == REFUSAL_OLD_KERNEL ? record_attrs_drop(f->events, &f->step) : NULL;
	if (what)
		diag_add(f->diag, DIAG_NOTE, "this kernel lacks %s: recording without them", what);
	return what != NULL;
}
