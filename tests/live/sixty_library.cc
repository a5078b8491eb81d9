/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sixty_library.cc - the functions of sixty.cc that are called through the PLT (linked) or through dlopen: the same
 * source is built twice, with another NAME.
 */
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#ifndef NAME
#define NAME linked
#endif
#define PASTE(a, b) a##_##b
#define WITH(a, b)  PASTE(a, b)
#define API	    extern "C" __attribute__((visibility("default"), noinline))

using callback = uint64_t (*)(uint64_t);

namespace
{

__attribute__((noinline)) uint64_t mix(uint64_t x, const char *text)
{
	for (const char *p = text; *p; p++)
		x = (x ^ static_cast<unsigned char>(*p)) * 0x100000001b3u;
	return x;
}

} // namespace

/* Local: reached by a tail call only. */
static __attribute__((noinline)) uint64_t last(uint64_t x)
{
	for (int i = 0; i < 20; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

API uint64_t WITH(NAME, leaf)(uint64_t x)
{
	return last(x ^ 1);
}

API uint64_t WITH(NAME, text)(uint64_t x)
{
	std::string text = "value " + std::to_string(x);
	return mix(x, text.c_str());
}

API uint64_t WITH(NAME, calls_back)(callback f, uint64_t x)
{
	return f(WITH(NAME, leaf)(x)) + WITH(NAME, text)(x);
}
