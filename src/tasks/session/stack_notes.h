/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_notes.h - reports how complete call chains are: how many stack dumps were unwound to the thread's first
 * function, and why the others were not.
 *
 *	stack_notes_add(&notes, &result.ends, false);
 */
#ifndef TASKS_SESSION_STACK_NOTES_H
#define TASKS_SESSION_STACK_NOTES_H

#include "analysis/stack_ends.h"
#include "cli/cli.h"

/* Appends text such as "98.2% of 500 stack dumps are complete (4 stack dump too short, 5 broken)", or nothing if there
 * are none. */
void stack_notes_text(struct text *t, const struct stack_ends *ends);
/* Adds a note about stack dumps and, if is_verbose is set, about how many recorded chains reach the thread's first
 * function. */
void stack_notes_add(struct diag *notes, const struct stack_ends *ends, bool is_verbose);
/* Prints a note on standard error if a stack dump is incomplete. */
void stack_notes_print(const struct cli *cli, const struct stack_ends *ends);

#endif
