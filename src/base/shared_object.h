/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_object.h - opens a shared library at run time. A statically linked program (meson -Dstatic=true) opens none:
 * it has no dynamic linker of its own, and the C library that another one brings may differ from the one that it was
 * linked with.
 *
 * Symbols are looked up with dlsym, and the handle is closed with dlclose. Any thread may call these.
 *
 *	void *handle = shared_object_open("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
 *	if (!handle)
 *		return error_set(err, TALLY_UNSUPPORTED, "%s", shared_object_error());
 */
#ifndef BASE_SHARED_OBJECT_H
#define BASE_SHARED_OBJECT_H

#include <dlfcn.h>

/* As dlopen: NULL when it cannot be opened. */
void *shared_object_open(const char *path, int flags);
/* Why this thread's last shared_object_open failed; never NULL. Valid until the next call. */
const char *shared_object_error(void);

#endif
