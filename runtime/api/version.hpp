// SPDX-License-Identifier: MIT
#pragma once

// The library's version, and the program's: this is the one place. As long as
// the first number is 0, a new second number may break what was.

#define RIFFLE_VERSION_MAJOR 0
#define RIFFLE_VERSION_MINOR 1
#define RIFFLE_VERSION_PATCH 0

#define RIFFLE_VERSION_TEXT_OF(a, b, c) #a "." #b "." #c
#define RIFFLE_VERSION_TEXT(a, b, c) RIFFLE_VERSION_TEXT_OF(a, b, c)

/// "0.1.0"
#define RIFFLE_VERSION                                            \
  RIFFLE_VERSION_TEXT(RIFFLE_VERSION_MAJOR, RIFFLE_VERSION_MINOR, \
                      RIFFLE_VERSION_PATCH)

/// The same as one number, to compare: 100 for 0.1.0, 10203 for 1.2.3.
#define RIFFLE_VERSION_NUMBER                                  \
  (RIFFLE_VERSION_MAJOR * 10000 + RIFFLE_VERSION_MINOR * 100 + \
   RIFFLE_VERSION_PATCH)
