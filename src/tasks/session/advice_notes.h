/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_notes.h - suggests how to record better when a recording lacks something: frame pointers for call chains, or
 * names of generated code from runtimes.
 *
 *	advice_notes_add(&notes, reader, profile);   cli_print_diag(cli, &notes);
 */
#ifndef TASKS_SESSION_ADVICE_NOTES_H
#define TASKS_SESSION_ADVICE_NOTES_H

#include "base/diag.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

#define ADVICE_FRAME_POINTERS                                                                            \
	"the code keeps no frame pointers; --call-graph dwarf records whole ones (so does a build with " \
	"-fno-omit-frame-pointer)"

/* Adds notes about missing frame pointers and names; the profile must have stacks. */
void advice_notes_add(struct diag *notes, struct perfdata_reader *reader, const struct profile *profile);
/* Adds a note about what the source of waits cannot measure, if there is anything. */
void advice_notes_waits(struct diag *notes, const struct perfdata_reader *reader);
/* For reports with rows by cgroup: adds a warning if no event has recorded the cgroups of samples. program is tally's
 * name in messages. */
void advice_notes_cgroups(struct diag *notes, const struct perfdata_reader *reader, const char *program);

#endif
