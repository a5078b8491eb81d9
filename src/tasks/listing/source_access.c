/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/source_access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/limits.h"

static void add_reader(struct source_readers *readers, const char *path)
{
	struct stat st;
	if (!path || path[0] != '/' || stat(path, &st) != 0 || st.st_uid == 0 || readers->count == SOURCE_READERS)
		return;
	for (size_t i = 0; i < readers->count; i++)
		if (readers->uids[i] == st.st_uid && readers->gids[i] == st.st_gid)
			return;
	readers->uids[readers->count] = st.st_uid;
	readers->gids[readers->count++] = st.st_gid;
}

void source_readers_of(struct source_readers *readers, const struct binary_store *store, uint32_t id)
{
	char recorded[PATH_MAX];
	struct binary_info info = binary_store_info(store, id);
	memset(readers, 0, sizeof(*readers)); /* The structs are compared with memcmp. */
	add_reader(readers, info.used_path);
	add_reader(readers, binary_store_places_path(store, id));
	/* A copy in root's cache belongs to root, but the original program may belong to another user. */
	if (info.path.len < sizeof(recorded)) {
		memcpy(recorded, info.path.data, info.path.len);
		recorded[info.path.len] = '\0';
		add_reader(readers, recorded);
	}
}

static const char *const endings[] = {"ada", "adb", "ads", "agc", "asm", "asn", "awk", "bas", "bpf", "c", "c++", "cc",
	"chs", "cl", "clj", "cljs", "cob", "comp", "cpp", "cppm", "cr", "cs", "ctp", "cu", "cuh", "cx", "cxx", "cython",
	"d", "dart", "def", "di", "dpr", "el", "elm", "erl", "ex", "exs", "f", "f03", "f08", "f77", "f90", "f95", "for",
	"fpp", "frag", "fs", "fsx", "fth", "ftn", "g", "glsl", "go", "gperf", "groovy", "h", "h++", "hh", "hip", "hlsl",
	"hpp", "hrl", "hs", "hsc", "hx", "hxx", "i", "icc", "idl", "ii", "impl", "inc", "inl", "ino", "ipp", "ispc",
	"ixx", "java", "jl", "js", "jsx", "kt", "kts", "l", "ld", "lex", "lhs", "lisp", "ll", "lpr", "lsp", "lua", "m",
	"m4", "metal", "mjs", "ml", "mli", "mll", "mly", "mm", "mod", "mpp", "nim", "odin", "p", "pas", "php", "pl",
	"pm", "pp", "proto", "pxd", "pxi", "py", "pyx", "r", "rb", "re", "rkt", "rl", "rs", "s", "scala", "scm", "sx",
	"swift", "t", "tab", "tbl", "tc", "tcc", "td", "tmpl", "tpp", "ts", "tsx", "txx", "ulp", "v", "vala", "vb",
	"vert", "vhd", "vhdl", "wat", "x", "xs", "y", "yy", "zig"};

bool source_access_is_source(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
	if (base[0] == '.')
		return false;
	if (!dot) {
		/* Headers of the C++ library have no file name extension. */
		const char *include = strstr(path, "/include/");
		return include && include < base;
	}
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (!strcasecmp(dot + 1, endings[i]))
			return true;
	return false;
}

static bool mode_allows(const struct stat *st, uid_t uid, gid_t gid, mode_t wanted)
{
	unsigned shift = st->st_uid == uid ? 6 : st->st_gid == gid ? 3 : 0;
	return ((st->st_mode >> shift) & wanted) == wanted;
}

/* Returns whether a user may read the file, and search the directories of its path. Other groups of the user are not
 * considered, so some readable files are refused. */
static bool could_read(const char *real, const struct stat *st, uid_t uid, gid_t gid)
{
	char path[PATH_MAX];
	size_t len = strlen(real);
	struct stat folder;
	if (!mode_allows(st, uid, gid, 04) || len >= sizeof(path))
		return false;
	memcpy(path, real, len + 1);
	for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
		slash[slash == path] = '\0';
		if (stat(path, &folder) != 0 || !mode_allows(&folder, uid, gid, 01))
			return false;
		if (slash == path)
			break;
	}
	return true;
}

static const char *source_access_refuses(const char *real, const struct stat *st, const struct source_readers *readers)
{
	for (size_t i = 0; i < readers->count && geteuid() == 0; i++)
		if (!could_read(real, st, readers->uids[i], readers->gids[i]))
			return "the program's owner could not read it";
	return NULL;
}

char *source_access_read(const char *path, const struct source_readers *readers, size_t *len, const char **why)
{
	char real[PATH_MAX], *text;
	struct stat st;
	*why = NULL;
	if (!realpath(path, real))
		return NULL;
	if (!source_access_is_source(path) || !source_access_is_source(real)) {
		*why = "its name is not that of a source file";
		return NULL;
	}
	/* O_NONBLOCK prevents open from waiting for the writer of a FIFO. */
	int fd = open(real, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	*why = is_file ? source_access_refuses(real, &st, readers) : "it is not a regular file";
	enum tally_status status = *why ? TALLY_INVALID : file_read_fd(fd, LIMIT_SOURCE_FILE, &text, len, NULL);
	close(fd);
	if (status == TALLY_LIMIT)
		*why = "it is too large";
	if (status != TALLY_OK)
		return NULL;
	if (!memchr(text, '\0', *len))
		return text;
	*why = "it is not text";
	free(text);
	return NULL;
}
