/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff/diff_changes.h"

#include <stdlib.h>

void diff_changes_deinit(struct diff_changes *changes)
{
	free(changes->rows);
	free(changes->order);
	*changes = (struct diff_changes){0};
}
