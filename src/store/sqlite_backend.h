/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_backend.h - declares the backend for stores in an SQLite file: sqlite:PATH.
 */
#ifndef STORE_SQLITE_BACKEND_H
#define STORE_SQLITE_BACKEND_H

#include "store/store_backend.h"

extern const struct store_backend sqlite_backend;

#endif
