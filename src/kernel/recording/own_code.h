/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_code.h - finds the file and the file offset of a function of this process, where a uprobe can be placed.
 *
 *	char path[PATH_MAX]; uint64_t offset;
 *	if (own_code_find((uintptr_t)usleep, path, &offset)) ...
 */
#ifndef KERNEL_RECORDING_OWN_CODE_H
#define KERNEL_RECORDING_OWN_CODE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Sets path to the file and *offset to the file offset of the address; returns false if /proc/self/maps has no file
 * mapping there. */
bool own_code_find(uint64_t address, char path[PATH_MAX], uint64_t *offset);

#endif
