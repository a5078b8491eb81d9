/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_program.h - the modules of a test program, which its main runs one at a time. The macro `main` of unit_test.h
 * adds a file of tests.
 */
#ifndef SUPPORT_UNIT_PROGRAM_H
#define SUPPORT_UNIT_PROGRAM_H

struct unit_module {
	const char *source; /* the path of the file of tests, which names the module */
	int (*main)(void);
	struct unit_module *next;
};

/* Called before main. The module stays the caller's. */
void unit_program_add(struct unit_module *module);

#endif
