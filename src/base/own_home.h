/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_home.h - finds the directory for this user's caches.
 *
 * If root has a user's HOME (sudo -E, or a sudo that preserves HOME), it must not create files there, which the user
 * could not replace, nor trust the user's files, so root's own directory is used instead. May be called from any
 * thread.
 *
 *	char home[PATH_MAX];
 *	if (own_home(home)) ... home is absolute
 */
#ifndef BASE_OWN_HOME_H
#define BASE_OWN_HOME_H

#include <limits.h>
#include <stdbool.h>

/*
 * Returns $HOME or, for root if $HOME belongs to another user, the directory in the password file. Returns false if
 * there is none.
 */
bool own_home(char home[PATH_MAX]);
/* Returns $XDG_CACHE_HOME; false if it is not set, not absolute or, for root, belongs to another user. */
bool own_cache_home(char folder[PATH_MAX]);

#endif
