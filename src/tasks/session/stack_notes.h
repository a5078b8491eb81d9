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

/* "98.2% of 500 stack dumps are complete (4 stack dump too short, 5 broken)"; nothing where there are none. */
void stack_notes_text(struct text *t, const struct stack_ends *ends);
/* Of stack dumps always; of chains as they were recorded, how many reach a first function, if verbose. */
void stack_notes_add(struct diag *notes, const struct stack_ends *ends, bool is_verbose);
/* On standard error, if a stack dump is not complete. */
void stack_notes_print(const struct cli *cli, const struct stack_ends *ends);

#endif
