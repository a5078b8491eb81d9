/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_hint.h - finds the package that a file belongs to, and the distribution's command that installs its debug
 * symbols. Reads /etc/os-release and dpkg's lists; runs no command.
 *
 *	struct package_hints hints;
 *	package_hints_init(&hints);
 *	package_hint_print(&hints, out, "/usr/bin/ls", build_id_hex);
 */
#ifndef TASKS_REPORTING_PACKAGE_HINT_H
#define TASKS_REPORTING_PACKAGE_HINT_H

#include "base/arena.h"
#include "base/text.h"

struct package_hints {
	/* Set for the distribution itself and for derivatives; both are false if it is unknown. */
	bool is_debian, is_fedora;
};

void package_hints_init(struct package_hints *hints);
/* Returns the name of the package that installed path, allocated in the arena. Returns NULL if no package did, or if
 * the system does not use dpkg. */
const char *package_of(struct arena *arena, const char *path);
/* Appends one line without a newline about how to get the debug symbols of the file. build_id is "" if unknown. */
void package_hint_print(const struct package_hints *hints, struct text *out, const char *path, const char *build_id);

#endif
