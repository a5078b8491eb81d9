/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_state.h - defines an open store for the modules of this folder.
 */
#ifndef STORE_STORE_STATE_H
#define STORE_STORE_STATE_H

#include "store/store_backend.h"

struct store {
	const struct store_backend *backend;
	void *db; /* The opened database, which is passed to the functions of backend. */
};

#endif
