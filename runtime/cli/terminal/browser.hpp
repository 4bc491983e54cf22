// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace riffle::cli {

/// Opens a page for the person: with $BROWSER (a program, without arguments),
/// else with xdg-open where there is a desktop. False: there is neither, or it
/// did not start. The program outlives this one and gets no key.
bool open_in_browser(const std::string& url);

}  // namespace riffle::cli
