#include "code/demangle/demangle.h"

#include <stdbool.h>
#include <string.h>

#include "tally_config.h"

#if HAVE_DEMANGLE
#include <libiberty/demangle.h>
#include <stdlib.h>

/* C++ (and legacy Rust, which looks like it) _Z, Rust v0 _R, D _D; __Z as some object formats write it. */
static bool may_be_mangled(const char *name)
{
	return name[0] == '_' &&
	       (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' || (name[1] == '_' && name[2] == 'Z'));
}

static char *demangle_part(const char *name, size_t len)
{
	int style = name[1] == 'D' ? DMGL_DLANG : name[1] == 'R' ? DMGL_RUST : DMGL_AUTO;
	char *part = strndup(name, len);
	char *text = part ? cplus_demangle(part, style) : NULL;
	free(part);
	return text;
}

const char *demangle(struct arena *arena, const char *name)
{
	if (!may_be_mangled(name))
		return name;
	const char *suffix = strchr(name, '@'); /* "target@plt", "name@@VERSION": stays */
	size_t len = suffix ? (size_t)(suffix - name) : strlen(name);
	char *text = demangle_part(name, len);
	if (!text)
		return name;
	const char *copy = arena_printf(arena, "%s%s", text, name + len);
	free(text);
	return copy ? copy : name;
}

size_t demangle_length(const char *name, size_t *bars)
{
	char *text = may_be_mangled(name) ? demangle_part(name, strlen(name)) : NULL;
	const char *shown = text ? text : name;
	size_t len = strlen(shown);
	*bars = strspn(shown, "_");
	free(text);
	return len;
}

#else

const char *demangle(struct arena *arena, const char *name)
{
	return name;
}

size_t demangle_length(const char *name, size_t *bars)
{
	*bars = strspn(name, "_");
	return strlen(name);
}

#endif
