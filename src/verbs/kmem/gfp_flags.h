/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gfp_flags.h - abbreviates the kernel's names of allocation flags as perf does: "GFP_KERNEL|__GFP_ZERO" becomes "K|Z".
 * Unknown names are not abbreviated.
 *
 *	gfp_flags_short(STR("GFP_KERNEL|__GFP_ZERO"), &out);
 */
#ifndef VERBS_KMEM_GFP_FLAGS_H
#define VERBS_KMEM_GFP_FLAGS_H

#include "base/text.h"

void gfp_flags_short(struct tally_str names, struct text *out);

#endif
