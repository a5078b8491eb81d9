/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_gen.h - implements `script -g python`, which writes a template script with a handler for each tracepoint of a
 * recording.
 */
#ifndef VERBS_SCRIPT_SCRIPT_GEN_H
#define VERBS_SCRIPT_SCRIPT_GEN_H

#include "base/text.h"
#include "cli/cli.h"
#include "verbs/script/script_options.h"

int script_gen_run(const struct cli *cli, const struct script_settings *settings);
/* Appends the name of an event's handler: "sched__sched_switch" for "sched:sched_switch". */
void script_gen_handler(struct text *out, struct tally_str event_name);
bool script_gen_is_python(struct tally_str language);

#endif
