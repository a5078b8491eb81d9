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
 * Stores $HOME or, for root if $HOME belongs to another user, root's directory in the password file. Returns false if
 * $HOME is not set or not absolute, or root has no directory of its own.
 */
bool own_home(char home[PATH_MAX]);
/* Stores $XDG_CACHE_HOME; returns false if it is not set, not absolute or, for root, belongs to another user. */
bool own_cache_home(char folder[PATH_MAX]);

#endif
