/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_hint.h - finds the package that a file belongs to, and the command of the distribution that installs its
 * debug symbols. Reads /etc/os-release and dpkg's lists; runs nothing.
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
	bool is_debian, is_fedora; /* or like it; neither: unknown */
};

void package_hints_init(struct package_hints *hints);
/* The package that installed path; NULL: none, or not a system with dpkg. In the arena. */
const char *package_of(struct arena *arena, const char *path);
/* One line without its end: how to get the debug symbols of the file at path with that build id ("" none). */
void package_hint_print(const struct package_hints *hints, struct text *out, const char *path, const char *build_id);

#endif
