/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/build_features.h"

#include <stdio.h>
#include <strings.h>

#include "base/array.h"
#include "tally_config.h"

static const struct build_feature features[] = {
	{"aio", "HAVE_AIO_SUPPORT", false},
	{"bpf", "HAVE_LIBBPF_SUPPORT", HAVE_BPF},
	{"bpf_skeletons", "HAVE_BPF_SKEL", HAVE_BPF},
	{"debuginfod", "HAVE_DEBUGINFOD_SUPPORT", HAVE_DLOPEN},
	{"dwarf", "HAVE_LIBDW_SUPPORT", true},
	{"dwarf_getlocations", "HAVE_LIBDW_SUPPORT", false},
	{"dwarf-unwind", "HAVE_DWARF_UNWIND_SUPPORT", true},
	{"auxtrace", "HAVE_AUXTRACE_SUPPORT", false},
	{"libbfd", "HAVE_LIBBFD_SUPPORT", false},
	{"babeltrace2-ctf-writer", "HAVE_BABELTRACE2_CTF_WRITER_SUPPORT", true},
	{"libbpf-strings", "HAVE_LIBBPF_STRINGS_SUPPORT", false},
	{"libcapstone", "HAVE_LIBCAPSTONE_SUPPORT", true},
	{"libdw-dwarf-unwind", "HAVE_LIBDW_SUPPORT", false},
	{"libelf", "HAVE_LIBELF_SUPPORT", true},
	{"libLLVM", "HAVE_LIBLLVM_SUPPORT", false},
	{"libnuma", "HAVE_LIBNUMA_SUPPORT", false},
	{"libopencsd", "HAVE_CSTRACE_SUPPORT", false},
	{"libperl", "HAVE_LIBPERL_SUPPORT", false},
	{"libpfm4", "HAVE_LIBPFM", HAVE_PFM},
	{"libpython", "HAVE_LIBPYTHON_SUPPORT", true}, /* script -s runs scripts with the installed Python. */
	{"libslang", "HAVE_SLANG_SUPPORT", false},
	{"libtraceevent", "HAVE_LIBTRACEEVENT", true},
	{"libunwind", "HAVE_LIBUNWIND_SUPPORT", false},
	{"lzma", "HAVE_LZMA_SUPPORT", HAVE_LZMA},
	{"numa_num_possible_cpus", "HAVE_LIBNUMA_SUPPORT", false},
	{"zlib", "HAVE_ZLIB_SUPPORT", true},
	{"zstd", "HAVE_ZSTD_SUPPORT", HAVE_ZSTD},
	{"rust", "HAVE_RUST_SUPPORT", false},
	{"demangling", "HAVE_DEMANGLE", HAVE_DEMANGLE},
	{"libdeflate", "HAVE_LIBDEFLATE", HAVE_LIBDEFLATE},
	{"sqlite", "HAVE_SQLITE", HAVE_SQLITE},
	{"libmicrohttpd", "HAVE_MICROHTTPD", HAVE_MICROHTTPD},
	{"ncursesw", "HAVE_NCURSES", HAVE_NCURSES},
	{"dlfilters", "HAVE_DLOPEN", HAVE_DLOPEN},
	{"libcurl", "HAVE_LIBCURL", HAVE_CURL},
};

const struct build_feature *build_features_all(size_t *count)
{
	*count = ARRAY_LEN(features);
	return features;
}

static bool build_features_is_named(const char *word, struct tally_str name)
{
	return strlen(word) == name.len && strncasecmp(word, name.data, name.len) == 0;
}

const struct build_feature *build_features_find(struct tally_str name)
{
	for (size_t i = 0; i < ARRAY_LEN(features); i++)
		if (build_features_is_named(features[i].name, name) || build_features_is_named(features[i].macro, name))
			return &features[i];
	return NULL;
}

void build_feature_print(const struct build_feature *feature)
{
	printf("%22s: [ %-3s ]  # %s\n", feature->name, feature->is_on ? "on" : "OFF", feature->macro);
}
