/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_damage.h - reports that the symbols packed into a recording cannot be used.
 */
#ifndef TASKS_SESSION_PACK_DAMAGE_H
#define TASKS_SESSION_PACK_DAMAGE_H

#include "cli/cli.h"
#include "code/binary_store.h"

/* Prints one line on standard error if the pack is damaged. */
void pack_tell_damage(const struct cli *cli, const struct binary_store *store);

#endif
