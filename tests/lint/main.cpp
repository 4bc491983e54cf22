// SPDX-License-Identifier: MIT
#include "tests/support/session.hpp"

int main(int argc, char** argv) {
  return riffle::testing::run_session(argc, argv);
}
