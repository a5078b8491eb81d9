/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_home.h - finds the directory for this user's caches.
 *
 * Root with a user's HOME (sudo -E, or a sudo that keeps HOME) must not leave files owned by root there, which the user
 * cannot replace, nor trust files that the user put there: root's own folder is used instead. Any thread.
 *
 *	char home[PATH_MAX];
 *	if (own_home(home)) ... home is absolute
 */
#ifndef BASE_OWN_HOME_H
#define BASE_OWN_HOME_H

#include <limits.h>
#include <stdbool.h>

/* $HOME; for root, if $HOME belongs to another user, the one in the password file. False: there is none. */
bool own_home(char home[PATH_MAX]);
/* $XDG_CACHE_HOME; false: not set, not absolute, or, for root, another's. */
bool own_cache_home(char folder[PATH_MAX]);

#endif
