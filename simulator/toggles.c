/* SPDX-License-Identifier: Apache-2.0 */
#include "toggles.h"

#include "counting.h"
#include "options.h"

#define TOGGLES_NAME_BYTES 4096

/* C++ names match with and without their parameters. */
static Bool toggles_matches(const HChar *name)
{
	static HChar plain[TOGGLES_NAME_BYTES];
	VG_(strlcpy)(plain, name, sizeof plain);
	HChar *parameters = VG_(strchr)(plain, '(');
	if (parameters && parameters != plain)
		*parameters = '\0';
	for (UInt i = 0; i < sim_options.toggle_count; i++) {
		if (VG_(string_match)(sim_options.toggles[i], name) || VG_(string_match)(sim_options.toggles[i], plain))
			return True;
	}
	return False;
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
	/* A signal handler or coroutine on a stack of its own says nothing about this one. */
	if (VG_(am_find_nsegment)(sp - 1) != VG_(am_find_nsegment)(sim_toggle.sp))
		return;
	sim_toggle.sp = SIM_NEVER;
	sim_counting_toggled();
}
