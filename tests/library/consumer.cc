/* SPDX-License-Identifier: Apache-2.0 */
// consumer.cc - a C++ program on an installed copy of the library: every header, from C++11 without extensions.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <tally/counter.h>
#include <tally/event.h>
#include <tally/fd.h>
#include <tally/region.h>
#include <tally/ring.h>
#include <tally/sampler.h>
#include <tally/status.h>
#include <tally/symbols.h>
#include <vector>

namespace {

struct Closer {
	void operator()(tally_counter *counter) const { tally_counter_close(counter); }
	void operator()(tally_sampler *sampler) const { tally_sampler_close(sampler); }
};

void touch(std::size_t pages)
{
	std::vector<char> memory(pages * 4096);
	for (std::size_t i = 0; i < memory.size(); i += 4096)
		*const_cast<volatile char *>(&memory[i]) = 1;
}

int fail(const tally_error &err)
{
	std::fprintf(stderr, "%s\n", err.text);
	return 1;
}

} // namespace

int main()
{
	tally_error err;
	tally_counter_options options;
	tally_counter_options_init(&options);
	std::unique_ptr<tally_counter, Closer> counter(tally_counter_open("page-faults:u", &options, &err));
	if (!counter)
		return fail(err);
	tally_mark mark;
	std::uint64_t spent = 0;
	if (tally_region_begin(counter.get(), &mark) != TALLY_OK)
		return 2;
	touch(1000);
	if (tally_region_end(counter.get(), &mark, &spent, 1) != TALLY_OK || spent < 1)
		return 3;
	std::printf("%s %llu\n", tally_counter_label(counter.get()),
		static_cast<unsigned long long>(tally_counter_value(counter.get())));
	std::printf("region %llu\n", static_cast<unsigned long long>(spent));

	tally_sampler_options how;
	tally_sampler_options_init(&how);
	how.event = "page-faults:u";
	how.period = 1;
	std::unique_ptr<tally_sampler, Closer> sampler(tally_sampler_open(&how, &err));
	if (!sampler)
		return fail(err);
	touch(1000);
	tally_sampler_disable(sampler.get());
	tally_sample sample;
	unsigned long samples = 0;
	while (tally_sampler_next(sampler.get(), &sample, &err) == TALLY_OK)
		samples += sample.ip != 0 && sample.period == 1;
	if (samples == 0)
		return 4;
	std::printf("samples %lu\n", samples);
	return 0;
}
