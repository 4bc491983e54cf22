// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace riffle {

/// How many files this process may have open, after it has taken all that it
/// may (the hard limit of RLIMIT_NOFILE, at most `wanted`). The usual soft
/// limit of 1,024 is for programs that use select(2). 0: it is not known.
std::uint64_t raise_descriptor_limit(std::uint64_t wanted);

/// A child that was just started has the limit with which this process was
/// started: it may be a program that uses select(2). Does nothing where it was
/// not raised.
void restore_descriptor_limit(pid_t child) noexcept;

}  // namespace riffle
