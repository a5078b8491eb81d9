/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_gen.h - implements `script -g python`: it writes a script with a handler for each tracepoint of a recording,
 * as a starting point.
 */
#ifndef VERBS_SCRIPT_SCRIPT_GEN_H
#define VERBS_SCRIPT_SCRIPT_GEN_H

#include "base/text.h"
#include "cli/cli.h"
#include "verbs/script/script_options.h"

int script_gen_run(const struct cli *cli, const struct script_settings *settings);
/* "sched:sched_switch" -> "sched__sched_switch": what a script's handler of an event is called. */
void script_gen_handler(struct text *out, struct tally_str event_name);
bool script_gen_is_python(struct tally_str language);

#endif
