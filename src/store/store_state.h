/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_state.h - defines an open store for the modules of this folder: its backend, and the backend's database.
 */
#ifndef STORE_STORE_STATE_H
#define STORE_STORE_STATE_H

#include "store/store_backend.h"

struct store {
	const struct store_backend *backend;
	void *db;
};

#endif
