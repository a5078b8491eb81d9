/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_identity.h - leaves out of a name what belongs to one process, one compilation or one version, so that the same
 * function or program has the same name in two recordings. It is for matching; views show the names as they are.
 *
 * Pure functions on text. The result is made in room, which the caller owns, and is valid until room changes; if room
 * has failed, memory was short. A name that would become empty stays as it is.
 *
 *	struct tally_str same = name_identity_function(STR("parse.llvm.310333"), &room); // "parse"
 *	same = name_identity_file(STR("libx.so.1.2"), &room); // "libx.so"
 *	same = name_identity_shared(STR("[JIT] tid 4711"), &room); // "[JIT]"
 */
#ifndef BASE_NAME_IDENTITY_H
#define BASE_NAME_IDENTITY_H

#include "base/text.h"

/* Without what compilers add for copies of a function (".constprop.0", ".llvm.310333", "[clone .cold]", a hash of Rust)
 * and runtimes number ("$$Lambda$14/0x7f12", "GeneratedMethodAccessor3"). */
struct tally_str name_identity_function(struct tally_str name, struct text *room);
/* Of a binary or a thread: without its version ("app-1.1", "libx.so.1.2", "python3.12") and as name_identity_shared. */
struct tally_str name_identity_file(struct tally_str name, struct text *room);
/* Of a binary: without the number of the process whose generated code it holds. That number never identifies code in
 * a view of several processes. */
struct tally_str name_identity_shared(struct tally_str name, struct text *room);
/* Whether code that a runtime generated lies in this object. */
bool name_identity_is_generated(struct tally_str object);

#endif
