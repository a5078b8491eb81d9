#include "kernel/events/modifiers.h"

static bool *letter_field(struct modifiers *m, char letter)
{
	switch (letter) {
	case 'u':
		return &m->user;
	case 'k':
		return &m->kernel;
	case 'h':
		return &m->hv;
	case 'G':
		return &m->guest;
	case 'H':
		return &m->host;
	case 'I':
		return &m->exclude_idle;
	case 'P':
		return &m->is_precise_max;
	case 'S':
		return &m->is_sampling_leader;
	case 'D':
		return &m->is_pinned;
	case 'W':
		return &m->is_weak;
	case 'e':
		return &m->is_exclusive;
	default:
		return NULL;
	}
}

size_t modifiers_parse(struct tally_str text, struct modifiers *modifiers)
{
	struct modifiers m = {0};
	size_t i = 0;
	for (; i < text.len; i++) {
		if (text.data[i] == 'p') {
			m.is_repeated |= ++m.precise > 3;
			continue;
		}
		bool *field = letter_field(&m, text.data[i]);
		if (!field)
			break;
		m.is_repeated |= *field;
		*field = true;
	}
	*modifiers = m;
	return i;
}

static void flag_set(uint64_t *flags, unsigned bit, bool on)
{
	*flags = on ? *flags | ATTR_FLAG(bit) : *flags & ~ATTR_FLAG(bit);
}

void modifiers_apply(const struct modifiers *m, struct event_spec *spec, bool is_for_group)
{
	uint64_t flags = spec->attr.flags;
	bool user = m->user, kernel = m->kernel, hv = m->hv;
	if (user || kernel || hv) {
		if (is_for_group && spec->has_exclude) {
			user |= !(flags & ATTR_FLAG(ATTR_BIT_EXCLUDE_USER));
			kernel |= !(flags & ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL));
			hv |= !(flags & ATTR_FLAG(ATTR_BIT_EXCLUDE_HV));
		}
		flag_set(&flags, ATTR_BIT_EXCLUDE_USER, !user);
		flag_set(&flags, ATTR_BIT_EXCLUDE_KERNEL, !kernel);
		flag_set(&flags, ATTR_BIT_EXCLUDE_HV, !hv);
		spec->has_exclude = true;
	}
	/* Guests are left out by default; an explicit k or h brings them back, u and p do not (as perf has it). */
	if (!is_for_group)
		flag_set(&flags, ATTR_BIT_EXCLUDE_GUEST, false);
	if (m->guest || m->host) {
		flag_set(&flags, ATTR_BIT_EXCLUDE_GUEST, m->host && !m->guest);
		flag_set(&flags, ATTR_BIT_EXCLUDE_HOST, m->guest && !m->host);
		spec->has_guest_host = true;
	} else if (!spec->has_guest_host && (m->user || m->precise)) {
		flag_set(&flags, ATTR_BIT_EXCLUDE_GUEST, true);
	}
	flags |= m->exclude_idle ? ATTR_FLAG(ATTR_BIT_EXCLUDE_IDLE) : 0;
	flags |= m->is_pinned ? ATTR_FLAG(ATTR_BIT_PINNED) : 0;
	flags |= m->is_exclusive ? ATTR_FLAG(ATTR_BIT_EXCLUSIVE) : 0;
	if (m->precise) {
		flags &= ~(UINT64_C(3) << ATTR_BIT_PRECISE_IP);
		flags |= (uint64_t)m->precise << ATTR_BIT_PRECISE_IP;
	}
	spec->attr.flags = flags;
	spec->is_precise_max |= m->is_precise_max;
	spec->is_sampling_leader |= m->is_sampling_leader;
	spec->is_weak_group |= m->is_weak;
}
