/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_program.h - collects the modules of a test program; its main function runs one of them. The macro `main` of
 * unit_test.h adds a test file.
 */
#ifndef SUPPORT_UNIT_PROGRAM_H
#define SUPPORT_UNIT_PROGRAM_H

struct unit_module {
	const char *source; /* Path of the test file, which names the module. */
	int (*main)(void);
	struct unit_module *next;
};

/* Called by constructors, before main. The module must be static. */
void unit_program_add(struct unit_module *module);

#endif
