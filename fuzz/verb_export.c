/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a recording in every format of `export`. */
#include "verb.h"

#define FORMAT_NAMED(variable, name) \
	static const char *const variable[] = {"export", "-o", "/dev/null", "-F", name, NULL}
#define FORMAT(name) FORMAT_NAMED(name, #name)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FORMAT(folded);
	FORMAT(speedscope);
	FORMAT(pprof);
	FORMAT(otlp);
	FORMAT_NAMED(otlp_json, "otlp-json");
	FORMAT(firefox);
	FORMAT(callgrind);
	FORMAT(chrome);
	FORMAT(perfetto);
	FORMAT(json);
	FORMAT(csv);
	FORMAT(html);
	static const char *const *const forms[] = {folded, speedscope, pprof, otlp, otlp_json, firefox, callgrind,
		chrome, perfetto, json, csv, html, NULL};
	return verb_fuzz(forms, data, size);
}
