/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_object.h - opens a shared library at run time. In a statically linked program (meson -Dstatic=true), this
 * always fails, because the C library that the dynamic linker would load may differ from the linked one.
 *
 * Use dlsym to look up symbols, and dlclose to close the handle. May be called from any thread.
 *
 *	void *handle = shared_object_open("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
 *	if (!handle)
 *		return error_set(err, TALLY_UNSUPPORTED, "%s", shared_object_error());
 */
#ifndef BASE_SHARED_OBJECT_H
#define BASE_SHARED_OBJECT_H

#include <dlfcn.h>

/* Does the same as dlopen; returns NULL if the library cannot be opened. */
void *shared_object_open(const char *path, int flags);
/* Returns why this thread's last shared_object_open failed; never NULL. Valid until the next call. */
const char *shared_object_error(void);

#endif
