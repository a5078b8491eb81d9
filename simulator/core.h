/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - includes the parts of Valgrind's core that the tool uses (pub_tool_*.h), and declares functions and
 * variables of the core library that its public headers lack.
 */
#ifndef SIMULATOR_CORE_H
#define SIMULATOR_CORE_H

#include <pub_tool_aspacemgr.h>
#include <pub_tool_basics.h>
#include <pub_tool_clientstate.h>
#include <pub_tool_debuginfo.h>
#include <pub_tool_guest.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_machine.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_options.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_tooliface.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>

/* Moves a descriptor to a number that the program cannot reach, and marks it close-on-exec. */
extern Int VG_(safe_fd)(Int oldfd);
/* The auxiliary vector on the initial stack of the program: pairs of a type and a value, terminated by type 0. */
extern UWord *VG_(client_auxv);

#endif
