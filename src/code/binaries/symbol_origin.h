/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_origin.h - returns perf's letter for the origin of a binary's symbols: the kernel's list, the file, a debug
 * file and others.
 *
 *	char letter = symbol_origin(store, id);
 */
#ifndef CODE_BINARIES_SYMBOL_ORIGIN_H
#define CODE_BINARIES_SYMBOL_ORIGIN_H

#include "code/binary_store.h"

#define SYMBOL_ORIGIN_NONE '!'

/* Returns SYMBOL_ORIGIN_NONE if the binary has no symbols or was not loaded. 'd' stands for the file itself, and for
 * origins that have no letter in perf. */
char symbol_origin(const struct binary_store *store, uint32_t id);

#endif
