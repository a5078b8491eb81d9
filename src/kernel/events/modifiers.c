/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/modifiers.h"

#include "base/text.h"

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
	case 'X':
		return &m->stays_in_place;
	case 'b':
		return &m->is_shared;
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

static void modifiers_flag_set(uint64_t *flags, unsigned bit, bool on)
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
		modifiers_flag_set(&flags, ATTR_BIT_EXCLUDE_USER, !user);
		modifiers_flag_set(&flags, ATTR_BIT_EXCLUDE_KERNEL, !kernel);
		modifiers_flag_set(&flags, ATTR_BIT_EXCLUDE_HV, !hv);
		spec->has_exclude = true;
	}
	/* Guests are excluded by default. As in perf, an explicit k or h includes them; u and p do not. */
	if (!is_for_group)
		modifiers_flag_set(&flags, ATTR_BIT_EXCLUDE_GUEST, false);
	if (m->guest || m->host) {
		modifiers_flag_set(&flags, ATTR_BIT_EXCLUDE_GUEST, m->host && !m->guest);
		modifiers_flag_set(&flags, ATTR_BIT_EXCLUDE_HOST, m->guest && !m->host);
		spec->has_guest_host = true;
	} else if (!spec->has_guest_host && (m->user || m->precise)) {
		modifiers_flag_set(&flags, ATTR_BIT_EXCLUDE_GUEST, true);
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
	spec->stays_in_place |= m->stays_in_place;
	spec->is_shared |= m->is_shared;
}

void modifiers_format(struct text *text, const struct event_spec *spec)
{
	const uint64_t modes =
		ATTR_FLAG(ATTR_BIT_EXCLUDE_USER) | ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV);
	const uint64_t guests = ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HOST);
	const struct perf_attr *attr = &spec->attr;
	bool has_modes = spec->has_exclude || (attr->flags & modes);
	struct modifiers m = {
		.user = has_modes && !ATTR_HAS(attr, EXCLUDE_USER),
		.kernel = has_modes && !ATTR_HAS(attr, EXCLUDE_KERNEL),
		.hv = has_modes && !ATTR_HAS(attr, EXCLUDE_HV),
		.exclude_idle = ATTR_HAS(attr, EXCLUDE_IDLE),
		.is_precise_max = spec->is_precise_max,
		.is_sampling_leader = spec->is_sampling_leader,
		.is_pinned = ATTR_HAS(attr, PINNED),
		.is_weak = spec->is_weak_group,
		.is_exclusive = ATTR_HAS(attr, EXCLUSIVE),
		.stays_in_place = spec->stays_in_place,
		.is_shared = spec->is_shared,
		.precise = attr_precise_ip(attr),
	};
	/* G and H are written only if they do not follow from the other letters. */
	struct event_spec plain = {.attr.flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST)};
	bool has_letters = has_modes || m.exclude_idle || m.is_precise_max || m.is_sampling_leader || m.is_pinned ||
			   m.is_weak || m.is_exclusive || m.stays_in_place || m.is_shared || m.precise;
	if (has_letters)
		modifiers_apply(&m, &plain, false);
	if ((plain.attr.flags ^ attr->flags) & guests) {
		m.guest = !ATTR_HAS(attr, EXCLUDE_GUEST);
		m.host = !ATTR_HAS(attr, EXCLUDE_HOST);
	}
	static const char letters[] = "ukhGHIPSDWeXb";
	for (const char *c = letters; *c; c++)
		if (*letter_field(&m, *c))
			text_char(text, *c);
	text_repeat(text, 'p', m.precise);
}
