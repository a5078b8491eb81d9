/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/pack_damage.h"

#include <stdio.h>

#include "cli/cli.h"

void pack_tell_damage(const struct cli *cli, const struct binary_store *store)
{
	const char *damage = binary_store_pack_damage(store);
	if (damage)
		cli_sayf("%s: the symbols that are packed into the recording cannot be used: %s\n", cli->program,
			damage);
}
