/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_origin.h - gives perf's letter for the origin of a binary's symbols: the kernel's list, the file, a debug file
 * and others.
 *
 *	char letter = symbol_origin(store, id);
 */
#ifndef CODE_BINARIES_SYMBOL_ORIGIN_H
#define CODE_BINARIES_SYMBOL_ORIGIN_H

#include "code/binary_store.h"

#define SYMBOL_ORIGIN_NONE '!'

/* SYMBOL_ORIGIN_NONE: it has no names, or was not loaded. 'd', the file itself, also for places that perf has no letter
 * for. */
char symbol_origin(const struct binary_store *store, uint32_t id);

#endif
