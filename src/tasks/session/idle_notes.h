/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_notes.h - reports what --no-idle hides in a profile, and what it cannot hide.
 *
 *	idle_notes_add(&notes, &filter);
 */
#ifndef TASKS_SESSION_IDLE_NOTES_H
#define TASKS_SESSION_IDLE_NOTES_H

#include "base/diag.h"
#include "profile/filter.h"

/* Adds nothing if the filter hides no idle threads. */
void idle_notes_add(struct diag *notes, const struct profile_filter *filter);

#endif
