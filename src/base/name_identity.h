/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_identity.h - removes the parts of a name that are specific to a process, a compilation or a version, so that the
 * same function or program has the same name in two recordings. It is for matching; views display unchanged names.
 *
 * The functions have no state. The result is in room, which belongs to the caller, and is valid until room changes;
 * room->failed is set if memory runs out. A name that would become empty is not changed.
 *
 *	struct tally_str same = name_identity_function(STR("parse.llvm.310333"), &room); // "parse"
 *	same = name_identity_file(STR("libx.so.1.2"), &room); // "libx.so"
 *	same = name_identity_shared(STR("[JIT] tid 4711"), &room); // "[JIT]"
 */
#ifndef BASE_NAME_IDENTITY_H
#define BASE_NAME_IDENTITY_H

#include "base/text.h"

/*
 * Removes suffixes of compilers for copies of a function (".constprop.0", ".llvm.310333", "[clone .cold]", a hash of
 * Rust) and numbers of runtimes ("$$Lambda$14/0x7f12", "GeneratedMethodAccessor3").
 */
struct tally_str name_identity_function(struct tally_str name, struct text *room);
/*
 * Removes the version from the name of a binary or a thread ("app-1.1", "libx.so.1.2", "python3.12"), and also the
 * parts that name_identity_shared removes.
 */
struct tally_str name_identity_file(struct tally_str name, struct text *room);
/*
 * Removes the ID of the process that generated the code from the name of a binary. That ID never identifies code in a
 * view of several processes.
 */
struct tally_str name_identity_shared(struct tally_str name, struct text *room);
/* Returns true if the object contains code that a runtime generated. */
bool name_identity_is_generated(struct tally_str object);

#endif
