#include "code/demangle/demangle.h"

#include <string.h>

#include "tally_config.h"

#if HAVE_DEMANGLE
#include <libiberty/demangle.h>
#include <stdlib.h>

/* C++ (and legacy Rust, which looks like it) _Z, Rust v0 _R, D _D; versioned and PLT suffixes are left alone. */
static bool may_be_mangled(const char *name)
{
	return name[0] == '_' &&
	       (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' || (name[1] == '_' && name[2] == 'Z'));
}

/* "target@plt": the target is demangled, the suffix stays. */
static char *demangle_part(const char *name, size_t len, int style)
{
	char *part = strndup(name, len);
	char *text = part ? cplus_demangle(part, style) : NULL;
	free(part);
	return text;
}

const char *demangle(struct arena *arena, const char *name)
{
	if (!may_be_mangled(name))
		return name;
	const char *suffix = strchr(name, '@');
	size_t len = suffix ? (size_t)(suffix - name) : strlen(name);
	int style = name[1] == 'D' ? DMGL_DLANG : name[1] == 'R' ? DMGL_RUST : DMGL_AUTO;
	char *text = demangle_part(name, len, style);
	if (!text)
		return name;
	const char *copy = arena_printf(arena, "%s%s", text, name + len);
	free(text);
	return copy ? copy : name;
}

#else

const char *demangle(struct arena *arena, const char *name)
{
	return name;
}

#endif
