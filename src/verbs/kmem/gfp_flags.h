/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gfp_flags.h - the kernel's names of how memory may be got ("GFP_KERNEL|__GFP_ZERO") in short, as perf's tables have
 * them: "K|Z". Names that are not known stand as they are.
 *
 *	gfp_flags_short(STR("GFP_KERNEL|__GFP_ZERO"), &out);
 */
#ifndef VERBS_KMEM_GFP_FLAGS_H
#define VERBS_KMEM_GFP_FLAGS_H

#include "base/text.h"

void gfp_flags_short(struct tally_str names, struct text *out);

#endif
