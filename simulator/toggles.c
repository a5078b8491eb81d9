/* SPDX-License-Identifier: Apache-2.0 */
#include "toggles.h"

#include "counting.h"
#include "options.h"

#define TOGGLES_NAME_BYTES 4096

UInt sim_toggles_ran;

/* Returns whether the character is in the set; *set is the first character after '[' and is moved past ']'. */
static Bool toggles_in_set(const HChar **set, HChar c)
{
	const HChar *at = *set;
	Bool inverts = *at == '!' || *at == '^', found = False;
	at += inverts;
	do {
		HChar first = *at++, last = first;
		if (at[0] == '-' && at[1] && at[1] != ']') {
			last = at[1];
			at += 2;
		}
		found |= first <= c && c <= last;
	} while (*at && *at != ']');
	*set = *at ? at + 1 : at;
	return found != inverts;
}

/* Matches a shell pattern with *, ? and [set]. After a mismatch, the last * matches one more character. */
static Bool toggles_glob(const HChar *pattern, const HChar *name)
{
	const HChar *star = NULL, *resume = NULL;
	while (*name) {
		const HChar *at = pattern;
		Bool fits = *at == '?' || *at == *name;
		if (*at == '*') {
			star = ++pattern;
			resume = name;
			continue;
		}
		if (*at == '[' && at[1]) {
			at++;
			fits = toggles_in_set(&at, *name);
		} else if (*at) {
			at++;
		}
		if (fits) {
			pattern = at;
			name++;
		} else if (star) {
			pattern = star;
			name = ++resume;
		} else {
			return False;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* C++ names match with or without their parameters. */
static Bool toggles_matches(const HChar *name)
{
	static HChar plain[TOGGLES_NAME_BYTES];
	VG_(strlcpy)(plain, name, sizeof plain);
	HChar *parameters = VG_(strchr)(plain, '(');
	if (parameters && parameters != plain)
		*parameters = '\0';
	Bool is_any = False;
	for (UInt i = 0; i < sim_options.toggle_count; i++) {
		if (!toggles_glob(sim_options.toggles[i], name) && !toggles_glob(sim_options.toggles[i], plain))
			continue;
		is_any = True;
		if (i < SIM_TOGGLES_TOLD)
			sim_toggles_ran |= 1u << i;
	}
	return is_any;
}

Bool sim_toggles_begins(Addr address)
{
	const HChar *name;
	return sim_options.toggle_count && VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), address, &name) &&
	       toggles_matches(name);
}

void sim_toggles_enter(Addr sp, Addr return_address)
{
	if (sim_toggle.sp != SIM_NEVER)
		return;
	sim_toggle.sp = sp;
	sim_toggle.return_address = return_address;
	sim_counting_toggled();
}

void sim_toggles_leave(Addr sp, Addr target)
{
	if (sp < sim_toggle.sp || (sp == sim_toggle.sp && target != sim_toggle.return_address))
		return;
	/* A signal handler or coroutine on a different stack does not affect this one. */
	if (VG_(am_find_nsegment)(sp - 1) != VG_(am_find_nsegment)(sim_toggle.sp))
		return;
	sim_toggle.sp = SIM_NEVER;
	sim_counting_toggled();
}
